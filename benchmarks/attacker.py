"""What a language model learns of patients from released notes, policy by policy, on the synthetic hospital.

    python benchmarks/attacker.py --url http://127.0.0.1:8000/v1 --model NAME [--policy safe_harbor ...] [--notes 100]
        [--seed 7] [--part shown] [--detector rules] [--choices 10] [--context 8192] [--resamples 1000]

Each question has numbered choices; success is over all questions, beside a guess and, of whose note it is, beside the
attack by counting (`evaluation/disclosure/linkage.py`) among the same people. The same notes raw come first: what the
model can do at all. Notes are released with topics, under a key of this file, and those that the leak check withholds
are left out. Answers are counted and kept nowhere. Shares of fewer than 11 questions are not shown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from accuracy import Planted, written

from deid_platform.corpora.hospital import HospitalSpec, Part
from deid_platform.deidentify.release_note import ReleaseSpec
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.disclosure.attacker.attack import Success, attack
from deid_platform.evaluation.disclosure.attacker.questions import Aim, Target
from deid_platform.evaluation.scores.bootstrap import Estimate, Ratio
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN
from deid_platform.keys import Keyring
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.notes import Span, Topics
from deid_platform.redaction.policy import load_policy, policy_names
from deid_platform.surrogates.date_order import DateOrder, DateWriting


def shown(value: Estimate | Ratio) -> str:
    """A share with its interval."""
    if value.value is None:
        return "none"
    return f"{value.value:.3f}" + ("" if value.low is None else f" ({value.low:.3f} to {value.high:.3f})")


def released(
    planted: Sequence[Planted], found: Sequence[Sequence[Span]], policy: str, topics: Topics
) -> Iterator[Target]:
    """Notes as a policy releases them; without those that would be withheld."""
    keyring = Keyring(b"a key that is public, for this table alone", site="benchmark")
    releaser = ReleaseSpec(load_policy(policy), topics, keyring, writing=DateWriting(DateOrder.MONTH_FIRST)).build()
    for each, spans in zip(planted, found, strict=True):
        release = releaser.release(each.note, spans)
        if release.withheld is None and release.redaction is not None:
            made = release.redaction
            yield Target(each.note, made.text, made.applied, made.replacements, each.gold)


def told(name: str, found: Mapping[Aim, Success]) -> None:
    """Prints a line for each aim."""
    for aim, it in found.items():
        asked = it.right.total
        if asked < SMALLEST_SHOWN or it.chance is None:
            print(f"{name:28} {aim.value:14} not shown: fewer than {SMALLEST_SHOWN} questions")
            continue
        beside = "" if it.linked is None else f", by counting {shown(it.linked)}"
        print(f"{name:28} {aim.value:14} {asked:4} asked, right {shown(it.right)}, chance {it.chance:.3f}{beside}, "
              f"unanswered {it.failed / asked:.3f}")  # fmt: skip


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--policy", action="append", choices=policy_names())
    parser.add_argument("--notes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--part", choices=[part.value for part in Part], default=Part.SHOWN.value)
    parser.add_argument("--detector", default="rules")
    parser.add_argument("--choices", type=int, default=10)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--resamples", type=int, default=1000)
    arguments = parser.parse_args()
    model = EndpointSpec(arguments.url, arguments.model, context_length=arguments.context).build()
    planted, topics = written(HospitalSpec(seed=arguments.seed, notes=arguments.notes, part=Part(arguments.part)))
    spec, notes = DetectorSpec(arguments.detector, topics=topics), [each.note for each in planted]
    found = [it.spans or () for _, it in LocalEngine().detect_in_two_passes(spec, lambda: notes)]
    often = {"choices": arguments.choices, "resamples": arguments.resamples, "seed": arguments.seed}
    raw = attack(model, [Target(each.note, each.note.text, gold=each.gold) for each in planted], topics,
                 aims=[aim for aim in Aim if aim is not Aim.MASKED], **often)  # fmt: skip
    told("raw", raw)
    if all(it.failed == it.right.total for it in raw.values()):
        reasons = ", ".join(sorted({why.value for it in raw.values() for why in it.failures}))
        sys.exit(f"the model answered nothing ({reasons}): no release is attacked")
    for policy in arguments.policy or policy_names():
        told(policy, attack(model, list(released(planted, found, policy, topics)), topics, **often))


if __name__ == "__main__":
    main()
