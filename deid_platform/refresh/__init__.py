"""The steps of the main job as plain functions, one an asset, in the order of the data.

    intake      a delivery's files      -> source/raw_notes, source/patients ... in the note store
    first_pass  raw notes and topics    -> deid/first_look: what each note shows by itself and tells about others
    deidentify  what was found          -> deid/redacted_notes, leak-checked, with quarantine reasons
    publish     redacted notes          -> staging, gate rows, promotion
    summary     what the warehouse says -> the release summary that people read

Belongs here: one function a step, each testable without an orchestrator. Does not belong here: how an
identifier is found, replaced or promoted (the packages below), how well it is found (`bench/`), or when a step runs
(`assets/`).
"""
