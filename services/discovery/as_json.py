"""Snapshots as JSON, for recordings and for `--json`: fields by name, enumerations by value, unknown fields ignored.

A recording made by a newer program may know more fields: msgspec leaves out what the types here do not have, and what
an older recording lacks gets the field's default. A snapshot from a history store is therefore always readable.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from services.discovery.families.registry import registered
from services.discovery.model import EstateSnapshot
from services.errors import BadInput
from services.i18n import tr
from services.json_text import stored_json
from services.types import ClusterKind


@lru_cache(maxsize=1)
def _decoder() -> msgspec.json.Decoder[EstateSnapshot]:
    return msgspec.json.Decoder(EstateSnapshot, dec_hook=from_file)


def from_file(wanted: type, value: object) -> object:
    """Read what stands in a file for a value that is no plain one: `dec_hook` of whatever reads snapshots."""
    if wanted is ClusterKind:
        return registered().kind(value)
    raise NotImplementedError(f"{wanted.__name__} cannot be read")


def snapshot_to_json(snapshot: EstateSnapshot) -> bytes:
    """Return the snapshot as one line of UTF-8 JSON; equal snapshots give equal bytes."""
    return stored_json(snapshot, order="deterministic")


def snapshot_from_json(data: bytes | str) -> EstateSnapshot:
    """Return the snapshot that `data` holds. Raises BadInput when it is no snapshot."""
    try:
        return _decoder().decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(tr("This is not a snapshot of an estate: {error}.", error=error)) from error
