"""Rules: identifiers that the text itself shows, without any dictionary of the institution.

Belongs here: recognizers (`en/`, `it/`, `es/`, run by `engine/`), names by word lists and context (`names/`), layout
(`layout/`). Does not belong here: what the topics know (`topics/`), further mentions of what was found (`resolve/`).
"""

from deid_platform.detection.rules.detector import RULE_STEPS, Rules

__all__ = ["RULE_STEPS", "Rules"]
