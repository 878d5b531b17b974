"""The rule engine: recognizers, the anchors that say where to run them, and the cache of recurring text.

Belongs here: how tables are read and run. Does not belong here: tables and their validators (`en/`, `it/`, `es/`).
"""
