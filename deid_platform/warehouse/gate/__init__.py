"""From staged rows to research: what the gate asks, and what it decided.

    staging, withdrawals            rows of a delivery; what is hidden at once
    suite, expectations             what Great Expectations checks (`suites/`), with `measures` and `tags`
    ledger                          measurements, written down
    standing, waivers               what a delivery lacks, and what the privacy officer accepts
    promotion, queries              the gate's functions, and what a summary reads

What decides lives in `migrations/sql`. Does not belong here: how a figure is measured (`evaluation/`).
"""
