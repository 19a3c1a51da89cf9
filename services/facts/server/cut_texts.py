"""Texts that a server cut without a word: told by their length, and read whole where that can be done.

MySQL 5.7 and newer keep SHOW GLOBAL VARIABLES and SHOW GLOBAL STATUS in a column of 1,024 characters (MySQL manual,
"SHOW VARIABLES Statement": a display-width limit, SELECT for long values; a set of 1,438 on MySQL 9.7.4), others had
bounds of 2,048 and 4,096 (PXC-4218). SELECT @@GLOBAL gives the whole text. MariaDB 10.11.18 cut none of 2,691. What
can't be read so is 'not known' where its length is one of those bounds: a set of GTIDs, or a list, that was cut reads
as another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from services.connections.ports import Rows, text
from services.connections.reads import statements
from services.connections.reads.read import SqlRead
from services.errors import QueryFailed
from services.facts.reading import may_be_cut
from services.i18n import tr

MOST_READ_WHOLE = 16
"""Of one server at a time: a statement each, and a usual server has none or two."""
_NAME = re.compile(r"[a-z0-9_]{1,64}")


def uncut(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return the same names, '' for a text that may have been cut: what it says is not known."""
    cut = [name for name, value in values.items() if may_be_cut(value)]
    return {**values, **dict.fromkeys(cut, "")} if cut else values


def read_variables(query: Callable[[SqlRead], Rows]) -> dict[str, str]:
    """Return the global variables as name -> text; one that SHOW may have cut is read by itself.

    What the server does not give so stays as SHOW gave it: its readers tell it by its length. Raises what `query` does,
    but for a server's refusal of a single variable.
    """
    values = query(statements.VARIABLES).pairs()
    cut = [name for name, value in values.items() if may_be_cut(value) and _NAME.fullmatch(name)]
    for name in cut[:MOST_READ_WHOLE]:
        values[name] = _whole(query, name, values[name])
    return values


def read_variable(query: Callable[[SqlRead], Rows], name: str) -> str | None:
    """Return one global variable's whole text, None when the server has none of that name.

    Raises QueryFailed where the text may be cut, and what `query` raises.
    """
    shown = next(iter(query(statements.VARIABLE.read(name)).pairs().values()), None)
    if shown is None or not may_be_cut(shown):
        return shown
    whole = _whole(query, name, shown)
    if may_be_cut(whole):
        sentence = tr(
            "{name} has {n} characters, the length at which servers truncate: its value is not known.",
            name=name,
            n=len(whole),
        )
        raise QueryFailed(sentence)
    return whole


def _whole(query: Callable[[SqlRead], Rows], name: str, shown: str) -> str:
    try:
        rows = query(statements.WHOLE_VARIABLE.read(name)).rows
    except QueryFailed:
        return shown
    whole = text(rows[0][0]) if rows and rows[0] else ""
    return whole if whole.startswith(shown.rstrip("\ufffd")) else shown
