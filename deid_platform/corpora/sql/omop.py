"""The OMOP common data model, 5.3 and 5.4: NOTE, PERSON, PROVIDER, CARE_SITE, LOCATION and CONCEPT.

Belongs here: which of its columns are which field. Does not belong here: which rows are whose delivery
(`selection.py`), what a field may hold (`corpora/rows.py`).

Source: OHDSI, OMOP Common Data Model 5.3 and 5.4, tables NOTE, PERSON, PROVIDER, CARE_SITE, LOCATION, CONCEPT. The
model has no names of persons: a site names a table of its own that has them, by person_id. Without one there are no
rosters, since rows without a name would count as known patients. It has no time of change either: a note's own date
stands in for it unless the site has a better column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.rows import ID_FIELD, Shape
from deid_platform.corpora.sql.sources import EVERY, Cells, Layout, Source, Tables, aliases, marked, tabled, wanted
from deid_platform.errors import Code, DeidError
from deid_platform.languages import UNDETERMINED

_TABLES = {Role.NOTES: "note", Role.PROVIDERS: "provider", Role.FACILITIES: "care_site"}

# OMOP's columns that are fields under another name; docs/feeds-sql.md shows them.
_COLUMNS = {
    "person_id": "patient_id",
    "visit_occurrence_id": "encounter_id",
    "note_text": "text",
    "note_title": "note_type",
    "care_site_id": "facility_id",
    "care_site_name": "name",
}
_PLACE = {"address_1": "street", "city": "city", "state": "state", "zip": "zip"}
_SEX = {8507: "M", 8532: "F"}
_WORLD_LANGUAGES = 4182347
"""The parent of all languages: it says none."""
_LANGUAGES = {4180186: "en", 4182511: "es", 4180190: "fr", 4182507: "it", 4182503: "nl", 4181536: "pt"}
_LANGUAGE_NAMES = {"german": "de", "english": "en", "spanish": "es", "french": "fr", "italian": "it"} | {
    "dutch": "nl",
    "portuguese": "pt",
    "polish": "pl",
    "turkish": "tr",
    "russian": "ru",
    "arabic": "ar",
}
_CREDENTIALS = frozenset("do dr md mr mrs ms np pa phd pharmd prof rn".split())  # noqa: SIM905


def omop_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """The columns of an OMOP feed: the model's, where the site does not map that column or field otherwise."""
    taken = {target.strip().rpartition(".")[2] for targets in columns.values() for target in targets.split(",")}
    return {name: to for name, to in _COLUMNS.items() if name not in columns and to not in taken} | dict(columns)


@dataclass(frozen=True)
class Omop(Layout):
    """A database of the common data model; the format `omop`.

    Attributes:
        own: The site's own tables and queries: of identifiers, of who leaves and rejoins, or in place of the model's.
        vocabulary_schema: The schema of CONCEPT, if it is not that of the others.
        mapped: Columns that the site maps.
    """

    own: Tables
    vocabulary_schema: str | None = None
    mapped: Mapping[str, str] = field(default_factory=dict)

    def sources(self, connection: Connection, shapes: Mapping[Role, Shape]) -> dict[Role, Source]:
        """The source of each role: the site's own where it has one, else the model's."""
        found = {}
        for role in Role:
            source = self._source(connection, role, shapes)
            if source is not None:
                found[role] = source
        return found

    def advice(self) -> str | None:
        """That there are no names without a table of the site's own."""
        if self.own.has(Role.PATIENTS):
            return None
        return (
            "OMOP holds no names of patients, so that there are no rosters: name a table or view with identifiers "
            "by person_id as `tables.patients` of the feed (docs/feeds-sql.md)"
        )

    def _source(self, connection: Connection, role: Role, shapes: Mapping[Role, Shape]) -> Source | None:
        shape = shapes[role]
        if role in (Role.WITHDRAWN, Role.REJOINED) or (role is not Role.NOTES and self.own.has(role)):
            if not self.own.has(role):
                return None
            source = self.own.source(connection, role, shape)
            return self._identified(connection, source, shape) if role is Role.PATIENTS else source
        if role is Role.PATIENTS:
            return None
        found = self._base(connection, role)
        if found is None:
            if role is Role.NOTES:
                raise DeidError(Code.FEED_TABLE, f"{self.own.feed}: {role}")
            return None
        rows, names = found
        known = aliases(names, [*shape.columns, *self.own.ignore])
        by_name = {name.casefold(): rows.c[name] for name in names}
        said = self.own.watermark if role is Role.NOTES else ""
        watermark = marked(self.own.feed, role, rows, names, self.own.watermarks.get(role, said))
        columns = wanted(rows, known, shape, (EVERY,), watermark)
        source = Source(rows, columns, watermark)
        given = _given(source, shape)
        match role:
            case Role.NOTES:
                return self._notes(connection, source, by_name, given)
            case Role.PROVIDERS:
                needs = _of(by_name, "provider_name")
                return replace(source, needs=needs, convert=partial(_made, _provider, given=given))
            case _:
                located = self._located(connection, source, by_name)
                return replace(located, convert=partial(_made, _place, given=given))

    def _base(self, connection: Connection, role: Role) -> tuple[FromClause, tuple[str, ...]] | None:
        if self.own.has(role):
            return self.own.found(connection, role)
        return tabled(connection, _TABLES[role], self.own.schema)

    def _notes(
        self, connection: Connection, source: Source, by_name: Mapping[str, ColumnElement[Any]], given: frozenset[str]
    ) -> Source:
        """Notes with the names of their class and language, where CONCEPT is there."""
        needs = _of(by_name, "language_concept_id", "note_class_concept_id")
        rows = source.rows
        for name, key in (("cdm_language", "language_concept_id"), ("cdm_class", "note_class_concept_id")):
            concept = tabled(connection, "concept", self.vocabulary_schema or self.own.schema)
            if concept is not None and key in by_name:
                names = {known.casefold(): concept[0].c[known] for known in concept[1]}
                rows = rows.outerjoin(concept[0], names["concept_id"] == by_name[key])
                needs[name] = names["concept_name"]
        return replace(source, rows=rows, needs=needs, convert=partial(_note, given=given, title=self._title()))

    def _title(self) -> str | None:
        """The cell that a class's name fills where it is empty; None if the site says what a note's type is."""
        mapped = {target.removeprefix("notes.") for target in self.mapped.values()}
        return None if "note_type" in mapped else "note_title"

    def _identified(self, connection: Connection, source: Source, shape: Shape) -> Source:
        """The site's identifiers with what PERSON and LOCATION know besides."""
        person = tabled(connection, "person", self.own.schema)
        identity = source.of_field(ID_FIELD[Role.PATIENTS], shape)
        if person is None or identity is None:
            return source
        by_name = {name.casefold(): person[0].c[name] for name in person[1]}
        rows = source.rows.outerjoin(person[0], by_name["person_id"] == identity)
        needs = _of(by_name, "year_of_birth", "month_of_birth", "day_of_birth", "birth_datetime", "gender_concept_id")
        located = self._located(connection, replace(source, rows=rows, needs=needs), by_name)
        return replace(located, convert=partial(_made, _patient, given=_given(source, shape)))

    def _located(self, connection: Connection, source: Source, by_name: Mapping[str, ColumnElement[Any]]) -> Source:
        """With the address of LOCATION."""
        location = tabled(connection, "location", self.own.schema)
        if location is None or "location_id" not in by_name:
            return source
        of_place = {name.casefold(): location[0].c[name] for name in location[1]}
        rows = source.rows.outerjoin(location[0], of_place["location_id"] == by_name["location_id"])
        return replace(source, rows=rows, needs={**source.needs, **_of(of_place, *_PLACE)})


def _given(source: Source, shape: Shape) -> frozenset[str]:
    """The fields that a source has by itself."""
    return frozenset(shape.columns[name] for name in source.columns if name in shape.columns)


def _of(by_name: Mapping[str, ColumnElement[Any]], *names: str) -> dict[str, ColumnElement[Any]]:
    """The columns of these names that there are, under names that no column of a site's has."""
    return {f"cdm_{name}": by_name[name] for name in names if name in by_name}


def _apart(cells: Cells) -> tuple[Cells, Cells]:
    """The cells, and those that only this module reads."""
    ours = {name: cell for name, cell in cells.items() if name.startswith("cdm_")}
    return {name: cell for name, cell in cells.items() if name not in ours}, ours


def _made(make: Callable[[Cells], Cells], cells: Cells, *, given: frozenset[str]) -> Cells:
    """A row's cells with those that are made of the model's columns, where the row has no such field by itself."""
    cells, ours = _apart(cells)
    return cells | {name: cell for name, cell in make(ours).items() if name not in given}


def _note(cells: Cells, *, given: frozenset[str], title: str | None) -> Cells:
    cells, ours = _apart(cells)
    made = _language(ours)
    cells |= {name: cell for name, cell in made.items() if name not in given}
    of_class = ours.get("cdm_class") if ours.get("cdm_note_class_concept_id") else None
    if title is not None and of_class is not None and not str(cells.get(title) or "").strip():
        cells[title] = of_class
    return cells


def _language(ours: Cells) -> Cells:
    concept = ours.get("cdm_language_concept_id")
    if not concept or not isinstance(concept, int) or concept == _WORLD_LANGUAGES:
        return {}
    named = str(ours.get("cdm_language") or "").casefold().removesuffix(" language")
    # Not English by default: it is said, and not known.
    return {"language": _LANGUAGES.get(concept) or _LANGUAGE_NAMES.get(named, UNDETERMINED)}


def _patient(ours: Cells) -> Cells:
    gender = ours.get("cdm_gender_concept_id")
    sex = _SEX.get(gender) if isinstance(gender, int) else None
    return {"birth_date": _birth_date(ours), "sex": sex, **_place(ours)}


def _birth_date(ours: Cells) -> object:
    year, month, day = (ours.get(f"cdm_{part}_of_birth") for part in ("year", "month", "day"))
    if not (isinstance(year, int) and isinstance(month, int) and isinstance(day, int)):
        return ours.get("cdm_birth_datetime")
    try:
        return date(year, month, day)
    except ValueError:
        return Reason.IMPOSSIBLE_DATE


def _provider(ours: Cells) -> Cells:
    """First and last name from the one that the model has: `Last, First` or `First Last`, titles left out."""
    said = ours.get("cdm_provider_name")
    if said is None or isinstance(said, Reason) or not isinstance(said, str):
        return {"last_name": said}
    before, _, after = said.partition(",")
    last, first = _words(before), _words(after)
    if not first:  # behind the comma are titles alone, or there is none
        last, first = last[-1:], last[:-1]
    return {"first_name": " ".join(first), "last_name": " ".join(last)}


def _words(said: str) -> list[str]:
    return [word for word in said.replace(",", " ").split() if word.replace(".", "").casefold() not in _CREDENTIALS]


def _place(ours: Cells) -> Cells:
    return {to: ours.get(f"cdm_{name}") for name, to in _PLACE.items()}
