"""A panel of judges on identifiers.

    panel              votes, discards, and what the majority counts
    chat_panel         chat models as judges
    judge_plan         which models judge
    occurrence_counts  deterministic counts beside them

Does not belong here: judges of clinical content (`evaluation/retention`).
"""
