"""What this process does beside its work: its output, its warnings, its end.

    output         a file that appears whole or not at all
    silence        warnings of libraries, kept from the terminal
    stopping       a stop request that cannot be lost
    environment    what another program inherits of the environment: no secret
    model_seconds  seconds in which models run

Belongs here: what any program needs, whatever it does. Does not belong here: anything that knows notes.
"""
