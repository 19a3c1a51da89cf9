"""The part of the command line that steers: procedures, plan, run, resume, undo, report, settle. No behaviour."""

from __future__ import annotations

import argparse
from pathlib import Path


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


def add_steering(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    """Add the seven subcommands."""
    procedures = commands.add_parser(
        "procedures", parents=[common], help="the guided procedures, or the questions of one; runs and obligations"
    )
    procedures.add_argument("name", nargs="?", default="", help="show this one's questions with their defaults")
    procedures.add_argument("--cluster", default="", metavar="NAME", help="the cluster, where there are several")
    procedures.add_argument("--runs", action="store_true", help="list runs, where they stand, and what is switched on")

    plan = commands.add_parser("plan", parents=[common], help="check and plan a procedure; nothing is changed")
    _procedure(plan)

    run = commands.add_parser("run", parents=[common], help="run a procedure, or rehearse it")
    _procedure(run)
    how = run.add_mutually_exclusive_group()
    how.add_argument(
        "--rehearse",
        action="store_true",
        help="run every read, print every change, change nothing; exit 1 when the run would stop",
    )
    how.add_argument("--yes", action="store_true", help="approve the plan; a failure is undone where that is possible")
    _answers(run)

    resume = commands.add_parser("resume", parents=[common], help="go on with a run that was broken off or waits")
    resume.add_argument("run", help="the run's number (pilothouse procedures --runs)")
    resume.add_argument("--yes", action="store_true", help="answer what needs no judgement; undo on failure")
    resume.add_argument("--answer", default="", metavar="TEXT", help="the answer to what the run waits for")
    _answers(resume)

    undo = commands.add_parser("undo", parents=[common], help="take a run back, step by step; or only release")
    undo.add_argument("run", help="the run's number")
    undo.add_argument("--yes", action="store_true", help="approve taking it back")
    _confirm(undo, "let this host come back by SST where IST can't bring it back (repeatable)")
    for parser in (resume, undo):
        parser.add_argument(
            "--approve", default="", metavar="CODE", help="approve a run that can't be verified here, as it was shown"
        )
    undo.add_argument("--release", action="store_true", help="only switch off what is still switched on")
    undo.add_argument("--leave", default="", metavar="REASON", help="close the run as it stands, with a reason")

    report = commands.add_parser("report", parents=[common], help="write a run's report")
    report.add_argument("run", help="the run's number")
    report.add_argument("--html", type=Path, default=None, metavar="FILE", help="one self-contained file")
    report.add_argument("--markdown", type=Path, default=None, metavar="FILE", help="without either: to the terminal")

    settle = commands.add_parser(
        "settle",
        parents=[common],
        help="two Primary Components once seen: list them (exit 1 while one is open), settle",
    )
    settle.add_argument("cluster", nargs="?", default="", help="settle this one: its name or state UUID")
    settle.add_argument("--reason", default="", metavar="TEXT", help="what was done about it; it stays in the history")
    settle.add_argument("--yes", action="store_true", help="settle without typing the cluster's name; needs --reason")


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
        help="accept a blocking check by its code, with a reason (repeatable); certain data loss can't be accepted",
    )


def _confirm(parser: argparse.ArgumentParser, told: str) -> None:
    parser.add_argument("--confirm", action="append", default=[], metavar="HOST", help=told)


def _answers(parser: argparse.ArgumentParser) -> None:
    _confirm(parser, "confirm a step that can't be undone (repeatable)")
    parser.add_argument(
        "--take-over", default="", metavar="OWNER", help="take over another console's lock: type its owner"
    )
