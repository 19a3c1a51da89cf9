"""Any value of a contract's class, made from its type annotations alone (and so independent of the codec)."""

from __future__ import annotations

import types
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from services.connections.command import Command
from services.connections.mongo.change import Documents, Fields, MongoCommand, Pair, SetChange
from services.connections.sql.statement import Keyword, Sign, Value, Variable
from services.procedures import conditions
from services.procedures.plan.condition import Condition
from services.procedures.plan.finding import conditions_of

KINDS = tuple(conditions_of(conditions).values())

_TEXT = st.text(max_size=12)
_VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
_PAIRS = st.builds(Pair, st.sampled_from(["insert", "_id", "$set", "w"]), _VALUES)
_FIELDS = st.builds(Fields, st.lists(_PAIRS, min_size=1, max_size=3).map(tuple))
_NESTED = st.builds(Pair, st.just("u"), _FIELDS | st.builds(Documents, st.lists(_FIELDS, max_size=2).map(tuple)))
_DOCUMENTS = st.builds(Fields, st.lists(_PAIRS | _NESTED, min_size=1, max_size=3).map(tuple))
_PLACES = st.sampled_from(["protocolVersion", "members.3.votes", "settings.chainingAllowed"])
_MONGO: dict[Any, st.SearchStrategy[Any]] = {
    MongoCommand: st.builds(MongoCommand, st.sampled_from(["admin", "config"]), _DOCUMENTS),
    SetChange: st.builds(SetChange, st.integers(), st.lists(st.tuples(_PLACES, _VALUES), max_size=2).map(tuple)),
}
_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXT,
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
    Keyword: st.sampled_from(["ON", "SET GLOBAL", "NULL"]).map(Keyword),
    Variable: st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True).map(Variable),
    Sign: st.sampled_from("=(),.@").map(Sign),
    Value: st.builds(Value, st.none() | st.integers() | st.text("ab'é \n\U0001f600", max_size=9)),
    **_MONGO,
    Command: st.builds(
        Command,
        argv=st.lists(st.text("a-/ '$é\n", min_size=1, max_size=6), min_size=1, max_size=3).map(tuple),
        sudo=st.booleans(),
        environment=st.lists(st.tuples(st.just("LC_ALL"), _TEXT), max_size=1).map(tuple),
    ),
}


@cache
def any_value(hint: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of values of a type annotation: one for all its places, hypothesis looks through it once."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if hint is Condition:
        return st.one_of(*(st.deferred(lambda kind=kind: any_value(kind)) for kind in KINDS))
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return st.one_of(*(st.deferred(lambda arg=arg: any_value(arg)) for arg in args))
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(any_value(args[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*(any_value(arg) for arg in args))
    if origin is Literal or (isinstance(hint, type) and issubclass(hint, Enum)):
        return st.sampled_from(args or list(hint))
    hints = get_type_hints(hint)
    return st.builds(hint, **{field.name: any_value(hints[field.name]) for field in fields(hint)})
