"""The part of the command line that steers: procedures, plan, run, resume, undo, report, settle. No behaviour."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

Commands = dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]]
"""Name of a subcommand -> what it is for, and what adds its own arguments."""


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value.strip()


def _override(text: str) -> tuple[str, str]:
    code, reason = _pair(text)
    if not reason:
        raise argparse.ArgumentTypeError(f"give a reason: {code}=why it is accepted")
    return code.upper(), reason


def _procedures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", default="", help="show this one's questions with their defaults")
    parser.add_argument("--cluster", default="", metavar="NAME", help="the cluster, where there are several")
    parser.add_argument("--runs", action="store_true", help="list runs with their states and what is switched on")


def _run(parser: argparse.ArgumentParser) -> None:
    _procedure(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--rehearse",
        action="store_true",
        help="make every read, print every change, change nothing; exit 1 if the run would stop",
    )
    how.add_argument(
        "--yes", action="store_true", help="approve the plan; a failure is rolled back where that is possible"
    )
    _answers(parser)


def _resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="the run's number (pilothouse procedures --runs)")
    parser.add_argument("--yes", action="store_true", help="answer questions that need no judgement; undo on failure")
    parser.add_argument("--answer", default="", metavar="TEXT", help="the answer to what the run waits for")
    _answers(parser)
    _commands(parser)
    _approve(parser)


def _undo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="the run's number")
    parser.add_argument("--yes", action="store_true", help="approve the undo")
    _confirm(parser, "give the confirmation that an undo asks for, as the plan names it (repeatable)")
    _commands(parser)
    _approve(parser)
    parser.add_argument("--release", action="store_true", help="only switch off what is still switched on")
    parser.add_argument(
        "--leave", default="", metavar="REASON", help="close the run in its current state, with a reason"
    )


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="the run's number")
    parser.add_argument("--html", type=Path, default=None, metavar="FILE", help="one self-contained file")
    parser.add_argument("--markdown", type=Path, default=None, metavar="FILE", help="without either: to the terminal")


def _settle(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cluster", nargs="?", default="", help="the cluster to settle: its name or state UUID")
    parser.add_argument("--reason", default="", metavar="TEXT", help="what was done about it; it stays in the history")
    parser.add_argument("--yes", action="store_true", help="settle without typing the cluster's name; needs --reason")


def _procedure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="procedure (pilothouse procedures lists them)")
    parser.add_argument("--cluster", default="", metavar="NAME", help="the cluster, where there are several")
    parser.add_argument(
        "--input", action="append", type=_pair, default=[], metavar="NAME=VALUE", help="an answer (repeatable)"
    )
    parser.add_argument(
        "--override",
        action="append",
        type=_override,
        default=[],
        metavar="CODE=REASON",
        help="accept a blocking check by its code, with a reason (repeatable); certain data loss cannot be accepted",
    )
    _commands(parser)


def _commands(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--commands", action="store_true", help="show everything: passed checks, each step's commands and undo"
    )


def _confirm(parser: argparse.ArgumentParser, sentence: str) -> None:
    parser.add_argument("--confirm", action="append", default=[], metavar="HOST", help=sentence)


def _answers(parser: argparse.ArgumentParser) -> None:
    _confirm(parser, "confirm a step that cannot be undone (repeatable)")
    parser.add_argument(
        "--take-over", default="", metavar="OWNER", help="take over another console's lock: type its owner"
    )


def _approve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--approve", default="", metavar="CODE", help="approve a run that cannot be verified here, as it was shown"
    )


STEERING: Commands = {
    "procedures": ("the guided procedures, or the questions of one; runs and obligations", _procedures),
    "plan": ("check and plan a procedure; nothing is changed", _procedure),
    "run": ("run a procedure, or rehearse it", _run),
    "resume": ("continue a run that was interrupted or is waiting", _resume),
    "undo": ("roll back a run, step by step; or only release", _undo),
    "report": ("write a run's report", _report),
    "settle": ("list two Primary Components that were seen (exit 1 while one is not settled); settle them", _settle),
}
