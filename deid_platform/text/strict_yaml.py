"""YAML without duplicate keys.

Belongs here: reading a YAML document without doubled keys. Does not belong here: what a document must hold
(`redaction/policy.py`, `warehouse/gate/suite.py`).
"""

from __future__ import annotations

from typing import Any

import yaml


class _Strict(yaml.SafeLoader):
    """Refuses doubled keys: of `PATIENT: tag` and a later `PATIENT: keep`, YAML would silently take the later."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        if len(keys) != len(set(map(str, keys))):
            raise yaml.constructor.ConstructorError(None, None, "doubled key", node.start_mark)
        return super().construct_mapping(node, deep)


def read_yaml(source: bytes) -> object:
    """The plain values of a document in UTF-8.

    Raises:
        ValueError: It is not YAML, not UTF-8, nested too deep, or doubles a key. The message says nothing of it.
    """
    try:
        # A subclass of SafeLoader: it builds plain values only.
        return yaml.load(source.decode("utf-8"), Loader=_Strict)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ValueError("not YAML without doubled keys") from None
