"""Reports: figures and the release dossier.

    summary, release_notes                    what a refresh did, and what a release changes
    dossier/                                  the evidence for one release
    policies/                                 the page of the policies
    scores, corpus_scores, leaderboard_table  scores by label, by corpus, by detector
    comparison/                               detectors side by side
    judges                                    what judges say and how good they are
    drawing, pages                            what all figures and all HTML pages share
    figures, fairness_figure                  the gate's scores, and which names a detector misses
    agreement_figures, corpus_figures         how far annotators agree, and what a corpus is made of
    training_figures, experiment_figure       a training, and what the models of an experiment miss
    trials_figure, adaptation_figure          what prompts score, and what a site gains from notes that it marks

Belongs here: showing what was measured. Does not belong here: measuring it (`evaluation/`) or anything
that names a person; counts under 11 are suppressed.
"""
