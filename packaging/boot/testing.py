"""The test command: every check of the project in one table, ending with one line of sums."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

from boot import debian, environment, meanwhile, process
from boot.counts import Outcome, closing_line, read_report, table
from boot.environment import MAIN
from boot.places import COMPILED, LAB_COMMAND, REPORTS, ROOT, BootError, in_ci, is_debian, is_root, say
from boot.stages import EVERYTHING, PACKAGE, Command, Stage, select

NO_TESTS_COLLECTED = 5  # pytest's exit code, https://docs.pytest.org/en/stable/reference/exit-codes.html
LAB_DOWN_LIMIT_S = 300.0
EVERY = "PILOTHOUSE_LAB_EVERY"
"""Set: the tests take no samples (tests/lab/sample.py)."""
EVERY_TAKES = 12
"""So much longer may a stage take then."""
_NOT_HANDED_ON = frozenset({"PYTHONPATH", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE"})


def test(arguments: list[str]) -> int:
    """Run the selected stages, print the table, and return 0 when none failed."""
    stages, extra = select(arguments)
    if EVERYTHING in arguments[: len(arguments) - len(extra)]:
        os.environ[EVERY] = "1"
    for needed in dict.fromkeys(stage.environment for stage in stages):
        environment.ensure(needed)
    outcomes: list[Outcome] = []
    try:
        with meanwhile.bundle(stages) as bundle:
            for stage in stages:
                say(f"stage {stage.name}")
                outcomes.append(_run_stage(stage, extra, **(bundle() if stage.name == PACKAGE else {})))
    except KeyboardInterrupt:
        outcomes.append(Outcome("interrupted", 0, 1, 0, 0.0, ("stopped before all stages had run",)))
    print(f"\n{table(outcomes)}\n\n{closing_line(outcomes)}", flush=True)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def lint(arguments: list[str]) -> int:
    """Run lint, types and contracts; `--fix` first lets ruff mend and format what it can."""
    environment.ensure(MAIN)
    if "--fix" in arguments:
        ruff = MAIN.tool("ruff")
        process.run([ruff, "check", "--fix", "--quiet", "."], os.environ, 120)
        process.run([ruff, "format", "--quiet", "."], os.environ, 120)
    return test(["static"])


def lab_obstacle() -> str | None:
    """Return why the lab cannot be built here, or None after its system packages are there."""
    if sys.platform.startswith("linux") and is_debian() and is_root():
        problem = debian.ensure(_ask_lab("print(*requirements.debian_packages())").split(), "the lab")
        if problem:
            return problem
    return _ask_lab("print(requirements.unavailable_reason() or '')") or None


def _ask_lab(question: str) -> str:
    """Ask the lab itself what it needs: the answer is kept beside the code that needs it."""
    program = f"""
from tests.lab.estate import requirements
from tests.lab.estate.host import image
from tests.lab.estate.servers import engine
{question}"""
    answer = subprocess.run(
        [str(MAIN.python), "-c", program], cwd=ROOT, env=_settings(), capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        raise BootError(f"the lab could not be asked what it needs: {answer.stderr.strip()}")
    return answer.stdout.strip()


def _run_stage(stage: Stage, extra: Sequence[str], **variables: str) -> Outcome:
    try:
        if stage.commands:
            return _run_commands(stage)
        if problem := debian.ensure(debian.TEST_PACKAGES, "the tests"):
            say(problem)  # a few tests are skipped for it, each with its reason
        if stage.needs == "lab":
            return _run_lab(stage, extra)
        if stage.needs == "qt":
            problem = debian.ensure(debian.QT_PACKAGES, "the window")
            if problem and not _qt_loads():
                failed = 1 if in_ci() else 0
                return Outcome(stage.name, 0, failed, 1 - failed, 0.0, (f"not run: {problem}",))
        return _run_pytest(stage, extra, **variables)
    except BootError as error:
        return Outcome(stage.name, 0, 1, 0, 0.0, (str(error),))


def _run_lab(stage: Stage, extra: Sequence[str]) -> Outcome:
    problem = lab_obstacle()
    if problem:
        say(f"lab tests are skipped: {problem}")
        return _run_pytest(stage, extra, PILOTHOUSE_NO_LAB=problem)
    left = None
    try:
        outcome = _run_pytest(stage, extra, **_mysql_obstacle())
    finally:
        # Fixtures take their estates down. What a killed run left behind goes here, where no person's own lab stands.
        if in_ci():
            left = _lab_down()
    return replace(outcome, failed=outcome.failed + 1, notes=(*outcome.notes, left)) if left else outcome


def _mysql_obstacle() -> dict[str, str]:
    """Build the one image that nobody promises before the tests; say by a variable that it can't be had, and why."""
    reason = _ask_lab("print(image.not_to_be_had(engine.MYSQL_RELEASE))")
    if reason:
        say(f"the tests of real MySQL are left out: {reason}")
    return {"PILOTHOUSE_LAB_NO_MYSQL": reason} if reason else {}


def _run_commands(stage: Stage) -> Outcome:
    failed, seconds, notes = 0, 0.0, []
    for command in stage.commands:
        ending = process.run(_words(command), _settings(), stage.limit_s, folder=ROOT / command.folder)
        seconds += ending.seconds
        if ending.code != 0:
            failed += 1
            notes.append(f"{' '.join(command.words)} ended with {ending.code}")
    return Outcome(stage.name, len(stage.commands) - failed, failed, 0, seconds, tuple(notes))


def _words(command: Command) -> list[str]:
    return [MAIN.tool(command.words[0]), *command.words[1:]]


def _run_pytest(stage: Stage, extra: Sequence[str], **variables: str) -> Outcome:
    report_path = REPORTS / f"{stage.name}.xml"
    report_path.parent.mkdir(parents=True, exist_ok=True)
    report_path.unlink(missing_ok=True)
    python = str(stage.environment.python)
    workers = ["-n", str(stage.workers), "--dist", stage.share]
    workers += ["--no-loadscope-reorder"] if stage.share == "loadfile" else []  # a group: the largest first
    shared = workers if stage.workers > 1 and not extra else []
    command = [python, "-m", "pytest", "-q", f"--junitxml={report_path}", *stage.options, *shared, *stage.paths, *extra]
    ending = process.run(command, {**_settings(), **variables}, _limit_s(stage))
    return judge(stage, ending, bool(extra))


def _limit_s(stage: Stage) -> float:
    return stage.limit_s * (EVERY_TAKES if os.environ.get(EVERY) else 1)


def judge(stage: Stage, ending: process.Ending, filtered: bool) -> Outcome:
    """Turn the end of a pytest run and its report into an outcome; whatever is not clearly well counts as failed."""
    report = read_report(REPORTS / f"{stage.name}.xml")
    passed, failed, skipped = (report.passed, report.failed, report.skipped) if report else (0, 0, 0)
    notes = [*(f"skipped: {reason}" for reason in report.reasons), *report.failures] if report else []
    trouble = None
    if ending.timed_out:
        trouble = f"stopped at its time limit of {_limit_s(stage):.0f} s"
    elif ending.code == NO_TESTS_COLLECTED:
        trouble = None if filtered else "no test was found"
    elif report is None or (ending.code != 0 and not failed):
        trouble = f"pytest ended with {ending.code}"
    if trouble:
        failed += 1
        notes.append(trouble)
    if stage.needs == "lab" and skipped and in_ci():
        failed += skipped
        skipped = 0
        notes.append("in an automated run a skipped lab test is a failed one")
    return Outcome(stage.name, passed, failed, skipped, ending.seconds, tuple(notes))


def _settings() -> dict[str, str]:
    """Return the variables for every stage: the same on each machine, whatever the person's shell has set."""
    settings = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}
    settings.update(
        PYTHONPYCACHEPREFIX=str(COMPILED),  # each console of the lab would compile a second's worth of modules anew
        QT_QPA_PLATFORM="offscreen",
        OPENBLAS_NUM_THREADS="1",  # numpy's idle threads cost 100 ms CPU at start-up
        PYTHONUTF8="1",
    )
    return settings


def _qt_loads() -> bool:
    """Tell whether Qt starts in spite of missing packages (other names, other places)."""
    words = [str(MAIN.python), "-c", "import PySide6.QtWidgets"]
    return process.run(words, _settings(), 60).code == 0


def _lab_down() -> str | None:
    """Leave no host, bridge or mount behind, however the stage ended; return what is wrong if some were left."""
    ending = process.run([str(MAIN.python), str(LAB_COMMAND), "down", "all"], _settings(), LAB_DOWN_LIMIT_S)
    return f"the lab could not be taken down: lab.py down ended with {ending.code}" if ending.code else None
