"""The break verbs as data: name, arguments, what each does, and what undoes it.

The command line and its help come from here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from tests.lab.estate.breaking import breaks, group_faults, lag, skew, slow
from tests.lab.estate.errors import LabError
from tests.lab.estate.host import container
from tests.lab.estate.servers import database, galera, group, replication
from tests.lab.estate.spec import EstateSpec

Action = Callable[[EstateSpec, argparse.Namespace], None]


@dataclass(frozen=True, slots=True)
class Verb:
    """One break verb. `takes` is "host", "hosts" or "" (the whole estate); `options` are extra argparse arguments."""

    name: str
    takes: str
    does: str
    inverse: str
    act: Action
    options: tuple[tuple[str, dict[str, object]], ...] = ()


def _simple(act: Callable[[EstateSpec, str], object]) -> Action:
    def run(spec: EstateSpec, options: argparse.Namespace) -> None:
        act(spec, spec.host(options.host).name)

    return run


def _start(spec: EstateSpec, options: argparse.Namespace) -> None:
    if options.bootstrap:
        galera.bootstrap(spec, options.host)
    elif options.no_wait:
        database.begin_start(spec, options.host)
    else:
        database.start(spec, options.host, limit_s=300)


def _slow(spec: EstateSpec, options: argparse.Namespace) -> None:
    delay = slow.parse_ms(options.delay) if options.delay else 0.0
    rate = slow.parse_kbit(options.rate) if options.rate else 0.0
    wire = slow.Wire(delay, rate, options.loss)
    if not str(wire):
        raise LabError("say how slow: --delay 200ms, --rate 10mbit, --loss 2")
    slow.slow(spec, spec.host(options.host).name, wire)


def _hosts(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


_START_OPTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("--bootstrap", {"action": "store_true", "help": "form the cluster anew from this host"}),
    ("--no-wait", {"action": "store_true", "help": "do not wait until it has joined"}),
)
_SLOW_OPTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("--delay", {"help": "added round-trip time: 200ms, 0.2s"}),
    ("--rate", {"help": "on each way: 500kbit, 10mbit"}),
    ("--loss", {"type": float, "default": 0.0, "help": "percent of the frames, on each way"}),
)
_LEAVE: tuple[tuple[str, dict[str, object]], ...] = (
    ("--leave-mb", {"type": int, "default": 0, "help": "leave so many MiB free"}),
)
_PERCENT: tuple[tuple[str, dict[str, object]], ...] = (("percent", {"type": float}),)
_SECONDS: tuple[tuple[str, dict[str, object]], ...] = (("seconds", {"type": int}),)
_SKEW_OPTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    *_SECONDS,
    ("--no-restart", {"action": "store_true", "help": "leave a running database as it is"}),
)

VERBS: tuple[Verb, ...] = (
    Verb("kill9", "host", "SIGKILL to the server; systemd does not restart it", "start", _simple(database.kill)),
    Verb("stop", "host", "stop the database cleanly", "start", _simple(database.stop)),
    Verb("start", "host", "start the database, wait until it serves", "stop", _start, _START_OPTIONS),
    Verb("empty", "host", "stop and delete all data: the next start takes an SST", "start", _simple(breaks.empty)),
    Verb("pause", "host", "SIGSTOP to the server", "resume", _simple(breaks.pause)),
    Verb("resume", "host", "SIGCONT to the server", "pause", _simple(breaks.resume)),
    Verb("freeze", "host", "stop every process of the host", "thaw", _simple(breaks.freeze)),
    Verb("thaw", "host", "let the host run again", "freeze", _simple(breaks.thaw)),
    Verb(
        "throttle",
        "host",
        "hold the host to so many percent of one processor",
        "unthrottle",
        lambda s, o: breaks.throttle(s, s.host(o.host).name, o.percent),
        _PERCENT,
    ),
    Verb("unthrottle", "host", "give the host its processor back", "throttle", _simple(breaks.unthrottle)),
    Verb(
        "partition",
        "hosts",
        "part these hosts (n1,n2) from the others; the console reaches both sides",
        "heal",
        lambda spec, options: breaks.partition(spec, _hosts(options.hosts)),
    ),
    Verb(
        "cut",
        "hosts",
        "part each of these hosts from everybody, the console included",
        "heal",
        lambda spec, options: breaks.cut(spec, _hosts(options.hosts)),
    ),
    Verb("slow", "host", "put the host behind a slow wire", "heal", _slow, _SLOW_OPTIONS),
    Verb("heal", "", "end every partition, cut and slow wire", "", lambda spec, _: breaks.heal(spec)),
    Verb(
        "fill",
        "host",
        "fill the host's data disk",
        "unfill",
        lambda spec, options: breaks.fill(spec, spec.host(options.host).name, leave_mb=options.leave_mb),
        _LEAVE,
    ),
    Verb("unfill", "host", "free the data disk again", "fill", _simple(breaks.unfill)),
    Verb(
        "skew",
        "host",
        "shift the host's wall clock by so many seconds (0 undoes it)",
        "skew HOST 0",
        lambda s, o: skew.skew(s, s.host(o.host).name, o.seconds, restart=not o.no_restart),
        _SKEW_OPTIONS,
    ),
    Verb("sshd-stop", "host", "stop sshd", "sshd-start", _simple(lambda s, n: breaks.sshd(s, n, running=False))),
    Verb("sshd-start", "host", "start sshd", "sshd-stop", _simple(lambda s, n: breaks.sshd(s, n, running=True))),
    Verb("reboot", "host", "reboot the host; its database stays down", "start", _simple(container.reboot)),
    Verb(
        "delay",
        "host",
        "hold a replica back (MASTER_DELAY)",
        "repair",
        lambda s, o: replication.delay(s, s.host(o.host).name, o.seconds),
        _SECONDS,
    ),
    Verb("break-sql", "host", "make the replica's SQL thread fail on a row", "repair", _simple(replication.break_sql)),
    Verb("break-io", "host", "give the replica a wrong password", "repair", _simple(replication.break_io)),
    Verb(
        "lag",
        "host",
        "let a replica or secondary fall behind for so many seconds (a lock on a table it has to write)",
        "unlag",
        lambda s, o: lag.lag(s, s.host(o.host).name, o.seconds),
        _SECONDS,
    ),
    Verb("unlag", "host", "let it catch up at once", "", _simple(lag.unlag)),
    Verb(
        "expel", "host", "part a member until its group throws it out, then heal", "rejoin", _simple(group_faults.expel)
    ),
    Verb("error", "host", "make a member's applier fail on a row", "rejoin", _simple(group_faults.error)),
    Verb("rejoin", "host", "bring a member back into its group", "", _simple(group_faults.rejoin)),
    Verb(
        "mode",
        "",
        "let one member of the group take writes, or all of them",
        "mode single",
        lambda s, o: group.switch_mode(s, o.mode),
        (("mode", {"choices": group.MODES}),),
    ),
    Verb("repair", "host", "make the replica replicate again", "", _simple(replication.repair)),
    Verb("undo", "", "undo every fault, start what is stopped", "", lambda spec, _: breaks.undo(spec)),
)


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Give `parser` one subcommand per verb."""
    verbs = parser.add_subparsers(dest="fault", required=True, metavar="VERB")
    for verb in VERBS:
        note = f"{verb.does} (undone by {verb.inverse})" if verb.inverse else verb.does
        sub = verbs.add_parser(verb.name, help=note, description=note)
        if verb.takes:
            sub.add_argument(verb.takes)
        for flag, given in verb.options:
            sub.add_argument(flag, **given)  # type: ignore[arg-type]
        sub.set_defaults(act=verb.act)
