"""What shows that a start joins the cluster and founds none, as data (see conditions.py)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundsNothing:
    """Nothing that decides the server's command line has its next start found a cluster: files, systemd, the unit.

    Attributes:
        script: the script that the unit starts, whose own words are not known: it was there when the run was planned,
            and its checklist said so.
        left: only what a founding start leaves behind is looked for, in systemd's environment and the unit's.
    """

    host: str
    unit: str
    script: str = ""
    left: bool = False
