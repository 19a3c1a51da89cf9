"""Why a metric has no value where others of the same server have: in words, never by a counter's key. Pure."""

from __future__ import annotations

from services.facts.model import SQL, SSH
from services.i18n import tr
from services.sampling.metrics.formula import Formula
from services.types import NO_WAY, NOT_OFFERED, NOT_YET, Lack

_LEARNT_BY_WAITING = "console.ist_"
"""Reaches and rates of writes: nothing can be said of them before some were seen (services/sampling/ist_reach.py)."""
_OF_THE_HOST = ("os.", "console.data_disk_free", "console.gcache_disk_free", "console.gcache_pages_bytes")


def why_absent(formula: Formula, *, answered: bool) -> tuple[Lack, str]:
    """Return why none of a formula's keys was sampled while others of the host were: a code and a sentence.

    `answered`: the server itself gave any number, over SQL.
    """
    keys = (*formula.keys, *formula.patterns)
    if not answered and read_over(formula) == SQL:
        return NO_WAY, tr("Read over SQL: the server has not answered.")
    if keys and all(key.startswith(_LEARNT_BY_WAITING) for key in keys):
        return NOT_YET, tr("Known after a minute of writes.")
    if read_over(formula) == SSH:
        return NO_WAY, tr("Read over SSH: no sample of the host has arrived.")
    if keys and all(key.startswith("console.") for key in keys):
        return NOT_YET, tr("Not known yet.")
    return NOT_OFFERED, tr("This server does not report it.")


def read_over(formula: Formula) -> str:
    """Return the one way in that a formula's values come by (SSH or SQL), '' where either does or none is needed."""
    ssh = [key.startswith(_OF_THE_HOST) for key in (*formula.keys, *formula.patterns)]
    if not ssh or (any(ssh) and not all(ssh)):
        return ""
    return SSH if all(ssh) else SQL
