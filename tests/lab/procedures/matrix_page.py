"""The section that a run of the matrix writes: a table of faults by procedures, below it what the person was told."""

from __future__ import annotations

from tests.lab.procedures.scenarios import SCENARIOS
from tests.lab.procedures.states.faults import FAULTS

KILLED_ROW = "console killed"
ROWS = (KILLED_ROW, *(fault.name for fault in FAULTS))
Cells = dict[str, dict[str, dict[str, str]]]
"""Row -> scenario -> told, day."""

HEADING = "## On the lab"
_HEAD = f"""\
{HEADING}

Written by `python -m tests.lab.procedures.matrix` on real servers in the lab; don't edit it by hand. Each fault happens
to the host of the procedure's long step while that step runs; `console killed` is SIGKILL right after a journal write.
After every trial the cluster was whole, and no obligation was left on.

"""
_HOW = {
    KILLED_ROW: "SIGKILL after a journal write, then `resume`.",
    "SSH dropped": "every open SSH session of the host ends; new ones are taken.",
    "sshd stopped": "the host takes no SSH; after 45 s it does again.",
    "server killed": "SIGKILL to mariadbd.",
    "disk filled": "the data disk has no free block; after 45 s it has again.",
    "partition": "the host sees no other host, the console sees all; after 45 s it is healed.",
}


def page(cells: Cells) -> str:
    """Return the section's Markdown."""
    names = [s.name for s in SCENARIOS]
    lines = [_HEAD + "| fault | " + " | ".join(names) + " |", "| --- |" + " --- |" * len(names)]
    for row in ROWS:
        shown = [_short(cells.get(row, {}).get(name)) for name in names]
        lines.append(f"| {row} | " + " | ".join(shown) + " |")
    lines.append("\nA dash was not tried yet.\n")
    lines += [f"- {row}: {how}" for row, how in _HOW.items()]
    lines.append("\n### The long steps\n")
    lines += [f"- {s.name}: step `{s.long_step}` of `{s.procedure}`, fault on {s.host}" for s in SCENARIOS]
    for row in ROWS:
        pairs = [(name, cells[row][name]) for name in names if name in cells.get(row, {})]
        if pairs:
            lines.append(f"\n### {row[0].upper()}{row[1:]}\n")
            lines += [f"- **{name}** ({cell['day']}): {cell['told']}" for name, cell in pairs]
    return "\n".join(lines) + "\n"


def _short(cell: dict[str, str] | None) -> str:
    if cell is None:
        return "-"
    told = cell["told"]
    if told.startswith("killed at"):
        return told.partition(":")[0].removeprefix("killed at ")
    state = told.partition(":")[0]
    return f"{state}, then undone" if ". Then " in told or " Then " in told else state
