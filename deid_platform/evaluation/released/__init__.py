"""Released texts beside their notes.

    released              a note and what was released of it, place by place
    tags                  tags in released texts
    replacement_validity  whether each identifier was replaced as it should be

Does not belong here: releasing them (`deidentify/`).
"""
