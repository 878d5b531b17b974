"""Dagster at one installation.

    instance       its folder, its settings file and its environment
    run_launcher   starts runs, and detects that a run's worker is gone
    code_location  where assets, resources and the dbt project lie

Belongs here: what Dagster asks of an installation. Does not belong here: assets, resources and checks, which
`definitions.py` gathers, or the main job from the command line (`main_job/`).
"""
