"""The UI: Dagster's webserver behind a guard of our own, and `deid ui`, which starts it with all that it needs.

And the pages on which people judge removals (`desk`) and decide about quarantined notes (`queue`), behind the same
guard.

Belongs here: who may talk to a webserver, starting it, and these two pages. Does not belong here: what Dagster's shows,
which is Dagster's and the definitions', or what a decision means (`review/`).
"""
