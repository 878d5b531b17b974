"""Whether hostile texts end: time and memory of detection, redaction and leak check on texts made to make them linger.

    python benchmarks/hostile.py [--characters 1000000] [--kind dates]... [--detector ensemble]
    python benchmarks/hostile.py --detector rules --longest 100000000

Each text repeats one thing between two names of a known patient, who must be gone from what comes out, or the note be
refused as a whole; the script fails where neither holds. The longest text is a note of many such parts, by default of
1 MB too: a model needs a window for each hundred pieces, and there may be a piece in each character. A feed refuses
notes of more than `max_chars`, by default 1 MB, before any of this (docs/configuration.md).
"""

from __future__ import annotations

import argparse

from measure import row

from deid_platform.detection import DetectorSpec
from deid_platform.errors import DeidError
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Patient, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact

KINDS = {
    "words": "word ",
    "one number": "1",
    "a.a.a": "a.a.a",
    "dates": "1/1/",
    "spaced digits": "1 ",
    "titles": "Dr. A, ",
    "capitals": "Ab ",
    "mail": "a@b.",
    "labels": "Name: ",
    "pipes": "a | ",
    "streets": "1 A ",
    "blank lines": "\n \n",
    "zero width": "a\u200b",
    "bidirectional": "A\u202e",
    "homoglyphs": "a\u0430",
    "lone surrogates": "\ud800",
    "growing lower case": "\u0130",
    "full width": "\uff11",
    "combining": "e\u0301",
}
PATIENT = Patient("P1", first_name="Zebulon", last_name="Quarmby")
TOPICS = Topics.of([PATIENT], [], [])


def text_of(kinds: list[str], characters: int) -> str:
    """Parts of equal length, each of one kind, between two names."""
    length = characters // len(kinds)
    parts = "\n".join(KINDS[kind] * (length // len(KINDS[kind])) for kind in kinds)
    return f"Zebulon Quarmby\n{parts}\nZebulon Quarmby"


def main() -> None:
    """Prints one row a kind, and one for the longest text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--longest", type=int, default=1_000_000)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--detector", default="ensemble")
    arguments = parser.parse_args()
    detector, policy = DetectorSpec(arguments.detector, topics=TOPICS).build(), load_policy("safe_harbor")
    check = LeakCheck.of(TOPICS, policy)

    def passes(text: str) -> bool:
        """Whether the text is redacted without a leak, or refused."""
        note = Note("n", text, patient_id="P1")
        try:
            spans = detector.detect([note])[0]
        except DeidError:
            return True
        done = redact(note, spans, policy)
        leaks = check.check(
            note, (PATIENT,), done.text, done.applied, lengths=[len(each) for each in done.replacements]
        )
        return bool(leaks) or "Quarmby" not in done.text

    kinds = arguments.kind or list(KINDS)
    texts = {f"{kind}, {arguments.characters:,}": ([kind], arguments.characters) for kind in kinds}
    texts[f"all of them, {arguments.longest:,}"] = (kinds, arguments.longest)
    for name, (some, characters) in texts.items():
        text = text_of(some, characters)
        if not row(name, len(text), lambda text=text: passes(text), unit="characters"):
            raise SystemExit(f"{name}: a name is left")


if __name__ == "__main__":
    main()
