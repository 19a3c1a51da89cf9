"""The questions a procedure asks before it plans: typed, with defaults that are already right, checked as one types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FieldKind = Literal["host", "hosts", "choice", "text", "duration", "bytes", "number", "flag"]


@dataclass(frozen=True, slots=True)
class Field:
    """One input.

    Attributes:
        name: stable, as in `--input name=value`; title, help: for the person.
        kind: 'host' one of `choices`; 'hosts' comma-separated; 'duration' like '30 min'; 'bytes' like '20 GB';
            'flag' yes or no.
        default: text, already right in most cases; '' for none.
        choices: (value, what it means) where the kind or the procedure limits them.
        required: an empty answer is a fault.
        advanced: shown under 'more'.
    """

    name: str
    title: str
    kind: FieldKind
    default: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    help: str = ""
    required: bool = True
    advanced: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one input, as a sentence; field '' for the whole form."""

    field: str
    sentence: str


Inputs = dict[str, str]
"""Field name -> text, as typed. A procedure reads them through `inputs.py`'s parsers after `faults` is empty."""
