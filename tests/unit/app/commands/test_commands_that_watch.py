"""`sample` and `record` where no host answers, and where a recording can't be kept. The ports really are closed."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from app.__main__ import main
from app.cli.commands import sample
from app.cli.no_answer import Silence
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts, Problem
from services.series import Series
from services.types import Reach

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")


@pytest.fixture
def dead(quiet_log: None, tmp_path: Path) -> list[str]:
    """The options that name an inventory of one host whose port refuses connections."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    path = tmp_path / "dead.toml"
    sql = f'[host.sql]\nuser = "monitor"\nvia = "direct"\nport = {port}\n'
    path.write_text(f'version = 1\n[[host]]\nname = "db1"\naddress = "127.0.0.1"\n{sql}')
    return ["--inventory", str(path), "--data", str(tmp_path / "data")]


def test_that_sampling_a_dead_host_says_why_once(dead: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "--for", "2.5", *dead]) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if "refused" in line]
    assert len(told) == 1
    assert told[0].startswith("db1: 127.0.0.1 port ")
    assert "No answer" not in told[0]


def test_that_a_host_that_drops_every_connection_is_told_to_give_no_answer_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    why = "No answer from SSH on 192.0.2.7 port 22 within 10 s."
    facts = NodeFacts("db1", 1.0, Reach.NONE, problems=(Problem("ssh", why, "timed-out"),))
    estate = updated_estate(None, {"db1": facts}, 1.0)
    Silence().tell(SimpleNamespace(snapshot=lambda: estate, trouble=None))
    assert capsys.readouterr().err == f"db1: {why}\n"


def test_that_recording_a_dead_host_says_why_and_what_to_try(
    dead: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "empty.pilothouse"
    assert main(["record", str(file), "--for", "1.5", *dead]) == 1
    errors = capsys.readouterr().err
    assert "db1: 127.0.0.1 port " in errors
    assert "pilothouse inventory check" in errors
    assert main(["replay", "--json", str(file)]) == 2
    document = json.loads(capsys.readouterr().out)
    assert any("inventory check" in advice for advice in document["try"])
    assert any("demo" in advice for advice in document["try"])


@LINUX
def test_that_a_recording_to_an_unwritable_place_is_bad_input(
    dead: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "/proc/no.pilothouse", "--for", "1", *dead]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("The recording /proc/no.pilothouse cannot be written: ")
    assert "no host was contacted" in errors
    assert "Watching continues" not in errors


def test_that_sampling_by_a_scripted_clock_goes_on_where_it_was_set_back_by_an_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Memory keeps samples as they came: behind one of the old clock stand those of the new."""
    moments: list[float] = []

    class Tail:
        def tail(self, _server: str, key: str, since: float) -> Series:
            kept = np.array([at for at in moments if at > since])
            return Series(key, kept, np.arange(len(kept), dtype=float))

    def newest(now: float, after: float) -> float | None:
        moments.append(now - 0.1)
        monkeypatch.setattr(time, "time", lambda: now)
        found = sample._newest(Tail(), "db1", ("a",), after)  # type: ignore[arg-type]
        return None if found is None else found[0]

    assert newest(10_000.0, 0.0) == 9_999.9
    assert newest(6_400.0, 9_999.9) == 6_399.9
    assert newest(6_401.0, 6_399.9) == 6_400.9
    moments.clear()
    assert newest(6_401.0, 6_400.9) is None
