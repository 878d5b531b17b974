"""What every section of deid.toml has in common, and types of values that several use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_IDENTIFIER, _VARIABLE = r"^[a-z][a-z0-9_]{0,39}$", r"^[A-Z][A-Z0-9_]*$"
_PEER, _TERM, _TABLE = r"^(modified-)?[a-z][a-z0-9-]*(:[a-z]+:[^|]+)?$", r"[^\W_]", r"^[^.]+(\.[^.]+)?$"
_CORPUS, _REGION = r"^[a-z][a-z0-9_]{0,39}\.[A-Za-z_]{2,5}$", r"^[a-z0-9-]+$"
_BUCKET = r"^(s3|gs)://[a-z0-9][a-z0-9.-]+[a-z0-9](/[A-Za-z0-9][A-Za-z0-9._-]*)+$"
_SHA256 = r"^[0-9a-f]{64}$"
_STRUCTURED = r"^[a-z][a-z0-9_]{0,29}$"
FORMS = {
    _IDENTIFIER: "small letters, digits and _, a letter first, at most 40",
    _VARIABLE: "the name of a variable: capitals, digits and _",
    _PEER: "a peer's name of docs/peers.md",
    _TERM: "a word or more",
    _TABLE: "TABLE or SCHEMA.TABLE",
    _CORPUS: "CORPUS.LOCALE, such as north_letters.en_GB",
    _BUCKET: "s3://BUCKET/FOLDER or gs://BUCKET/FOLDER",
    _REGION: "small letters, digits and hyphens",
    _SHA256: "64 digits of a SHA-256, 0 to 9 and a to f",
    _STRUCTURED: "small letters, digits and _, a letter first, at most 30",
}
"""Pattern -> what it asks for, in words."""

Identifier = Annotated[str, Field(pattern=_IDENTIFIER)]
VariableName = Annotated[str, Field(pattern=_VARIABLE)]
PeerName = Annotated[str, Field(pattern=_PEER)]
NoteTypeTerm = Annotated[str, Field(pattern=_TERM)]
RoleName = Literal["notes", "patients", "providers", "facilities", "withdrawn", "rejoined"]
TableName = Annotated[str, Field(pattern=_TABLE)]
SurrogateCorpus = Annotated[str, Field(pattern=_CORPUS)]
"""`CORPUS.LOCALE`, as the note store has it."""
BucketUri = Annotated[str, Field(pattern=_BUCKET)]
RegionName = Annotated[str, Field(pattern=_REGION)]
Sha256 = Annotated[str, Field(pattern=_SHA256)]
StructuredName = Annotated[str, Field(pattern=_STRUCTURED)]
"""A table beside the notes."""
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Section(BaseModel):
    """A section: an unknown key is refused, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
