"""The metrics page of the documentation, written from the catalogue so that it can't say something else.

`python -m services.sampling.metrics.catalogue_page` prints it; a test compares it with resources/docs/metrics.md.
"""

from __future__ import annotations

import sys

from services.sampling.metrics.catalogue import Catalogue, load_catalogue
from services.sampling.model import Metric

_INTRO = """# Metrics

Generated from `resources/metrics.toml`; do not edit. Raw values are stored each second as the server and the host
report them. The metrics below are computed when they are drawn, so a corrected formula also corrects the past. An
interval of a counter is dropped (a gap, never a negative or huge rate) if the counter decreased, uptime decreased, the
server changed, or the two samples are more than 2.5 s apart. A missing value is missing, never 0. Color limits are
proposals unless the source gives them.
"""
_GROUPS = {
    "cpu": "CPU", "load": "Load", "psi": "Pressure", "disk": "Disks", "memory": "Memory", "net": "Network",
    "commit": "Commit pressure", "innodb": "InnoDB flushing", "repl": "Replication", "galera": "Galera",
    "group": "Group Replication",
    "ist": "IST reach",
}  # fmt: skip


def catalogue_page(catalogue: Catalogue | None = None) -> str:
    """Return the page as Markdown: terms first, then the metrics by group."""
    chosen = catalogue or load_catalogue()
    lines = [
        _INTRO,
        "## Terms",
        "",
        "Expressions shared by several formulas.",
        "",
        "| term | formula |",
        "| --- | --- |",
    ]
    lines += [f"| `{name}` | `{formula}` |" for name, formula in chosen.terms.items()]
    groups = dict.fromkeys(m.key.split(".")[0] for m in chosen)
    for group in groups:
        lines += ["", f"## {_GROUPS.get(group, group)}", "", "| metric | unit | kind | formula | from |",
                  "| --- | --- | --- | --- | --- |"]  # fmt: skip
        members = [m for m in chosen if m.key.split(".")[0] == group]
        lines += [_row(m) for m in members]
        notes = [f"- **{m.key}**: {m.misleading}" for m in members if m.misleading]
        lines += ["", *notes] if notes else []
    return "\n".join(lines) + "\n"


def _row(metric: Metric) -> str:
    kinds = {"counter": "of counters", "gauge": "gauge", "gauge_since_flush": "average since flush"}
    limits = [f"{word} {'above' if metric.higher_is_worse else 'below'} {limit:g}"
              for word, limit in (("yellow", metric.warn), ("red", metric.bad)) if limit is not None]  # fmt: skip
    source = metric.source + (f"; {', '.join(limits)}" if limits else "")
    cells = (
        f"`{metric.key}` {metric.title}",
        metric.unit or "count",
        kinds[metric.kind],
        f"`{metric.formula}`",
        source,
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(catalogue_page())
