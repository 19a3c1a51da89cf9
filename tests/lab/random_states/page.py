"""The table of a long run: one row a state, kept as data beside the page so that two runs can fill one table. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
_COUNTS = ("gone", "kept", "aside", "lost", "forked")

HEAD = """\
# Random states

Written by `python -m tests.lab.random_states` on real servers in the lab; don't edit it by hand. Each row is a cluster
of three nodes, broken by a run of verbs that its seed gives (the same seed gives the same verbs); then the procedures
that are offered are run by a careful person whose habits are of the seed too. Each row that a server acknowledged is
in a ledger; before and after the procedures the rows are read from each node's own tables, of a stopped node from a
copy that a private server opens.

- **kept**: on every Synced node at the end. **aside**: only on nodes that are not Synced. **gone**: on no node any more
  before the console was asked. **lost**: on no node afterwards. **forked**: on some Synced nodes only.
- **ok**: what was asked for was done, and no row was lost or forked. **typed**: a person typed what may be lost, and no
  more was. **refused**: each procedure said why not, and nothing was changed. **taken back**: a run did not go through
  and was taken back. **waits**: it still waited at the limit, and ended when it was asked to. **FAIL**: a row was lost
  or forked without that, or the console hung or broke.
"""


def page(rows: Iterable[Row], told: Mapping[str, str]) -> str:
    """Return the page.

    Args:
        rows: as Trial.row() gives them, with 'commit' and 'day'; told: facts for the head, such as server versions.
    """
    found = sorted(rows, key=lambda row: int(row["seed"]))
    counts = Counter(str(row["verdict"]["word"]) for row in found)
    sums = {name: sum(int(row["verdict"][name]) for row in found) for name in _COUNTS}
    acknowledged = sum(int(row["acknowledged"]) for row in found)
    lines = [HEAD, *(f"- {what}: {fact}" for what, fact in told.items())]
    lines += [
        f"- {len(found)} states: " + ", ".join(f"{number} {word}" for word, number in counts.most_common()),
        f"- {acknowledged} acknowledged rows: " + ", ".join(f"{number} {name}" for name, number in sums.items()),
        f"- forked when the console was asked: {sum(bool(row['verdict']['forked_before']) for row in found)} states",
        "",
        "| seed | verbs | what the console said | rows | kept, aside, gone, lost, forked | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_line(row) for row in found),
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    verdict = row["verdict"]
    numbers = ", ".join(str(verdict[name]) for name in ("kept", "aside", "gone", "lost", "forked"))
    said = "; ".join(_said(one) for one in row["asked"]) or "nothing is offered"
    why = f": {verdict['why']}" if verdict["word"] in {"FAIL", "waits"} else ""
    cells = (row["seed"], "; ".join(row["verbs"]), said, row["acknowledged"], numbers, f"{verdict['word']}{why}")
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _said(one: Row) -> str:
    typed = f" (typed for {one['told']})" if one["typed"] else ""
    name = f"{one['procedure']}{' ' + one['host'] if one['host'] else ''}"
    said = f": {one['said'][:120]}" if one["end"] not in {"done", "nothing to do"} else ""
    return f"{name} {one['end']}{said}{typed}"


def _cell(text: object) -> str:
    return str(text).replace("|", "/").replace("\n", " ")
