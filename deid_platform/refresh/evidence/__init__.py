"""What the notes of a feed show only together, counted delivery by delivery.

    patient_mentions  what notes tell of their patients
    local_words       the feed's own vocabulary
    repeated_dates    dates of templates and leaflets
    shifts            which patients share a shift of dates

Does not belong here: what one note shows by itself (`refresh/redact/first_pass.py`).
"""
