"""State transfers as the servers' own error logs tell them: who asked whom, SST or IST, how far, how it ended.

Formats: MariaDB 10.11 with Galera 26.4.23 (recorded from the lab, tests/unit/recorded), PXC 5.7, 8.0 and Codership
5.5 to 8.0 (from public issues, cited there). Sources of the texts: galera/gcs/src/gcs_group.cpp (request,
complete, failed), galera/galera/src/ist.cpp and replicator_str.cpp (IST), scripts wsrep_sst_mariabackup and
wsrep_sst_xtrabackup-v2. Two lines lie and are not used: the joiner prints "SST started on joiner" before it knows, and
"SST succeeded for position" after an IST too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from services.facts.logs.client_text import JOURNAL, without_client_text
from services.facts.model import TransferFacts
from services.facts.reading import count, real, words

MOST_TRANSFERS = 16
_MOST_LINE = 4000

_ISO = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d:?\d\d)?\s{1,9}(.*)")
_LOCAL = re.compile(r"(\d{4}-\d\d-\d\d)\s{1,9}(\d{1,2}:\d\d:\d\d)\s{1,9}(.*)")
_OLD = re.compile(r"(\d{6})\s{1,9}(\d{1,2}:\d\d:\d\d)\s{1,9}(.*)")

_MEMBER = r"-?\d{{1,9}}(?:\.-?\d{{1,9}})? \((?P<{0}>(?>(?:[^()]|\([^()]{{0,255}}\)){{0,255}}))\)"
"""A name may have parentheses of its own, 'db (west)-2'.

No repeat in these patterns is without a bound: a client may write 1023 digits into each of a thousand lines."""
_SELECTED = re.compile(
    rf"(?:Member|Node) {_MEMBER.format('joiner')} requested state transfer from '[^']{{0,512}}'\. "
    rf"Selected {_MEMBER.format('donor')}\(\w{{1,40}}[^)]{{0,40}}\) as donor"
)
_SENT = re.compile(rf"{_MEMBER.format('donor')}: State transfer to {_MEMBER.format('joiner')} (?P<end>complete|failed)")
_GOT = re.compile(
    rf"{_MEMBER.format('joiner')}: State transfer from {_MEMBER.format('donor')} (?P<end>complete|failed)"
)
_SYNCED = re.compile(rf"Member {_MEMBER.format('joiner')} synced with group")
_METHOD = re.compile(r"wsrep_sst_(?P<method>[A-Za-z0-9-]{1,40}) --role '(?P<role>joiner|donor)'")
_WRITESETS = re.compile(r"Receiving IST: \d{1,20} writesets, seqnos (?P<first>\d{1,20})-(?P<last>\d{1,20})")
_PREPARED = re.compile(r"Prepared IST receiver for (?P<first>\d{1,20})-(?P<last>\d{1,20})")
_SENDING = re.compile(r"async IST sender starting to serve \S{1,255} sending (?P<first>\d{1,20})-(?P<last>\d{1,20})")
_TOOLS = re.compile(r"innobackupex|xtrabackup|mariabackup|mariadb-backup|rsyncd")
"""Processes of a journal that tell names of files, which clients give; none of them tells of a transfer."""
EVENTS = r"\s{0,20}(?P<done>\d{1,20})/\s{0,20}(?P<total>\d{1,20})"
"""The done ones are padded to the width of all: "(    0/16472 events)" (galera/galerautils/src/gu_progress.hpp)."""
_PERCENT = re.compile(rf"(?P<percent>\d{{1,20}}(?:\.\d{{1,20}})?)% \({EVENTS} events\)")
_IS_IST = re.compile(
    r"IST (?:started|completed) on donor|IST completed on joiner|Running IST|Bypassing the SST for IST"
)
_IS_SST = re.compile(
    r"SST (?:started|completed) on donor|SST completed on joiner|Proceeding with SST|Waiting for SST streaming"
)
JOIN_BROKE = (
    r"[Rr]eceiving IST failed, node restart required|Failed to JOIN the cluster after SST gcs_join|"
    r"is no longer in the group\. State transfer cannot"
)
"""A joiner's words for the end of its transfer (galera/galera/src/replicator_str.cpp, gcs/src/gcs_group.cpp).

Without gcs_join behind it a failed JOIN may be for want of a Primary Component, and is tried again.
"""
_LEFT = "left the group"
"""Stands for the name of whoever of the two is gone, with the index -1.-1."""
_ARBITRATOR = "garb"
"""garbd's name in the group; each backup that is taken through one has another (galera/garb/garb_gcs.cpp)."""
_FAILED = re.compile(
    r"SST failed|State transfer request failed unrecoverably|Will never receive state|"
    r"Process completed with error: wsrep_sst_|SST (?:request|sending) failed|async IST sender failed|"
    r"IST (?:preload|receiver) failed|SST script aborted with error|"
    rf"{JOIN_BROKE}"
)
_AT_NO_TIME = 0.0
"""When a transfer ended whose end stands in a line without a time: it runs no more all the same."""


@dataclass(slots=True)
class _Log:
    """The transfers found so far, oldest first, and what the joiner said before its donor was chosen."""

    found: list[TransferFacts] = field(default_factory=list)
    pending_method: str = ""
    pending_span: tuple[int, int] | None = None

    def current(self) -> int | None:
        """Return the newest transfer that has not ended, and that its joiner did not ask for again."""
        return next((i for i in range(len(self.found) - 1, -1, -1) if self._open(i)), None)

    def of(self, joiner: str, donor: str = "") -> int | None:
        """Return the newest open transfer of this joiner (and donor); None where it may be one or another."""
        found = [
            i for i, one in enumerate(self.found)
            if self._open(i) and one.joiner_name == joiner and donor in {"", one.donor_name}
        ]  # fmt: skip
        if len({self.found[i].donor_name for i in found}) > 1 and joiner == _ARBITRATOR:
            return None
        return found[-1] if found else None

    def left(self, donor: str) -> int | None:
        """Return the transfer whose joiner is gone, by its donor: one that is chosen has sent all that it had to."""
        found = [i for i, one in enumerate(self.found) if self._runs(i) and one.donor_name == donor]
        return found[-1] if found and not self.found[found[-1]].donor_done else None

    def asked_again(self, index: int) -> float | None:
        """Return when the joiner of a transfer asked for another one: what it had begun came to nothing.

        Not where another arbitrator may have asked: all that make backups go by one name.
        """
        one = self.found[index]
        for later in self.found[index + 1 :]:
            same = later.donor_name == one.donor_name or one.joiner_name != _ARBITRATOR
            if later.joiner_name == one.joiner_name and same:
                return later.since or _AT_NO_TIME
        return None

    def whole(self) -> tuple[TransferFacts, ...]:
        """Return the transfers as they came out; of one that is over, and nobody says since when, only a failure."""
        again = [self.asked_again(i) if self._runs(i) else None for i in range(len(self.found))]
        told = (
            one if at is None else replace(one, ended=at, failed=True)
            for one, at in zip(self.found, again, strict=True)
        )
        return tuple(
            replace(one, ended=None) if one.ended == _AT_NO_TIME else one
            for one in told
            if one.failed or one.ended != _AT_NO_TIME
        )

    def _open(self, index: int) -> bool:
        """Return whether it has not ended: the end of a later one of its joiner is not its end."""
        return self._runs(index) and self.asked_again(index) is None

    def _runs(self, index: int) -> bool:
        return self.found[index].ended is None and not self.found[index].failed

    def receives(self, index: int | None, first: int | None, last: int | None) -> None:
        """Note write sets that come by IST. All that were asked for: an IST; only the newest: an SST came before."""
        if index is None:
            return
        asked = self.found[index].first_seqno
        kind = self.found[index].kind or ("" if asked is None or first is None else "IST" if first <= asked else "SST")
        self.change(index, kind=kind, first_seqno=first, last_seqno=last)

    def change(self, index: int | None, **what: object) -> None:
        """Replace fields of one transfer; nothing when there is none."""
        if index is not None:
            self.found[index] = replace(self.found[index], **what)  # type: ignore[arg-type]


def parse_transfers(
    lines: Iterable[str], *, utc_offset_s: float = 0.0, clock_offset_s: float = 0.0
) -> tuple[TransferFacts, ...]:
    """Return the transfers of a log, oldest first, at most the newest 16; what can't be read is skipped.

    Args:
        lines: journal lines (`journalctl -o short-unix`) or lines of an error log file.
        utc_offset_s: of the host's local time, for MariaDB's own time stamps, which name no zone.
        clock_offset_s: host minus workstation; subtracted, so that times are the workstation's.
    """
    log = _Log()
    at: float | None = None
    for raw in without_client_text(line[:_MOST_LINE] for line in lines):
        found = JOURNAL.match(raw)
        if found is not None and _TOOLS.search(found["by"]):
            continue
        moment, message = split_line(raw, utc_offset_s)
        at = at if moment is None else moment - clock_offset_s
        if (
            "ransfer" in message
            or "SST" in message
            or "IST" in message
            or "synced" in message
            or "wsrep_sst" in message
        ):
            _take(log, message, at)
    return log.whole()[-MOST_TRANSFERS:]


def split_line(line: str, utc_offset_s: float) -> tuple[float | None, str]:
    """Return (UTC epoch seconds by the host's clock, the message) of a log line; (None, line) without a time."""
    if found := JOURNAL.match(line):
        return real(found["at"]), found["message"]
    try:
        if found := _ISO.match(line):
            moment = datetime.fromisoformat(found.group(1) + (found.group(2) or "Z").replace("Z", "+00:00"))
            return moment.timestamp(), found.group(3)
        if found := _LOCAL.match(line):
            text, form = f"{found.group(1)} {found.group(2)}", "%Y-%m-%d %H:%M:%S"
        elif found := _OLD.match(line):
            text, form = f"{found.group(1)} {found.group(2)}", "%y%m%d %H:%M:%S"
        else:
            return None, line
        return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp() - utc_offset_s, found.group(3)
    except (ValueError, OverflowError):
        return None, line


def _end(at: float | None) -> float:
    return _AT_NO_TIME if at is None else at


def _take(log: _Log, message: str, at: float | None) -> None:
    if found := _SELECTED.search(message):
        _begin(log, found, at)
    elif found := _SENT.search(message):
        _sent(log, found, at)
    elif found := _GOT.search(message):
        donor = "" if found["donor"] == _LEFT else found["donor"]
        log.change(log.of(found["joiner"], donor), ended=_end(at), failed=found["end"] == "failed")
    elif found := _SYNCED.search(message):
        log.change(log.of(found["joiner"]), ended=_end(at))
        log.change(log.left(found["joiner"]), donor_done=True)
    elif not _take_progress(log, message) and _FAILED.search(message):
        log.change(log.current(), ended=_end(at), failed=True)


def _sent(log: _Log, found: re.Match[str], at: float | None) -> None:
    """Take a donor's word for its end of a transfer; an arbitrator has no data to prepare: with it all is over."""
    gone = found["joiner"] == _LEFT
    index = log.left(found["donor"]) if gone else log.of(found["joiner"], found["donor"])
    failed = gone or found["end"] == "failed"
    over = failed or found["joiner"] == _ARBITRATOR
    log.change(index, donor_done=found["end"] == "complete", failed=failed, ended=_end(at) if over else None)


def _begin(log: _Log, found: re.Match[str], at: float | None) -> None:
    first, last = log.pending_span or (None, None)
    log.found.append(
        TransferFacts(
            joiner_name=words(found["joiner"], 255),
            donor_name=words(found["donor"], 255),
            kind="SST" if first == 0 else "",
            method=log.pending_method,
            since=at,
            first_seqno=first or None,
            last_seqno=last if first else None,
        )
    )
    log.pending_method, log.pending_span = "", None
    del log.found[:-MOST_TRANSFERS]


def _take_progress(log: _Log, message: str) -> bool:
    """Take lines that name no member: they belong to this node's own transfer. Return whether one was."""
    current = log.current()
    if found := _METHOD.search(message):
        if found["role"] == "joiner":
            log.pending_method = found["method"]
        elif "Running" in message or "Initiating" in message:  # a donor that only bypasses the script's copy sends IST
            log.change(current, method=found["method"], kind="IST" if "--bypass" in message else "SST")
    elif found := _PREPARED.search(message):
        log.pending_span = (count(found["first"]) or 0, count(found["last"]) or 0)
    elif found := _WRITESETS.search(message):
        log.receives(current, count(found["first"]), count(found["last"]))
    elif found := _SENDING.search(message):
        log.change(current, first_seqno=count(found["first"]), last_seqno=count(found["last"]))
    elif (found := _PERCENT.search(message)) and current is not None:
        log.change(current, current_seqno=_reached(log.found[current], found))
    elif _IS_IST.search(message):
        log.change(current, kind="IST")
    elif _IS_SST.search(message):
        log.change(current, kind="SST")
    else:
        return False
    return True


def _reached(transfer: TransferFacts, found: re.Match[str]) -> int | None:
    """Return the seqno that "x% (a/b events)" stands for: events count from a preload that may begin earlier."""
    done, total = count(found["done"]), count(found["total"])
    if done is None or total is None or transfer.last_seqno is None:
        return transfer.current_seqno
    reached = transfer.last_seqno - max(0, total - done)
    return max(reached, (transfer.first_seqno or reached) - 1)


def status_progress(text: str) -> tuple[str, float | None]:
    """Return (kind, share 0 to 1) of a unit's StatusText: "Receiving IST... 45.5% (10/22 events) complete"."""
    kind = "IST" if "IST" in text else ("SST" if "SST" in text or "tate transfer" in text.lower() else "")
    found = _PERCENT.search(text) or re.search(r"(?P<percent>\d{1,3}(?:\.\d{1,20})?)\s?%", text)
    percent = real(found["percent"]) if found else None
    return kind, None if percent is None or percent > 100 else percent / 100
