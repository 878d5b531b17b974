"""What people who answer for a release read, sign and hand out.

    summary                   the release summary
    dossier, dossier_entries  the dossier, and what it says
    signing                   signatures that anybody can verify
    release_notes             what changed between two releases
    grants                    whether a grant's site and note type exist
    extract                   the notes of a project, as a folder

Belongs here: gathering what is measured and decided. Does not belong here: pages and their words (`reports/`).
"""
