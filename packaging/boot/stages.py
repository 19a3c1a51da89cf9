"""The stages of the test command, as data: what each runs, in which environment, for how long at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from boot.environment import HEADLESS, MAIN, Environment

Needs = Literal["nothing", "qt", "lab"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: words (the first names a tool or is "python"), and the folder under the root where it runs."""

    words: tuple[str, ...]
    folder: str = "."


@dataclass(frozen=True, slots=True)
class Stage:
    """One line of the table. A stage has either `commands`, each counting as one check, or pytest `paths`.

    With more than one worker a stage's files are shared out in the order of `paths`, each file whole (pytest-xdist,
    `--dist loadfile`); by itself it would begin with the files that have the most tests, and end with a slow one.
    `share` names another way: "loadgroup" keeps together what the tests themselves say (tests/lab/sharing.py).
    `options` are further words for pytest. A stage `beside` others is begun with the run: those before it leave a
    core idle.
    """

    name: str
    limit_s: float
    commands: tuple[Command, ...] = ()
    paths: tuple[str, ...] = ()
    environment: Environment = MAIN
    needs: Needs = "nothing"
    workers: int = 1
    share: Literal["loadfile", "loadgroup"] = "loadfile"
    options: tuple[str, ...] = ()
    beside: bool = False


# Imports every module of services: without Qt installed, a stray import of it cannot hide.
IMPORTS_OF_SERVICES = "tests/architecture/test_contracts.py::test_that_importing_every_service_loads_no_part_of_qt"

STAGES = (
    Stage("lint", 120, (Command(("ruff", "check", ".")), Command(("ruff", "format", "--check", ".")))),
    Stage(
        "types",
        400,
        (
            Command(("mypy",)),
            # From inside: seen from the root, the folder would pass for the library named `packaging`.
            Command(("mypy", "--config-file", "../pyproject.toml", "bootstrap.py", "boot", "lab.py"), "packaging"),
        ),
    ),
    Stage("contracts", 120, (Command(("lint-imports", "--no-cache", "--no-logo")),)),
    # Makes the bundle of what is committed, in an environment of its own, and starts every part of it.
    # A single process, as the three before it are.
    Stage("package", 2_400, paths=("tests/package",), needs="qt", beside=True),
    # Every test of what lies below the window, where Qt is not installed: a stray import of it fails.
    # A third of their time they wait for a server or a clock: three processes keep two cores busy.
    Stage("unit", 1_500, paths=("tests/unit", IMPORTS_OF_SERVICES), environment=HEADLESS, workers=3),
    # pytest-qt loads Qt before the first test is collected, whatever that test needs.
    Stage("architecture", 600, paths=("tests/architecture",), needs="qt", workers=2),
    # Each process has an off-screen platform of its own. The pictures take longest: they come first. A window waits for
    # its workers, and a run for its engine: three processes keep two cores busy.
    Stage("widgets", 1_800, paths=("tests/screens", "tests/widgets"), needs="qt", workers=3),
    # On scripted hosts: crashes at a sample of journal entries, faults in a sample of steps (tests/faults/spread.py).
    # It takes two to three minutes on two idle cores; with `everything`, all entries and steps, a quarter of an hour.
    Stage("faults", 600, paths=("tests/faults",), needs="qt", workers=2),
    # Servers on loopback that lie, stall and flood, damaged replies by the hundred, and the window that watches them.
    # They wait for servers that never answer: three processes keep two cores busy.
    Stage("hostile", 900, paths=("tests/hostile",), needs="qt", workers=3),
    # Two processes, each with an estate of its own to steer, keep two cores busy; with three, hosts answer too late.
    Stage("lab", 3_600, paths=("tests/lab",), needs="lab", workers=2, share="loadgroup"),
)

EVERYTHING = "everything"
"""The word with which a run takes no samples: every case of the named stages, or of all, for hours (lab.md)."""
GROUPS = {
    "all": tuple(stage.name for stage in STAGES),
    "fast": tuple(stage.name for stage in STAGES if stage.needs != "lab"),
    "static": ("lint", "types", "contracts"),
}


def select(arguments: list[str]) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """Split the words after `test` into stages (all, when none is named) and what is handed to pytest.

    Stage and group names come first; the first other word starts pytest's part: `test unit widgets -k charts`.
    """
    names: set[str] = set()
    rest = list(arguments)
    known = {EVERYTHING, *GROUPS, *(stage.name for stage in STAGES)}
    while rest and rest[0] in known:
        word = rest.pop(0)
        names.update(() if word == EVERYTHING else GROUPS.get(word, (word,)))
    chosen = names or set(GROUPS["all"])
    return tuple(stage for stage in STAGES if stage.name in chosen), tuple(rest)
