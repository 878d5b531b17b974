"""Validators of Spanish addresses.

Belongs here: the validators that `addresses.yaml` names. Does not belong here: patterns (`addresses.yaml`).
"""

from __future__ import annotations
