"""The research warehouse and its gate: Postgres, and the one function through which notes reach research.

    server      the embedded Postgres, roles, who connects how
    migrations  the schema; what decides lives in `migrations/sql`
    quality     figures in the warehouse, and each look at held-out sets
    gate        staging, expectations, the ledger, promotion, waivers
    officer     releases, findings, dossiers, reviews
    readers     projects, extracts, marts, the data dictionary
    migrate     bringing a database to the current schema
    structured  views of rows of tables beside the notes

The gate is a function of the database, so that no client, however started, can publish around it. Does not belong here:
how a figure is measured (`evaluation/`) or how a text is redacted (`redaction/`).
"""
