"""`chunks` at the command line: words, JSON, exit codes. Hosts are scripted; nothing is run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.__main__ import main
from app.cli.commands import chunks
from services.backup_chunks.asked import QUESTIONS, parsed_answers
from services.errors import BadInput
from services.facts.server.tablespaces import BackupSource
from tests.unit.app.commands.test_command_line import inventory, private_log
from tests.unit.facts.server.test_tablespaces import MARIADB, host

__all__ = ["inventory", "private_log"]
SEED = ("--size", "8TB", "--attempts", "3")
GOOD = (
    "set -o pipefail; xtrabackup --backup --stream=xbstream --read-buffer-size=10M | xbcloud put --max-retries=10 full"
)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["chunks", *words])
    return code, capsys.readouterr().out.replace("\u202f", " ")


def test_that_the_numbers_of_8_tb_are_told_with_their_formulas(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = told(capsys, *SEED)
    assert code == 0
    for line in (
        "objects, at least: 800 000", "N = S / C = 8 TB / 10 MB", "independent errors: 0.08 %",
        "lasting errors: 99.97 %",
        "Use 153 MiB in every job.", "--read-buffer-size=153M",
    ):  # fmt: skip
        assert line in said
    assert "--encrypt-chunk-size" not in said
    assert "--encrypt-chunk-size=153M" in told(capsys, *SEED, "--encrypt-threads", "2")[1]


def test_that_the_same_comes_as_numbers_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = told(capsys, *SEED, "--json", "--command", GOOD)
    document = json.loads(said)
    assert code == 0
    assert document["advice"] == "larger"
    assert (document["chunk"], document["options"]) == (153 * 2**20, "--read-buffer-size=153M")
    assert document["now"]["chunk"] == 10 * 2**20, "the command's own"
    assert {check["code"]: check["result"] for check in document["checks"]}["MEMORY"] == "not known"


def test_that_one_terabyte_costs_what_the_specification_reckons(capsys: pytest.CaptureFixture[str]) -> None:
    now = json.loads(told(capsys, "--size", "1TB", "--json")[1])["now"]
    assert now["objects"]["count"] == 100_000
    assert [round(now[key], 6) for key in ("operations_cost", "storage_cost")] == [1.54, 10.0]


def test_that_a_bad_command_is_a_finding_and_no_secret_of_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = told(capsys, "--command", GOOD.replace("--backup", "--backup --password=hunter2"))
    assert code == 1
    assert "SECRETS" in said
    assert "hunter2" not in said


def test_that_jobs_are_read_from_scripts_and_held_against_each_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.sh").write_text(GOOD)
    (tmp_path / "b.sh").write_text(GOOD.replace("10M", "200M"))
    code, said = told(capsys, "--job", str(tmp_path / "a.sh"), "--job", str(tmp_path / "b.sh"))
    assert code == 1
    assert "CHUNK-ALIKE" in said
    assert "a.sh 10.5 MB, b.sh 210 MB" in said


@pytest.mark.parametrize(
    "words",
    [(), ("--size", "much"), ("--size", "0"),
     ("--size", "8"), ("--size", "8TB", "--free-memory", "64"),
     ("--size", "8TB", "--ratio", "2"), ("--size", "8TB", "--parallel", "0"),
     ("--size", "8TB", "--error", "-1"), ("--command", "ls"), ("--job", "/nowhere/at/all"),
     ("--size", "8TB", "--rate", "x")],
)  # fmt: skip
def test_that_what_makes_no_sense_is_bad_input(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, *words)[0] == 2


def test_that_every_fault_is_told_at_once() -> None:
    with pytest.raises(BadInput) as told_of:
        parsed_answers({"size": "x", "ratio": "x", "parallel": "x"})
    assert all(q.title in str(told_of.value) for q in QUESTIONS if q.name in {"size", "ratio", "parallel"})


def scripted(monkeypatch: pytest.MonkeyPatch, session: object) -> None:
    opener: Callable[[], Callable[[object], object]] = lambda: lambda _entry: session  # noqa: E731
    monkeypatch.setattr(chunks, "session_opener", opener)


def test_that_a_scripted_host_gives_files_and_free_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], inventory: Path
) -> None:
    scripted(monkeypatch, host())
    code, said = told(capsys, "--inventory", str(inventory), "--host", "db1", "--command", GOOD)
    assert code == 1, "32 MB free: the buffers take more than a quarter"
    assert "free memory: 32.8 MB" in said
    assert "objects: 5 (5 … 5)" not in said, "one file is larger than a chunk"
    assert "N = Σ ceil(size·q / C), 5 files" in said
    assert "BLOCK MEMORY" in said


def test_that_a_host_that_does_not_tell_its_size_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], inventory: Path
) -> None:
    scripted(monkeypatch, host())
    silent = BackupSource(problems=("Access denied for user 'observer'.",))
    monkeypatch.setattr(chunks, "read_source", lambda _session: silent)
    assert main(["chunks", "--inventory", str(inventory), "--host", "db1"]) == 2
    said = capsys.readouterr().err
    assert "db1 did not report the size of its data. Access denied for user 'observer'." in said
    assert "--size 8TB" in said
    assert "server: not known" in told(capsys, "--inventory", str(inventory), "--host", "db1", "--size", "9TB")[1]


def test_that_an_advised_chunk_is_called_as_its_option_sets_it(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, "--size", "8TB", "--ratio", "0.4", "--encrypt-threads", "4", "--free-memory", "64GB")[1]
    assert "recommended: chunks of 96 MiB (101 MB)" in said
    assert "--read-buffer-size=96M" in said


def test_that_a_scripted_mariadb_is_told_to_have_no_xbcloud(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], inventory: Path
) -> None:
    scripted(monkeypatch, host(MARIADB))
    code, said = told(capsys, "--inventory", str(inventory), "--host", "db1", "--json")
    document = json.loads(said)
    assert (code, document["error"], document["host"]) == (1, "no-xbcloud", "db1")
    assert told(capsys, "--inventory", str(inventory), "--host", "db9")[0] == 2
