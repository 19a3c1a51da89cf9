"""Reading one value out of a MongoDB document. Nothing here raises; what makes no sense is None, '' or empty."""

from __future__ import annotations

from dataclasses import dataclass

from services.addresses import is_address
from services.connections.mongo.document import Document, Stamp, Value
from services.facts.reading import amount, host_port, whole_number, words

PORT = 27017
MOST_MEMBERS = 64
"""A replica set has 50 at most (MongoDB manual, "Replica Set Members"); a hostile answer is cut."""
MOST_SHARDS = 500
_MOST_NAME = 255


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server says that another one is: a claim. Nobody goes there because of it.

    Attributes:
        name: as it was told, for people. host: '' where it is no address.
    """

    name: str
    host: str = ""
    port: int = PORT


def place(value: Value, port_of: int = PORT) -> Place:
    """Return a "host:port"; without a port it is MongoDB's own, with one that is none it is no place to go to.

    Args:
        port_of: the port where none is named.
    """
    name = words(value, _MOST_NAME) if isinstance(value, str) else ""
    host, port = host_port(name, 0)
    odd = port == 0 and name.strip().strip("[]").lower().rstrip(".") != host
    return Place(name, host, port or port_of) if is_address(host) and not odd else Place(name)


def inside(document: Document, *names: str) -> Document:
    """Return the document that stands under these names, one in the other; {} where there is none."""
    for name in names:
        inner = document.get(name)
        if not isinstance(inner, dict):
            return {}
        document = inner
    return document


def documents(value: Value, most: int) -> list[Document]:
    """Return the documents of a list, at most so many."""
    return [one for one in value[:most] if isinstance(one, dict)] if isinstance(value, list) else []


def line(value: Value, most: int = _MOST_NAME) -> str:
    """Return a text in one line, '' for whatever is none."""
    return words(value, most) if isinstance(value, str) else ""


def number(value: Value) -> int | None:
    """Return a whole number, else None."""
    return whole_number(value) if isinstance(value, int | float) else None


def moment(value: Value) -> float | None:
    """Return epoch seconds, also a fraction; None for whatever is no moment after 1970."""
    found = amount(value) if isinstance(value, int | float) else None
    return found or None


def yes(value: Value) -> bool | None:
    """Return a truth; numbers other than 0 count, as servers write them; None for whatever is neither."""
    if isinstance(value, bool):
        return value
    return value != 0 if isinstance(value, int | float) else None


def stamp(value: Value) -> Stamp | None:
    """Return a place in the oplog, None for none and for the empty one (0, 0)."""
    return value if isinstance(value, Stamp) and value.seconds > 0 else None
