"""The test command judges strictly: what ran, what failed, and why something was skipped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from boot import debian, process, testing
from boot.counts import Outcome, closing_line, read_report, table
from boot.environment import QT_DISTRIBUTIONS
from boot.stages import STAGES, Stage, select

ROOT = Path(__file__).resolve().parents[3]
STAGE = {stage.name: stage for stage in STAGES}
SUITE = '<testsuites><testsuite tests="{tests}" failures="0" errors="0" skipped="0"/></testsuites>'
LAB_SKIPPED = """<testsuites><testsuite tests="5" failures="1" errors="1" skipped="2">
<testcase><skipped message="no root here"/></testcase><testcase><skipped message="no root here"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(testing, "REPORTS", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def test_that_without_stage_names_every_stage_is_run_and_words_for_pytest_are_passed_on() -> None:
    assert select([]) == (STAGES, ())
    assert select(["-x"]) == (STAGES, ("-x",))


def test_that_stages_are_chosen_by_name_or_group_before_the_words_for_pytest() -> None:
    stages, rest = select(["lint", "unit", "-k", "lab"])
    assert [stage.name for stage in stages] == ["lint", "unit"]
    assert rest == ("-k", "lab")
    assert select(["everything"]) == (STAGES, ())
    assert [stage.name for stage in select(["everything", "lab", "-x"])[0]] == ["lab"]
    fast, _ = select(["fast"])
    names = ["lint", "types", "contracts", "package", "unit", "architecture", "widgets", "faults", "hostile"]
    assert [stage.name for stage in fast] == names


@pytest.fixture
def words(reports: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines of all stages that are run; nothing is started."""
    seen: list[list[str]] = []

    def begin(command: list[str], *_: object, **__: object) -> process.Running:
        seen.append(command)
        return real([sys.executable, "-c", ""], os.environ)

    real = process.begin
    monkeypatch.setattr(testing.process, "begin", begin)
    return seen


@pytest.mark.parametrize(
    ("asked", "taken", "limit_s"),
    [(["unit"], "", 1_500), (["everything", "unit"], "1", 18_000), (["unit", "everything"], "1", 18_000)],
)
def test_that_a_run_of_everything_takes_no_samples_and_has_hours(
    monkeypatch: pytest.MonkeyPatch, asked: list[str], taken: str, limit_s: float
) -> None:
    monkeypatch.setenv(testing.EVERY, "")
    monkeypatch.setattr(testing.environment, "ensure", lambda _: None)
    seen: list[float] = []

    def run(stage: Stage, *_: object) -> Outcome:
        seen.append(testing._limit_s(stage))
        return Outcome(stage.name, 1, 0, 0, 1.0, ())

    monkeypatch.setattr(testing, "_run_stage", run)
    assert testing.test(asked) == 0
    assert (os.environ[testing.EVERY], seen) == (taken, [limit_s])


def test_that_the_files_of_a_stage_are_shared_out_whole_and_in_order_unless_the_person_filters(
    words: list[list[str]],
) -> None:
    testing._run_pytest(STAGE["widgets"], ())
    testing._run_pytest(STAGE["widgets"], ("-k", "charts"))
    shared, filtered = words
    assert shared[shared.index("-n") :] == ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder",
                                            "tests/screens", "tests/widgets"]  # fmt: skip
    assert filtered[-4:] == ["tests/screens", "tests/widgets", "-k", "charts"]
    assert "-n" not in filtered


def test_that_the_lab_is_shared_out_by_estate(words: list[list[str]]) -> None:
    testing._run_pytest(STAGE["lab"], ())
    (shared,) = words
    assert shared[shared.index("-n") :] == ["-n", "2", "--dist", "loadgroup", "tests/lab"]


@pytest.mark.parametrize("reason", ["", "debootstrap of sid failed"])
def test_that_the_lab_runs_without_the_one_server_that_can_not_be_had_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reason: str
) -> None:
    handed: list[dict[str, str]] = []

    def mock_of_pytest(_: Stage, __: tuple[str, ...], **variables: str) -> Outcome:
        handed.append(variables)
        return Outcome("lab", 1, 0, 0, 1.0)

    monkeypatch.setattr(testing, "lab_obstacle", lambda: None)
    monkeypatch.setattr(testing, "_ask_lab", lambda _: reason)
    monkeypatch.setattr(testing, "_lab_down", lambda: None)
    monkeypatch.setattr(testing, "_run_pytest", mock_of_pytest)
    testing._run_lab(STAGE["lab"], ())
    assert handed == [{"PILOTHOUSE_LAB_NO_MYSQL": reason} if reason else {}]
    assert reason in capsys.readouterr().out


def test_that_a_stage_of_one_process_and_the_images_of_the_lab_begin_with_the_run(
    words: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testing, "_qt_obstacle", lambda _: None)
    monkeypatch.setattr(testing, "lab_obstacle", lambda: None)
    early = testing._begin_early([STAGE[name] for name in ("lint", "package", "unit", "lab")], ())
    assert list(early) == ["package", "lab"]
    for running in early.values():
        assert running.wait(60).code == 0
    assert words[0][-1] == "tests/package"
    assert words[1][-2:] == ["-c", testing.IMAGES]


@pytest.mark.parametrize("names", [("package",), ("lab",), ("lint", "unit")])
def test_that_nothing_begins_early_where_no_other_stage_comes_first(
    words: list[list[str]], names: tuple[str, ...]
) -> None:
    assert testing._begin_early([STAGE[name] for name in names], ()) == {}
    assert words == []


def test_that_no_image_of_the_lab_is_made_where_the_lab_cannot_run(
    words: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testing, "lab_obstacle", lambda: "no root here")
    assert testing._begin_early([STAGE["lint"], STAGE["lab"]], ()) == {}
    assert words == []


def test_that_what_ran_beside_others_is_printed_at_its_turn_with_its_own_seconds(
    tmp_path: Path, reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "package.log"
    running = process.begin([sys.executable, "-c", "print('12 passed')"], os.environ, output=output)
    running.child.wait()
    waited_s = 1_000.0
    began_earlier = replace(running, started=running.started - waited_s)
    os.utime(output, (time.time() - waited_s / 2, time.time() - waited_s / 2))
    (reports / "package.xml").write_text(SUITE.format(tests=12))
    outcome = testing._run_stage(STAGE["package"], (), began_earlier)
    assert (outcome.passed, outcome.failed) == (12, 0)
    assert waited_s / 4 < outcome.seconds < waited_s * 3 / 4
    assert "12 passed" in capsys.readouterr().out


def test_that_what_began_early_ends_with_an_interrupted_run(monkeypatch: pytest.MonkeyPatch) -> None:
    running = process.begin([sys.executable, "-c", "import time; time.sleep(60)"], os.environ)

    def interrupted(*_: object) -> Outcome:
        raise KeyboardInterrupt

    monkeypatch.setattr(testing.environment, "ensure", lambda _: None)
    monkeypatch.setattr(testing, "_begin_early", lambda *_: {"package": running})
    monkeypatch.setattr(testing, "_run_stage", interrupted)
    assert testing.test(["lint", "package"]) == 1
    assert running.child.poll() is not None


def test_that_every_test_of_the_services_is_run_where_qt_is_not_installed(words: list[list[str]]) -> None:
    testing._run_pytest(STAGE["unit"], ())
    testing._run_pytest(STAGE["architecture"], ())
    unit, rest = words
    assert "tests/unit" in unit
    assert "tests/architecture" in rest
    assert set(QT_DISTRIBUTIONS) == set(STAGE["unit"].environment.without)
    assert STAGE["architecture"].environment.without == ()


def test_that_a_report_is_read_with_its_counts_and_each_reason_once(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(LAB_SKIPPED)
    report = read_report(tmp_path / "report.xml")
    assert report is not None
    assert (report.passed, report.failed, report.skipped) == (1, 2, 2)
    assert report.reasons == ("no root here",)


def test_that_the_table_ends_with_what_failed_and_its_first_lines(reports: Path) -> None:
    suite = '<testsuites><testsuite tests="25" failures="25" errors="0" skipped="0">'
    case = '<testcase classname="tests.a" name="b[1]"><failure message="assert 1 == 2{}">long</failure></testcase>'
    (reports / "unit.xml").write_text(
        suite + case.format("&#10;more") + case.format("x" * 5_000) * 24 + "</testsuite></testsuites>"
    )
    outcome = testing.judge(STAGE["unit"], process.Ending(1, False, 1.0), filtered=False)
    assert outcome.notes[0] == "failure: tests.a::b[1]\n      assert 1 == 2\n      more"
    assert len(outcome.notes) == 20
    assert len(table([outcome])) < 40_000


def test_that_a_run_without_a_report_counts_as_failed(reports: Path) -> None:
    outcome = testing.judge(STAGE["unit"], process.Ending(0, False, 1.0), filtered=False)
    assert (outcome.passed, outcome.failed) == (0, 1)


def test_that_a_run_stopped_at_its_limit_counts_as_failed_though_all_its_tests_passed(reports: Path) -> None:
    (reports / "unit.xml").write_text(SUITE.format(tests=3))
    outcome = testing.judge(STAGE["unit"], process.Ending(2, True, 600.0), filtered=False)
    assert (outcome.passed, outcome.failed) == (3, 1)
    assert "time limit" in outcome.notes[-1]


def test_that_a_stage_which_finds_no_test_fails_unless_the_person_filtered(reports: Path) -> None:
    (reports / "unit.xml").write_text(SUITE.format(tests=0))
    ending = process.Ending(testing.NO_TESTS_COLLECTED, False, 1.0)
    assert testing.judge(STAGE["unit"], ending, filtered=False).failed == 1
    assert testing.judge(STAGE["unit"], ending, filtered=True).failed == 0


def test_that_a_skipped_lab_test_is_told_on_a_desk_and_fails_an_automated_run(
    reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = LAB_SKIPPED.replace('failures="1" errors="1"', 'failures="0" errors="0"')
    (reports / "lab.xml").write_text(text)
    at_desk = testing.judge(STAGE["lab"], process.Ending(0, False, 1.0), filtered=False)
    assert (at_desk.failed, at_desk.skipped) == (0, 2)
    assert at_desk.notes == ("skipped: no root here",)
    monkeypatch.setenv("CI", "true")
    automated = testing.judge(STAGE["lab"], process.Ending(0, False, 1.0), filtered=False)
    assert (automated.failed, automated.skipped) == (2, 0)


def test_that_the_last_line_sums_all_stages() -> None:
    outcomes = [Outcome("lint", 2, 0, 0, 1.0), Outcome("lab", 30, 1, 4, 2.0, ("skipped: no root",))]
    assert closing_line(outcomes) == "32 passed, 1 failed, 4 skipped"
    assert "skipped: no root" in table(outcomes)


@pytest.mark.skipif(os.name == "nt", reason="process groups are POSIX")
def test_that_a_time_limit_ends_the_whole_process_group_even_one_that_ignores_the_interrupt(tmp_path: Path) -> None:
    marker = tmp_path / "grandchild"
    grandchild = "import os, signal, sys, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
    program = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"child = subprocess.Popen([sys.executable, '-c', {grandchild!r}])\n"
        f"open({str(marker)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )
    ending = process.run([sys.executable, "-c", program], os.environ, 1.5, grace_s=0.3)
    assert ending.timed_out
    assert ending.code != 0
    assert _gone(int(marker.read_text()))


def test_that_the_interrupt_at_the_time_limit_lets_a_test_run_still_write_its_report(tmp_path: Path) -> None:
    (tmp_path / "test_slow.py").write_text("import time\ndef test_a(): pass\ndef test_b(): time.sleep(60)\n")
    report = tmp_path / "report.xml"
    # A shell starts background jobs with SIGINT ignored; the bootstrap undoes that for its children, so does this one.
    program = "import pytest, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); pytest.main()"
    command = [sys.executable, "-c", program, "-q", "-p", "no:cacheprovider", f"--junitxml={report}", str(tmp_path)]
    # Without the plugins (one loads Qt) the first test ends well within the limit on a busy machine, too.
    settings = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ending = process.run(command, settings, 6.0, folder=tmp_path, grace_s=15.0)
    assert ending.timed_out
    read = read_report(report)
    assert read is not None
    assert read.passed >= 1


def test_that_on_other_systems_no_debian_package_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "is_debian", lambda: False)
    assert debian.ensure(debian.QT_PACKAGES, "the window") is None


def test_that_without_root_the_exact_line_to_run_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "is_debian", lambda: True)
    monkeypatch.setattr(debian, "is_root", lambda: False)
    monkeypatch.setattr(debian, "missing", lambda packages: ("libegl1", "fonts-inter"))
    monkeypatch.setattr(debian, "_first_known", lambda spec: spec)
    reason = debian.ensure(debian.QT_PACKAGES, "the window")
    assert reason is not None
    assert reason.endswith("Run: sudo apt-get install -y --no-install-recommends libegl1 fonts-inter")


def test_that_an_unknown_verb_is_answered_with_the_usage_and_exit_code_2() -> None:
    done = subprocess.run(
        [sys.executable, "packaging/bootstrap.py", "tset"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "usage: bootstrap.py" in done.stderr


def _gone(pid: int) -> bool:
    limit = time.monotonic() + 5
    while time.monotonic() < limit:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
