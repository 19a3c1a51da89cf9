"""JSON that is printed and kept: valid whatever bytes a name had, and read again by the readers of the stores."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services import i18n
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.events import Event
from services.history.long_events import event_json
from services.history.recordings.readable import read_snapshot, readable
from services.json_text import json_line, stored_json
from services.procedures.journal import entries
from services.types import Health
from services.visible import valid_utf8

ANY = st.text(st.characters(exclude_categories=()))
"""Lone surrogates too: a byte of a file's name that is no UTF-8."""
DOCUMENTS = st.recursive(
    ANY | st.none() | st.booleans() | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=8,
)


def as_read(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: as_read(one) for name, one in value.items()}
    return [as_read(one) for one in value] if isinstance(value, list) else value


@given(DOCUMENTS)
def test_that_any_document_is_one_line_of_ascii_that_says_the_same(document: object) -> None:
    line = json_line(document)
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line, parse_constant=pytest.fail) == as_read(joined(document))


def joined(value: object) -> object:
    """Return it with two halves that stand side by side as the one character that they are to every reader."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(value, dict):
        return {joined(name): joined(one) for name, one in value.items()}
    return [joined(one) for one in value] if isinstance(value, list) else value


@given(DOCUMENTS)
def test_that_what_is_kept_is_utf_8_that_the_stores_read(document: object) -> None:
    msgspec.json.decode(stored_json(document).decode("utf-8"))


def test_that_a_byte_that_is_no_utf_8_is_its_escape_for_machines_and_a_mark_in_the_stores() -> None:
    assert json_line({"file": "/keys/\udcff"}) == '{"file": "/keys/\\udcff"}'
    assert stored_json({"file": "/keys/\udcff"}).decode() == '{"file":"/keys/\ufffd"}'
    assert valid_utf8("é\udcff\ud800") == "é\ufffd\ufffd"


@dataclass(frozen=True)
class Kept:
    health: Health
    text: str
    inner: tuple[float, ...] = ()


def test_that_what_the_stores_keep_is_printed_by_its_values() -> None:
    i18n.install("x-pseudo")
    try:
        sentence = i18n.tr("The host refused to start a command.")
        assert sentence != "The host refused to start a command."
        line = json_line([Kept(Health.WARN, sentence, (1.5, math.inf))])
    finally:
        i18n.install("en")
    assert json.loads(line) == [
        {"health": Health.WARN.value, "text": "The host refused to start a command.", "inner": [1.5, None]}
    ]


def test_that_a_moment_and_an_event_with_such_a_name_are_kept_read_and_noted() -> None:
    node = NodeView("n1", "db\udcff", host="n1", state="Synced", health=Health.GOOD)
    odd = EstateSnapshot(1.0, (ClusterSnapshot("c", GALERA, "c", 1.0, nodes=(node,)),))
    assert read_snapshot(readable(odd)).clusters[0].nodes[0].name == "db\ufffd"
    assert snapshot_from_json(snapshot_to_json(odd)).clusters[0].nodes[0].name == "db\ufffd"
    assert json.loads(json_line(odd))["clusters"][0]["nodes"][0]["name"] == "db\udcff"
    assert "db\ufffd" in event_json(Event(1.0, "note", "db\udcff is odd"))
    kind, step, data = entries.topology("after", odd.clusters[0])
    assert data is not None
    assert (kind, step, data["about"]) == ("note", "", "topology-after")


def test_that_an_empty_estate_is_the_same_read_again() -> None:
    assert snapshot_from_json(json_line(EstateSnapshot(at=1.0))) == EstateSnapshot(at=1.0)
