"""Rules: identifiers that the text itself shows, without any dictionary of the institution.

    catalogue, engine/  the tables of recognizers, and what runs them
    en/, it/, es/       tables of one language, with their validators
    spelled/, shared/   tables for all languages: numbers in words; rooms, ages, signers
    names/              names by word lists and context
    layout/             tables, and numbers broken over a line
    detector            the rules as a detector, step by step
    timing              what each recognizer costs

Belongs here: recognizers, names by word lists and context, layout. Does not belong here: what the topics know
(`topics/`), further mentions of what was found (`resolve/`).
"""

from deid_platform.detection.rules.detector import RULE_STEPS, Rules

__all__ = ["RULE_STEPS", "Rules"]
