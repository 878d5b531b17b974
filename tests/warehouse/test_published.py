"""What the papers print, as seeds of dbt: every figure that can be computed from others agrees, but for those listed.

Belongs here: the arithmetic of the papers' tables. Does not belong here: the marts that show them
(`readers/test_marts.py`).

A printed figure is right if rounding what the others give yields it; where those were rounded themselves, if any of
the values that they may have had yields it. Whatever is left must be a row of published_misprints.csv, and nothing else
may.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby
from pathlib import Path

import pytest

from deid_platform.corpora.gold_words import AS_WRITTEN, OWN
from deid_platform.warehouse.quality.lab import CATEGORIES, DETECTORS, GOLDS, LOCALES, MEASURES, SUBJECTS
from deid_platform.warehouse.quality.lab import FAMILIES as FAMILIES_HERE

SEEDS = Path(__file__).parents[2] / "dbt" / "seeds"
FAMILIES = ("scores", "retention", "judges", "costs", "missed", "recovered", "corpora")
KEY = ("paper", "table_name", "corpus", "system", "setting", "subject", "measure")
COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives")
NOTES = Decimal(217)
"""Of the test set of CoNLL 2003."""
DOLLARS_AN_HOUR = Decimal(8)
"""Of the machine with eight L4, by the paper's own words."""


def seed(name: str) -> list[dict[str, str]]:
    with (SEEDS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


PUBLISHED = {family: seed(f"published_{family}") for family in FAMILIES}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_figure_is_there_once_and_its_number_is_the_one_that_is_printed(family: str) -> None:
    rows = PUBLISHED[family]
    keys = [tuple(row[column] for column in KEY) for row in rows]
    assert len(keys) == len(set(keys)) > 0
    for row in rows:
        number = Decimal(row["printed"].strip("<$% ").replace(",", ""))
        assert Decimal(row["value"]) == (number / 100 if row["printed"].endswith("%") else number)


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("published_survey", ("study", "system", "prompting")),
        ("published_misprints", KEY),
        ("nearest_corpus", ("corpus", "place")),
        ("nearest_system", ("paper", "system", "setting", "place")),
        ("nearest_measure", ("paper", "table_name", "measure", "setting")),
    ],
)
def test_the_other_seeds_have_one_row_each(name: str, columns: tuple[str, ...]) -> None:
    keys = [tuple(row[column] for column in columns) for row in seed(name)]
    assert len(keys) == len(set(keys)) > 0


def test_what_is_nearest_is_named_for_every_corpus_and_in_words_that_the_laboratory_may_use() -> None:
    theirs = {row["corpus"] for family in ("scores", "retention", "costs", "missed") for row in PUBLISHED[family]}
    assert {row["corpus"] for row in seed("nearest_corpus")} == theirs
    # A site's own corpora have names of its own.
    assert {row["gold"] for row in seed("nearest_corpus")} <= {*GOLDS, f"{OWN}%-{AS_WRITTEN}"}
    assert {f"locale {row['locale']}" for row in seed("nearest_corpus") if row["locale"]} <= set(LOCALES)
    assert {row["detector"] for row in seed("nearest_system")} <= {"", *DETECTORS}
    subjects = {
        nearest["our_subject"].replace("%", row["subject"])
        for nearest in seed("nearest_measure")
        for row in beside()
        if nearest["our_family"] and same(row, nearest, "paper", "table_name", "measure")
    }
    assert subjects <= set(SUBJECTS)
    assert {row["our_family"] for row in seed("nearest_measure")} <= {"", *FAMILIES_HERE}
    assert {row["our_measure"] for row in seed("nearest_measure")} <= {"", *MEASURES}
    assert {row["subject"] for row in PUBLISHED["missed"]} <= set(CATEGORIES)


def beside() -> list[dict[str, str]]:
    """The published figures of the measures that have a counterpart here."""
    nearest = [row for row in seed("nearest_measure") if row["our_family"]]
    measures = {(row["paper"], row["table_name"], row["measure"]) for row in nearest}
    families = ("scores", "retention", "costs", "missed")
    rows = (row for family in families for row in PUBLISHED[family])
    return [row for row in rows if (row["paper"], row["table_name"], row["measure"]) in measures]


def same(row: dict[str, str], nearest: dict[str, str], *names: str) -> bool:
    """Whether a line of what is nearest is of a figure: by these columns, and by its setting, a pattern of LIKE."""
    setting = ".*".join(map(re.escape, nearest["setting"].split("%")))
    return all(nearest[name] == row[name] for name in names) and re.fullmatch(setting, row["setting"]) is not None


def test_every_figure_with_a_counterpart_is_of_one_way_to_count_and_of_a_system_that_is_named() -> None:
    for row in beside():
        counted = [it for it in seed("nearest_measure") if same(row, it, "paper", "table_name", "measure")]
        systems = [it for it in seed("nearest_system") if same(row, it, "paper", "system")]
        assert len(counted) == 1, row
        assert {it["place"] for it in systems} in ({"1"}, {"1", "2"}), row
        assert len(systems) == len({it["place"] for it in systems}), row


def test_every_printed_figure_has_a_counterpart_or_says_why_it_has_none() -> None:
    nearest = seed("nearest_measure")
    for row in (row for rows in PUBLISHED.values() for row in rows):
        counted = [it for it in nearest if same(row, it, "paper", "table_name", "measure")]
        assert len(counted) == 1 and counted[0]["what_differs"], row
    assert {row["needs"] for row in nearest if not row["our_family"]} == {"", "weights", "labels"}


def test_one_detector_of_ours_is_of_one_system_of_a_paper_and_one_training() -> None:
    of: defaultdict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
    for row in beside():
        for it in seed("nearest_system"):
            if it["detector"] and same(row, it, "paper", "system"):
                trained = row["setting"] if "fine-tuned" in row["setting"] else ""
                trained = trained.removeprefix("names alone; ").removesuffix(" with US identifiers")
                of[row["paper"], it["detector"], it["inputs"]].add((row["system"].replace(" ", ""), trained))
    for detector, found in of.items():
        assert len({system for system, _ in found}) == 1, detector
        assert len({trained for _, trained in found if trained}) <= 1, detector


@pytest.mark.parametrize(
    ("paper", "table", "figures"),
    [
        ("Aghakasiri 2025", "table 2", 16 * 8),
        ("Aghakasiri 2025", "table 3", 6 * 4),
        ("Aghakasiri 2025", "table 4", 8 * 4),
        ("Aghakasiri 2025", "table 5", 2 * 7),
        ("Aghakasiri 2025", "table 6", 7),
        ("Aghakasiri 2025", "table 7", 6 * 3),
        ("Aghakasiri 2025", "table 8", 6 * 4),
        ("Aghakasiri 2025", "table 9", 3 * 2),
        ("Aghakasiri 2025", "table 10", 18 * 3),
        ("Aghakasiri 2025", "table 11", 9),
        ("Aghakasiri 2025", "table 12", 8 * 8),
        ("Aghakasiri 2025", "table 13", 16 * 8),
        ("Aghakasiri 2025", "table 14", 6 * 5),
        ("Murugadoss 2024", "table 1", 4 * 6),
        ("Murugadoss 2024", "table 3", 14 * 6),
        ("Murugadoss 2024", "table 5", 8 * 6 - 4 * 3),
        ("Murugadoss 2024", "table 6", 8 * 4 - 4),
        ("Murugadoss 2024", "supplementary table 1", 11 * 2),
        ("Murugadoss 2024", "supplementary table 3", 4 * 3),
        ("Murugadoss 2024", "supplementary table 4", 8 * 2 - 4),
        ("Miranda 2025", "table 1", 4),
        ("Miranda 2025", "table 2", 8 * 6),
        ("Zambare 2026", "table 1", 14 * 6 - 2),
        ("Zambare 2026", "table 2", 4 * 8),
        ("Zambare 2026", "table 3", 6 * 16),
        ("Zambare 2026", "table 4", 2 * 7),
        ("Zambare 2026", "table 5", 36 * 2),
        ("Zambare 2026", "table 6", 9 * 2),
        ("Zambare 2026", "table 7", 13 * 10),
        ("Zambare 2026", "table 8", 13 * 6),
        ("Zambare 2026", "table 9", 13 * 12),
    ],
)
def test_a_table_is_whole(paper: str, table: str, figures: int) -> None:
    rows = [
        row for family in PUBLISHED.values() for row in family if (row["paper"], row["table_name"]) == (paper, table)
    ]
    assert len(rows) == figures


class Printed:
    """A printed figure, and the interval of numbers that rounding turns into it."""

    def __init__(self, row: dict[str, str]) -> None:
        shown = row["printed"].strip("<$% ").replace(",", "")
        self.percent = row["printed"].endswith("%")
        self.bound = row["printed"].startswith("<")
        self.number = Decimal(shown)
        half = Decimal(1).scaleb(self.number.as_tuple().exponent) / 2  # type: ignore[arg-type]  # never infinite
        self.low, self.high = self.number - half, self.number + half

    def agrees(self, low: Decimal, high: Decimal | None = None) -> bool:
        """Whether a true figure between `low` and `high` would be printed so."""
        scale = 100 if self.percent else 1
        low, high = low * scale, (low if high is None else high) * scale
        if self.bound:
            return low < self.number
        return low <= self.high and high >= self.low


Mismatch = tuple[str, ...]
Rows = dict[str, dict[str, str]]


def of(row: dict[str, str], computed: Decimal) -> Mismatch:
    """What a row of published_misprints.csv says of a figure."""
    return (*(row[column] for column in KEY), f"{computed:.6f}".rstrip("0").rstrip("."))


def together(family: str, *but: str) -> Iterator[Rows]:
    """The figures that are of one thing, by measure: all of a key but the measure and `but`."""
    columns = [column for column in KEY if column != "measure" and column not in but]
    ordered = sorted(PUBLISHED[family], key=lambda row: [row[column] for column in columns])
    for _, rows in groupby(ordered, key=lambda row: [row[column] for column in columns]):
        yield {row["measure"]: row for row in rows}


def ratio(part: Decimal, whole: Decimal) -> Decimal:
    return part / whole if whole else Decimal(0)


def from_counts(family: str) -> Iterator[Mismatch]:
    """Accuracy, precision, recall and F1 where the four counts are printed with them."""
    for rows in together(family):
        if not set(COUNTS) <= set(rows):
            continue
        tp, tn, fp, fn = (Decimal(rows[count]["value"]) for count in COUNTS)
        computed = {
            "accuracy": ratio(tp + tn, tp + tn + fp + fn),
            "precision": ratio(tp, tp + fp),
            "recall": ratio(tp, tp + fn),
            "f1": ratio(2 * tp, 2 * tp + fp + fn),
        }
        for measure, value in computed.items():
            if measure in rows and not Printed(rows[measure]).agrees(value):
                yield of(rows[measure], value)


def judges_from_the_counts_of_the_next_table() -> Iterator[Mismatch]:
    """Table 7 is of the counts in table 8."""
    for rows in together("judges", "table_name"):
        if not set(COUNTS) <= set(rows):
            continue
        tp, tn, fp, fn = (Decimal(rows[count]["value"]) for count in COUNTS)
        computed = {
            "accuracy": ratio(tp + tn, tp + tn + fp + fn),
            "precision": ratio(tp, tp + fp),
            "recall": ratio(tp, tp + fn),
        }
        for measure, value in computed.items():
            if not Printed(rows[measure]).agrees(value):
                yield of(rows[measure], value)


def f1_from_rounded(family: str) -> Iterator[Mismatch]:
    """F1 where only precision and recall are printed with it, each rounded."""
    for rows in together(family):
        if set(rows) & set(COUNTS) or not {"precision", "recall", "f1"} <= set(rows):
            continue
        p, r = Printed(rows["precision"]), Printed(rows["recall"])
        low, high = (2 * a * b / (a + b) for a, b in ((p.low, r.low), (p.high, r.high)))
        if not Printed(rows["f1"]).agrees(low, high):
            yield of(rows["f1"], 2 * p.number * r.number / (p.number + r.number))


def totals() -> Iterator[Mismatch]:
    """Identifiers, and tokens at all, are the same whoever looks for them, and in table 13 as in table 2."""
    tables = [rows for rows in together("scores") if set(COUNTS) <= set(rows) and len({*rows} - {*COUNTS}) == 4]
    for of_identifiers in (True, False):
        found = defaultdict(list)
        for rows in tables:
            row = rows["true_positives"]
            counted = ("true_positives", "false_negatives") if of_identifiers else COUNTS
            total = sum(Decimal(rows[count]["value"]) for count in counted)
            found[row["corpus"], row["table_name"] == "table 12"].append((total, row))
        for group in found.values():
            usual = max((total for total, _ in group), key=[total for total, _ in group].count)
            for total, row in group:
                if total != usual:
                    measure = "identifiers" if of_identifiers else "tokens"
                    yield of({**row, "measure": measure}, total)


def changes_that_people_judged() -> Iterator[Mismatch]:
    """Of 500 each: low and high make the whole, the whole is table 14's, and table 14's kinds make 500."""
    rows = [row for row in PUBLISHED["retention"] if row["paper"] == "Aghakasiri 2025"]
    by = {(r["table_name"], r["corpus"], r["system"], r["subject"], r["measure"]): r for r in rows}
    for (table, corpus, system, subject, measure), row in by.items():
        if (table, measure, subject) != ("table 3", "clinical_changes", "ALL"):
            continue
        whole = Decimal(row["value"])
        severities = (by[table, corpus, system, f"{kind} severity", measure] for kind in ("low", "high"))
        if sum(Decimal(it["value"]) for it in severities) != whole:
            yield of(row, whole)
        share = by[table, corpus, system, subject, "clinical_changes_share"]
        if not Printed(share).agrees(whole / 500):
            yield of(share, whole / 500)
        kinds = [it for key, it in by.items() if key[:3] == ("table 14", corpus, system)]
        relevant = next(it for it in kinds if it["subject"] == "clinically relevant")
        if Decimal(relevant["value"]) != whole:
            yield of(relevant, whole)
        if (total := sum(Decimal(it["value"]) for it in kinds)) != 500:
            yield of({**relevant, "subject": "ALL"}, total)


def recovered() -> Iterator[Mismatch]:
    """Shares are of the counts, and the last line is the sum of the others."""
    for rows in together("recovered"):
        share = Decimal(rows["words_recovered"]["value"]) / Decimal(rows["words_detected"]["value"])
        if not Printed(rows["share_recovered"]).agrees(share):
            yield of(rows["share_recovered"], share)
    for corpus in ("Duke", "Mayo"):
        for measure in ("words_detected", "words_recovered"):
            its = [r for r in PUBLISHED["recovered"] if (r["corpus"], r["measure"]) == (corpus, measure)]
            whole = next(row for row in its if row["subject"] == "ALL")
            if (total := sum(Decimal(r["value"]) for r in its if r is not whole)) != Decimal(whole["value"]):
                yield of(whole, total)


def missed() -> Iterator[Mismatch]:
    """The shares sum to what recall lacks, 0.004; each is its count over the words that this gives."""
    shares = [row for row in PUBLISHED["missed"] if row["measure"] == "share_missed"]
    counts = {row["subject"]: Decimal(row["value"]) for row in PUBLISHED["missed"] if row["measure"] == "missed_words"}
    total = sum(Decimal(row["value"]) for row in shares)
    if total != Decimal("0.004"):
        yield of({**shares[0], "subject": "ALL"}, total)
    for row in shares:
        share = counts[row["subject"]] / sum(counts.values()) * total
        if not Printed(row).agrees(share):
            yield of(row, share)


def costs() -> Iterator[Mismatch]:
    """Seconds a note of the seconds of all, GPU seconds of the number of GPUs, dollars of the machine's price."""
    for rows in together("costs"):
        if "seconds_for_217_notes" not in rows:
            continue
        seconds = Decimal(rows["seconds_for_217_notes"]["value"])
        each = seconds / NOTES
        gpus = {"8 x L4 GPU VMs": 8, "1 x L4 GPU VM": 1}.get(rows["seconds_for_217_notes"]["setting"], 0)
        if not Printed(rows["seconds_per_note"]).agrees(each):
            yield of(rows["seconds_per_note"], each)
        if gpus and Decimal(rows["gpu_seconds_for_217_notes"]["value"]) != gpus * seconds:
            yield of(rows["gpu_seconds_for_217_notes"], gpus * seconds)
        dollars = each * 10_000 / 3600 * DOLLARS_AN_HOUR
        if gpus == 8 and not Printed(rows["cost_per_10000_notes"]).agrees(dollars):
            yield of(rows["cost_per_10000_notes"], dollars)


def words_per_second() -> Iterator[Mismatch]:
    """All read the same 100 notes: words a second times seconds are the same words, to a hundredth."""
    rows = [rows for rows in together("costs") if "words_per_second" in rows]
    of_all = [Decimal(r["words_per_second"]["value"]) * Decimal(r["seconds_for_100_notes"]["value"]) for r in rows]
    words = sorted(of_all)[len(of_all) // 2]
    for it in rows:
        seconds = Printed(it["seconds_for_100_notes"])
        low, high = words * Decimal("0.99") / seconds.high, words * Decimal("1.01") / seconds.low
        if not Printed(it["words_per_second"]).agrees(low, high):
            yield of(it["words_per_second"], words / seconds.number)


def survey() -> Iterator[Mismatch]:
    """F1 and the false negative rate of the survey's lines, from what they print beside it."""
    for row in seed("published_survey"):
        line = {
            "paper": "Aghakasiri 2025",
            "table_name": "table 1",
            "corpus": row["corpus"],
            "subject": "ALL",
            "setting": "",
        }
        line["system"] = f"{row['study']}: {row['system']}"
        approximate = "approximated" in row["note"]
        exact = {
            name: {"printed": row[name]} for name in ("precision", "recall", "f1", "false_negative_rate") if row[name]
        }
        if {"precision", "recall", "f1"} <= set(exact) and not approximate:
            p, r = Printed(exact["precision"]), Printed(exact["recall"])
            low, high = (2 * a * b / (a + b) for a, b in ((p.low, r.low), (p.high, r.high)))
            if not Printed(exact["f1"]).agrees(low, high):
                yield of({**line, "measure": "f1"}, 2 * p.number * r.number / (p.number + r.number))
        if {"recall", "false_negative_rate"} <= set(exact):
            r = Printed(exact["recall"])
            if not Printed(exact["false_negative_rate"]).agrees(1 - r.high, 1 - r.low):
                yield of({**line, "measure": "false_negative_rate"}, 1 - r.number)


CHECKS = (
    *(lambda family=family: from_counts(family) for family in FAMILIES),
    *(lambda family=family: f1_from_rounded(family) for family in FAMILIES),
    *(judges_from_the_counts_of_the_next_table, totals, changes_that_people_judged, recovered, missed, costs),
    *(words_per_second, survey),
)


def test_what_the_papers_print_agrees_with_itself_but_for_the_misprints_that_are_listed() -> None:
    found = sorted(mismatch for check in CHECKS for mismatch in check())
    listed = seed("published_misprints")
    assert found == sorted(tuple(row[column] for column in (*KEY, "computed")) for row in listed)
    assert [row for row in listed if not (row["printed"] and row["kind"] and row["note"])] == []
