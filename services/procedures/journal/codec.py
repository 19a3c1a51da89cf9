"""Plans and what else the journal keeps as JSON-able data, and back: tagged dataclasses of a closed registry.

A dataclass becomes {"is": its tag, field: value, ...} with every field written out, so that a default that changes in a
later version does not change what was approved. The tag of a condition is 'family.name', of all else the class's name.
Tuples become lists, enumerations their value, translated sentences their English. Nothing is decoded that is not in
the registry; a secret is refused in both directions.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import lru_cache, partial
from typing import Any, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from services.connections.command import Command
from services.connections.mongo import change
from services.connections.sql import statement
from services.errors import StoreError
from services.i18n import english, tr
from services.procedures import conditions
from services.procedures.journal.old_tags import OLD_TAGS, upgraded
from services.procedures.plan import actions, checks, condition, model, pair_sources, run_model
from services.procedures.plan.checks import Check
from services.procedures.plan.condition import Condition
from services.procedures.plan.finding import conditions_of
from services.procedures.plan.model import Plan
from services.secrets import Secret

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
_T = TypeVar("_T")
_REMEMBERED = 8  # plans and checklists: of the runs that are driven or shown, a few megabytes at most

REGISTRY: dict[str, type] = {
    **conditions_of(conditions),
    **{
        kind.__name__: kind
        for kind in (
            *get_args(actions.Action),
            actions.CopiedSecret,
            pair_sources.MadePair,
            pair_sources.LocalPair,
            pair_sources.HostPair,
            condition.Kept,
            condition.Answer,
            model.Obligation,
            model.Undo,
            model.Consent,
            model.Later,
            model.Step,
            model.WatchRule,
            model.Chart,
            model.Plan,
            checks.Remedy,
            checks.Check,
            checks.Override,
            run_model.Question,
            Command,
            change.Documents,
            change.Pair,
            change.Fields,
            change.MongoCommand,
            change.SetChange,
            *get_args(statement.Bit),
            statement.Statement,
        )
    },
}
"""Every class that may be stored, by the tag it is stored under."""


def encode(value: object) -> Json:
    """Return JSON-able data for a value of the registry, a tuple of such values, an enumeration or a plain value.

    Raises StoreError: it holds a secret (a Command's standard input), or a number that is none (NaN, infinity).
    """
    if isinstance(value, str):
        return str(english(value))
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise StoreError(tr("The journal cannot store the number {value}.", value=value))
        return value
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, Secret):
        raise StoreError(
            tr("The journal stores no secrets, and a step with a secret on its standard input contains one."),
            try_=(tr("Report this: a plan must name secrets (CopiedSecret), never hold them."),),
        )
    name = tag_of(type(value))
    if is_dataclass(value) and REGISTRY.get(name) is type(value):
        kept = ((field, getattr(value, field.name)) for field in fields(value))
        return {"is": name, **{field.name: encode(held) for field, held in kept if not _is_left(field, held)}}
    message = f"not a value the journal knows: {name}"
    raise TypeError(message)


def _is_left(field: Field[object], held: object) -> bool:
    """Return whether a field that came later is as every plan of before has it: an older console reads it then, too."""
    return actions.WHERE_SET in field.metadata and held == field.default


def tag_of(kind: type) -> str:
    """Return the tag under which values of a class are kept."""
    return kind.tag if issubclass(kind, Condition) else kind.__name__


def plain(data: object) -> object:
    """Return dicts, lists and plain values as JSON can hold them: sentences in English, no secret.

    Raises StoreError like `encode`, TypeError for what is no plain data.
    """
    if isinstance(data, dict):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(item) for item in data]
    return encode(data)


def decode(kind: type[_T], data: object) -> _T:
    """Return the value of class `kind` that `encode` made `data` of.

    Raises StoreError: written by a newer Pilothouse (a tag, field or word this one does not know), or damaged.
    """
    return cast(_T, _read(kind, data, kind.__name__))


def decode_all(kind: type[_T], data: object) -> tuple[_T, ...]:
    """Return the tuple of values of class `kind` that `encode` made the list `data` of. Raises like `decode`."""
    return cast("tuple[_T, ...]", _read(tuple[kind, ...], data, kind.__name__))  # type: ignore[valid-type]


def plan_in(data: object) -> Plan:
    """Return `decode(Plan, data)`, worked out once for the same words: a long plan takes a tenth of a second, and each
    console, list and report that opens its run asks for it anew.
    """
    text = _as_text(data)
    return decode(Plan, data) if text is None else _plan_of(text)


def checks_in(data: object) -> tuple[Check, ...]:
    """Return `decode_all(Check, data)`, worked out once for the same words like a plan."""
    text = _as_text(data)
    return decode_all(Check, data) if text is None else _checks_of(text)


def _as_text(data: object) -> str | None:
    """Return the words that an entry keeps, None where damage left none: the reader says what is wrong then.

    Words, not values: `1`, `1.0` and `true` are equal, and not the same plan.
    """
    try:
        return json.dumps(data)
    except (TypeError, ValueError, RecursionError):
        return None


@lru_cache(maxsize=_REMEMBERED)
def _plan_of(text: str) -> Plan:
    return decode(Plan, json.loads(text))


@lru_cache(maxsize=_REMEMBERED)
def _checks_of(text: str) -> tuple[Check, ...]:
    return decode_all(Check, json.loads(text))


def _read(hint: Any, data: object, where: str) -> object:
    """Return `data` as what the type `hint` says; `where` names the place for the error's sentence."""
    return _reader(hint)(data, where)


@lru_cache(maxsize=1024)
def _reader(hint: Any) -> Callable[[object, str], object]:
    """Return what reads a type: found once, since a plan has thousands of fields of a few dozen types."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return partial(_read_member, get_args(hint))
    if origin is tuple:
        return partial(_read_tuple, get_args(hint))
    if origin is Literal:
        return partial(_read_word, get_args(hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return partial(_read_enum, hint)
    if hint is Condition:
        return _read_condition
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(_read_tagged, hint)
    return partial(_read_plain, hint)


def _read_member(members: tuple[Any, ...], data: object, where: str) -> object:
    return _read(_member(members, data, where), data, where)


def _read_word(words: tuple[object, ...], data: object, where: str) -> object:
    return data if data in words else _newer(f"the word {data!r} in {where}")


def _read_enum(kind: type[Enum], data: object, where: str) -> object:
    try:
        return kind(data)
    except ValueError:
        _newer(f"the word {data!r} in {where}")


def _read_plain(hint: Any, data: object, where: str) -> object:
    if not _is_plain(hint, data):
        _damaged(f"{where} is no {getattr(hint, '__name__', hint)}")
    return data


def _is_plain(hint: Any, data: object) -> bool:
    if hint is float:
        return isinstance(data, int | float) and not isinstance(data, bool)
    return isinstance(data, hint) if hint in (str, int, bool, type(None)) else False


def _member(members: tuple[Any, ...], data: object, where: str) -> Any:
    """Return which member of a union `data` is."""
    if isinstance(data, dict):
        kind = _tagged(data, where)
        if kind in members:
            return kind
        _damaged(f"{where} cannot be a {kind.__name__}")
    found = [member for member in members if _is_plain(member, data)]
    return found[0] if found else _damaged(f"{where} holds a {type(data).__name__}")


def _read_tuple(parts: tuple[Any, ...], data: object, where: str) -> tuple[object, ...]:
    if not isinstance(data, list):
        _damaged(f"{where} is not a list")
    if len(parts) == 2 and parts[1] is Ellipsis:
        read = _reader(parts[0])
        return tuple([read(item, f"{where}[{i}]") for i, item in enumerate(data)])
    if len(parts) != len(data):
        _damaged(f"{where} has {len(data)} parts instead of {len(parts)}")
    return tuple(_read(hint, item, f"{where}[{i}]") for i, (hint, item) in enumerate(zip(parts, data, strict=True)))


def _read_condition(data: object, where: str) -> object:
    kind = _tagged(data, where) if isinstance(data, dict) else None
    if kind is None or not issubclass(kind, Condition):
        _damaged(f"{where} is not a condition")
    return _read_tagged(kind, data, where)


def _read_tagged(kind: type, data: object, where: str) -> object:
    if not isinstance(data, dict) or _tagged(data, where) is not kind:
        _damaged(f"{where} is no {tag_of(kind)}")
    data = upgraded(tag_of(kind), data)
    known = _fields(kind)
    if unknown := sorted(data.keys() - known.keys() - {"is"}):
        _newer(f"the field {unknown[0]!r} of {kind.__name__}")
    values = {}
    for name, (read, place, needed) in known.items():
        if name in data:
            values[name] = read(data[name], place)
        elif needed:
            _damaged(f"{place} is missing")
    try:
        return kind(**values)
    except ValueError as problem:
        _damaged(str(problem))


def _tagged(data: dict[str, object], where: str) -> type:
    tag = data.get("is")
    if not isinstance(tag, str):
        _damaged(f"{where} has no tag")
    return REGISTRY.get(OLD_TAGS.get(tag, tag)) or _newer(f"a {tag!r} in {where}")


@lru_cache(maxsize=256)
def _fields(kind: type) -> dict[str, tuple[Callable[[object, str], object], str, bool]]:
    """Return by name what reads a field of a dataclass, its place for errors, and whether it has no default."""
    hints = get_type_hints(kind)
    return {
        field.name: (
            _reader(hints[field.name]),
            f"{kind.__name__}.{field.name}",
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(kind)
    }


def _newer(what: str) -> NoReturn:
    raise StoreError(
        tr("This journal was written by a newer Pilothouse: it has {what}.", what=what),
        safe=tr("Nothing was changed; the journal is unchanged."),
        try_=(tr("Use the version that started the run, or update this one."),),
    )


def _damaged(what: str) -> NoReturn:
    raise StoreError(tr("The journal is damaged: {what}.", what=what), safe=tr("The journal is unchanged."))
