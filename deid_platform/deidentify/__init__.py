"""From a note to what may be released of it, without an orchestrator, a store or a warehouse.

    release_note   one note: redacted, checked for leaks, or a reason in its place
    releasing      the same for a detector that is named at the command line
    files          files in, files out: `deid redact`
    deidentifier   single notes from Python: the object that `deid_platform.load` returns

Belongs here: the order of detection, redaction and leak check. Does not belong here: any of the three (`detection/`,
`redaction/`, `leakcheck/`), or deliveries and datasets (`refresh/`).
"""
