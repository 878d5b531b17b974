"""From a delivery's files to the note store.

    check         a delivery, before it is taken in
    sealing       its notes and tables, sealed
    archive       the first load of a folder that is too large for one delivery
    file_digests  digests of files that nobody touched since
    opt_outs      ids that are written otherwise than the source writes them

Does not belong here: reading a format (`corpora/`).
"""
