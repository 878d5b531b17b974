"""What is measured under an installation: detectors and policies, on its own gold and on surrogate corpora.

    scoring       test set and gold    -> scores of the very detector that redacted, by which the gate judges
    lab           the gate's gold      -> what else the dossier shows; `lab_on_request` what takes minutes
    lab_attacker  released gold notes  -> what a language model learns from them; `lab_indirect` indirect identifiers
    held_out      gold that is sealed  -> every look at it, counted in the ledger
    corpora       surrogate corpora    -> notes, statistics, scores; `fairness`, `contributions` by name and recognizer
    leaderboard   a plan of detectors  -> scores beside each other, peers and chat models among them
    prompt_trials prompts              -> scores of each version, on notes for tuning
    recovered     a random sample      -> what recovery keeps of it
    training      the site's own gold  -> a model of its own; `experiments` what models learn

Belongs here: which notes are measured, and where the figures are recorded. Does not belong here: any formula
(`evaluation/`), what reads a figure (`reports/`), or the steps of the main job (`refresh/`).
"""
