"""The command line: one parser, no behaviour.

Exit codes: 0 good, 1 findings or refused, 2 bad input, 3 failed and undone, 4 needs a person.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from app.cli.steer_arguments import add_steering

GOOD, FINDINGS, BAD_INPUT, FAILED_UNDONE, NEEDS_PERSON = 0, 1, 2, 3, 4


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    try:
        size = (int(width), int(height))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT, for example 1280x800") from None
    if not (640 <= size[0] <= 7680 and 480 <= size[1] <= 4320):
        raise argparse.ArgumentTypeError("a size between 640x480 and 7680x4320, please")
    return size


def _seconds(text: str) -> float:
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    number, factor = (text[:-1], units[text[-1]]) if text and text[-1] in units else (text, 1.0)
    try:
        seconds = float(number) * factor
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time, for example 90, 5m or 2h") from None
    if not 0 < seconds < 366 * 86400:
        raise argparse.ArgumentTypeError("a time between 0 and a year, please")
    return seconds


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--inventory", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="inventory (TOML)")
    common.add_argument(
        "--also", action="append", metavar="ADDRESS|NETWORK", default=argparse.SUPPRESS,
        help="ask hosts here too, once a member names them, with its account (repeatable)",
    )  # fmt: skip
    common.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="one JSON document (or one a line) for machines"
    )
    common.add_argument(
        "--data", type=Path, metavar="DIR", default=argparse.SUPPRESS, help="folder of the local stores"
    )
    common.add_argument("--verbose", action="store_true", default=argparse.SUPPRESS, help="log what is done to stderr")
    common.add_argument(
        "--language",
        metavar="TAG",
        default=argparse.SUPPRESS,
        help="language of the words (the system's), for example de",
    )
    return common


def _window_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--screenshots", type=Path, metavar="DIR", default=argparse.SUPPRESS, help="one PNG per page")
    parser.add_argument("--theme", choices=("light", "dark"), default=argparse.SUPPRESS)
    parser.add_argument("--size", type=_size, metavar="WxH", default=argparse.SUPPRESS)
    parser.add_argument(
        "--reduce-motion", action="store_true", default=argparse.SUPPRESS, help="no fades and no moving edges"
    )


def build_parser() -> argparse.ArgumentParser:
    """Return the parser for every subcommand."""
    common = _common()
    parser = argparse.ArgumentParser(
        prog="pilothouse",
        description="See, measure and steer database clusters from your workstation. Without a command: the window.",
        parents=[common],
    )
    parser.add_argument("--version", action="store_true", help="print the version and end")
    _window_options(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    demo = commands.add_parser("demo", parents=[common], help="the window with a recorded incident, without any server")
    _window_options(demo)

    topology = commands.add_parser("topology", parents=[common], help="discover from the seeds, print the clusters")
    topology.add_argument("--seed", action="append", default=[], metavar="NAME", help="only from this inventory host")
    topology.add_argument("--wait", type=_seconds, default=3.0, metavar="TIME", help="limit of the discovery (3 s)")

    check = commands.add_parser("check", parents=[common], help="discover and judge: exit 1 when something is not good")
    check.add_argument("--wait", type=_seconds, default=3.0, metavar="TIME", help="limit of the discovery (3 s)")

    sample = commands.add_parser("sample", parents=[common], help="watch and print samples, one a second")
    sample.add_argument("--for", dest="duration", type=_seconds, default=None, metavar="TIME", help="end after TIME")
    sample.add_argument("--metric", action="append", default=[], metavar="KEY", help="a catalogue metric (repeatable)")

    record = commands.add_parser("record", parents=[common], help="watch into one file that `replay` opens")
    record.add_argument("file", type=Path)
    record.add_argument("--for", dest="duration", type=_seconds, default=None, metavar="TIME", help="end after TIME")

    replay = commands.add_parser(
        "replay", parents=[common], help="open a recording in the window (or print it: --json)"
    )
    replay.add_argument("file", type=Path)
    replay.add_argument("--at", type=_seconds, default=None, metavar="TIME", help="start this far into the recording")
    _window_options(replay)

    inventory = commands.add_parser("inventory", parents=[common], help="show, check and import hosts")
    inventory.add_argument("action", nargs="?", choices=("show", "check", "import"), default="show")
    inventory.add_argument("--from", dest="origin", choices=("ssh", "mycnf", "workbench"), help="what to import")
    inventory.add_argument("--file", type=Path, default=None, help="the file to import from, where it is not the usual")
    inventory.add_argument(
        "--accept-certificate",
        action="append",
        default=[],
        metavar="SHA256",
        help="check: accept the server certificate with this fingerprint, which you compared (repeatable)",
    )
    inventory.add_argument("--write", action="store_true", help="write the merged inventory (without it: a preview)")
    add_steering(commands, common)
    return parser
