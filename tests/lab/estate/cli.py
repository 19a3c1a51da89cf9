"""The command line of the lab: `packaging/lab.py VERB ESTATE ...`."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence

from tests.lab.estate import status
from tests.lab.estate.breaking.verbs import add_verbs
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.host.image import ensure_image
from tests.lab.estate.leftovers import leftovers
from tests.lab.estate.requirements import unavailable_reason
from tests.lab.estate.servers import dataset, load
from tests.lab.estate.spec import ESTATES, EstateSpec

_START = time.monotonic()
_NAMES = tuple(spec.name for spec in ESTATES)


def _say(text: str) -> None:
    print(f"[{time.monotonic() - _START:6.1f} s] {text}", file=sys.stderr, flush=True)


def _chosen(name: str) -> list[Estate]:
    return [Estate(n) for n in (_NAMES if name == "all" else (name,))]


def _up(options: argparse.Namespace) -> int:
    for estate in _chosen(options.estate):
        estate.up(_say)
    return 0


def _down(options: argparse.Namespace) -> int:
    for estate in _chosen(options.estate):
        estate.down(_say)
    return 0


def _status(options: argparse.Namespace) -> int:
    found = [status.estate_status(estate) for estate in _chosen(options.estate)]
    if options.json:
        print(json.dumps([s.as_json() for s in found] if options.estate == "all" else found[0].as_json(), indent=2))
    else:
        print("\n\n".join(status.as_text(s) for s in found))
    return 0 if all(s.up for s in found) else 3


def _break(options: argparse.Namespace) -> int:
    options.act(Estate(options.estate).spec, options)
    return 0


def _load(options: argparse.Namespace) -> int:
    spec = Estate(options.estate).spec
    if options.what == "stop":
        _say("load stopped" if load.stop(spec) else "no load was running")
        return 0
    if options.what == "data":
        return _data(spec, options)
    wanted = load.Load(
        options.kind, int(options.seconds or 60), options.rate, options.threads, options.tables, options.rows
    )
    pid = load.start(spec, wanted, [h for h in options.hosts.split(",") if h])
    _say(f"sysbench {wanted.kind}, pid {pid}, ends by itself in {wanted.seconds} s")
    return 0


def _data(spec: EstateSpec, options: argparse.Namespace) -> int:
    host = next((h for h in options.hosts.split(",") if h), spec.hosts[0].name)
    usual = dataset.DataSet()
    wanted = dataset.DataSet(options.size or usual.size, float(options.seconds or usual.seconds), options.seed)
    made = dataset.make(spec, host, wanted, _say)
    _say(
        f"{made.rounds} of {made.wanted} rounds in {made.seconds:.0f} s, {made.files / 10**6:.0f} MB of files on {host}"
    )
    print(json.dumps(made.rows))
    return 0 if made.whole else 1


def _bytes(text: str) -> int:
    units = {"MB": 10**6, "GB": 10**9}
    number, factor = (text[:-2], units[text[-2:]]) if text[-2:] in units else (text, 1)
    try:
        return int(float(number) * factor)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no size, for example 500MB or 2GB") from None


def _env(options: argparse.Namespace) -> int:
    for name, value in Estate(options.estate).environment().items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


def _sh(options: argparse.Namespace) -> int:
    done = Estate(options.estate).host(options.host).sh(options.command, limit_s=options.limit, check=False)
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    return done.code


def _sql(options: argparse.Namespace) -> int:
    for row in Estate(options.estate).sql(options.host, options.statement, limit_s=options.limit):
        print("\t".join(row))
    return 0


def _image(options: argparse.Namespace) -> int:
    print(ensure_image(options.release))
    return 0


def _leftovers(_: argparse.Namespace) -> int:
    found = leftovers()
    print("\n".join(found) or "nothing is left")
    return 1 if found else 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="lab.py", description="Real hosts on this machine: estates of containers with databases in them."
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, does: str, act: object, estates: tuple[str, ...] = _NAMES) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=does, description=does)
        sub.set_defaults(act_top=act)
        if estates:
            sub.add_argument("estate", choices=estates)
        return sub

    verb("up", "bring an estate up (nothing changes if it is)", _up, (*_NAMES, "all"))
    verb("down", "take an estate away, whatever state it is in", _down, (*_NAMES, "all"))
    verb("status", "hosts, servers and faults", _status, (*_NAMES, "all")).add_argument("--json", action="store_true")
    add_verbs(verb("break", "break something, or heal it", _break))
    loads = verb("load", "sysbench against an estate, or a data set of gigabytes (data)", _load)
    loads.add_argument("what", choices=("start", "stop", "data"))
    loads.add_argument("--size", type=_bytes, default=0, help="data: 500MB, 2GB (default), 20GB at most")
    loads.add_argument("--seed", type=int, default=1, help="data: the same seed makes the same rows")
    loads.add_argument("--kind", choices=load.KINDS, default="oltp_read_write")
    loads.add_argument("--hosts", default="", help="n1,n2 (default: the first member or the source)")
    loads.add_argument(
        "--time", "--seconds", dest="seconds", type=int, default=0, help="60 for sysbench, 1800 for data"
    )
    loads.add_argument("--rate", type=int, default=50, help="transactions per second, 0 for as many as it can")
    loads.add_argument("--threads", type=int, default=4)
    loads.add_argument("--tables", type=int, default=4)
    loads.add_argument("--rows", type=int, default=10_000, help="rows per table")
    verb("env", "print the exports inventory.toml refers to", _env)
    for name, does, act, what in (
        ("sh", "run a shell command as root on a host", _sh, "command"),
        ("sql", "run statements as root on a host", _sql, "statement"),
    ):
        sub = verb(name, does, act)
        sub.add_argument("host")
        sub.add_argument(what)
        sub.add_argument("--limit", type=float, default=60.0, help="seconds")
    verb("image", "build the base image of a release, print its folder", _image, ()).add_argument("release")
    verb("leftovers", "list what the lab has on this machine now", _leftovers, ())
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 done, 1 the lab could not do it (reason on stderr), 3 `status` of an estate that is not up."""
    options = parser().parse_args(argv)
    reason = unavailable_reason()
    if reason is not None:
        print(f"lab: {reason}", file=sys.stderr)
        return 1
    try:
        code: int = options.act_top(options)
    except LabError as exc:
        print(f"lab: {exc}", file=sys.stderr)
        return 1
    return code
