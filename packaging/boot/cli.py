"""The verbs of packaging/bootstrap.py."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from boot import debian, environment, lock, package, peers, process, testing
from boot.environment import MAIN
from boot.places import BENCH_PAGE, DEMO_PICTURES, DOCS_PICTURES, ROOT, BootError, has_display, say

THEMES = ("light", "dark")
PICTURE_SIZE = "1280x800"
DAY_S = 86_400.0

VERBS = """verbs:
  demo [ARGS]    show the recorded incident in the window (pilothouse demo ARGS);
                 without a display: draw its pages as pictures
  run ARGS       start pilothouse with ARGS (see run --help)
  test [STAGES] [PYTEST ARGS]
                 every check of the project; stages: lint types contracts unit architecture
                 widgets faults hostile package lab, groups: fast static all; `test unit -k sampling`;
                 `test everything [STAGES]` runs every case instead of samples; it takes hours
  lint [--fix]   lint, types and import contracts only
  bench [ARGS]   measure the budgets, and install what they are compared with;
                 without ARGS all of them, into resources/docs/benchmarks.md
  package [KINDS] [--out DIR]
                 the wheel and the packages of this platform: kinds wheel bundle installers
  docs           redraw the screenshots of the documentation, light and dark
  words          write the template of all sentences for translators, compile the catalogues
  lock [--upgrade]
                 compile requirements.lock from pyproject.toml
"""


def main(arguments: list[str]) -> int:
    """Run one verb; return the exit code (2: a wrong call or a machine that lacks something)."""
    parser = argparse.ArgumentParser(
        prog="bootstrap.py",
        description="Pilothouse from a fresh checkout: installs what it needs and reports each action.",
        epilog=VERBS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs: dict[str, Callable[[list[str]], int]] = {
        "demo": demo,
        "run": run,
        "test": testing.test,
        "lint": testing.lint,
        "bench": bench,
        "package": package.package,
        "docs": docs,
        "words": words,
        "lock": lock.refresh,
    }
    parser.add_argument("verb", choices=verbs, metavar="VERB")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    parsed = parser.parse_args(arguments)
    process.end_by_signals()
    try:
        return verbs[parsed.verb](parsed.arguments)
    except BootError as error:
        say(str(error))
        return 2
    except KeyboardInterrupt:
        say("interrupted")
        return 130


def demo(arguments: list[str]) -> int:
    """Show the recorded incident; on a machine without a display draw its pages instead."""
    _ensure_window()
    if not has_display():
        if "--screenshots" not in arguments:
            say("no display. On a desktop this opens the window; `xvfb-run -a` provides a virtual display.")
            arguments = ["--screenshots", str(DEMO_PICTURES), *arguments]
        say(f"drawing the pages off screen into {arguments[arguments.index('--screenshots') + 1]}")
    return _pilothouse(["demo", *arguments])


def run(arguments: list[str]) -> int:
    """Start the program with `arguments`; without a window system its command-line verbs still serve."""
    _ensure_window()
    return _pilothouse(arguments)


def bench(arguments: list[str]) -> int:
    """Measure the budgets, both sides in one run; all of them, when nothing is chosen, become the page of the docs."""
    peers.ensure()
    _ensure_qt()
    command = [str(peers.PEERS.python), "-m", "tests.bench", *(arguments or ["--out", str(BENCH_PAGE)])]
    return process.run(command, {**os.environ, "OPENBLAS_NUM_THREADS": "1"}, DAY_S).code


def docs(arguments: list[str]) -> int:
    """Draw the documentation's screenshots again, one folder for each theme."""
    _ensure_window()
    for theme in THEMES:
        folder = DOCS_PICTURES / theme
        folder.mkdir(parents=True, exist_ok=True)
        called = ["demo", "--screenshots", str(folder), "--theme", theme, "--size", PICTURE_SIZE, *arguments]
        code = _pilothouse(called, QT_QPA_PLATFORM="offscreen")
        if code != 0:
            raise BootError(f"the {theme} screenshots could not be drawn (exit code {code})")
        say(f"{theme} screenshots are in {folder}")
    return 0


def words(arguments: list[str]) -> int:  # noqa: ARG001  (a verb's signature)
    """Write resources/locale/pilothouse.pot and compile the translations beside it (ADR 0012)."""
    environment.ensure(MAIN)
    return process.run([str(MAIN.python), "-m", "boot.extract"], os.environ, 120, folder=ROOT / "packaging").code


def _ensure_window() -> None:
    environment.ensure(MAIN)
    _ensure_qt()


def _ensure_qt() -> None:
    problem = debian.ensure(debian.QT_PACKAGES, "the window")
    if problem:
        say(problem)  # it may start all the same: the libraries can come from elsewhere


def _pilothouse(arguments: list[str], **settings: str) -> int:
    if not has_display():
        settings.setdefault("QT_QPA_PLATFORM", "offscreen")
    # The person's folder stays the current one: file names among the arguments mean what they say.
    return process.run([MAIN.tool("pilothouse"), *arguments], {**os.environ, **settings}, DAY_S, folder=Path.cwd()).code
