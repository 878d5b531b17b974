"""The research warehouse and its gate: Postgres, and the one function through which notes reach research.

Reading order: `server` (the embedded Postgres), `roles`, `connection` (who connects how), `logins`, `bootstrap`,
`migrate`, `staging`, `withdrawals`, `expectations` (with `suite`, `measures` and `tags`), `ledger`, `promotion`,
`queries`. What decides lives in `migrations/sql`: the gate is a function of the database, so that no client, however
started, can publish around it.

    standing, waivers     what the gate requires of a delivery, and what the privacy officer accepts
    releases, findings    releases beside one another; identifiers that readers reported
    projects, extracts    what a project may read, in the warehouse and as files
    reviews               what people decided about removals and quarantined notes
    held_out, lab         what figures are measured on, and the laboratory's figures
    dossiers, dictionary  dossiers and signatures; the data dictionary

Does not belong here: how a figure is measured (`evaluation/`) or how a text is redacted (`redaction/`).
"""
