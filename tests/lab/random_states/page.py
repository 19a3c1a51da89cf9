"""The table of a long run: one row a state, kept as data beside the page so that two runs can fill one table. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.lab.random_states.judging import FAIL

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
  or forked without that, or the console hung or broke, or a return took a node that it had brought back to Synced away
  again though nothing was wrong with it, or what an earlier run kept is gone.
- **too much refusal**: whether nodes share their past was 'not known' to the console (it refused, or asked for it to be
  typed); how often the model of the histories and the tables both say that they do share it.
- Seeds from 10,000 are nights with a backup: the node that goes down is brought back by rejoin-from-incrementals,
  rejoin-from-binlogs or snapshot-node where that fits, and by add-node where it is refused.
- Seeds from 20,000 have a member that nobody wrote down: no inventory and no wsrep_cluster_address names it.
- Seeds from 21,000 have traps, one or two each: a chain of backups that was half copied, a filter that only a unit's
  environment shows, the empty state file of an SST that never began, older data kept inside the data folder, a member
  that nobody wrote down. Where a filter is set each row stands in the schema that it leaves out, every second one only
  there; a row counts as held where it stands in each of its tables. From 22,000 the node that goes down has lost its
  data folder as well.
"""


def with_row(rows: Iterable[Row], row: Row) -> list[dict[str, Any]]:
    """Return the rows with this one in the place of its seed's; a failure that stood there is kept in it."""
    old = next((one for one in rows if one["seed"] == row["seed"]), None)
    new = {**row, "failed": list(old.get("failed", [])) if old else []}
    if old is not None and old["verdict"]["word"] == FAIL:
        new["failed"].append({"commit": old["commit"], "why": old["verdict"]["why"]})
    return sorted([*(dict(one) for one in rows if one is not old), new], key=lambda one: int(one["seed"]))


def page(rows: Iterable[Row]) -> str:
    """Return the page.

    Args:
        rows: as Trial.row() gives them, with 'commit', 'day', 'servers', and from `with_row`.
    """
    found = sorted(rows, key=lambda row: int(row["seed"]))
    lines = [
        HEAD,
        *_totals(found),
        "",
        "| seed | commit | verbs | what the console said | rows | kept, aside, gone, lost, forked | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_line(row) for row in found),
    ]
    return "\n".join(lines) + "\n"


def _totals(found: Sequence[Row]) -> list[str]:
    counts = Counter(str(row["verdict"]["word"]) for row in found)
    ends = Counter(str(one["end"]) for row in found for one in row["asked"])
    sums = {name: sum(int(row["verdict"][name]) for row in found) for name in _COUNTS}
    unknown = [row for row in found if any(one.get("unknown") for one in row["asked"])]
    one = sum(bool(row.get("one_past")) for row in unknown)
    failed = [str(row["seed"]) for row in found if row.get("failed") and row["verdict"]["word"] != FAIL]
    days = sorted({str(row["day"]) for row in found})
    return [
        f"- Days: {', '.join(days)}; commits: {', '.join(sorted({str(row['commit']) for row in found}))}",
        f"- Servers: {'; '.join(sorted({str(row.get('servers', 'not known')) for row in found}))}",
        f"- {len(found)} states: {_counted(counts)}",
        f"- {sum(ends.values())} procedures asked for: {_counted(ends)}",
        f"- {sum(int(row['acknowledged']) for row in found)} acknowledged rows: {_numbers(sums)}",
        f"- forked when the console was asked: {sum(bool(row['verdict']['forked_before']) for row in found)} states",
        f"- too much refusal: a past was 'not known' in {len(unknown)} states; in {one} of them all nodes had one past",
        f"- of {sum('one_past' not in row for row in found)} states, tried by an older driver, that was not recorded",
        f"- failed first, tried again: {', '.join(failed) or 'none'}",
    ]


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {word}" for word, number in sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _numbers(sums: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sums.items())


def _line(row: Row) -> str:
    verdict = row["verdict"]
    numbers = ", ".join(str(verdict[name]) for name in ("kept", "aside", "gone", "lost", "forked"))
    said = "; ".join(_said(one) for one in row["asked"]) or "nothing is offered"
    cells = (row["seed"], row["commit"], "; ".join(row["verbs"]), said, row["acknowledged"], numbers, _verdict(row))
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _verdict(row: Row) -> str:
    word, why = row["verdict"]["word"], row["verdict"]["why"]
    now = f"{word}: {why}" if word in {FAIL, "waits"} else str(word)
    before = [f"failed at {one['commit']} ({one['why']})" for one in row.get("failed", ())]
    mended = [f"mended in {row['mended']}"] if before and row.get("mended") else []
    return "; ".join((*before, *mended, f"tried again: {now}")) if before else now


def _said(one: Row) -> str:
    typed = f" (typed for {one['told']})" if one["typed"] else ""
    name = f"{one['procedure']}{' ' + one['host'] if one['host'] else ''}"
    said = f": {one['said'][:120]}" if one["end"] not in {"done", "nothing to do"} else ""
    return f"{name} {one['end']}{said}{typed}"


def _cell(text: object) -> str:
    return str(text).replace("|", "/").replace("\n", " ")
