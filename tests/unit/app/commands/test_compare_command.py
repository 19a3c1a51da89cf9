"""`compare`: on a recording, on the kept history, around a run; what is typed wrong; exit codes and JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.__main__ import main
from app.cli.arguments import BAD_INPUT, FINDINGS, GOOD
from app.cli.commands import record, replay
from app.mark_shelf import StateShelf
from app.typed_moments import Held, moment, window
from services.clock import ManualClock
from services.errors import BadInput
from services.history.marked_change import ChangeMark
from services.history.recordings.recording import finish_recording, record_to
from services.history.store import HistoryStore
from services.procedures.service.person import person_here
from services.sampling.change.model import Window
from services.sampling.past.own_past import mark_of
from services.series import Sample
from tests.unit.app.steering_service import DESYNC, Shell
from tests.unit.sampling.change_series import NOW, remembering

SECONDS, STEP_AT = 1_500, 750
INVENTORY = 'version = 1\n[[host]]\nname = "db1"\naddress = "10.20.0.11"\n[host.ssh]\nuser = "dba"\n'
HELD = Held(NOW, NOW + SECONDS)


def sampled(store: HistoryStore, clock: ManualClock, begun: float = NOW, server: str = "db1") -> None:
    """Write 25 minutes of a steady load whose write latency rises from 8 to 11 ms in the middle."""
    noise = remembering(np.random.default_rng(11), 2, SECONDS, 0.5)
    questions = writes = spent = 0.0
    for n in range(SECONDS):
        questions += 1_000.0 + 40.0 * noise[0, n]
        writes += 100.0
        spent += 100.0 * (8.0 + (3.0 if n >= STEP_AT else 0.0) + noise[1, n])
        values = {"questions": questions, "threads_running": 4.0, "uptime": 5_000.0 + n,
                  "os.disk_all.writes": writes, "os.disk_all.ms_writing": spent}  # fmt: skip
        store.append(Sample(server, begun + n, 100.0 + n, values, "u:1"))
        clock.advance(1.0)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, clock = tmp_path_factory.mktemp("compare") / "change.pilothouse", ManualClock(NOW)
    store = record_to(path, clock=clock)
    sampled(store, clock)
    store.close()
    finish_recording(path)
    return path


WINDOWS = ("--before", "start..start+12m", "--after", "start+13m..end")


def test_that_a_recording_is_compared_and_told_in_words(
    recording: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["compare", str(recording), *WINDOWS, "--metric", "load.questions", "--metric", "disk.write_latency"])
    output = capsys.readouterr().out
    assert code == GOOD
    assert "Questions (load.questions)" in output
    assert "no difference shown" in output
    assert "write latency (disk.write_latency)  8" in output
    assert "higher, by a large margin" in output
    assert "1 metric differs, 1 shows no difference, 0 are not known." in output


def test_that_the_document_has_every_number_and_no_code_in_words(
    recording: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(recording), *WINDOWS, "--metric", "disk.write_latency", "--json"]) == GOOD
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    (change,) = document["changes"]
    assert document["before"] == {"start": NOW + 1, "end": NOW + 720}  # as long as the window after
    assert document["confidence"] == 0.99
    assert (change["server"], change["verdict"], change["why"], change["size"]) == ("db1", "higher", "", "large")
    assert change["typical"]["low"] < 3.0 < change["typical"]["high"]
    assert min(change["blocks"]) >= 8


def test_that_what_is_not_known_is_a_finding_with_its_code(
    recording: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ("--before", "start..start+10s", "--after", "start+10s..start+20s")
    assert main(["compare", str(recording), *short, "--metric", "disk.write_latency", "--json"]) == FINDINGS
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert {(change["verdict"], change["why"]) for change in changes} == {("not known", "few")}
    assert all(change["typical"]["low"] is None for change in changes)


def test_that_the_usual_metrics_are_compared_and_what_is_not_offered_is_named(
    recording: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(recording), *WINDOWS]) == FINDINGS
    output = capsys.readouterr().out
    assert "Threads_running (load.threads_running)  4 → 4" in output
    assert "not known: Read over SSH: no sample of the host has arrived." in output  # of its processors
    assert "Not available on these servers: " in output


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--before", "start..end"),
        ("--before", "start", "--after", "start+1m..end"),
        ("--before", "soon..later", "--after", "start..end"),
        ("--before", "start+5m..start+9m", "--after", "start+1m..start+3m"),
        (*WINDOWS, "--server", "db9"),
        (*WINDOWS, "--metric", "rate("),
    ],
)
def test_that_what_can_not_be_compared_is_bad_input(
    words: tuple[str, ...], recording: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(recording), *words]) == BAD_INPUT
    assert capsys.readouterr().err


def test_that_a_missing_recording_is_named(quiet_log: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "no-such.pilothouse", *WINDOWS]) == BAD_INPUT
    assert "There is no recording at no-such.pilothouse." in capsys.readouterr().err


def test_that_the_kept_history_of_this_inventory_is_compared(
    tmp_path: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    inventory = tmp_path / "inventory.toml"
    inventory.write_text(INVENTORY)
    common = ["--inventory", str(inventory), "--data", str(tmp_path), "--metric", "disk.write_latency"]
    stretch = (f"{NOW:.0f}..{NOW + 720:.0f}", f"{NOW + 780:.0f}..{NOW + SECONDS:.0f}")
    words = ["compare", "--before", stretch[0], "--after", stretch[1], *common]
    assert main(words) == BAD_INPUT
    assert "contains no history" in capsys.readouterr().err
    clock = ManualClock(NOW)
    store = HistoryStore.open(tmp_path / "history.sqlite", clock=clock)
    store.of_inventory(mark_of(inventory), {"db1": "10.20.0.11"})
    sampled(store, clock)
    store.close()
    assert main(words) == GOOD
    assert "higher, by a large margin" in capsys.readouterr().out


def test_that_windows_are_kept_listed_chosen_again_and_removed(
    recording: Path, tmp_path: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    here = ["compare", str(recording), "--data", str(tmp_path), "--metric", "disk.write_latency"]
    assert main([*here, "--marks"]) == GOOD
    assert "There are no marked changes for these samples. To keep one: --keep NAME" in capsys.readouterr().out
    assert not (tmp_path / "state.sqlite").exists()
    assert main([*here, *WINDOWS, "--keep", "write cache off"]) == GOOD
    assert "Kept as write cache off" in capsys.readouterr().out
    assert main([*here, "--marks", "--json"]) == GOOD
    (mark,) = json.loads(capsys.readouterr().out)
    assert (mark["name"], mark["made_by"]) == ("write cache off", person_here())
    assert mark["before"] == {"start": NOW, "end": NOW + 720}
    for name in ("write cache off", str(mark["number"])):
        assert main([*here, "--mark", name]) == GOOD
        assert "higher, by a large margin" in capsys.readouterr().out
    copied = tmp_path / "elsewhere.pilothouse"
    copied.write_bytes(recording.read_bytes())
    assert main(["compare", str(copied), *here[2:], "--marks"]) == GOOD
    assert "write cache off" in capsys.readouterr().out
    assert main([*here, "--forget", "write cache off"]) == GOOD
    assert "Removed; the samples are kept. It was:" in capsys.readouterr().out
    assert main([*here, "--mark", "write cache off"]) == BAD_INPUT
    assert "There are no marks." in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        (*WINDOWS, "--keep", ""), (*WINDOWS, "--keep", "12"), (*WINDOWS, "--mark", "redo"),
        ("--run", "1", "--mark", "redo"), ("--mark", "redo"), ("--forget", "redo"),
        ("--before", "start+5m..start+9m", "--after", "start+1m..start+3m", "--keep", "redo"),
    ],
)  # fmt: skip
def test_that_a_mark_that_can_not_be_kept_or_found_is_bad_input(
    words: tuple[str, ...], recording: Path, tmp_path: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(recording), "--data", str(tmp_path), *words]) == BAD_INPUT
    assert capsys.readouterr().err
    assert not (tmp_path / "state.sqlite").exists()


def test_that_a_mark_that_came_with_a_recording_is_chosen_and_not_removed(
    recording: Path, tmp_path: Path, quiet_log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    carried = tmp_path / "carried.pilothouse"
    carried.write_bytes(recording.read_bytes())
    mark = ChangeMark(3, "write cache off", (NOW, NOW + 720), (NOW + 780, NOW + 1_400), NOW + 1_450, "ada@desk2")
    finish_recording(carried, marks=(mark,))
    here = ["compare", str(carried), "--data", str(tmp_path / "data"), "--metric", "disk.write_latency"]
    assert main([*here, "--marks"]) == GOOD
    assert "part of the recording" in capsys.readouterr().out
    assert main([*here, "--mark", "write cache off"]) == GOOD
    assert "higher, by a large margin" in capsys.readouterr().out
    assert main([*here, "--forget", "write cache off"]) == BAD_INPUT
    assert "which is not changed" in capsys.readouterr().err


def test_that_a_recording_takes_along_what_was_marked_for_its_inventory_and_no_store_spoils_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inventory = tmp_path / "inventory.toml"
    inventory.write_text(INVENTORY)
    options = Namespace(inventory=inventory, data=tmp_path)
    assert record._marked(options) == ()
    shelf = StateShelf(tmp_path / "state.sqlite", mark_of(inventory))
    kept = shelf.keep("write cache off", (NOW, NOW + 10), (NOW + 20, NOW + 30))
    StateShelf(tmp_path / "state.sqlite", "another inventory").keep("other", (NOW, NOW + 10), (NOW + 20, NOW + 30))
    assert record._marked(options) == (kept,)
    (tmp_path / "state.sqlite").write_bytes(b"no database at all, however long it may be" * 100)
    assert record._marked(options) == ()
    assert "The recording does not include the marked changes:" in capsys.readouterr().err


def test_that_an_unknown_run_and_a_run_beside_windows_are_refused(shell: Shell, recording: Path) -> None:
    assert shell("compare", str(recording), "--run", "77").code == BAD_INPUT
    told = shell("compare", str(recording), "--run", "1", "--before", "start..end")
    assert told.code == BAD_INPUT
    assert "Name a run, a mark, or both windows: --run, --mark, or --before and --after." in told.err


def test_that_the_windows_around_a_run_are_those_of_its_journal(shell: Shell, tmp_path: Path) -> None:
    assert shell("run", *DESYNC, "--yes").code == GOOD
    (view,) = shell("procedures", "--runs", "--json").document
    path, begun = tmp_path / "around.pilothouse", view["started"] - 620.0
    clock = ManualClock(begun)
    store = record_to(path, clock=clock)
    sampled(store, clock, begun, "n3")
    store.close()
    finish_recording(path)
    document = shell("compare", str(path), "--run", view["run"], "--around", "5m", "--json").document
    assert {change["server"] for change in document["changes"]} == {"n3"}
    assert document["before"]["end"] - document["before"]["start"] == pytest.approx(300.0)
    assert document["before"]["end"] >= view["started"]
    assert document["after"]["start"] >= document["before"]["end"] + 60.0


def test_that_a_report_measures_what_its_run_changed_where_the_history_has_it(shell: Shell) -> None:
    assert shell("run", *DESYNC, "--yes").code == GOOD
    (view,) = shell("procedures", "--runs", "--json").document
    assert "Before and after" not in shell("report", view["run"]).out
    begun = view["started"] - STEP_AT + 30.0  # the latency rises while the run is at work
    clock = ManualClock(begun)
    store = HistoryStore.open(shell.folder / "history.sqlite", clock=clock)
    store.of_inventory(mark_of(shell.folder / "inventory.toml"), {f"n{i}": f"10.0.0.{i}" for i in (1, 2, 3)})
    sampled(store, clock, begun, "n3")
    store.close()
    told = shell("report", view["run"]).out.replace("\\", "")
    part = told.split("## Before and after")[1].split("All comparisons")[0]
    assert "write latency (disk.write_latency)" in part
    assert "higher, by a large margin" in part


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("start", NOW), ("end", NOW + SECONDS), ("now", NOW + SECONDS), ("start+90", NOW + 90),
        ("end-2m", NOW + SECONDS - 120), ("now-0.5h", NOW + SECONDS - 1_800), ("1795200060", NOW + 60),
        (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW + 30)), NOW + 30),
        (time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(NOW + 30)), NOW + 30),
        (time.strftime("%H:%M:%S", time.localtime(NOW + 30)), NOW + 30),
        (time.strftime("today %H:%M:%S", time.localtime(NOW + SECONDS)), NOW + SECONDS),
        (time.strftime("yesterday %H:%M:%S", time.localtime(NOW + SECONDS)), NOW + SECONDS - 86_400),
    ],
)  # fmt: skip
def test_that_a_moment_is_read_as_it_is_written(text: str, at: float) -> None:
    assert moment(text, HELD) == at


@pytest.mark.parametrize(
    "text",
    ["", "soon", "start*2", "25:00", "12:60", "now--5m", "2026-13-01", "-5m", "1e99", "yesterday", "tomorrow 2:30"],
)
def test_that_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        moment(text, HELD)


@pytest.mark.parametrize("text", ["start+5m", time.strftime("%H:%M:%S", time.localtime(NOW + 300))])
def test_that_a_replay_begins_at_a_moment_of_the_recording(recording: Path, text: str) -> None:
    assert replay.seconds_into(recording, text) == pytest.approx(300.0, abs=1.0)


@pytest.mark.parametrize("text", ["yesterday 2:30", "end+1h", "soon"])
def test_that_a_replay_from_a_moment_outside_of_the_recording_is_bad_input(
    recording: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(recording), "--at", text]) == BAD_INPUT
    assert "moment" in capsys.readouterr().err or text != "soon"


def test_that_a_stretch_is_two_moments() -> None:
    assert window("start+1m..end-1m", HELD) == Window(NOW + 60, NOW + SECONDS - 60)


def test_that_starting_the_program_does_not_load_what_compares() -> None:
    code = "import sys, app.__main__; print(sorted(m for m in sys.modules if 'change' in m or m == 'numpy'))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The local time of a place that changes its clocks."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="a process of this system has one time zone")
def test_that_a_local_time_that_is_there_twice_or_never_is_refused(in_berlin: None) -> None:
    end = datetime(2026, 10, 25, 2, 0, tzinfo=UTC).timestamp()  # 03:00 after the hour that came twice
    for text in ("02:30", "2026-10-25T02:30:00", "2026-03-29T02:30:00"):
        with pytest.raises(BadInput, match="the clocks change then"):
            moment(text, Held(end - 7200, end))
    assert moment("2026-10-25T00:30:00Z", Held(end - 7200, end)) == end - 5400


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="a process of this system has one time zone")
def test_that_a_time_of_the_evening_typed_after_midnight_is_of_the_day_before(in_berlin: None) -> None:
    end = datetime(2026, 11, 23, 23, 5, tzinfo=UTC).timestamp()  # 00:05 in Berlin
    held = Held(end - 7200, end)
    assert moment("23:30", held) == end - 35 * 60
    assert moment("00:10", held) == end + 300
