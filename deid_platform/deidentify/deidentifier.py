"""De-identification of single notes from Python: the object that `deid_platform.load` returns.

Belongs here: a detector, a policy and a leak check that stay loaded. Does not belong here: what any of them does, or
files of notes (`deidentify/files.py`), whose notes are read together.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path

from deid_platform.corpora import Role
from deid_platform.corpora.reading import MAX_CHARS
from deid_platform.corpora.rows import text_fault
from deid_platform.deidentify.files import date_writing, read_topics
from deid_platform.deidentify.release_note import Redacted, ReleaseSpec, languages_accepted, text_note_id
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import build, detect_in
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.notes import Note, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.surrogates.date_order import NOTHING_SAID

TopicFiles = Mapping[str, str | PathLike[str]]
_TOPICS = (Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES)


class Deidentifier:
    """A detector, a policy and a leak check, ready for notes; made by `deid_platform.load`, which says what each is."""

    def __init__(
        self,
        detector: str,
        topics: Topics | TopicFiles | None,
        policy: str | PathLike[str],
        secret_file: str | PathLike[str] | None,
        site: str | None,
        recognizers: str | PathLike[str] | None,
        keep: str | PathLike[str] | None,
        chat: str | None,
        date_order: str | None,
        languages: Collection[str],
    ) -> None:
        topics = (topics if isinstance(topics, Topics) else _read(topics or {})) or None
        rules = load_policy(str(policy))
        keyring = None
        if rules.uses_surrogates:
            from deid_platform.settings import keyring_for

            keyring = keyring_for(_path(secret_file), site)
        prompted = None
        if chat is not None:
            from deid_platform.detection.chat.spec import chat_in_force

            prompted = chat_in_force(chat)
        spec = DetectorSpec(
            name=detector,
            topics=topics,
            professions=rules.hides_professions,
            ages=rules.hides_ages,
            recognizers=_path(recognizers),
            keep=_path(keep),
            chat=prompted,
        )
        self._detector = build(spec)
        writing = date_writing(date_order) if rules.uses_surrogates else NOTHING_SAID
        accepted = languages_accepted(languages)
        self._releaser = ReleaseSpec(rules, topics, keyring, writing=writing, languages=accepted).build()

    def __repr__(self) -> str:
        return "<Deidentifier>"

    def detect(self, note: Note | str) -> list[Span]:
        """The identifiers of a note: sorted, non-overlapping, offsets in code points, end exclusive.

        Args:
            note: A note, or the text of one that nothing else is known of.

        Raises:
            DeidError: `note-invalid` with the reason, `detector-failed`, the codes of a language model (`chat-...`).
        """
        return list(detect_in(self._detector, _note(note)))

    def redact(self, note: Note | str) -> Redacted:
        """A note redacted by the policy, in which the leak check found nothing.

        Args:
            note: A note, or the text of one that nothing else is known of.

        Raises:
            DeidError: `note-leaks` with the first kind of leak, `language-unmeasured` with the languages,
                `note-invalid` with the reason, `detector-failed`, `redaction-failed`, the codes of a language model
                (`chat-...`).
        """
        note = _note(note)
        return self._releaser.redacted(note, detect_in(self._detector, note))


def _path(given: str | PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)


def _note(note: Note | str) -> Note:
    """A note that a file could hold too."""
    text = note if isinstance(note, str) else note.text
    if fault := text_fault(text, max_chars=MAX_CHARS):
        raise DeidError(Code.NOTE_INVALID, fault.value)
    return Note(text_note_id(text), text) if isinstance(note, str) else note


def _read(files: TopicFiles) -> Topics:
    for name in files:
        if name not in _TOPICS:
            raise DeidError(Code.INPUT_INVALID, f"topics: {did_you_mean(name, _TOPICS)}")
    topics, dropped = read_topics({Role(name): Path(path) for name, path in files.items()})
    for role, count in dropped.items():
        warnings.warn(f"{role}: invalid dates left out: {count:,} (expected YYYY-MM-DD)", stacklevel=4)
    return topics
