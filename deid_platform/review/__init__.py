"""Review by people: of what detection hides although no gold marks it, and of notes in quarantine.

    sources      the notes that a round is drawn from: gold, a delivery, a file
    rounds       removals, drawn for clinicians
    decisions    what they say of them; `sheets` the same as a spreadsheet, `studio` in Label Studio
    written      for whom such a file was written
    missed       identifiers that they mark as missed
    report       the shares that follow, and agreement; `scores` records them in `quality`
    quarantine   the queue of quarantined notes: what people decide about one
    waiting      which notes wait; `held` what is shown of one, and what a decision would make of it
    reasons      what the reason of a decision may not say
    annotation/  rounds of annotation, from which a site has gold of its own

Belongs here: what people are shown and what they may decide. Does not belong here: the pages (`ui/desk.py`,
`ui/queue.py`), what a refresh makes of a decision (`refresh/redact/decisions.py`), or finding spans.

The five categories and the severity are those of Aghakasiri 2025 (appendices F and M, tables 3 and 14). As in
`annotation/`, two people judge removals without seeing each other's work, and a third decides where they differ; in
rounds people are known by their roles, in the queue by their names.
"""
