"""What every section of deid.toml has in common, and types of values that several use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


PeerName = Annotated[str, Field(pattern=r"^(modified-)?[a-z][a-z0-9-]*(:[a-z]+:[^|]+)?$")]


NoteTypeTerm = Annotated[str, Field(pattern=r"[^\W_]")]


RoleName = Literal["notes", "patients", "providers", "facilities", "withdrawn", "rejoined"]


TableName = Annotated[str, Field(pattern=r"^[^.]+(\.[^.]+)?$")]


Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Section(BaseModel):
    """A section: an unknown key is refused, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
