"""What researchers read, and what they may.

    projects    who may read which notes
    extracts    what a project may read, as files
    marts       whether dbt's tables are current
    dictionary  the data dictionary

Does not belong here: logins (`warehouse/server`).
"""
