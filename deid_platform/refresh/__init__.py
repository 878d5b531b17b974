"""The steps of the main job as plain functions, one an asset, in the order of the data.

    intake      a delivery's files      -> source/raw_notes, source/patients ... in the note store
    topics      rows of all deliveries  -> the topics as of one
    first_pass  raw notes and topics    -> deid/first_look: what each note shows by itself and tells about others
    deidentify  what was found          -> deid/redacted_notes, leak-checked, with quarantine reasons
    named_later rows that came later    -> earlier notes that show them are hidden, and redacted with them
    publish     redacted notes          -> staging, gate rows, promotion (`stage`, `measure`, `gate`)
    summary     what the warehouse says -> the release summary that people read

Beside these steps: what rows were made with (`provenance`) and so which deliveries are due (`due`), without reading
what nobody touched (`known_files`), what is hidden before any step (`withdraw`), who has left (`who_left`), what people
decided about quarantined notes (`rulings`), whether store and warehouse belong together (`restored`), one refresh at a
time (`lock`); and what commands call: `check`, `findings`, `grants`, `extract`, `dossier`, `release_notes`.

Belongs here: one function a step, each testable without an orchestrator. Does not belong here: how an
identifier is found, replaced or promoted (the packages below), how well it is found (`bench/`), or when a step runs
(`assets/`).
"""
