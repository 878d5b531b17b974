"""The UI: Dagster's webserver behind a guard of our own, and `deid ui`, which starts it with all that it needs.

Belongs here: who may talk to the webserver, and starting it. Does not belong here: what it shows, which is Dagster's
and the definitions'.
"""
