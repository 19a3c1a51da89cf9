"""Has a node joined, how far is it, can it still; and which transfer brought it (pages "Conventions", add-node).

'started' is not 'joined': a unit can be active while its server waits for ever, Initialized or Inconsistent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import takewhile

from services.connections.reads import commands
from services.errors import UserError
from services.facts import reads
from services.facts.error_log import status_progress
from services.facts.machine import parse_du
from services.facts.model import TransferFacts
from services.facts.reading import count
from services.procedures.engine.ports import Past
from services.procedures.engine.remembering import MOST_GAP_S
from services.procedures.gather.links import TRANSFER_PORTS
from services.procedures.gather.system import properties
from services.procedures.plan.causes import cause, telling
from services.procedures.plan.conditions import Answer, Joined, TransferWas
from services.procedures.verify.asking import Asking
from services.procedures.verify.component import joined_beside
from services.procedures.verify.founding import founded_words
from services.procedures.verify.log import Log, read_log, read_log_since
from services.procedures.verify.ways import donor_said, ways_closed

SYNCED = "4"
SST_PORT, IST_PORT = TRANSFER_PORTS
_FATAL = re.compile(
    r"Must abort|Reversing history|Will never receive state|State transfer request failed unrecoverably"
    r"|is greater than group seqno|unsupported protocol version|Unsupported CC action version|Inconsistency detected"
    r"|previous SST script still running|It may not be safe to bootstrap"
    r"|SST failed|Failed to open channel|failed to open gcomm backend connection|\[ERROR\] Aborting"
    r"|Failed to recover position"  # Debian's galera_recovery: it has no room, or can't run the server
)
_JOINER = "state transfer (role joiner) ongoing"
"""What systemd shows of a MariaDB server while its SST script works, tried on 10.11."""
_NOT_NEEDED = re.compile(r"Shift(?:ing|ed) PRIMARY -> JOINED|State transfer (?:is )?not required")
_SLACK_S = 2.0
"""Clocks are compared over SSH, good to a fraction of the round trip; a start writes nothing in its first instant."""
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
        """Return '; nothing has come for ... s' once that is longer than a transfer's own silence; after `left_s`.

        Not the end of it: an SST is prepared for minutes after its last byte. But a donor that encrypts and a joiner
        that doesn't, or a stream that broke, look just so (PXC gives up after sst-idle-timeout, 120 s).
        """
        now, done = self.points[-1]
        since = min(at for at, _ in takewhile(lambda point: point[1] == done, reversed(self.points)))
        return f"; nothing has come for {now - since:.0f} s" if now - since >= least_s else ""


def joined(condition: Joined, asking: Asking, past: Past) -> Answer:
    """Look at the server; while it has not joined, at the unit, at the log since its newest start, and the transfer."""
    del past
    try:
        status = asking.status(condition.host)
    except UserError:
        status = {}
    uuid = status.get("wsrep_cluster_state_uuid", "").lower()
    state = status.get("wsrep_local_state_comment", "")
    primary = status.get("wsrep_cluster_status") == "Primary"
    if primary and status.get("wsrep_local_state") == SYNCED:
        if uuid == condition.state_uuid.lower():
            if condition.beside:
                return joined_beside(condition, status, asking)
            size = status.get("wsrep_cluster_size", "")
            return Answer(holds=True, evidence=f"{condition.host} is Synced, Primary, one of {size}")
        said = f"{condition.host} is Synced in another cluster: {uuid or 'no state UUID'}"
        return Answer(holds=False, evidence=said, final=True)
    if condition.beside and not status and (told := founded_words(asking, condition.host)):
        return Answer(holds=False, evidence=told, final=True)
    shown = _unit(asking, condition)
    log = read_log(asking, condition.host, condition.unit)
    log = log.newest_start() if log is not None else None
    lines = log.since(0.0) if log is not None else ()
    fatal = tuple(line for line in lines if _FATAL.search(line))
    why = cause(lines) or (fatal[0] if fatal else "")
    why = f": {why}" if why else ""
    now = f"{condition.host} is {state or 'not answering yet'}" + ("" if primary or not status else ", not Primary")
    active = shown.get("ActiveState", "")
    if active == "active" and not status:
        # systemd has its word that the server answers: what is left of a backoff is waited for in vain.
        asking.session(condition.host).try_now()
    if active == "failed":
        said = f"{condition.unit} has failed on {condition.host}{why}{donor_said(asking, log, fatal)}"
        said += ways_closed(asking, condition.host, fatal)
        return Answer(holds=False, evidence=said, final=True, lines=telling(lines))
    if _stopped(asking, condition, inactive=active == "inactive" and not status):
        said = f"{condition.unit} on {condition.host} is stopped: its start ended, or somebody stopped it{why}"
        return Answer(holds=False, evidence=said, final=True, lines=telling(lines))
    if state == "Inconsistent" or (fatal and state in {"Initialized", ""} and _stands(active, status)):
        return Answer(holds=False, evidence=f"{now}{why}", final=True, lines=telling(lines))
    return _progress(condition, asking, status, shown, log, now)


def _stopped(asking: Asking, condition: Joined, *, inactive: bool) -> bool:
    """Return whether the unit has been inactive in every look of the last half minute: nobody is starting it.

    A start that was only just asked for, or that runs detached, has a moment before systemd knows of it.
    """
    key = ("inactive", condition.host, condition.unit)
    if not inactive:
        asking.memory.broke(key)
        return False
    return asking.memory.held_s(key, asking.clock, MOST_GAP_S) >= _STOPPED_S


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
    ist = _ist(status, transfer, text)
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
    if _JOINER in text:
        pace = _pace(asking, condition.host, "SST")
        pace.left_s(asking.clock.monotonic(), 0.0, None)
        now += _nothing(pace, condition.host, SST_PORT)
    word = f"{shown.get('ActiveState', '')}/{shown.get('SubState', '')}"
    return Answer(holds=False, evidence=f"{now}; {condition.unit} is {word}{f' ({text})' if text else ''}")


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


def _ist(status: dict[str, str], transfer: TransferFacts | None, text: str) -> tuple[float, float] | None:
    """Return (done, total) in write sets: PXC's status, else MariaDB's log, else systemd's status text."""
    first, last, current = (count(status.get(f"wsrep_ist_receive_seqno_{w}", "")) for w in ("start", "end", "current"))
    if first and last and current and last >= first:
        return float(max(0, current - first + 1)), float(last - first + 1)
    if transfer is not None and transfer.ended is None and transfer.kind == "IST":
        first, last, current = transfer.first_seqno, transfer.last_seqno, transfer.current_seqno
        if first is not None and last is not None and last >= first:
            return float(max(0, (current or first - 1) - first + 1)), float(last - first + 1)
    found = re.search(r"\((\d+)/(\d+) events\)", text)
    if found and status_progress(text)[0] == "IST":
        return float(found.group(1)), float(found.group(2))
    return None


def _copied(asking: Asking, host: str) -> int | None:
    """Return the bytes that an SST has brought: the .sst folder into which mariabackup and xtrabackup stream."""
    datadir = asking.facts.host(host).datadir if asking.facts is not None else ""
    output = asking.run(host, reads.sst_size(datadir or reads.DEFAULT_DATADIR, sudo=True))
    return parse_du(output.text) if output.text.strip() else None


def _expected(asking: Asking, host: str, transfer: TransferFacts | None) -> float | None:
    """Return about how many bytes the copy will have: the donor's data without its gcache and logs of its own."""
    if asking.facts is None:
        return None
    donor = transfer.donor_name if transfer is not None else ""
    named = [h for h in asking.facts.hosts if h.host != host and h.data_bytes and donor in {"", h.node_name}]
    if not named:
        return None
    source = max(named, key=lambda h: h.data_bytes or 0)
    galera = source.node.galera if source.node is not None else None
    cache = (galera.gcache_size or 0) if galera is not None and source.gcache_dir == source.datadir else 0
    pages = sum(size for _, size, _ in source.gcache_pages) if source.gcache_dir == source.datadir else 0
    return float(max(0, (source.data_bytes or 0) - cache - pages)) or None


def transfer_was(condition: TransferWas, asking: Asking, past: Past) -> Answer:
    """Read the joiner's own log since the step began: IST and SST lines, never 'SST succeeded' (said for both).

    Where clients' words were left out of it, a transfer's own lines may be among them: then it is not known.
    """
    began = past.began.get(condition.since_step)
    if began is None:
        return Answer(holds=None, evidence=f"the step {condition.since_step} has not begun in this run")
    host = condition.host
    seen = asking.facts.host(host) if asking.facts is not None else None
    unit = (seen.unit if seen is not None else "") or "mariadb.service"
    log = read_log_since(asking, host, unit, began - _SLACK_S)
    if log is None:
        return Answer(holds=None, evidence=f"the log of {host} could not be read")
    name = asking.variable(host, "wsrep_node_name") or (seen.node_name if seen is not None else "")
    # A transfer of the start before this one looks newer where the host's clock was set back meanwhile.
    own = [t for t in log.newest_start().transfers(began - _SLACK_S) if t.joiner_name == name]
    newest = None if own else _newest_start(asking, host)
    if newest is not None:
        log, began = newest, 0.0
        own = [t for t in log.transfers(began) if t.joiner_name == name]
    said = tuple(line for line in log.since(began - _SLACK_S) if re.search(r"\b(IST|SST)\b|state transfer", line))[-10:]
    if not own:
        return _without_transfer(condition, log, began, said)
    last = own[-1]
    hidden = log.left_out(request=last.ended is not None and not last.failed and bool(last.kind))
    evidence = f"{host} came by {last.kind or 'a transfer of unknown kind'} from {last.donor_name}"
    if last.first_seqno is not None and last.kind == "IST":
        evidence += f", write sets {last.first_seqno} to {last.last_seqno}"
    if last.failed:
        return Answer(holds=False, evidence=f"{evidence}, and it failed", lines=said)
    if hidden:
        return _hidden(host, said)
    if last.ended is None:
        return Answer(holds=False, evidence=f"{evidence}; it has not ended", lines=said)
    return _came_by(condition, last, past, evidence, said)


def _came_by(condition: TransferWas, last: TransferFacts, past: Past, evidence: str, said: tuple[str, ...]) -> Answer:
    """Hold a transfer that has ended against what was asked for."""
    if not last.kind and condition.kind != "any":
        return Answer(holds=None, evidence=evidence, lines=said)
    if condition.accepted and condition.accepted in past.kept:
        return Answer(holds=True, evidence=f"{evidence}; you accepted that", lines=said)
    kind_ok = condition.kind in {"any", last.kind}
    donor_ok = condition.donor in {"", last.donor_name}
    # An SST that is over stays an SST: waiting would not change it.
    return Answer(kind_ok and donor_ok, evidence, final=not (kind_ok and donor_ok), lines=said)


def _newest_start(asking: Asking, host: str) -> Log | None:
    """Return the log since the server's newest start, whatever any clock says of the time; None where none is told.

    The node is up: what came since then brought it here. A workstation's clock that was put back in the middle of the
    run moves every line of the log to before the step.
    """
    seen = asking.facts.host(host) if asking.facts is not None else None
    log = read_log(asking, host, (seen.unit if seen is not None else "") or "mariadb.service")
    start = log.newest_start() if log is not None else None
    return None if start is log else start


def _hidden(host: str, said: tuple[str, ...]) -> Answer:
    evidence = f"clients' statements stand in the log of {host} where its transfer is told: how it came is not known"
    return Answer(holds=None, evidence=evidence, lines=said)


def _without_transfer(condition: TransferWas, log: Log, began: float, said: tuple[str, ...]) -> Answer:
    needless = any(_NOT_NEEDED.search(line) for line in log.since(began - _SLACK_S))
    if needless and condition.kind != "SST" and not log.left_out(request=True):
        evidence = f"{condition.host} needed no transfer: it had missed nothing"
        return Answer(condition.donor == "" or condition.kind == "any", evidence, lines=said)
    if not log.reaches(began - _SLACK_S):
        evidence = f"the log of {condition.host} does not reach back to this start: how it came is not known"
        return Answer(holds=None, evidence=evidence, lines=said)
    if log.left_out():
        return _hidden(condition.host, said)
    return Answer(holds=False, evidence=f"the log of {condition.host} tells of no transfer to it yet", lines=said)
