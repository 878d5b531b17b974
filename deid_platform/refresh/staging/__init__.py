"""From redacted rows to staged ones, and what the gate measures of them.

    provenance         what rows were made with, beside what a run of today would make them with
    due                which deliveries need a run, and why
    stage              rows under keys, and withdrawals
    measure            the gate rows of a delivery
    detector_in_force  the detector in force, and whether another may replace it
    findings, marks    what readers and reviewers reported

Does not belong here: what the gate decides (`warehouse/migrations/sql`).
"""
