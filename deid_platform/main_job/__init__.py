"""The main job from the command line: `deid refresh`.

    command   delivery by delivery, on the installation's Dagster instance
    run       one run in this process, recorded so that the UI shows it
    progress  how far the job is, for people

Belongs here: which runs are started, and what a person is told meanwhile. Does not belong here: a step of the job
(`refresh/`).
"""
