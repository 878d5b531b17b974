"""A round in Label Studio: tasks for one role, what comes back, and the labelling interface.

Belongs here: what of a removal a task shows, and what of an annotation is believed. Does not belong here: that JSON
(`corpora/formats/labelstudio.py`), or what a decision or a mark is.

A task is of one role and says so. It holds nothing that the other reader said, and comes back as that role's alone: a
file of A's is no answer of B's. All of a file is kept or none of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.formats.labelstudio import write_rows
from deid_platform.corpora.formats.labelstudio_export import Annotated, Returned, read_tasks
from deid_platform.corpora.gold import SCHEME
from deid_platform.corpora.schemes import Scheme, scheme_of
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import ANNOTATORS, Role
from deid_platform.review.decisions import Category, Decision, Severity, decisions_of, offered
from deid_platform.review.missed import Mark, Missed, keep, marks_of, placed, shown
from deid_platform.review.rounds import Removal, removals_of_round
from deid_platform.review.written import WRITTEN_FOR, check_reader, token

REMOVED, HIDDEN = "REMOVED", "HIDDEN"
"""What the removal is called in its text, and what else is hidden there; both are for reading."""
_Row = dict[str, object]


def config(site: Site) -> str:
    """The labelling interface: the two questions about a removal, and a button for each label and severity."""
    labels = [label for label in Label if site.policy.hidden(label)]
    names = [REMOVED, HIDDEN, *(f"{label.value} {severity.value}" for label in labels for severity in Severity)]
    buttons = "\n".join(f"    <Label value={quoteattr(name)}/>" for name in names)
    return (
        "<View>\n"
        "  <Style>.htx-text { white-space: pre-wrap; }</Style>\n"
        '  <Header value="$about"/>\n'
        f'  <Labels name="label" toName="text">\n{buttons}\n  </Labels>\n'
        '  <Text name="text" value="$text" saveTextResult="yes"/>\n'
        f'  <Choices name="category" toName="text" choice="single">\n{_options(Category)}\n  </Choices>\n'
        '  <Choices name="severity" toName="text" choice="single" visibleWhen="choice-selected" '
        f'whenTagName="category" whenChoiceValue="{Category.RELEVANT.value}">\n{_options(Severity)}\n  </Choices>\n'
        "</View>\n"
    )


def _options(names: type[Category] | type[Severity]) -> str:
    return "\n".join(f"    <Choice value={quoteattr(name.value)}/>" for name in names)


def export(site: Site, number: int, role: Role, path: Path) -> int:
    """Writes a task for each removal that a role is shown, with what it said so far; returns how many.

    Raises:
        DeidError: `output-unusable`.
    """
    return write_rows(_tasks(site, number, role), path)


def _tasks(site: Site, number: int, role: Role) -> Iterator[_Row]:
    members = removals_of_round(site, number)
    mine, marks = decisions_of(site.store, number, role), list(marks_of(site.store, number, role).values())
    seen = ANNOTATORS if role is Role.ADJUDICATOR else ()
    readers = {who: (decisions_of(site.store, number, who), marks_of(site.store, number, who)) for who in seen}
    asked = set(offered(site, number, role))
    for key in shown(site, number, role):
        it = members[key]
        about = [f"{it.label}, {it.note_type}" if it.note_type else it.label]
        if key not in asked:
            about.append("the category is settled: choose none")
        for who, (decisions, marked) in readers.items():
            said = [_said(decisions.get(key)), *(_told(it, m) for m in marked.values() if m.removal == key)]
            about.append(f"{who.value}: {', '.join(filter(None, said)) or 'nothing'}")
        result = [*_regions(it, [m for m in marks if m.removal == key]), *_chosen(mine.get(key))]
        yield {
            "data": {"text": it.text, "note": key, "about": "; ".join(about)},
            "meta": {WRITTEN_FOR: token(site.keyring, number, role, key)},
            "predictions": [{"model_version": "round", "result": result}],
        }


def _said(decision: Decision | None) -> str:
    return " ".join(filter(None, (decision.category.value, decision.severity))) if decision else ""


def _told(removal: Removal, it: Missed) -> str:
    return f"missed {it.span.label.value} {it.severity.value} ({removal.words(it.span)})"


def _regions(it: Removal, marks: list[Missed]) -> Iterator[_Row]:
    places = [(it.start, it.end, REMOVED)]
    places += [(s.start, s.end, HIDDEN) for s in it.hidden if s.end <= it.start or it.end <= s.start]
    places += [(m.span.start, m.span.end, f"{m.span.label.value} {m.severity.value}") for m in marks]
    for number, (start, end, label) in enumerate(places):
        begin, stop = start - it.origin, end - it.origin
        value = {"start": begin, "end": stop, "text": it.text[begin:stop], "labels": [label]}
        yield {"id": f"s{number}", "from_name": "label", "to_name": "text", "type": "labels", "value": value}


def _chosen(decision: Decision | None) -> Iterator[_Row]:
    said = {"category": decision.category, "severity": decision.severity} if decision else {}
    for name, value in said.items():
        if value is not None:
            chosen = {"choices": [value.value]}
            yield {"id": name, "from_name": name, "to_name": "text", "type": "choices", "value": chosen}


def take_back(site: Site, number: int, role: Role, path: Path) -> tuple[int, int]:
    """Keeps what an export says; tasks without an annotation are left as they are; returns decisions and marks.

    A task's marks are added to those that stand, and take the place of those that they overlap.

    Raises:
        DeidError: `input-invalid`, `review-role`, `decision-invalid` or `mark-invalid` with the task's place in the
            file, from 1.
    """
    members = removals_of_round(site, number)
    said: dict[str, Decision | None] = {}
    marks: list[Mark] = []
    seen: set[str] = set()
    by_severity = [(severity, _read(path, severity)) for severity in Severity]
    for tasks in zip(*(found for _, found in by_severity), strict=True):
        task = tasks[0]
        try:
            check_reader(site, number, role, task.key, task.meta.get(WRITTEN_FOR))
            _check(task, members, seen)
            seen.add(task.key)
            if decision := _decision(_one(task)):
                said[task.key] = decision
            for (of, _), same in zip(by_severity, tasks, strict=True):
                marks += _marks(same, of, members[task.key])
        except DeidError as error:
            raise DeidError(error.code, f"task {task.place}: {error.ref}") from None
    keep(site, number, role, said, marks)
    return len(said), len(marks)


def _read(path: Path, severity: Severity) -> list[Returned]:
    """The tasks of a file, of which the spans are the identifiers of one severity."""
    found: list[Returned] = []
    for it in read_tasks(path, _scheme(severity)):
        if isinstance(it, Rejection):
            raise DeidError(Code.INPUT_INVALID, f"task {it.row}: {it.reason.value}")
        found.append(it)
    return found


def _scheme(severity: Severity) -> Scheme:
    labels: dict[str, Label | None] = {REMOVED: None, HIDDEN: None}
    labels |= {f"{label.value} {of.value}": label if of is severity else None for of in Severity for label in Label}
    return replace(scheme_of(SCHEME), labels=labels)


def _check(task: Returned, members: Mapping[str, Removal], seen: set[str]) -> None:
    if task.key in seen:
        raise DeidError(Code.DECISION_INVALID, "twice")
    if task.key not in members or members[task.key].text != task.text:
        raise DeidError(Code.DECISION_INVALID, "removal")


def _one(task: Returned) -> Annotated | None:
    """The one annotation of a task; None if nobody made one, or it was skipped."""
    final = [it for it in task.annotations if it.ground_truth]
    chosen = final if len(task.annotations) > 1 else task.annotations
    if task.annotations and len(chosen) != 1:
        raise DeidError(Code.INPUT_INVALID, Reason.SEVERAL_ANNOTATIONS.value)
    return chosen[0] if chosen else None


def _decision(answer: Annotated | None) -> Decision | None:
    if answer is None or "category" not in answer.choices:
        return None
    category = answer.choices["category"]
    # The question about severity may have been answered before the category was changed.
    return Decision.parse(category, answer.choices.get("severity") if category == Category.RELEVANT else None)


def _marks(task: Returned, severity: Severity, removal: Removal) -> Iterator[Mark]:
    answer = _one(task)
    if answer is None:
        return
    if isinstance(answer.marked, Reason):
        raise DeidError(Code.MARK_INVALID, answer.marked.value)
    for span in answer.marked.spans:
        made = Mark(removal.removal, span.start, span.end, span.label, severity)
        placed(removal, made)
        yield made
