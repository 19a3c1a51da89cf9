"""Every reader of facts, found by itself: from texts that no grammar knows none makes a number or a switch.

A reader is any public function of services/facts whose arguments are what hosts and servers say: texts, lines, rows,
variables, outputs. Its names (variables, columns, words before a '=') are the constants of its own module, so that
every field is told, and told in a text that nobody knows. A new reader is found, and so is one with an argument for
which no generator is here: it fails until one is.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import services
import services.facts
from services.connections.mongo.document import Document, Value
from services.connections.ports import Output, Rows, SqlValue
from services.facts.galera.ist import Cache, cache_in
from tests.examples import examples

Reader = Callable[..., object]
NOT_TEXTS = frozenset({"Problem"})
"""Sentences of ours."""
unknown = st.text(st.sampled_from("жщ☃¤٣²½\x08\x00\u202e\xa0ſ"), min_size=1, max_size=12)
"""No digit, letter or sign of any grammar; what looks like a digit or a letter is none."""


def _functions() -> Iterator[tuple[str, Reader]]:
    for module in pkgutil.walk_packages(services.facts.__path__, "services.facts."):
        loaded = importlib.import_module(module.name)
        for name, one in vars(loaded).items():
            if inspect.isfunction(one) and one.__module__ == module.name and not name.startswith("_"):
                yield f"{module.name.removeprefix('services.facts.')}.{name}", one


@cache
def _constants(module: str) -> tuple[str, ...]:
    """Return the short texts of a module: what it may look for. A column's name stands there in any case."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    told = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return tuple(dict.fromkeys(text for text in told if 0 < len(text) <= 60 and "\n" not in text))


def _rows(text: str, names: Collection[str]) -> Rows:
    return Rows(tuple(names), ((text,) * len(names),) * 2)


def _lines(text: str, names: Collection[str]) -> str:
    return "\n".join([text, *(f"{name}={text}" for name in names), *(f"{name}: {text}" for name in names), text])


MAKERS: dict[object, Callable[[str, Collection[str]], object]] = {
    str: lambda text, _names: text,
    object: lambda text, _names: text,
    SqlValue: lambda text, _names: text,
    Value: lambda text, _names: text,
    Rows: _rows,
    Output: lambda text, _names: Output(0, text.encode("utf-8", "replace"), text.encode("utf-8", "replace")),
    Mapping[str, str]: lambda text, names: dict.fromkeys(names, text),
    Mapping[str, SqlValue]: lambda text, names: dict.fromkeys(names, text),
    Mapping[str, Cache]: lambda text, names: dict.fromkeys(names, cache_in({"wsrep_local_state": text})),
    Document: lambda text, names: dict.fromkeys(names, text),
    Sequence[Document]: lambda text, names: [dict.fromkeys(names, text)] * 2,
    Iterable[str]: lambda text, _names: [text, text],
    Sequence[str]: lambda text, _names: [text, text],
    tuple[str, ...]: lambda text, _names: (text, text),
    Collection[str]: lambda text, _names: (text,),
    tuple[str, str, str]: lambda text, _names: (text, text, text),
    frozenset[str]: lambda text, _names: frozenset({text}),
    Sequence[tuple[SqlValue, ...]]: lambda text, _names: [(text,) * 12],
    Iterable[tuple[str, str]]: lambda text, _names: [(text, text)],
    Sequence[tuple[str, str]]: lambda text, _names: [(text, text)],
    Sequence[int]: lambda _text, _names: (),
    Iterable[tuple[str, str, str]]: lambda text, _names: [(text, text, text)],
    Collection[Mapping[str, str]]: lambda text, names: [dict.fromkeys(names, text)],
    int: lambda _text, _names: 0, float: lambda _text, _names: 1.0, bool: lambda _text, _names: False,
}  # fmt: skip
OF_FACTS = (
    "CommandRead", "SqlRead", "ObserverSession", "Callable", "NodeFacts", "MachineFacts", "GaleraFacts", "GroupFacts",
    "ReplicationFacts", "ReplicationChannel", "Lag", "Seen", "Clock", "Certificate", "PairSeen", "ChainFile", "Backup",
    "Asks", "ReplicaSet", "SetMember", "Oplog", "Scalar", "Settings", "Place", "Defined", "Given", "FileClass",
    "TransferFacts", "GroupRecovery", "UserError",
)  # fmt: skip
"""Arguments that other readers, or the program itself, have made: who takes one reads no text of a host by it."""


OURS = ("yaml_files",)
"""Write the settings that a person chose, or refuse a whole file; mongodb/test_yaml_bounds.py has theirs."""


def _hints(one: Reader) -> dict[str, object]:
    return typing.get_type_hints(one, vars(importlib.import_module(one.__module__)), _only_for_types())


@cache
def _only_for_types() -> dict[str, object]:
    """Return what modules import for their types alone."""
    found: dict[str, object] = {}
    for module in pkgutil.walk_packages(services.__path__, "services."):
        if module.name.startswith(("services.facts.", "services.connections.", "services.clock")):
            found = {**vars(importlib.import_module(module.name)), **found}
    return {**found, "Value": Value, "Document": Document}


def _bare(hint: object) -> object:
    """Return a hint without its None."""
    union = typing.get_origin(hint) in {typing.Union, types.UnionType}
    left = [one for one in typing.get_args(hint) if one is not type(None)] if union else []
    return left[0] if len(left) == 1 else hint


def _kind(hint: object) -> object:
    """Return the maker's key of a hint, None where there is none; values of MongoDB name themselves in a circle."""
    told = str(hint)
    if "Stamp" in told:
        return Sequence[Document] if told.startswith("collections") else Document if told.startswith("dict") else Value
    return next((known for known in MAKERS if known == hint), None)


def _is_of_facts(hint: object) -> bool:
    return any(name in str(hint) for name in OF_FACTS)


@cache
def _readers() -> dict[str, Reader]:
    return {
        name: one
        for name, one in _functions()
        if not any(_is_of_facts(hint) for arg, hint in _hints(one).items() if arg != "return")
        and any(_bare(hint) not in {int, float, bool} for arg, hint in _hints(one).items() if arg != "return")
        and name.partition(".")[0] not in OURS
        and "CommandRead" not in str(_hints(one).get("return"))  # it asks for something, and reads no text
    }


def _arguments(one: Reader, text: str, *, lines: bool = False) -> dict[str, object]:
    names = _constants(one.__module__)
    made = {}
    for arg, hint in _hints(one).items():
        if arg == "return":
            continue
        kind = _kind(_bare(hint))
        assert kind is not None, f"no generator for {arg}: {hint}"
        made[arg] = MAKERS[kind](_lines(text, names) if lines and kind is str else text, names)
    return made


def _call(one: Reader, given_args: Mapping[str, object]) -> object:
    """Call it by position, more than once for those after a star."""
    kinds = inspect.signature(one).parameters
    by_place = [given_args[n] for n, p in kinds.items() if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD,
                                                                    p.VAR_POSITIONAL}]  # fmt: skip
    return one(*by_place, **{n: given_args[n] for n, p in kinds.items() if p.kind is p.KEYWORD_ONLY})


def _known(value: object, hint: object, where: str) -> Iterator[str]:
    """Yield where a value has a number or a switch that may be not known and is known."""
    if is_dataclass(value) and not isinstance(value, type):
        if type(value).__name__ in NOT_TEXTS:
            return
        hints = typing.get_type_hints(type(value))
        for one in fields(value):
            yield from _known(getattr(value, one.name), hints[one.name], f"{where}.{one.name}")
    elif isinstance(value, (tuple, list, frozenset)):
        inner = typing.get_args(hint)
        several = len(inner) == len(value) and ... not in inner
        for at, one in enumerate(value):
            yield from _known(one, inner[at if several else 0] if inner else object, f"{where}[]")
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _known(one, int | None, f"{where}[{key}]")
    elif isinstance(value, (bool, int, float)) and type(None) in typing.get_args(hint):
        yield f"{where} = {value}"


@pytest.mark.parametrize("name", sorted(_readers()))
@pytest.mark.parametrize("lines", [False, True])
def test_that_no_reader_makes_a_number_or_a_switch_of_a_text_that_no_grammar_knows(name: str, *, lines: bool) -> None:
    one = _readers()[name]

    @settings(max_examples=examples(3), deadline=None)
    @given(unknown)
    def holds(text: str) -> None:
        found = list(_known(_call(one, _arguments(one, text, lines=lines)), _hints(one)["return"], name))
        assert [place for place in found if place.split(" = ")[0] not in PROVEN_BY_ABSENCE] == []

    holds()


PROVEN_BY_ABSENCE: dict[str, str] = {
    "machine.capability.cores_of": "a block of /proc/cpuinfo is a processor, whatever stands in it",
    "machine.capability.has_aes": "a list of flags without 'aes' has none",
}
"""What is known by what a text does not say, and why."""


def test_that_readers_are_found_by_themselves() -> None:
    found = _readers()
    assert len(found) > 200
    some = {"replication.replication.parse_replication", "galera.status.parse_galera", "mongodb.values.number"}
    assert some <= {*found}
