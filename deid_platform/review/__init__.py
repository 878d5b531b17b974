"""Review by clinicians of what detection hides although no gold marks it: rounds, decisions, report.

Belongs here: drawing removals, keeping what reviewers say of them, and the shares that follow. Does not belong here:
the page that shows them (`ui/desk.py`), or finding spans.

The five categories and the severity are those of Aghakasiri 2025 (appendices F and M, tables 3 and 14). As in
`annotation/`, two people judge without seeing each other's work, and a third decides where they differ; people are
known by their roles.
"""
