"""`deid serve`: notes in by HTTP, redacted notes out.

    forms, bodies              what is sent and answered, and within which limits
    setting_up                 what workers build, from what `deid serve` was told
    work                       what a worker process does with the notes of a request
    queue                      how many requests wait for one
    streams                    a stream of notes, one a line
    fhir, fhir_elements        FHIR resources, and what of one passes beside its text
    access, watching, metrics  who may ask; what goes around every request; what is counted
    app, openapi               the addresses, and their description
    server                     the process

Belongs here: what a request may hold, who may ask, how many wait, and what an answer looks like. Does not belong here:
detection, redaction and the leak check, which are those of `deid redact`.
"""
