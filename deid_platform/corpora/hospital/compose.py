"""Sets one note: a layout's lines, the templates they draw, the slots these hold.

Belongs here: carrying out the notation of `grammar` for one chart. Does not belong here: prose, or who
writes when (`deliveries`).
"""

from __future__ import annotations

from typing import assert_never

from deid_platform.corpora.hospital import forms, selection, slots
from deid_platform.corpora.hospital.chart import Chart
from deid_platform.corpora.hospital.grammar import Choice, Copy, Draw, Form, Mark, Number, Op, Slot, Template, Text
from deid_platform.corpora.hospital.page import Page
from deid_platform.corpora.hospital.people import ascii_slug
from deid_platform.corpora.hospital.rule import SlotRule
from deid_platform.corpora.hospital.spec import Style
from deid_platform.errors import Code, DeidError

# What stands before each item, and between two.
_JOINS = {
    "spaces": ("", " "),
    "lines": ("", "\n"),
    "bullets": ("- ", "\n"),
    "numbered": ("{}. ", "\n"),
    "commas": ("", ", "),
    "semis": ("", "; "),
    "sentences": ("", " "),
}
_STOPS = frozenset(".!?:;,-|>")
# In 3 notes of 100 lines end as some interfaces send them, so that offsets are proven there too.
CARRIAGE_RETURN_SHARE = 0.03
# Typists' screens break lines; so names, dates and addresses are broken too.
WRAPPED_SHARE = 0.6  # of the dictated notes
WIDTHS = (68, 72, 76, 80)  # code points
_NOTHING: tuple[Template, ...] = ()


def compose(chart: Chart, appendix: str | None = None) -> tuple[Page, Style]:
    """Write the note of a chart.

    Args:
        chart: What the note knows.
        appendix: A pool from which one more paragraph is drawn at the end (an addendum).

    Returns:
        The page, and the house of style in which it is set.

    Raises:
        DeidError: `template-invalid` if a template names an unknown pool or slot.
    """
    dice = chart.dice
    newline = "\r\n" if dice.chance(CARRIAGE_RETURN_SHARE) else "\n"
    layout = dice.pick(selection.layouts(chart.place.spec)[chart.note_type])
    wrapped = layout.style is Style.DICTATED and dice.chance(WRAPPED_SHARE)
    page = Page(newline, dice.pick(WIDTHS) if wrapped else None)
    _Setter(chart, page).layout(layout.lines)
    if appendix is not None:
        page.gap = "\n\n"
        _Setter(chart, page).draw(Draw(appendix, False, 1, 1, "spaces", 100))
    page.gap = ""
    page.put("\n")
    return page, layout.style


class _Setter:
    def __init__(self, chart: Chart, page: Page) -> None:
        self._chart = chart
        self._page = page
        self._pools = selection.pools(chart.place.spec.part)
        self._rules = slots.rules()
        self._within: Template | None = None  # the way or the shape that is being carried out

    def layout(self, lines: tuple[Template, ...]) -> None:
        """Line by line; a line that comes to nothing leaves no gap, a blank line leaves one."""
        blank = False
        for line in lines:
            if not line.ops:
                blank = True
                continue
            if not line.guard <= self._chart.facts:
                continue
            before = self._page.length
            self._page.gap = "\n\n" if blank else "\n"
            self.template(line)
            blank = blank and self._page.length == before

    def template(self, template: Template) -> None:
        """Carry out a template's steps."""
        outer = self._within
        if template.way is not None or template.shape is not None:
            self._within = template
        for op in template.ops:
            self._step(op)
        self._within = outer

    def _step(self, op: Op) -> None:
        page, chart = self._page, self._chart
        if type(op) is Text:
            page.put(op.text)
        elif type(op) is Slot:
            rule = self._rules.get(op.name)
            if rule is None:
                raise DeidError(Code.TEMPLATE_INVALID, op.name)
            self._fill(rule, op.case)
        elif type(op) is Form:
            self._fill(forms.rule(op.name, op.pattern), op.case)
        elif type(op) is Draw:
            self.draw(op)
        elif type(op) is Mark:
            page.term(begins=op.begins)
        elif type(op) is Number:
            value = chart.dice.between(op.low, op.high)
            page.put(f"{value / 10**op.decimals:.{op.decimals}f}")
        elif type(op) is Choice:
            page.put(chart.dice.pick(op.words))
        elif type(op) is Copy:
            page.copy(op.sign)
        else:
            assert_never(op)  # type: ignore[arg-type]

    def _fill(self, rule: SlotRule, case: str | None) -> None:
        chart, within = self._chart, self._within
        text = rule.value(chart)
        if case == "caps":
            text = text.upper()
        elif case == "lower":
            text = text.lower()
        if rule.gold_if is not None and not rule.gold_if(chart):
            self._page.put(text)
            return
        shape = rule.shape if rule.shape_if is None or rule.shape_if(chart) else None
        if within is not None and rule.label is not None:
            self._page.put(text, rule.label, shape or within.shape, within.way)
        else:
            self._page.put(text, rule.label, shape)

    def draw(self, op: Draw) -> None:
        """Templates from a pool, joined; nothing if chance or the pool says so."""
        dice = self._chart.dice
        if op.percent < 100 and not dice.chance(op.percent / 100):
            return
        name, templates = self._find(op.pool)
        used = set() if op.repeats else self._chart.used.setdefault(name, set())
        wanted = op.low if op.low == op.high else dice.between(op.low, op.high)
        lead, between = _JOINS[op.join]
        written = 0
        if op.join == "sentences" and self._page.gap == " ":
            self._page.gap = ""
            self._stop()
            self._page.gap = " "
        for _ in range(wanted):
            template = self._choose(templates, used)
            if template is None:
                return
            # What stands before an item is written only if the item comes to something.
            gap, length = self._page.gap, self._page.length
            self._page.gap = (between if written else gap) + lead.format(written + 1)
            self.template(template)
            if self._page.length > length:
                written += 1
                if op.join == "sentences":
                    self._stop()
            else:
                self._page.gap = gap

    def _stop(self) -> None:
        """End the sentence, unless it has ended."""
        if self._page.last not in _STOPS:
            self._page.put(".")

    def _find(self, pool: str) -> tuple[str, tuple[Template, ...]]:
        role, dot, section = pool.partition(".")
        if not dot:
            if pool not in self._pools:
                raise DeidError(Code.TEMPLATE_INVALID, pool)
            return pool, self._pools[pool]
        chart = self._chart
        key = {"primary": chart.primary, "other": chart.other, "surname": ascii_slug(chart.resident.last)}[role]
        # A condition need not fill every section, and few surnames are eponyms.
        return f"{key}/{section}", self._pools.get(f"{key}/{section}", _NOTHING)

    def _choose(self, templates: tuple[Template, ...], used: set[int]) -> Template | None:
        """An unused template that suits the patient: drawn, then the next that does."""
        if not templates:
            return None
        first = self._chart.dice.between(0, len(templates) - 1)
        for step in range(len(templates)):
            index = (first + step) % len(templates)
            if index not in used and templates[index].guard <= self._chart.facts:
                used.add(index)
                return templates[index]
        return None
