"""Runs a task over many notes: in this process, in worker processes, or on the machines of a Ray cluster.

    engines        the engine that callers hold, and batches and their order
    detection_job  detection as a task of workers
    workers        worker processes, forked from one process that has built everything (`gc_freeze`)
    preloaded      what all workers of a command share, loaded once
    ray_engine     the machines of a Ray cluster
    warm_up        a note that loads everything before the first note of a patient arrives

Belongs here: where a task runs, and what becomes of a note whose task fails. Does not belong here: detection itself, or
where notes come from and results go to.
"""
