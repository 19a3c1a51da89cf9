"""The command line: one parser, no behaviour.

Exit codes: 0 good, 1 findings or refused, 2 bad input, 3 failed and undone, 4 needs a person; 70 something failed that
is no finding (sysexits.h: EX_SOFTWARE), 141 who reads the output closed it (128 and SIGPIPE, as of every program).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.cli.steer_arguments import STEERING, Commands
from app.places import DEMOS

GOOD, FINDINGS, BAD_INPUT, FAILED_UNDONE, NEEDS_PERSON = 0, 1, 2, 3, 4
BROKEN, CLOSED_PIPE = 70, 141


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    try:
        size = (int(width), int(height))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT, for example 1280x800") from None
    if not (640 <= size[0] <= 7680 and 480 <= size[1] <= 4320):
        raise argparse.ArgumentTypeError("the size must be between 640x480 and 7680x4320")
    return size


def _seconds(text: str) -> float:
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    number, factor = (text[:-1], units[text[-1]]) if text and text[-1] in units else (text, 1.0)
    try:
        seconds = float(number) * factor
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time, for example 90, 5m or 2h") from None
    if not 0 < seconds < 366 * 86400:
        raise argparse.ArgumentTypeError("the time must be between 0 and a year")
    return seconds


def _seconds_or_moment(text: str) -> float | str:
    """A length of time, or the text of a moment: what it means depends on the recording."""
    return _seconds(text) if "0" <= text[:1] <= "9" and not set(text) & set(":-") else text


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--inventory", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="inventory (TOML)")
    common.add_argument(
        "--also", action="append", metavar="ADDRESS|NETWORK", default=argparse.SUPPRESS,
        help="also query these hosts if a member names them, with its account (repeatable)",
    )  # fmt: skip
    common.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="one JSON document (or one a line) for machines"
    )
    common.add_argument(
        "--data", type=Path, metavar="DIR", default=argparse.SUPPRESS, help="data folder of this workstation"
    )
    common.add_argument("--verbose", action="store_true", default=argparse.SUPPRESS, help="log to standard error")
    common.add_argument(
        "--language",
        metavar="TAG",
        default=argparse.SUPPRESS,
        help="language of the messages (default: the system's), for example de",
    )
    return common


def _window_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--screenshots", type=Path, metavar="DIR", default=argparse.SUPPRESS, help="one PNG per page")
    parser.add_argument("--theme", choices=("light", "dark"), default=argparse.SUPPRESS)
    parser.add_argument("--size", type=_size, metavar="WxH", default=argparse.SUPPRESS)
    parser.add_argument("--reduce-motion", action="store_true", default=argparse.SUPPRESS, help="no animation")


def _demo(parser: argparse.ArgumentParser) -> None:
    words = (
        "incident: Galera under load and failures (default); conversion: MongoDB config servers become a replica set"
    )
    parser.add_argument("story", nargs="?", choices=DEMOS, default=DEMOS[0], help=words)
    _window_options(parser)


class Command(argparse.ArgumentParser):
    """A subcommand whose arguments are added when it is asked for: the window, which is none, starts 5 ms sooner."""

    def __init__(self, **options: Any) -> None:
        # no super().__init__: it is what the time goes into
        self._options = options
        self.common: argparse.ArgumentParser
        self.arguments: Callable[[argparse.ArgumentParser], None]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Make the real parser, and let it read."""
        parser = argparse.ArgumentParser(parents=[self.common], **self._options)
        self.arguments(parser)
        return parser.parse_known_args(args, namespace)


def build_parser(*, whole: bool = False) -> argparse.ArgumentParser:
    """Return the parser for every subcommand.

    Args:
        whole: with each subcommand's own arguments at once, for who reads all of them (manual page, completions).
    """
    common = _common()
    parser = argparse.ArgumentParser(
        prog="pilothouse",
        description="See, measure and steer database clusters from your workstation. Without a command: the window.",
        epilog="Exit codes: 0 good, 1 findings or refused, 2 bad input, 3 failed and undone, 4 needs a person.",
        parents=[common],
    )
    parser.add_argument("--version", action="store_true", help="print version, commit and kind of installation")
    _window_options(parser)
    every = _WATCHING | STEERING
    if whole:
        filled = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=argparse.ArgumentParser)
        for name, (told, arguments) in every.items():
            arguments(filled.add_parser(name, help=told, description=told, parents=[common]))
        return parser
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Command)
    for name, (told, arguments) in every.items():
        command = commands.add_parser(name, help=told)
        command.common, command.arguments = common, arguments
    return parser


def _wait(parser: argparse.ArgumentParser) -> None:
    words = "stop waiting for a host after TIME without an answer (5 s), and for all hosts after four times that"
    parser.add_argument("--wait", type=_seconds, default=5.0, metavar="TIME", help=words)


def _topology(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", action="append", default=[], metavar="NAME", help="only from this inventory host")
    _wait(parser)


def _check(parser: argparse.ArgumentParser) -> None:
    _wait(parser)


def _sample(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--for", dest="duration", type=_seconds, default=None, metavar="TIME", help="end after TIME")
    parser.add_argument("--metric", action="append", default=[], metavar="KEY", help="a catalogue metric (repeatable)")


def _record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path)
    parser.add_argument("--for", dest="duration", type=_seconds, default=None, metavar="TIME", help="end after TIME")


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path)
    told = "start this far into the recording (90, 5m) or at this moment (13:23, start+5m)"
    parser.add_argument("--at", type=_seconds_or_moment, default=None, metavar="TIME", help=told)
    _window_options(parser)


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, nargs="?", default=None, help="a recording (default: the stored history)")
    parser.add_argument("--before", default="", metavar="FROM..TO", help="12:40..12:50, now-30m..now-20m")
    parser.add_argument("--after", default="", metavar="FROM..TO", help="the same; where --before ends, or later")
    parser.add_argument("--run", default="", metavar="RUN", help="the windows around this run, by its journal")
    parser.add_argument("--mark", default="", metavar="NAME", help="the windows kept under this name or number")
    parser.add_argument("--keep", default=None, metavar="NAME", help="keep the compared windows under this name")
    parser.add_argument("--marks", action="store_true", help="list the kept marks; compare nothing")
    parser.add_argument("--forget", default="", metavar="NAME", help="remove the mark with this name or number")
    parser.add_argument(
        "--around", type=_seconds, default=600.0, metavar="TIME", help="with --run: the windows' length (10m)"
    )
    parser.add_argument("--server", action="append", default=[], metavar="NAME", help="only this one (repeatable)")
    parser.add_argument("--metric", action="append", default=[], metavar="KEY", help="a catalogue metric (repeatable)")
    parser.add_argument(
        "--despite", action="append", default=[], choices=("restart", "load"), help="compare despite this (repeatable)"
    )


def _inventory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("show", "check", "import"), default="show")
    parser.add_argument("--from", dest="origin", choices=("ssh", "mycnf", "workbench"), help="what to import")
    parser.add_argument("--file", type=Path, default=None, help="the file to import from, if not the usual one")
    parser.add_argument(
        "--accept-certificate",
        action="append",
        default=[],
        metavar="SHA256",
        help="check: accept the server certificate with this fingerprint after you have compared it (repeatable)",
    )
    parser.add_argument("--write", action="store_true", help="write the merged inventory (without it: a preview)")


def _chunks(parser: argparse.ArgumentParser) -> None:
    from services.backup_chunks.asked import QUESTIONS  # late: the window does not need it

    for question in QUESTIONS:
        usual = f" ({question.usual})" if question.usual else ""
        parser.add_argument(f"--{question.name}", default="", metavar="VALUE", help=f"{question.title}{usual}")
    parser.add_argument(
        "--command", dest="job_command", action="append", default=[], metavar="TEXT",
        help="a backup job's command line; it is checked, never run (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--job", action="append", default=[], type=Path, metavar="FILE",
        help="the same, read from a script, so that no secret appears on this command line (repeatable)",
    )  # fmt: skip
    parser.add_argument("--host", default="", metavar="NAME", help="read sizes and free memory of this inventory host")


_WATCHING: Commands = {
    "demo": ("open the window with a recorded incident; no server needed", _demo),
    "topology": ("discover from the seeds, print the clusters", _topology),
    "check": ("discover and judge; exit 1 if anything is not good", _check),
    "sample": ("watch and print samples, one a second", _sample),
    "record": ("record samples in one file that `replay` opens", _record),
    "replay": ("open a recording in the window (or print it: --json)", _replay),
    "compare": ("measure a change: two windows, metric by metric (exit 1 if not known)", _compare),
    "inventory": ("show, check and import hosts", _inventory),
    "chunks": ("how large the objects of a backup for xbcloud should be, and what is wrong with its command", _chunks),
}
