"""The steps of the main job as plain functions, a room for each part of the way, in the order of the data.

    datasets      schemas of the note store's datasets, and rows of earlier runs that still hold
    topics        patients, staff and places, as the deliveries of a feed have told them so far
    recipe        what decides how a redacted row looks
    evidence      what the notes of a feed show only together
    installation  one installation as its deid.toml describes it
    intake        a delivery's files            -> source/raw_notes, source/patients ... in the note store
    redact        raw notes and topics          -> deid/first_look, deid/redacted_notes, with quarantine reasons
    staging       redacted notes                -> staging and gate rows; what rows were made with, and what is due
    hiding        notes that research may no longer see as they are: withdrawals, late names, reports
    dictionaries  the dictionaries              -> a record of what detection looks up
    publish       staged rows                   -> the gate's decision, and what analysts see
    next_steps    what keeps a delivery from being promoted, and what to do about it

Each room may use those above it, and none below. Belongs here: one function a step, each testable without an
orchestrator. Does not belong here: how an identifier is found, replaced or promoted (`detection/`, `redaction/`,
`warehouse/`), how well it is found (`bench/`), or when a step runs (`assets/`).
"""
