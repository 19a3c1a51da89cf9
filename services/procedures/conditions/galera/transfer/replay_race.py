"""The race of a replay with the donors' caches: will what follows its end still be cached when the node starts?

A forecast that converges: the replay tells every two seconds how much is left and at which rate, and each donor's cache
where it begins; how fast that beginning moves is measured over all looks of one watch.
"""

from __future__ import annotations

import math
from dataclasses import replace

from services.connections.reads import commands
from services.facts.binlog.replay_progress import Progress, parse_progress
from services.facts.galera.ist import Cache, cache_in, ist_offers
from services.procedures.looking.standing import silent
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

AFTERWARDS_S = 60.0
"""From the end of a replay to the request for a transfer: two stops and two starts of a server (lab: 20 s)."""


@condition("galera.replay-race", "the replay on {host} to finish before the donors' caches purge its next write sets")
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

    def look(self, asking: Asking) -> Answer:
        """Read how far the replay is, and where each donor's cache begins."""
        output = asking.run(self.host, commands.LOG_FILE.read(1, self.progress, sudo=True))
        progress = parse_progress(output.text) if output.exit_code == 0 else None
        if progress is None or progress.target != self.target:
            return Answer(holds=None, evidence=f"the progress of the replay on {self.host} cannot be read yet")
        needs = progress.left_s + AFTERWARDS_S
        found = asking.each(self.donors, lambda name: replace(cache_in(asking.status(name)), synced=True))
        told, heard, able = [], 0, 0
        caches = {name: self._paced(asking, name, one) for name, one in found.items() if isinstance(one, Cache)}
        answers = ist_offers(self.target, caches)
        for name, one in found.items():
            if not isinstance(one, Cache):
                told.append(silent(name, one))
                continue
            lasts = answers[name].left_s
            heard += lasts is not None
            able += lasts is not None and lasts > needs
            told.append(f"{name} {_words(one, lasts)}")
        evidence = f"{_replay_words(progress)}, started in about {_seconds(needs)}; {', '.join(told)}"
        holds = True if able else None if heard < len(found) or math.isinf(progress.left_s) else False
        left = None if math.isinf(needs) else needs
        return Answer(holds, evidence, done=progress.done, total=progress.total, unit="transactions", left_s=left)

    def _paced(self, asking: Asking, name: str, cache: Cache) -> Cache:
        """Return a donor's cache with how fast it purged since the first look of this watch."""
        if not cache.first:
            return cache
        key, now = (self.tag, name), asking.clock.monotonic()
        seen = asking.memory.value(key)
        began, at = seen if isinstance(seen, tuple) else (now, cache.first)
        if seen is None:
            asking.memory.keep(key, (now, cache.first))
        return replace(cache, purged_s=max(0.0, (cache.first - at) / (now - began)) if now > began else 0.0)


def _words(cache: Cache, lasts: float | None) -> str:
    if not cache.first:
        return "reports no cached range" if cache.first is None else "caches nothing"
    evidence = f"caches from {cache.first}"
    if lasts is None:
        return f"{evidence}, for an unknown time"
    if lasts == 0.0:
        return f"{evidence} only: the required write sets are purged"
    return evidence + ("" if math.isinf(lasts) else f", the required write sets for about {_seconds(lasts)} more")


def _replay_words(progress: Progress) -> str:
    return f"replay at {progress.done} of {progress.total} transactions, {progress.rate} a second"


def _seconds(seconds: float) -> str:
    if math.isinf(seconds):
        return "an unknown time"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
