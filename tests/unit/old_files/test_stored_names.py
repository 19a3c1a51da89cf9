"""Every name that a journal was written with is known to the codec: a class, a field or a word that is called otherwise
from now on needs a line in `old_tags.py`, and this fails until it has one.

`names.json` has, of each class that could be stored when it was written, the fields and the words of each field's
enumeration. A name is added to it (`python -m tests.unit.old_files.test_stored_names`) and never taken out.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from services.clock import ManualClock
from services.history.state.store import StateStore
from services.procedures.journal.codec import REGISTRY
from services.procedures.journal.old_tags import OLD_TAGS, upgraded
from services.procedures.journal.seals import unsealed
from services.procedures.plan.run_model import RunState, StepState
from tests.unit.old_files.kept import HERE, STORES, unpacked

Names = dict[str, dict[str, list[str]]]
FILE = HERE / "names.json"


def _names() -> Names:
    """Return the names as they are in the program now: class -> field -> words."""
    found = {tag: _fields(kind) for tag, kind in REGISTRY.items()}
    states = {"RunState": [one.value for one in RunState], "StepState": [one.value for one in StepState]}
    return {**found, "": states}  # states stand in lines of their own


def _fields(kind: type) -> dict[str, list[str]]:
    hints = get_type_hints(kind)
    return {field.name: sorted(set(_words(hints[field.name]))) for field in fields(kind)}


def _words(hint: Any) -> Iterator[str]:
    if isinstance(hint, type) and issubclass(hint, Enum):
        yield from (str(one.value) for one in hint)
    elif get_origin(hint) is Literal:
        yield from map(str, get_args(hint))
    elif get_origin(hint) in (Union, types.UnionType, tuple):
        for part in get_args(hint):
            yield from _words(part)


def _unknown(tag: str, data: dict[str, object]) -> list[str]:
    """Return what of a tagged value no reader of today knows, as 'class' or 'class.field'."""
    now = OLD_TAGS.get(tag, tag)
    kind = REGISTRY.get(now)
    if kind is None:
        return [tag]
    known = {field.name for field in fields(kind)}
    return [f"{tag}.{name}" for name in upgraded(now, data) if name not in known | {"is"}]


def _tagged(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        if isinstance(value.get("is"), str):
            yield value
        for part in value.values():
            yield from _tagged(part)
    elif isinstance(value, list):
        for part in value:
            yield from _tagged(part)


@pytest.mark.parametrize("day", STORES)
def test_that_every_class_and_field_of_an_old_journal_is_known_today(day: str, tmp_path: Path) -> None:
    with StateStore.open(unpacked(f"store-{day}.sqlite3", tmp_path), clock=ManualClock()) as store:
        texts = {unsealed(line.data)[0] for line in store.procedures().lines()}
    seen, unknown = set(), set()
    for text in texts:
        for data in _tagged(json.loads(text)):
            seen.add(str(data["is"]))
            unknown.update(_unknown(str(data["is"]), data))
    assert unknown == set()
    assert len(seen) > 40


def test_that_every_name_that_was_ever_stored_is_known_today() -> None:
    kept: Names = json.loads(FILE.read_text(encoding="utf-8"))
    now, unknown = _names(), []
    for tag, its_fields in kept.items():
        if tag:
            unknown += _unknown(tag, dict.fromkeys(its_fields))
        words = now.get(OLD_TAGS.get(tag, tag), {})
        unknown += [
            f"{tag}.{name}: '{word}'" for name, known in its_fields.items() for word in known
            if name in words and word not in words[name]
        ]  # fmt: skip
    assert unknown == []


def _add_names() -> None:
    """Add to the file what can be stored now and could not when it was written."""
    kept: Names = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for tag, its_fields in _names().items():
        for name, words in its_fields.items():
            known = kept.setdefault(tag, {}).setdefault(name, [])
            known.extend(word for word in words if word not in known)
        kept.setdefault(tag, {})
    lines = (f" {json.dumps(tag)}: {json.dumps(kept[tag], sort_keys=True)}" for tag in sorted(kept))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    _add_names()
