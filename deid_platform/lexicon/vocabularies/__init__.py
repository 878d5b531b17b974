"""Clinical vocabularies from outside: those that a site is licensed for, and ICD-10-CM, which anyone may use.

    formats     the published formats, each as an iterator of terms
    reading     opening a file, what a term must be like, and the cache
    icd10cm     the names in the titles of ICD-10-CM, compiled into data/icd10cm.txt

Belongs here: reading terms out of published files. Does not belong here: what a term is good for
(`detection/resolve/recovery/`) or which files a site uses (`settings/`). None of these vocabularies but ICD-10-CM
ships with the platform, and nothing of a site's is copied.
"""

from __future__ import annotations

from deid_platform.lexicon.vocabularies.formats import FORMATS
from deid_platform.lexicon.vocabularies.reading import TermsFile, terms_of

__all__ = ["FORMATS", "TermsFile", "terms_of"]
