"""What the privacy officer and reviewers do: releases, findings, dossiers, reviews and marks.

    releases, dossiers  which release analysts see; dossiers and signatures
    findings, marks     leaks that readers report, and marks of missed identifiers
    reviews             what people decide on removals and quarantined notes

Does not belong here: the gate (`warehouse/gate`), or what researchers read (`warehouse/readers`).
"""
