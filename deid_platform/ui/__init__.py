"""The UI: Dagster's webserver behind a guard of our own, and `deid ui`, which starts it with all that it needs.

    guard            who may talk to the webserver
    server           the guarded webserver on one Dagster instance
    local, __main__  `deid ui` for one person; one webserver of a production installation
    desk, queue      the pages of removals and of quarantined notes

And the pages on which people judge removals and decide about quarantined notes, behind the same guard.

Belongs here: who may talk to a webserver, starting it, and these two pages. Does not belong here: what Dagster's shows,
which is Dagster's and the definitions', or what a decision means (`review/`).
"""
