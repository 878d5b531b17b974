"""`deid serve`: notes in by HTTP, redacted notes out.

Belongs here: what a request may hold, who may ask, how many wait, and what an answer looks like. Does not belong here:
detection, redaction and the leak check, which are those of `deid redact`.

Reading order: `forms.py` has what is sent and answered, `work.py` what a worker process does with it, `queue.py` how
many wait for one, `app.py` the addresses, `server.py` the process.
"""
