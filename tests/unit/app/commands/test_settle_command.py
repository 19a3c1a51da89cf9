"""`settle`: what is open, and a person's word that ends it; exit codes as the command line promises."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from app.__main__ import main
from app.cli.commands import settle
from services.discovery.model import PrimariesApart
from services.history.state.split_log import Split
from services.history.state.store import StateStore

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
SEEN = PrimariesApart(UUID, "orders", 100.0, (("n1", "n2"), ("n3",)), "each answered Primary")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with StateStore.open(tmp_path / "state.sqlite") as state:
        state.splits().note(SEEN, "check")
    return tmp_path


def stories(data: Path) -> tuple[Split, ...]:
    with StateStore.open(data / "state.sqlite") as state:
        return state.splits().all()


def typing(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr("app.cli.steering.attended", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{word}\n" for word in words)))


def test_that_what_is_open_is_listed_and_is_a_finding(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settle", "--data", str(data)]) == 1
    output = capsys.readouterr().out
    assert "orders  [NOT SETTLED]  n1, n2 | n3" in output
    assert "by check: each answered Primary" in output
    assert main(["settle", "--data", str(data), "--json"]) == 1
    (document,) = json.loads(capsys.readouterr().out)
    assert (document["sides"], document["settled"]) == ([["n1", "n2"], ["n3"]], False)


def test_that_an_empty_history_is_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settle", "--data", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "This data folder has no record of two Primary Components in one cluster.\n"


def test_that_the_typed_name_and_a_reason_settle_it_and_both_stay(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typing(monkeypatch, "orders", "n3 was emptied,  case 812")
    assert main(["settle", "orders", "--data", str(data)]) == 0
    output = capsys.readouterr().out
    assert "Each may have accepted writes that the other does not have" in output
    assert output.endswith("Settled: orders. It stays in the history.\n")
    (story,) = stories(data)
    assert story.settled_words == "n3 was emptied, case 812"
    assert "@" in story.settled_by
    assert main(["settle", "--data", str(data)]) == 0
    assert "n3 was emptied, case 812" in capsys.readouterr().out


def test_that_another_name_settles_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typing(monkeypatch, "yes")
    assert main(["settle", "orders", "--data", str(data)]) == 1
    assert stories(data)[0].settled_at is None


def test_that_a_script_says_yes_and_why(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["settle", UUID, "--data", str(data), "--json"]
    assert main(words) == 2
    assert main([*words, "--reason", "done"]) == 2
    assert main([*words, "--yes"]) == 2
    assert main([*words, "--yes", "--reason", "   "]) == 2
    assert stories(data)[0].settled_at is None
    capsys.readouterr()
    assert main([*words, "--yes", "--reason", "n3 was emptied"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert (document["settled"], document["settled_words"]) == (True, "n3 was emptied")


def test_that_what_is_not_open_can_not_be_settled(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settle", "stock", "--yes", "--reason", "x", "--data", str(data)]) == 2
    assert "orders" in capsys.readouterr().err


def test_that_a_name_of_two_clusters_needs_the_uuid(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with StateStore.open(data / "state.sqlite") as state:
        state.splits().note(PrimariesApart("other-uuid", "orders", 9.0, (("a",), ("b",)), "e"), "check")
    assert main(["settle", "orders", "--yes", "--reason", "x", "--data", str(data)]) == 2
    assert UUID in capsys.readouterr().err
    assert all(s.settled_at is None for s in stories(data))


def test_that_a_story_is_told_with_its_end() -> None:
    lines = settle.lines(Split(1, UUID, "", (("a",), ("b",)), "e", 1.0, 2.0, "watch", 3.0, "ada", "emptied"))
    assert lines[0] == f"{UUID}  [settled]  a | b"
    assert lines[-1].endswith("by ada: emptied")
