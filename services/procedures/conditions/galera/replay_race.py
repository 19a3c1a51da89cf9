"""The race of a replay with the donors' caches: will what follows its end still be cached when the node starts?

A forecast that converges: the replay tells every two seconds how much is left and at which rate, and each donor's cache
where it begins; how fast that beginning moves is measured over all looks of one watch.
"""

from __future__ import annotations

import math

from services.connections.reads import commands
from services.facts.reading import count
from services.facts.replay_progress import Progress, parse_progress
from services.procedures.looking.standing import silent
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking, Past

AFTERWARDS_S = 60.0
"""From the end of a replay to the request for a transfer: two stops and two starts of a server (lab: 20 s)."""


@condition("galera.replay-race", "the replay on {host} to be faster than the donors' caches purge")
class ReplayRace(OfHost):
    """At least one of `donors` will still cache what follows `target` when the replay on `host` is through.

    Attributes:
        target: the seqno that the replay ends at; progress: the file in which it tells how far it is.
    """

    donors: tuple[str, ...]
    target: int
    progress: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host, *self.donors}), enough_of=frozenset(self.donors))

    def look(self, asking: Asking, past: Past) -> Answer:
        """Read how far the replay is, and where each donor's cache begins."""
        del past
        output = asking.run(self.host, commands.LOG_FILE.read(1, self.progress, sudo=True))
        progress = parse_progress(output.text) if output.exit_code == 0 else None
        if progress is None or progress.target != self.target:
            return Answer(holds=None, evidence=f"how far the replay on {self.host} is can not be read yet")
        needs = progress.left_s + AFTERWARDS_S
        found = asking.each(self.donors, lambda name: count(asking.status(name).get("wsrep_local_cached_downto", "")))
        told, heard, able = [], 0, 0
        for name, first in found.items():
            if isinstance(first, Exception):
                told.append(silent(name, first))
                continue
            heard += 1
            lasts = self._lasts(asking, name, first)
            able += lasts > needs
            told.append(f"{name} {_words(first, lasts)}")
        evidence = f"{_replay_words(progress)}, started in about {_seconds(needs)}; {', '.join(told)}"
        holds = True if able else None if heard < len(found) or math.isinf(progress.left_s) else False
        left = None if math.isinf(needs) else needs
        return Answer(holds, evidence, done=progress.done, total=progress.total, unit="transactions", left_s=left)

    def _lasts(self, asking: Asking, name: str, first: int | None) -> float:
        """Return for how many seconds a donor still has what follows the target, as fast as its cache purged so far."""
        if not first or first > self.target + 1:
            return 0.0
        key, now = (self.tag, name), asking.clock.monotonic()
        seen = asking.memory.value(key)
        began, at = seen if isinstance(seen, tuple) else (now, first)
        if seen is None:
            asking.memory.keep(key, (now, first))
        speed = (first - at) / (now - began) if now > began else 0.0
        return (self.target + 1 - first) / speed if speed > 0 else math.inf


def _words(first: int | None, lasts: float) -> str:
    if not first:
        return "caches nothing"
    if lasts == 0.0:
        return f"caches from {first} only: it has lost what is needed"
    return f"caches from {first}" + ("" if math.isinf(lasts) else f", what is needed for about {_seconds(lasts)} more")


def _replay_words(progress: Progress) -> str:
    return f"replay at {progress.done} of {progress.total} transactions, {progress.rate} a second"


def _seconds(seconds: float) -> str:
    if math.isinf(seconds):
        return "a time not known yet"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
