"""A file as a text, by what its name ends with.

Belongs here: which reader an ending has. Does not belong here: which note a document is (`formats/documents.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from deid_platform.corpora import Reason
from deid_platform.corpora.office import LIMITS, Limits, RefusedDocumentError

# Ending -> module beside this file and its function. Modules are imported when they are asked for.
READERS: Mapping[str, tuple[str, str]] = {
    ".docx": ("docx", "docx_text"),
    ".docm": ("docx", "docx_text"),
    ".rtf": ("rtf", "rtf_text"),
    ".eml": ("mail", "mail_text"),
    ".msg": ("outlook", "outlook_text"),
}
OTHERS = frozenset({".doc", ".dot", ".dotx", ".odt", ".ott", ".pages", ".wpd", ".wps", ".mbox", ".pst", ".ost", ".oft"})
"""Documents and mails that are not read, so that they are refused rather than passed over."""


def document_text(path: Path, limits: Limits = LIMITS) -> str:
    """The text of a document, and a last line that says what of it was not read.

    Args:
        path: A file that ends as one of `READERS`.
        limits: What it may take.

    Raises:
        RefusedDocumentError: why it is not read.
        DeidError: `document-reader-missing` with the package that is not installed.
    """
    from deid_platform.corpora.office.opening import content_of

    if (ending := path.suffix.lower()) not in READERS:
        raise RefusedDocumentError(Reason.UNSUPPORTED_CONTENT)
    module, name = READERS[ending]
    read = getattr(import_module(f"deid_platform.corpora.office.{module}"), name)
    return str(read(content_of(path, limits)))
