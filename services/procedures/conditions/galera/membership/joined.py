"""Has a node joined, how far is it, can it still; and which transfer brought it (pages "Conventions", add-node).

'started' is not 'joined': a unit can be active while its server waits for ever, Initialized or Inconsistent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile

from services.connections.reads import commands
from services.errors import UserError
from services.facts import reads
from services.facts.galera.whole import SYNCED
from services.facts.logs.causes import cause, telling
from services.facts.logs.part import Log
from services.facts.machine.machine import parse_du
from services.facts.machine.system import properties
from services.facts.machine.tcp_ways import TRANSFER_PORTS
from services.facts.model import TransferFacts
from services.facts.transfer.ist_progress import ist_progress, sst_comes_in
from services.facts.transfer.join_words import fatal_lines
from services.procedures.looking.component import beside
from services.procedures.looking.ended import ended, seen_up, starts_again
from services.procedures.looking.founding import founded_words
from services.procedures.looking.log import read_log
from services.procedures.looking.ways import donor_said, ways_closed
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.remembering import MOST_GAP_S

SST_PORT, IST_PORT = TRANSFER_PORTS
_RECENT_S = 30.0
_SILENT_S = 120.0
_NOTHING_S = 20.0
"""A donor's stream begins within seconds of the joiner's listening."""
_STOPPED_S = 30.0


@dataclass(slots=True)
class _Pace:
    """What was seen of a transfer: (monotonic seconds, done), oldest first."""

    kind: str
    points: list[tuple[float, float]] = field(default_factory=list)

    def left_s(self, now: float, done: float, total: float | None) -> float | None:
        """Return seconds to the end: by the pace of the last half minute and of the whole, the mean of the two.

        The mean converges: near the end both see the same bytes, and a pause of some seconds does not make it jump.
        """
        self.points.append((now, done))
        del self.points[1:-600]
        recent = next(p for p in self.points if p[0] >= now - _RECENT_S)
        rates = [(done - before) / (now - at) for at, before in (self.points[0], recent) if now > at and done > before]
        if not rates or total is None:
            return None
        return max(0.0, total - done) / (sum(rates) / len(rates))

    def stands(self, least_s: float = _SILENT_S) -> str:
        """Return '; no data has arrived for ... s' once that is longer than a transfer's own silence; after `left_s`.

        Not the end of it: an SST is prepared for minutes after its last byte. But a donor that encrypts and a joiner
        that doesn't, or a stream that broke, look just so (PXC gives up after sst-idle-timeout, 120 s).
        """
        now, done = self.points[-1]
        since = min(at for at, _ in takewhile(lambda point: point[1] == done, reversed(self.points)))
        return f"; no data has arrived for {now - since:.0f} s" if now - since >= least_s else ""


@condition("galera.joined", "{host} to be a Synced member")
class Joined(OfHost):
    """The node is a Synced member of the Primary Component with this state UUID ("started" is not "joined").

    Its answer carries the progress of IST or SST while it does not hold yet; it can never hold any more ("final") when
    the unit failed, or the server stands there Initialized/Inconsistent with the log saying why.

    `beside`: the other members that the plan knows: one of them has to serve in one view with it. A Primary Component
    of its own beside them is no joining. () for a first node, which has nobody to be beside.
    """

    state_uuid: str
    unit: str
    beside: tuple[str, ...] = ()

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), joins=frozenset({self.host}), stands=frozenset({f"server {self.host}"}))

    def look(self, asking: Asking) -> Answer:
        """Look at the server; while it has not joined, at the unit, the log since its newest start, the transfer."""
        try:
            status = asking.status(self.host)
        except UserError:
            status = {}
        uuid = status.get("wsrep_cluster_state_uuid", "").lower()
        state = status.get("wsrep_local_state_comment", "")
        primary = status.get("wsrep_cluster_status") == "Primary"
        if primary and status.get("wsrep_local_state") == str(SYNCED):
            if uuid == self.state_uuid.lower():
                if self.beside:
                    return beside(self.host, status, self.beside, self.state_uuid, asking)
                size = status.get("wsrep_cluster_size", "")
                return Answer(holds=True, evidence=f"{self.host} is Synced, Primary, one of {size}")
            said = f"{self.host} is Synced in another cluster: {uuid or 'no state UUID'}"
            return Answer(holds=False, evidence=said, final=True)
        if self.beside and not status and (evidence := founded_words(asking, self.host)):
            return Answer(holds=False, evidence=evidence, final=True)
        shown = _unit(asking, self)
        log = read_log(asking, self.host, self.unit)
        log = log.newest_start() if log is not None else None
        lines = log.since(0.0) if log is not None else ()
        fatal = fatal_lines(lines)
        why = cause(lines) or (fatal[0] if fatal else "")
        why = f": {why}" if why else ""
        now = f"{self.host} is {state or 'not answering yet'}" + ("" if primary or not status else ", not Primary")
        active = shown.get("ActiveState", "")
        if active == "active" and not status:
            # systemd has its word that the server answers: what is left of a backoff is waited for in vain.
            asking.session(self.host).try_now()
        if over := _over(self, asking, status, shown):
            said = f"{over}{why}{donor_said(asking, log, fatal)}{ways_closed(asking, self.host, fatal)}"
            return Answer(holds=False, evidence=said, final=True, lines=telling(lines))
        if state == "Inconsistent" or (fatal and state in {"Initialized", ""} and _stands(active, status)):
            return Answer(holds=False, evidence=f"{now}{why}", final=True, lines=telling(lines))
        return _progress(self, asking, status, shown, log, now)


def _over(condition: Joined, asking: Asking, status: dict[str, str], shown: dict[str, str]) -> str:
    """Return what became of a server that does not answer and will not come up any more; '' for any other.

    A unit that was inactive in every look of the last half minute is started by nobody. Before that a start that was
    only just asked for, or that runs detached, has a moment until systemd knows of it.
    """
    host, unit, key = condition.host, condition.unit, ("inactive", condition.host, condition.unit)
    if status:
        seen_up(asking, host, unit)
    elif how := ended(asking, host, unit, shown):
        return f"{unit} on {host} {how}"
    if status or shown.get("ActiveState") != "inactive":
        asking.memory.broke(key)
        return ""
    if asking.memory.held_s(key, asking.clock, MOST_GAP_S) < _STOPPED_S:
        return ""
    return f"{unit} on {host} is stopped: its start ended, or it was stopped by hand"


def _stands(active: str, status: dict[str, str]) -> bool:
    """Return whether nothing moves any more: the unit is down, or its server answers and is in no group."""
    return active == "inactive" or (active == "active" and bool(status))


def _unit(asking: Asking, condition: Joined) -> dict[str, str]:
    return properties(asking.run(condition.host, commands.UNIT_STARTING.read(condition.unit)).text)


def _progress(
    condition: Joined,
    asking: Asking,
    status: dict[str, str],
    shown: dict[str, str],
    log: Log | None,
    now: str,
) -> Answer:
    transfer = next(reversed(log.transfers(0.0)), None) if log is not None else None
    text = shown.get("StatusText", "")
    ist = ist_progress(status, transfer, text)
    if ist is not None:
        done, total = ist
        pace = _pace(asking, condition.host, "IST")
        left = pace.left_s(asking.clock.monotonic(), done, total)
        silent = pace.stands() if done else _nothing(pace, condition.host, IST_PORT)
        said = f"{now}; IST: {done:.0f} of {total:.0f} write sets{silent}"
        return Answer(holds=False, evidence=said, done=done, total=total, unit="write sets", left_s=left)
    copied = _copied(asking, condition.host)
    if copied:
        size = _expected(asking, condition.host, transfer)
        pace = _pace(asking, condition.host, "SST")
        left = pace.left_s(asking.clock.monotonic(), float(copied), size)
        of = f" of about {size / 1e9:.2f} GB" if size else ""
        said = f"{now}; SST: {copied / 1e9:.2f} GB{of}{pace.stands()}"
        return Answer(holds=False, evidence=said, done=float(copied), total=size, unit="bytes", left_s=left)
    if sst_comes_in(text):
        pace = _pace(asking, condition.host, "SST")
        pace.left_s(asking.clock.monotonic(), 0.0, None)
        now += _nothing(pace, condition.host, SST_PORT)
    word = f"{shown.get('ActiveState', '')}/{shown.get('SubState', '')}"
    now = f"{now}; {condition.unit} is {word}{f' ({text})' if text else ''}"
    return Answer(holds=False, evidence=f"{now}{starts_again(shown)}")


def _nothing(pace: _Pace, joiner: str, port: int) -> str:
    """Return the same of a transfer of which nothing ever came: the donor may not find the way [lab: for ever]."""
    silent = pace.stands(_NOTHING_S)
    return f"{silent}: is port {port} of {joiner} open for its donor?" if silent else ""


def _pace(asking: Asking, host: str, kind: str) -> _Pace:
    known = asking.memory.value(("pace", host))
    if not isinstance(known, _Pace) or known.kind != kind:
        known = _Pace(kind)
        asking.memory.keep(("pace", host), known)
    return known


def _copied(asking: Asking, host: str) -> int | None:
    """Return the bytes that an SST has brought: the .sst folder into which mariabackup and xtrabackup stream."""
    datadir = asking.facts.host(host)[DataFolder].path if asking.facts is not None else ""
    output = asking.run(host, reads.sst_size(datadir or reads.DEFAULT_DATADIR, sudo=True))
    return parse_du(output.text) if output.text.strip() else None


def _expected(asking: Asking, host: str, transfer: TransferFacts | None) -> float | None:
    """Return about how many bytes the copy will have: the donor's data without its gcache and logs of its own."""
    if asking.facts is None:
        return None
    donor = transfer.donor_name if transfer is not None else ""
    named = [h for h in asking.facts.hosts if h.host != host and h[DataSize].in_bytes and donor in {"", h.node_name}]
    if not named:
        return None
    source = max(named, key=lambda h: h[DataSize].in_bytes or 0)
    galera, gcache = source.node.galera if source.node is not None else None, source[Gcache]
    inside = gcache.folder == source[DataFolder].path
    cache = (galera.gcache_size or 0) if galera is not None and inside else 0
    pages = sum(size for _, size, _ in gcache.pages or ()) if inside else 0
    return float(max(0, (source[DataSize].in_bytes or 0) - cache - pages)) or None
