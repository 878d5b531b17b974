"""Dagster assets, one module a layer, in the order of the data.

    source -> dictionaries -> deid -> bench -> gate -> research     checks, automation
    on request: annotation, corpora, leaderboard, prompt_trials, models

Belongs here: an asset's key, what it depends on, how it is described and shown, and one call into the
domain. Does not belong here: anything that could be tested without Dagster. Notes never pass between
assets in memory: they move through the note store, and an asset returns counts, digests and seconds.
"""
