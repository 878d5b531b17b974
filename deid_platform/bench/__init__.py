"""What is measured under an installation: detectors and policies, on its own gold and on surrogate corpora.

    gate         the test set, its gold, and the scores by which the gate judges
    leaderboard  detectors, models and prompts beside one another
    lab          what else the dossier shows

Belongs here: which notes are measured, and where the figures are recorded. Does not belong here: any formula
(`evaluation/`), what reads a figure (`reports/`), or the steps of the main job (`refresh/`).
"""
