"""Files of cases: how a line is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import CaseFileError, read
from marked_text import marked, of_any_label, plain

from deid_platform.labels import Label
from deid_platform.notes import Span

FILE = """\
# Dates.
#! professions: off

## month & day: why
# a comment
seen [[3/14|DATE]]
on [[March⏎3|DATE]]

## known ones
#! topics: none P1
#! line ends: LF CRLF
#! ignored: AGE CITY
of Potts, in [[Lima]]
on March⏎3
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "dates.txt"
    path.write_text(text, "utf-8")
    return path


def test_each_line_is_a_case_for_each_way_in_which_it_is_tried(tmp_path: Path) -> None:
    cases = read(written(tmp_path, FILE))
    assert [case.id for case in cases] == [
        "dates/month-day:6",
        "dates/month-day:7",
        *("dates/known-ones:13-none", "dates/known-ones:13-P1"),
        *("dates/known-ones:14-none-LF", "dates/known-ones:14-none-CRLF"),
        *("dates/known-ones:14-P1-LF", "dates/known-ones:14-P1-CRLF"),
    ]
    assert [case.text for case in cases] == [
        *("seen 3/14", "on March\n3", "of Potts, in Lima", "of Potts, in Lima"),
        *("on March\n3", "on March\r\n3") * 2,
    ]
    assert {case.professions for case in cases} == {False}
    assert [case.ignored for case in cases[1:3]] == [frozenset(), {Label.AGE, Label.CITY}]


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("#! colour: red\n", "line 1: no such option"),
        ("## a\n#! detector: model\n", "line 2: detector is one or more of rules"),
        ("## a\n#! ignored: Date\n", "line 2: ignored is one or more of"),
        ("## a\n#! topics:\n", "line 2: topics is one or more of none, known, the id of a patient"),
        ("## a\nx\n#! topics: P1\n", "line 3: an option stands before"),
        ("x\n## a\n", "line 1: a line before the first section"),
        ("## a\nx\n## a\ny\n", "line 3: a section of this name"),
        ("## a\nx \n", "line 2: a blank"),
        ("## a\nx\ny\nx\n", "line 4: stands in line 2 already"),
        ("## a\n## b\nx\n", "no line in section a"),
        ("## a\nin [[Lima|TOWN]]\n", "line 2: a mark with a label that there is not"),
        ("## a\nin [[Lima|city]]\n", "line 2: a mark with a label that there is not"),
        ("## a\nin [[Lima\n", "line 2: a mark without its other end"),
    ],
)
def test_what_is_no_file_of_cases_is_refused_by_its_line(tmp_path: Path, text: str, refused: str) -> None:
    with pytest.raises(CaseFileError, match=refused):
        read(written(tmp_path, text))


@pytest.mark.parametrize(
    "line",
    [
        "no mark",
        "[[A|B|CITY]]|M",
        "[by [[Osei|DOCTOR]] [[3/4|DATE]]]",
        "see [[x?r=[1]|URL]]",
        "[[Lima]] and [[Ada|CITY]]",
    ],
)
def test_marks_can_be_taken_off_and_put_on_again(line: str) -> None:
    text = plain(line)
    surfaces = {"A|B": Label.CITY, "Osei": Label.DOCTOR, "3/4": Label.DATE, "x?r=[1]": Label.URL}
    surfaces |= {"Lima": Label.CITY, "Ada": Label.CITY}
    found = sorted((text.index(s), text.index(s) + len(s), label) for s, label in surfaces.items() if s in text)
    assert marked(text, [Span(*each, 1.0) for each in found], of_any_label(line)) == line
