"""What a MongoDB server's reply is made of, in plain Python values: the floors above know no BSON."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Stamp:
    """A place in an oplog: seconds since 1970, and the number within that second (BSON timestamp)."""

    seconds: int
    number: int


Value = str | int | float | bool | bytes | Stamp | list["Value"] | dict[str, "Value"] | None
"""A moment (BSON datetime) is epoch seconds as a float; an id and a decimal are their text; what
has no plain form (a pattern, a reference) is the name of its type."""
Document = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered to one read, as one document; a find's documents stand in `documents`.

    Attributes:
        more: there were more documents than the read takes.
        proven: whoever answers knows the account's password, or none was to be proven; else it is hearsay.
    """

    body: Document
    documents: tuple[Document, ...] = ()
    more: bool = False
    proven: bool = True
