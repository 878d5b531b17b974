"""Notes that research may no longer see as they are.

    withdraw             withdrawals and opt-outs, before any step
    departed             which notes and patients have left
    late_names           patients who are named in notes before their own rows came
    search, search_job   what readers reported, looked for in all that research holds
    shown_notes          what analysts see of a delivery
    store_and_warehouse  whether both belong together after one was restored

Does not belong here: a note that is quarantined before anybody saw it (`refresh/redact`).
"""
