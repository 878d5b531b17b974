"""The research warehouse and its gate: Postgres, and the one function through which notes reach research.

Reading order: `server` (the embedded Postgres), `roles`, `connection` (who connects how), `logins`, `bootstrap`,
`migrate`, `staging`, `withdrawals`, `expectations`, `ledger`, `promotion`, `queries`. What decides lives in
`migrations/sql`: the gate is a function of the database, so that no client, however started, can publish
around it.

Does not belong here: how a figure is measured (`evaluation/`) or how a text is redacted (`redaction/`).
"""
