"""The rule engine: recognizers, the anchors that say where to run them, and the cache of recurring text.

    recognizer, validator  a pattern with its confidence, and the function that accepts or narrows its match
    site_recognizers       a site's own recognizers, from YAML
    anchors                where a pattern has to run at all
    templates              recurring paragraphs, searched once

Belongs here: how tables are read and run. Does not belong here: tables and their validators (`en/`, `it/`, `es/`).
"""
