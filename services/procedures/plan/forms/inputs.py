"""Reading what a person typed into a form: durations, sizes, numbers, yes or no, hosts. Faults are sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable

from services.errors import BadInput
from services.facts.masking import masked
from services.i18n import tr
from services.procedures.plan.forms.fields import Fault, Field, Inputs

_DURATION = re.compile(r"(\d{1,20}(?:\.\d{1,20})?)\s{0,20}(seconds?|sec|s|minutes?|min|m|hours?|h|days?|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*(B|[kKMGT]i?B?|)")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_YES, _NO = frozenset({"yes", "y", "true", "on", "1"}), frozenset({"no", "n", "false", "off", "0"})


def seconds_of(text: str) -> float | None:
    """Return the seconds of '90 s', '30 min', '1 h 20 min'; None for anything else. A bare number is minutes."""
    low = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", low):
        return float(low) * 60
    parts = _DURATION.findall(low)
    if not parts or _DURATION.sub("", low).strip(" ,"):
        return None
    return sum(float(number) * _SECONDS[unit[0]] for number, unit in parts)


def bytes_of(text: str) -> int | None:
    """Return the bytes of '20 GB' (powers of 1000), '20 GiB' or the server's own '20G' (powers of 1024)."""
    found = _BYTES.fullmatch(text.strip())
    if found is None:
        return None
    number, unit = found.groups()
    prefix = unit[:1].upper() if unit not in {"", "B"} else ""
    base = 1000 if unit.endswith("B") and "i" not in unit else 1024
    return int(float(number) * base ** _POWERS[prefix])


def number_of(text: str) -> int | None:
    """Return a whole number, None for anything else."""
    return int(text) if re.fullmatch(r"-?\d{1,19}", text.strip()) else None


def flag_of(text: str) -> bool | None:
    """Return yes or no, None for anything else."""
    low = text.strip().lower()
    return True if low in _YES else False if low in _NO else None


def hosts_of(text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated list, without empty ones and repeats."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def typed_hosts(names: Iterable[str]) -> str:
    """Return names as one answer that can be pasted behind a field's name: `hosts_of` reads it."""
    return ",".join(names)


def holds_secret(text: str) -> bool:
    """Return whether a typed text has what looks like a password in it: a setting, a statement, an address with one."""
    return masked(text) != text


def refuse_secret(reason: str) -> None:
    """Raise BadInput for a reason with a password in it: it would stand in the journal and in reports for good."""
    if holds_secret(reason):
        raise BadInput(
            tr("The reason seems to contain a password, and the journal stores it permanently."),
            try_=(tr("Write it without the password. Nothing was changed."),),
        )


def filled(fields: Iterable[Field], inputs: Inputs) -> Inputs:
    """Return the inputs with every default put in where nothing was typed."""
    return {field.name: inputs.get(field.name, "").strip() or field.default for field in fields}


def field_faults(fields: tuple[Field, ...], inputs: Inputs) -> tuple[Fault, ...]:
    """Return what is wrong with each typed input by its kind alone; defaults count as typed."""
    known = {field.name for field in fields}
    faults = [Fault(name, tr("There is no input called {name}.", name=name)) for name in inputs if name not in known]
    values = filled(fields, inputs)
    for field in fields:
        sentence = _secret(field, values[field.name]) or _fault(field, values[field.name])
        if sentence:
            faults.append(Fault(field.name, sentence))
    return tuple(faults)


def _secret(field: Field, text: str) -> str:
    if not holds_secret(text):
        return ""
    return tr("{title}: it seems to contain a password, and the journal stores it. Write it without.",
              title=field.title)  # fmt: skip


def _amount_fault(field: Field, text: str) -> str:
    """Return what is wrong with a time or a size: neither is a choice, a host or a name."""
    if re.match(r"-\s*\d", text):
        return tr("{title}: it cannot be negative.", title=field.title)
    if field.kind == "bytes":
        return tr("{title}: write a size like 20 GB.", title=field.title) if bytes_of(text) is None else ""
    if number_of(text) is not None:
        return tr("{title}: {n} of what? Write {n} s, {n} min or {n} h.", title=field.title, n=text)
    return tr("{title}: write a time like 30 min or 1 h.", title=field.title) if seconds_of(text) is None else ""


def _fault(field: Field, text: str) -> str:
    if not text:
        return tr("{title} is needed.", title=field.title) if field.required else ""
    if field.kind in {"duration", "bytes"}:
        return _amount_fault(field, text)
    if field.kind == "number" and number_of(text) is None:
        return tr("{title}: write a whole number.", title=field.title)
    if field.kind == "flag" and flag_of(text) is None:
        return tr("{title}: write yes or no.", title=field.title)
    allowed = {value for value, _ in field.choices}
    asked = hosts_of(text) if field.kind == "hosts" else (text,)
    if field.kind in {"host", "hosts"} and not allowed:
        return tr("{title}: it cannot be {value}: no host is suitable now.", title=field.title, value=text)
    if field.kind in {"host", "choice", "hosts"} and allowed:
        strange = [value for value in asked if value not in allowed]
        if strange:
            return tr(
                "{title}: {value} is not one of {allowed}.",
                title=field.title,
                value=", ".join(strange),
                allowed=", ".join(value for value, _ in field.choices),
            )
    return ""
