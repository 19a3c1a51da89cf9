"""The one builder of a host's facts for tests: by fields of its parts, whatever parts there are.

A keyword is a field of HostFacts, part and field (`unit_result`, `options_given`), or a field of that
(`gcache_disk_free`); some fields tell enough by themselves (`grastate`). What is not named stays as it is, else it is
'not known'.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from services.procedures.plan import parts as package
from services.procedures.plan.finding import modules_of
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.part import Part


def every_part() -> tuple[type[Part], ...]:
    """Every part that stands in production's folder, by name."""
    found = {
        kind
        for module in modules_of(package)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Part) and kind is not Part and is_dataclass(kind)
    }
    return tuple(sorted(found, key=lambda kind: kind.__name__))


_ALONE = frozenset({
    "grastate", "grastate_absent", "grastate_damaged", "gvwstate", "gvwstate_by_hand", "gvwstate_damaged", "haproxies",
    "longest_transaction_s", "may_change", "names", "rates", "sst_in_progress", "sst_orphans", "sst_user", "tablespace",
    "temporary", "timeout_stop_s", "trace",
})  # fmt: skip
Place = tuple[type[Part], str, str]
"""A part, its field, and a field of that where it is itself a dataclass, else ''."""


def _keywords() -> Mapping[str, Place]:
    every: list[Place] = []
    for kind in every_part():
        for field in fields(kind):  # type: ignore[arg-type]
            inside = getattr(kind(), field.name)
            every.append((kind, field.name, ""))
            every += [(kind, field.name, one.name) for one in fields(inside)] if is_dataclass(inside) else []
    short = {place[1]: place for place in every if place[1] in _ALONE}
    return short | {"_".join(word for word in (_snake(kind.__name__), *names) if word): (kind, *names)
                    for kind, *names in every}  # fmt: skip


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


KEYWORDS = _keywords()
_OWN = frozenset(field.name for field in fields(HostFacts))


def host_of(host: str, **known: Any) -> HostFacts:
    """A host of which this is known."""
    return changed(HostFacts(host), **known)


def changed(host: HostFacts, **known: Any) -> HostFacts:
    """The same host, of which this is known instead."""
    for name in known.keys() - _OWN:
        kind, field, inner = KEYWORDS[name]
        part: Any = host[kind]
        value = replace(getattr(part, field), **{inner: known[name]}) if inner else known[name]
        host = host.with_part(replace(part, **{field: value}))
    return replace(host, **{name: known[name] for name in known.keys() & _OWN})
