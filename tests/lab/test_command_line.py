"""The commands against real hosts, as a person or a script runs them: separate processes, exit codes, JSON."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.errors import StoreError
from services.history.store import HistoryStore
from services.sampling.replay import Replay
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import on_this_machine, while_asserts

ROOT = Path(__file__).resolve().parents[2]


def _command(estate: Estate, data: Path, *words: str) -> list[str]:
    inventory = str(estate.client_dir / "inventory.toml")
    return [sys.executable, "-m", "app", words[0], "--inventory", inventory, "--data", str(data), *words[1:]]


def _run(estate: Estate, data: Path, *words: str, limit_s: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(estate, data, *words),
        cwd=ROOT,
        env={**os.environ, **estate.environment()},
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )


def test_that_topology_prints_the_cluster_and_check_judges_it(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    shown = _run(galera, tmp_path, "topology")
    assert shown.returncode == 0, shown.stderr
    assert "Primary component: 3 of 3 votes" in shown.stdout
    assert "3 of 3 hosts answer" in shown.stdout
    document = json.loads(_run(galera, tmp_path, "topology", "--json").stdout)
    (cluster,) = document["clusters"]
    assert sorted(node["name"] for node in cluster["nodes"]) == ["n1", "n2", "n3"]
    assert _run(galera, tmp_path, "check").returncode == 0
    galera.kill9("n3")
    while_asserts(lambda: _expect(_run(galera, tmp_path, "check").returncode == 1), limit_s=20)


@pytest.mark.parametrize(("expected", "code"), [(3, 0), (4, 1)])
def test_that_check_judges_a_tree_by_the_number_of_nodes_it_should_have(
    replication: Estate, tmp_path: Path, expected: int, code: int
) -> None:
    known = (replication.client_dir / "inventory.toml").read_text(encoding="utf-8")
    inventory = tmp_path / "inventory.toml"
    inventory.write_text(known.replace("[[cluster]]\n", f"[[cluster]]\nexpected = {expected}\n"), encoding="utf-8")
    done = _run(replication, tmp_path, "check", "--inventory", str(inventory))
    assert done.returncode == code, done.stdout
    assert ("There are 3 of the 4 nodes expected by the inventory." in done.stdout) is (expected == 4)


def _expect(truth: bool) -> None:
    assert truth


def test_that_sample_prints_a_line_a_second_and_server_and_its_own_cost(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    done = _run(galera, tmp_path, "sample", "--for", "9", "--json", "--metric", "load.questions")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    last = lines.pop()
    cost = last["cost"]
    assert last["last_window"] is None
    assert {line["server"] for line in lines} == {"n1", "n2", "n3"}
    assert len([line for line in lines if line["server"] == "n1"]) >= 6
    assert {"cpu_s", "rss_bytes", "missed_polls", "poll_ms_p95"} <= set(cost)
    assert cost["missed_polls"] <= 2


def test_that_a_window_leaves_its_event_loops_stalls_for_sample_to_report(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    inventory = str(galera.client_dir / "inventory.toml")
    pictures = [sys.executable, "-m", "app", "--inventory", inventory, "--data", str(tmp_path / "data")]
    window = subprocess.run(
        [*pictures, "--screenshots", str(tmp_path / "pictures"), "--size", "1280x800"],
        cwd=ROOT, env={**os.environ, **galera.environment()}, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert window.returncode == 0, window.stderr
    done = _run(galera, tmp_path / "data", "sample", "--for", "3", "--json")
    told = json.loads(done.stdout.splitlines()[-1])["last_window"]
    assert told["ui_stall_ms_max"] > 0.0
    assert "ui_stalls_over_50ms" in told


def _assert_sampled(file: Path, server: str, seconds: int) -> None:
    """Assert that so many samples of a server stand in the file of a console that goes on."""
    assert file.exists(), "no file yet"
    with _history(file) as store:
        now = time.time()
        assert len(store.read(server, ("uptime",), now - 120, now + 1).t) >= seconds


def _assert_told(file: Path, server: str, since: float) -> None:
    with _history(file) as store:
        texts = [event.text for event in store.events(since, time.time() + 1) if server in event.text]
    assert any("not running" in text for text in texts), texts


@contextlib.contextmanager
def _history(file: Path) -> Iterator[HistoryStore]:
    """The history that another process writes; one that is just being made counts as not there yet."""
    try:
        store = HistoryStore.open(file, read_only=True)
    except StoreError as problem:
        raise AssertionError(str(problem)) from None
    try:
        yield store
    finally:
        store.close()


def test_that_a_recording_of_a_real_fault_replays_with_its_events(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    target = tmp_path / "night.pilothouse"
    recorder = subprocess.Popen(
        _command(galera, tmp_path, "record", str(target)),
        cwd=ROOT,
        env={**os.environ, **galera.environment()},
        stdout=subprocess.PIPE,
        text=True,
    )
    for name in ("n1", "n2", "n3"):  # a busy machine takes a while to find all of them
        while_asserts(lambda name=name: _assert_sampled(target, name, 6), limit_s=120)
    killed = time.time()
    galera.kill9("n3")
    while_asserts(lambda: _assert_told(target, "n3", killed), limit_s=60)
    recorder.send_signal(signal.SIGINT)
    told, _ = recorder.communicate(timeout=60)
    assert recorder.returncode == 0
    assert "3 hosts" in told
    replay = Replay(target, SystemClock())
    try:
        start, end = replay.span()
        assert start + 4 < killed < end
        replay.seek(end)
        (cluster,) = replay.snapshot().clusters
        states = {node.name: node.state for node in cluster.nodes}
        assert states["n1"] == "Synced"
        assert "not running" in states["n3"]
        assert any("n3" in event.text for event in replay.events())
        replay.seek(killed - 1)
        assert {n.state for n in replay.snapshot().clusters[0].nodes} == {"Synced"}
    finally:
        replay.close()
    again = _run(galera, tmp_path, "record", str(target), "--for", "2")
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_that_a_console_killed_while_sampling_loses_seconds_and_says_so(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    console = subprocess.Popen(
        _command(galera, tmp_path, "sample", "--for", "60"),
        cwd=ROOT,
        env={**os.environ, **galera.environment()},
        stdout=subprocess.DEVNULL,
    )
    while_asserts(lambda: _assert_sampled(tmp_path / "history.sqlite", "n1", 4), limit_s=60)
    killed = time.time()
    console.send_signal(signal.SIGKILL)
    console.wait(timeout=10)
    assert _run(galera, tmp_path, "sample", "--for", "4").returncode == 0
    store = HistoryStore.open(tmp_path / "history.sqlite", read_only=True)
    try:
        texts = [event.text for event in store.events(killed - 60, killed + 60) if event.kind == "console"]
        assert any("ended unexpectedly" in text for text in texts), texts
        columns = store.read("n1", ("uptime",), killed - 60, killed)
        assert killed - columns.t[-1] < on_this_machine(4.0), "more than the last few seconds were lost"
        assert len(columns.t) >= 4
    finally:
        store.close()


@pytest.mark.parametrize("words", [("topology", "--seed", "nobody"), ("sample", "--metric", "not a metric")])
def test_that_bad_input_ends_with_two_and_says_what_to_try(galera: Estate, tmp_path: Path, words: tuple[str]) -> None:
    done = _run(galera, tmp_path, *words)
    assert done.returncode == 2
    assert "Try:" in done.stderr


def test_that_every_way_in_is_checked_step_by_step(galera: Estate, tmp_path: Path) -> None:
    done = _run(galera, tmp_path, "inventory", "check")
    assert done.returncode == 0, done.stdout
    assert "ok  SSH login" in done.stdout
    assert galera.environment()["PILOTHOUSE_LAB_OBSERVER_PASSWORD"] not in done.stdout + done.stderr


def test_that_no_secret_stands_in_what_the_program_keeps_or_shows(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    done = _run(galera, tmp_path, "sample", "--for", "5", "--verbose")
    secrets = [value for name, value in galera.environment().items() if name.startswith("PILOTHOUSE_LAB_")]
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for secret in secrets:
        assert secret not in done.stdout + done.stderr
        assert secret.encode() not in kept
