"""The laboratory: what else is measured on the gate's gold, and shown in the dossier.

    notes       gold notes with what was found in them
    detection   measures of the spans
    release     measures of the notes as they would be released
    measures    both together, as the asset calls them
    on_request  what takes minutes
    judges      language models that judge; `attacker` a language model that attacks; `indirect` indirect identifiers
    recovered   what recovery keeps of a random sample

Does not belong here: a formula (`evaluation/`), or anything that the gate judges by (`bench/gate`).
"""
