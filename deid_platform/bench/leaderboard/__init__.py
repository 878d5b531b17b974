"""Detectors, models and prompts beside one another, on surrogate corpora or a site's own gold.

    corpora            which corpora there are, and how one is made; `corpus_scores` and `fairness` of one
    plan               plans as data (`plans/`)
    detectors          the platform's own, models, prompts, peers
    reading            what each hides, and how fast; `readings_released` of what each releases
    leaderboard        the scores; `paper_figures` as the papers count them, `judged_readings` by a paper's judge
    contributions      what each source of the configured detector adds
    prompt_trials      versions of a prompt
    training           a model of the site's own; `experiments` what models learn

Does not belong here: a formula (`evaluation/`), or what the gate judges by (`bench/gate`).
"""
