"""The data dictionary: what readers find in the warehouse, relation by relation and column by column.

Belongs here: reading it from the database's own comments, and its two forms, Markdown and JSON.
Does not belong here: what the columns mean, which is said where they are made (`migrations/code/j_dictionary.sql`,
`dbt/models`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Engine, text

from deid_platform.warehouse.server.connection import begin
from deid_platform.warehouse.server.roles import Role

_COLUMNS = """
SELECT n.nspname || '.' || c.relname AS relation, obj_description(c.oid, 'pg_class') AS holds, a.attname AS name,
       format_type(a.atttypid, a.atttypmod) AS type, col_description(c.oid, a.attnum) AS comment
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'v') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname NOT LIKE 'pg\\_%'
  AND EXISTS (SELECT 1 FROM unnest(CAST(:readers AS text[])) reader
              WHERE has_schema_privilege(reader, n.oid, 'USAGE') AND has_table_privilege(reader, c.oid, 'SELECT'))
ORDER BY relation, a.attnum
"""
_HEAD = """# Data dictionary

What readers find in the warehouse. `deid db dictionary` makes this page, and with `--json` the same for
programs: [data-dictionary.json](data-dictionary.json). *Policy* says what becomes of the source's value."""
_SCHEMAS = ("research", "omop", "marts", "quality", "limited")
_POLICY = " Policy: "
_KINDS = {"integer": "integer", "bigint": "integer", "smallint": "integer", "double precision": "number"}
_KINDS |= {"numeric": "number", "boolean": "boolean", "date": "date"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its SQL type, what it means, and what becomes of the source's value on its way there."""

    name: str
    type: str
    meaning: str
    policy: str


@dataclass(frozen=True, slots=True)
class Relation:
    """One table or view that readers may query."""

    name: str
    holds: str
    columns: tuple[Column, ...]


def dictionary(engine: Engine) -> tuple[Relation, ...]:
    """Every relation that `analyst` or `limited_analyst` may read; columns in their own order.

    What most readers ask for comes first: `research.notes`, then what describes them, then what few may read.

    Args:
        engine: Any login's.
    """
    with begin(engine) as connection:
        found = connection.execute(text(_COLUMNS), {"readers": [Role.ANALYST.value, Role.LIMITED_ANALYST.value]}).all()
    relations = (
        Relation(name, holds or "", tuple(_column(row.name, row.type, row.comment or "") for row in rows))
        for (name, holds), rows in groupby(found, key=lambda row: (row.relation, row.holds))
    )
    return tuple(sorted(relations, key=lambda relation: _place(relation.name)))


def _place(name: str) -> tuple[int, str]:
    """Where a relation stands: by its schema, then by its name."""
    schema = name.partition(".")[0]
    return (_SCHEMAS.index(schema) if schema in _SCHEMAS else len(_SCHEMAS), name)


def _column(name: str, kind: str, comment: str) -> Column:
    meaning, _, policy = comment.partition(_POLICY)
    return Column(name, kind, " ".join(meaning.split()), policy.strip().removesuffix("."))


def dictionary_markdown(relations: tuple[Relation, ...]) -> str:
    """The dictionary as a page to read."""
    lines = [_HEAD]
    for relation in relations:
        lines += ["", f"## {relation.name}", "", " ".join(relation.holds.split()), ""]
        lines += ["| column | type | meaning | policy |", "| --- | --- | --- | --- |"]
        lines += [f"| `{c.name}` | {c.type} | {c.meaning} | {c.policy} |" for c in relation.columns]
    return "\n".join(lines) + "\n"


def dictionary_json(relations: tuple[Relation, ...]) -> str:
    """The dictionary for programs: one Table Schema (datapackage.org) a relation."""
    described = [
        {
            "name": relation.name,
            "description": " ".join(relation.holds.split()),
            "schema": {"fields": [_field(column) for column in relation.columns]},
        }
        for relation in relations
    ]
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def _field(column: Column) -> dict[str, str]:
    kind = "datetime" if column.type.startswith("timestamp") else _KINDS.get(column.type, "string")
    return {
        "name": column.name,
        "type": kind,
        "description": column.meaning,
        "sqlType": column.type,
        "policy": column.policy,
    }
