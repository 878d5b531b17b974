"""What the privacy officer and reviewers do: releases, findings, dossiers, reviews and marks.

Does not belong here: the gate (`warehouse/gate`), or what researchers read (`warehouse/readers`).
"""
