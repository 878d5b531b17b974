"""Redaction policies: what happens to each label, and on what legal ground.

Belongs here: the policy as a checked value, read from YAML. Does not belong here: how an action turns
text into other text (`redact.py` and its neighbours).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import TypeVar

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import package_digest, plain_digest
from deid_platform.labels import DIRECT_IDENTIFIERS, Indirect, Label
from deid_platform.surrogates.consistency import Consistency
from deid_platform.surrogates.dates import DateShift
from deid_platform.text.strict_yaml import read_yaml

_SHIPPED = resources.files("deid_platform.redaction") / "policies"
_FIELDS = ("name", "title", "legal_basis", "description", "tag", "tag_with_value", "labels", "structured")
# Required where they say something, refused where they do not.
_CONSISTENCY, _DATE_SHIFT = "consistency", "date_shift"
_INDIRECT = "indirect"
_SAFE_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class Action(StrEnum):
    """What a policy does with the text of a label."""

    TAG = "tag"
    KEEP = "keep"
    YEAR = "year"
    BIRTH_YEAR = "birth_year"
    ZIP3 = "zip3"
    AGE90 = "age90"
    SURROGATE = "surrogate"


class IndirectAction(StrEnum):
    """What a policy does with a category of indirect identifiers, where a refresh tags them."""

    KEEP = "keep"
    REMOVE = "remove"
    """A tag takes its place that is the same for all categories."""
    GENERALISE = "generalise"
    """A tag takes its place that says the category in plain words."""


REMOVED = "INDIRECT"
"""What the tag of a removed indirect identifier says."""
GENERAL: dict[Indirect, str] = {
    Indirect.FAMILY: "family circumstances",
    Indirect.OCCUPATION: "an occupation",
    Indirect.EVENT: "an event",
    Indirect.APPEARANCE: "an outward feature",
    Indirect.SURROUNDINGS: "a kind of place",
    Indirect.ORIGIN: "an origin",
    Indirect.WAY_OF_LIFE: "a way of life",
    Indirect.STANDING: "a social circumstance",
    Indirect.CARE: "a course of care",
}
"""What the tag of a generalised one says, in every language; no digit may stand in it (`leakcheck/check.py`)."""


class NoteDateRule(StrEnum):
    """What a policy lets through of a note's structured date."""

    YEAR = "year"
    SHIFT = "shift"
    DROP = "drop"
    KEEP = "keep"


class DateClass(StrEnum):
    """What dates a release shows, in the text or beside it; two classes under one secret tell of each other."""

    TRUE = "true"
    SHIFT = "shift"
    SEASON = "season"
    YEAR = "year"
    NONE = "none"

    @property
    def moved(self) -> bool:
        """Whether dates are shifted with the patient."""
        return self in (DateClass.SHIFT, DateClass.SEASON)


# Actions that read a value work on the one label whose text holds such a value.
ACTION_LABEL: dict[Action, Label] = {
    Action.YEAR: Label.DATE,
    Action.BIRTH_YEAR: Label.DATE,
    Action.ZIP3: Label.ZIP,
    Action.AGE90: Label.AGE,
}
# A true date or year beside a shifted one would tell how far a patient's dates were moved, in the text as in the
# columns. An action that is not named here goes with the year or with nothing.
_DATE_RULES: dict[Action, frozenset[NoteDateRule]] = {
    Action.SURROGATE: frozenset((NoteDateRule.SHIFT, NoteDateRule.DROP)),
    Action.TAG: frozenset((NoteDateRule.YEAR, NoteDateRule.SHIFT, NoteDateRule.DROP)),
    # Whoever keeps all dates makes a limited data set.
    Action.KEEP: frozenset((NoteDateRule.KEEP,)),
}
# What Safe Harbor lists and a policy may still keep: its releases are then for those who signed for them.
_LIMITED_IF_KEPT = (Label.DATE, Label.AGE, Label.STREET, Label.CITY, Label.ZIP)


@dataclass(frozen=True, slots=True)
class Policy:
    """One redaction policy.

    Attributes:
        name: Its name, as `--policy` and deid.toml use it.
        title: Its name for a reader.
        legal_basis: The rule that it serves.
        description: What it removes, what it leaves and why.
        tag: Stands for a removed span; `{label}` is its label.
        tag_with_value: Stands for a span of which a coarser `{value}` remains.
        labels: The action of every label.
        note_date: What remains of the structured note date.
        consistency: Where a person and a number have one surrogate; says nothing where there are none.
        date_shift: Among which shifts a patient's is; says nothing where dates are not shifted.
        indirect: The action of every category of indirect identifiers; empty keeps all.
    """

    name: str
    title: str
    legal_basis: str
    description: str
    tag: str
    tag_with_value: str
    labels: Mapping[Label, Action] = field(hash=False)
    note_date: NoteDateRule
    consistency: Consistency = Consistency.CONSISTENT
    date_shift: DateShift = DateShift.WEEKS
    indirect: Mapping[Indirect, IndirectAction] = field(default_factory=dict, hash=False)

    @property
    def digest(self) -> str:
        """Changes with anything that changes redacted text: actions, tags, and the code and data behind them."""
        content = {
            "tags": [self.tag, self.tag_with_value],
            "labels": {label.value: self.labels[label].value for label in Label},
            "note_date": self.note_date.value,
            "surrogates": [self.consistency.value, self.date_shift.value],
            "indirect": {category.value: self.indirect_action(category).value for category in Indirect},
        }
        # Dates are read by `surrogates/` under every policy.
        rules = [package_digest(f"deid_platform.{package}") for package in ("redaction", "surrogates", "text")]
        if self.uses_surrogates or self.note_date is NoteDateRule.SHIFT:
            from deid_platform.surrogates.pools import POOLS_VERSION  # deferred: most policies need none of it

            # Which name stands for which also rests on the names of the word lists.
            rules += (POOLS_VERSION, package_digest("deid_platform.lexicon"))
        return plain_digest(self.name, json.dumps(content, sort_keys=True), *rules)

    @property
    def uses_surrogates(self) -> bool:
        """Whether anything is replaced with a surrogate, for which the key secret is needed."""
        return Action.SURROGATE in self.labels.values()

    @property
    def draws_surrogates(self) -> bool:
        """Whether anything but dates, which move with the patient anyway, is replaced with a surrogate."""
        return any(self.labels[label] is Action.SURROGATE for label in Label if label is not Label.DATE)

    @property
    def shifts_dates(self) -> bool:
        """Whether dates in the text are moved."""
        return self.labels[Label.DATE] is Action.SURROGATE

    def hidden(self, label: Label) -> int:
        """How much of a label it hides: 0 nothing, 1 a part, as all but the year of a date, 2 all."""
        action = self.labels[label]
        return 0 if action is Action.KEEP else 1 if action in ACTION_LABEL else 2

    @property
    def hides_professions(self) -> bool:
        """Whether what somebody is by trade must be found."""
        return self.labels[Label.PROFESSION] is not Action.KEEP

    @property
    def hides_ages(self) -> bool:
        """Whether ages under 90 must be found; older ones always are."""
        return self.labels[Label.AGE] not in (Action.KEEP, Action.AGE90)

    @property
    def hides_years(self) -> bool:
        """Whether a true year that stands alone goes as dates do: it moves with them, or a tag takes its place."""
        return self.labels[Label.DATE] in (Action.SURROGATE, Action.TAG)

    @property
    def hides_parts_of_years(self) -> bool:
        """Whether nothing finer than a year may stay: numbers of weeks, quarters, zones of summer time."""
        return self.hides_years or self.labels[Label.DATE] is Action.YEAR

    @property
    def dates(self) -> DateClass:
        """The class of dates that it shows, in the text or beside it: the one that tells the most."""
        action = self.labels[Label.DATE]
        if self.note_date is NoteDateRule.KEEP or action in (Action.KEEP, Action.BIRTH_YEAR):
            return DateClass.TRUE
        if self.note_date is NoteDateRule.SHIFT or action is Action.SURROGATE:
            return DateClass.SHIFT if self.date_shift is DateShift.WEEKS else DateClass.SEASON
        if self.note_date is NoteDateRule.YEAR or action is Action.YEAR:
            return DateClass.YEAR
        return DateClass.NONE

    @property
    def limited(self) -> bool:
        """Whether it keeps days of care, addresses, towns, ZIP codes or ages over 89 as they are: such a release is not
        for every analyst to see."""
        return self.dates is DateClass.TRUE or any(self.labels[x] is Action.KEEP for x in _LIMITED_IF_KEPT)

    def indirect_action(self, category: Indirect) -> IndirectAction:
        """What becomes of a category of indirect identifiers."""
        return self.indirect.get(category, IndirectAction.KEEP)

    @property
    def hides_indirect(self) -> bool:
        """Whether any indirect identifier goes, so that they must be tagged."""
        return any(self.indirect_action(category) is not IndirectAction.KEEP for category in Indirect)

    def indirect_tag(self, category: Indirect) -> str:
        """What stands in the place of an indirect identifier that goes."""
        general = self.indirect_action(category) is IndirectAction.GENERALISE
        return self.tag.replace("{label}", GENERAL[category] if general else REMOVED)

    @property
    def indirect_tags(self) -> tuple[str, ...]:
        """All that it puts in the place of indirect identifiers, each once."""
        going = (it for it in Indirect if self.indirect_action(it) is not IndirectAction.KEEP)
        return tuple(dict.fromkeys(map(self.indirect_tag, going)))

    @property
    def of_direct_alone(self) -> Policy:
        """The same policy where nobody tags indirect identifiers, as in the bench: it keeps them."""
        return replace(self, indirect={})

    def tagged(self, label: Label, value: str | None = None) -> str:
        """The tag of a label, with what may remain of its value."""
        if value is None:
            return self.tag.replace("{label}", label.value)
        return self.tag_with_value.replace("{label}", label.value).replace("{value}", value)


def policy_names() -> tuple[str, ...]:
    """The policies that ship with the platform, in alphabetical order."""
    return tuple(sorted(p.name.removesuffix(".yaml") for p in _SHIPPED.iterdir() if p.name.endswith(".yaml")))


def load_policy(name_or_path: str | Path) -> Policy:
    """Read a shipped policy by its name, or any policy by its file's path.

    Raises:
        DeidError: `policy-unknown` if there is neither; `policy-invalid`, with the key, if the file is
            not a whole and unambiguous policy, or bears the name of a shipped one without being it.
    """
    name = str(name_or_path)
    if isinstance(name_or_path, str) and name in policy_names():
        source = (_SHIPPED / f"{name}.yaml").read_bytes()
    else:
        try:
            source = Path(name_or_path).read_bytes()
        except (OSError, ValueError):
            raise DeidError(Code.POLICY_UNKNOWN, did_you_mean(name, policy_names())) from None
    policy = parse_policy(source)
    # Whoever reads a release's policy by its name must be able to look it up.
    if policy.name in policy_names() and source != (_SHIPPED / f"{policy.name}.yaml").read_bytes():
        raise DeidError(Code.POLICY_INVALID, "name is that of a shipped policy")
    return policy


def parse_policy(source: bytes) -> Policy:
    """A policy from YAML.

    Raises:
        DeidError: `policy-invalid`, naming the key that is missing, unknown, doubled or of the wrong kind, or the
            direct identifier that it would keep.
    """
    try:
        content = read_yaml(source)
    except ValueError:
        raise DeidError(Code.POLICY_INVALID, "not a YAML mapping without doubled keys") from None
    top = _mapping(content, "policy", _FIELDS, optional=(_CONSISTENCY, _DATE_SHIFT, _INDIRECT))
    texts = {key: _text(top, key) for key in _FIELDS[:6]}
    if not _NAME.fullmatch(texts["name"]):
        raise DeidError(Code.POLICY_INVALID, "name")
    _check_tag(texts["tag"], "tag", ("{label}",))
    _check_tag(texts["tag_with_value"], "tag_with_value", ("{label}", "{value}"))
    labels = _mapping(top["labels"], "labels", tuple(label.value for label in Label))
    structured = _mapping(top["structured"], "structured", ("note_date",))
    policy = Policy(
        name=texts["name"],
        title=texts["title"],
        legal_basis=texts["legal_basis"],
        description=texts["description"],
        tag=texts["tag"],
        tag_with_value=texts["tag_with_value"],
        labels={label: _action(label, labels[label.value]) for label in Label},
        note_date=_member(NoteDateRule, structured["note_date"], "structured.note_date"),
    )
    if _INDIRECT in top:
        chosen = _mapping(top[_INDIRECT], _INDIRECT, tuple(category.value for category in Indirect))
        actions = {it: _member(IndirectAction, chosen[it.value], f"{_INDIRECT}.{it.value}") for it in Indirect}
        policy = replace(policy, indirect=actions)
    if policy.note_date not in note_date_rules(policy.labels[Label.DATE]):
        raise DeidError(Code.POLICY_INVALID, "structured.note_date")
    if _chosen(top, _CONSISTENCY, "surrogates", wanted=policy.draws_surrogates):
        policy = replace(policy, consistency=_member(Consistency, top[_CONSISTENCY], _CONSISTENCY))
    if _chosen(top, _DATE_SHIFT, "shifted dates", wanted=policy.dates.moved):
        policy = replace(policy, date_shift=_member(DateShift, top[_DATE_SHIFT], _DATE_SHIFT))
    return policy


def note_date_rules(dates: Action) -> frozenset[NoteDateRule]:
    """What may be left of a note's own date beside an action of the dates in its text."""
    return _DATE_RULES.get(dates, frozenset((NoteDateRule.YEAR, NoteDateRule.DROP)))


def _chosen(top: dict[str, object], key: str, of: str, *, wanted: bool) -> bool:
    """Whether a policy makes a choice, which it must where there is something to choose, and nowhere else."""
    if wanted and key not in top:
        raise DeidError(Code.POLICY_INVALID, f"policy.{key} is missing")
    if key in top and not wanted:
        raise DeidError(Code.POLICY_INVALID, f"{key} without {of}")
    return wanted


def _mapping(value: object, where: str, keys: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, object]:
    """`value` as a mapping with exactly these keys, and perhaps some that are optional."""
    if not isinstance(value, dict):
        raise DeidError(Code.POLICY_INVALID, where)
    for key in keys:
        if key not in value:
            raise DeidError(Code.POLICY_INVALID, f"{where}.{key} is missing")
    for key in value:
        if key not in (*keys, *optional):
            # A file that is no policy at all (notes, say) must not be quoted as a key.
            shown = key if isinstance(key, str) and _SAFE_KEY.fullmatch(key) else "a key"
            raise DeidError(Code.POLICY_INVALID, f"{where}.{shown} is unknown")
    return value


def _text(mapping: dict[str, object], key: str) -> str:
    value = mapping[key]
    if not isinstance(value, str) or not value.strip():
        raise DeidError(Code.POLICY_INVALID, key)
    return value


def _check_tag(tag: str, key: str, fields: tuple[str, ...]) -> None:
    """A tag must show its fields once each, and be set off from the text around it by brackets."""
    bare = tag
    for name in fields:
        if bare.count(name) != 1:
            raise DeidError(Code.POLICY_INVALID, key)
        bare = bare.replace(name, "")
    if bare.strip() != bare or "{" in bare or "}" in bare or tag[0].isalnum() or tag.startswith("{") or tag[-1] == "}":
        raise DeidError(Code.POLICY_INVALID, key)


def _action(label: Label, value: object) -> Action:
    action = _member(Action, value, f"labels.{label.value}")
    if ACTION_LABEL.get(action, label) is not label or (action is Action.SURROGATE and label is Label.AGE):
        raise DeidError(Code.POLICY_INVALID, f"labels.{label.value}")
    if action is Action.KEEP and label in DIRECT_IDENTIFIERS:
        raise DeidError(Code.POLICY_INVALID, f"labels.{label.value} is a direct identifier")
    return action


_E = TypeVar("_E", bound=StrEnum)


def _member(kind: type[_E], value: object, where: str) -> _E:
    for member in kind:
        if member.value == value:
            return member
    raise DeidError(Code.POLICY_INVALID, where)
