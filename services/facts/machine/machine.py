"""The host below the server, out of a few plain reads: one `cat` for all that is a file, df, ps, date, systemctl.

Sources: os-release(5), machine-id(5), proc_meminfo(5), proc_stat(5), df(1) in POSIX form with bytes (`-PB1`), ps(1),
org.freedesktop.systemd1(5) for the properties of units.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from services.addresses import is_ip
from services.facts.machine.process_owner import is_anothers, is_of_database, owner_of
from services.facts.model import DiskFacts, MachineFacts
from services.facts.reading import count, real, words
from services.lines import lines_of

_MACHINE_ID = re.compile(r"[0-9a-f]{32}")
_KERNEL = re.compile(r"Linux version (\S+)")
_CORE = re.compile(r"cpu\d+ ")
_SHARE = re.compile(r"-?[0-9]{1,4}%?")
_LOGIN = re.compile(r"(in|refused) ([A-Za-z0-9_. -]{1,100})\s*", re.ASCII)
_BORN = re.compile(r"began (\d{9,11})\s{1,3}born (\d{9,11})", re.ASCII)
_OF_A_LISTING = re.compile(r"total [0-9]|[-dlbcps][-rwxsStT]{9}", re.ASCII)
_ZONE = re.compile(r"[+-][0-9]{4}")
LATEST = 2.0**33
"""The year 2242: beyond it clocks and calendars of a workstation give up."""
CLOCK_LIMIT_S = 2.0
"""By how much clocks may differ: beyond it they are told, and what was measured with two of them is not believed."""
MOST_LINES = 20_000


def parse_host_files(text: str) -> MachineFacts:
    """Return the static facts out of `cat /proc/sys/kernel/hostname /etc/machine-id /etc/os-release /proc/version
    /proc/meminfo /proc/stat`: every file's lines are told by their form, so a missing file costs only its own part.
    """
    lines = lines_of(text)[:MOST_LINES]
    os_name = kernel = machine_id = hostname = ""
    memory: int | None = None
    cores = 0
    for index, line in enumerate(lines):
        if _MACHINE_ID.fullmatch(line.strip()):
            machine_id = line.strip()
        elif line.startswith("PRETTY_NAME="):
            os_name = words(line.partition("=")[2].strip().strip("\"'"))
        elif line.startswith("MemTotal:"):
            kilobytes = count(line.split()[1]) if len(line.split()) > 1 else None
            memory = None if kilobytes is None else kilobytes * 1024
        elif _CORE.match(line):
            cores += 1
        elif found := _KERNEL.match(line):
            kernel = words(found.group(1))
        elif index == 0 and line.strip() and " " not in line.strip() and "=" not in line:
            hostname = words(line, 255)
    return MachineFacts(
        os=os_name, kernel=kernel, cores=cores or None, memory=memory, hostname=hostname, machine_id=machine_id
    )


def parse_df(text: str) -> tuple[DiskFacts, ...]:
    """Return the file systems of `df -PB1 PATH...`: device, blocks of one byte, used, available, share, mount point."""
    disks = []
    for line in lines_of(text)[:MOST_LINES]:
        parts = line.split(None, 5)
        if len(parts) == 6 and _SHARE.fullmatch(parts[4]) and parts[5].startswith("/"):
            disks.append(DiskFacts(words(parts[5]), words(parts[0]), count(parts[1]), count(parts[3])))
    return tuple(disks)


MYSQL_DAEMONS = ("mysqld", "mariadbd")
_ZOMBIE = frozenset("Z")
"""The letter of one that has ended (ps(1))."""


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """The process that is called like a server.

    Attributes:
        state: '' there is none. owner: see process_owner.owner_of. alone: no other one is as near as it (and lives).
    """

    state: str = ""
    pid: int | None = None
    owner: str = ""
    alone: bool = True


def find_process(text: str, called: Collection[str] = MYSQL_DAEMONS) -> ServerProcess:
    """Return the server's process out of `ps -C mysqld,mariadbd,ps -o pid= -o stat= -o comm= -o cgroup=`.

    Of several the one of a server's unit counts first, a container's or a person's own last; then one that is no
    zombie, then the first. State is the first letter (ps(1)).

    Args:
        called: what its program may be called. ps itself is listed for its own group.
    """
    listed = [line.split(None, 3) for line in lines_of(text)[:MOST_LINES]]
    own = next((parts[3] for parts in listed if len(parts) == 4 and parts[2] == "ps"), "")
    found: list[ServerProcess] = []
    for parts in listed:
        pid = count(parts[0]) if parts else None
        if pid is not None and len(parts) >= 3 and parts[2] in called:
            found.append(ServerProcess(parts[1][:1], pid, owner_of(parts[3] if len(parts) == 4 else "", own)))
    best = min(found, key=_nearness, default=ServerProcess())
    return replace(best, alone=sum(_nearness(one) == _nearness(best) for one in found) < 2)


def _nearness(one: ServerProcess) -> tuple[int, bool]:
    far = 0 if is_of_database(one.owner) else 2 if is_anothers(one.owner) else 1
    return far, one.state in _ZOMBIE


def parse_process(text: str, called: Collection[str] = MYSQL_DAEMONS) -> tuple[str, int | None]:
    """Return (state, pid) of the server, see `find_process`; ('', None): none, ('?', None): only others' processes."""
    one = find_process(text, called)
    return ("?", None) if is_anothers(one.owner) else (one.state, one.pid)


_SHORT_S = 1.0
"""A round trip of a second at most tells a clock to half a second."""


def clock_offset(text: str, sent: float, received: float) -> float | None:
    """Return host minus workstation in seconds out of `date +%s.%N`, asked at `sent` and answered at `received`.

    The answer is taken to be made in the middle of the round trip (metrics reference, 'Replication lag'); of one that
    took long, most of it here perhaps, the least offset counts that it leaves possible, not the middle. A date
    without nanoseconds ("%N" unknown to busybox) is good to half a second.
    """
    word = text.strip().split()[0] if text.strip() else ""
    if word.endswith(("N", ".")):
        at_host = real(word.partition(".")[0])
        at_host = None if at_host is None else at_host + 0.5
    else:
        at_host = real(word)
    if at_host is None or received < sent or not 0.0 <= at_host <= LATEST:
        return None
    middle = at_host - (sent + received) / 2
    doubt = (received - sent) / 2
    return middle if doubt <= _SHORT_S / 2 else math.copysign(max(0.0, abs(middle) - doubt), middle)


def zone_offset(text: str) -> float:
    """Return a host's offset from UTC in seconds out of `date +%z` ("+0200"), for logs that name no zone; else 0."""
    word = text.strip()
    if _ZONE.fullmatch(word) is None:
        return 0.0
    seconds = int(word[1:3]) * 3600.0 + int(word[3:]) * 60.0
    return -seconds if word.startswith("-") else seconds


def parse_units(text: str, pid: int | None = None) -> MachineFacts:
    """Return unit, unit_state and unit_status_text out of `systemctl show -p Id,LoadState,ActiveState,SubState,
    StatusText,MainPID UNIT...`. Units are separated by an empty line; a running one counts before a failed one, aliases
    repeat.

    Args:
        pid: of the server's process: of several units it is the one whose main process that is.
    """
    best: dict[str, str] = {}
    for block in re.split(r"\n\s*\n", text[:100_000]):
        pairs = dict(line.partition("=")[::2] for line in lines_of(block))
        own = pid is not None and count(pairs.get("MainPID", "")) == pid
        if pairs.get("LoadState") == "loaded" and (own or _rank(pairs) > _rank(best)):
            best = pairs
        if own:
            break
    if not best:
        return MachineFacts()
    state = f"{words(best.get('ActiveState', ''), 40)}/{words(best.get('SubState', ''), 40)}"
    return MachineFacts(
        unit=words(best.get("Id", ""), 255), unit_state=state, unit_status_text=words(best.get("StatusText", ""))
    )


def _rank(pairs: Mapping[str, str]) -> int:
    order = {"active": 6, "reloading": 6, "activating": 5, "deactivating": 4, "failed": 3, "inactive": 2}
    return order.get(pairs.get("ActiveState", ""), 1) if pairs else 0


def parse_datadir(text: str) -> tuple[int | None, bool]:
    """Return (bytes in gcache pages, whether a .sst folder exists) out of `ls -lAn DATADIR`; (None, False) unread."""
    lines = lines_of(text)[:MOST_LINES]
    if not any(_OF_A_LISTING.match(line) for line in lines):
        return None, False
    fields = [line.split(None, 8) for line in lines if " gcache.page." in line]
    sizes = [count(one[4]) if len(one) == 9 else None for one in fields]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None, any(line.endswith(" .sst") for line in lines)


def resolved(exit_code: int) -> bool | None:
    """Return whether `getent ahosts NAME` found it, by its exit code: 2 is 'keys could not be found' (getent(1))."""
    return exit_code == 0 if exit_code in {0, 2} else None


def parse_resolved(text: str) -> tuple[str, ...]:
    """Return the addresses of `getent ahosts NAME`, each once, at most 32: '10.0.0.11      STREAM db1'."""
    found = (line.split()[0] for line in lines_of(text) if line.split())
    return tuple(dict.fromkeys(address for address in found if is_ip(address)))[:32]


def is_root(text: str) -> bool:
    """Return whether `id -u` tells of root."""
    return text.strip() == "0"


def parse_login(text: str) -> tuple[bool, str] | None:
    """Return (got in, which accounts) out of SOCKET_LOGIN; None for anything else."""
    match = _LOGIN.fullmatch(text)
    return (match[1] == "in", match[2]) if match is not None else None


def parse_born(text: str) -> tuple[int, int] | None:
    """Return when a server began and when its data were made, epoch seconds, out of DATA_BORN; None: not told."""
    match = _BORN.search(text)
    return (int(match[1]), int(match[2])) if match is not None else None


def parse_du(text: str) -> int | None:
    """Return the bytes of `du -sb PATH`."""
    parts = text.split()
    return count(parts[0]) if parts else None
