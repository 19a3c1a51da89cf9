"""The command line for who reads it elsewhere: `python -m pack.shell_words bash|zsh|fish`, or `man VERSION DATE`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import shtab
from argparse_manpage.manpage import Manpage

from app.cli.arguments import build_parser
from pack.made import NAME


def main() -> None:
    """Print it."""
    parser = build_parser(whole=True)
    if sys.argv[1] == "man":
        sys.stdout.write(_manual(parser, *sys.argv[2:]))
        return
    _complete_files(parser)
    sys.stdout.write(shtab.complete(parser, shell=sys.argv[1]))


def _manual(parser: argparse.ArgumentParser, version: str, day: str) -> str:
    page = Manpage(parser)
    page.source, page.date, page.manual = f"{NAME} {version}", day, "Pilothouse Manual"
    page.description = "watch and steer database clusters from your workstation"
    return str(page)


def _complete_files(parser: argparse.ArgumentParser) -> None:
    """Have every argument that is a path completed as one."""
    for action in parser._actions:  # noqa: SLF001 - shtab's own way: its README, "FAQs"
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for one in action.choices.values():
                _complete_files(one)
        elif action.type is Path:
            action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
