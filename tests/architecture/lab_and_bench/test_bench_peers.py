"""What the benchmarks bring to measure against, as far as nothing is installed to see it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from boot import debian, environment, peers
from boot.environment import BUILT_HERE, HEADLESS, MAIN, fingerprint, without
from boot.places import LOCK as OWN
from boot.places import PEERS_LOCK, TOOLS_LOCK, BootError
from boot.stages import STAGES
from tests.bench import __main__ as bench
from tests.bench.model import Row, missing, table
from tests.bench.support.unavailable import Unavailable

LOCK = PEERS_LOCK.read_text(encoding="utf-8")
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def test_that_every_peer_is_pinned_with_hashes_and_the_lock_tells_nothing_of_a_machine() -> None:
    assert re.findall(r"^([a-z]+)==", LOCK, re.MULTILINE) == ["duckdb", "mysqlclient"]
    assert not re.search(r"https?:|file:|--index|--find-links|--extra|/(home|root|tmp|opt|usr)/", LOCK)
    for entry in re.split(r"^(?=[a-z])", LOCK, flags=re.MULTILINE)[1:]:
        assert entry.count("--hash=sha256:") >= 1


def test_that_every_tool_of_the_packages_is_pinned_and_what_both_locks_have_is_one_version() -> None:
    text = TOOLS_LOCK.read_text(encoding="utf-8")
    assert not re.search(r"https?:|file:|--index|--find-links|--extra|/(home|root|tmp|opt|usr)/", text)
    tools, ours = (dict(PIN.findall(one)) for one in (text, OWN.read_text(encoding="utf-8")))
    assert {"pyinstaller", "build", "cyclonedx-bom", "shtab", "argparse-manpage"} <= set(tools)
    assert [name for name in tools.keys() & ours.keys() if tools[name] != ours[name]] == []
    assert set(BUILT_HERE) <= {*tools, *re.findall(r"^([a-z]+)==", LOCK, re.MULTILINE)}


def test_that_the_peers_decide_the_benchmarks_environment_and_no_other() -> None:
    assert fingerprint(peers.PEERS) not in {fingerprint(MAIN), fingerprint(HEADLESS)}
    assert {stage.environment for stage in STAGES} == {MAIN, HEADLESS}


def test_that_a_peer_that_cannot_be_built_leaves_the_others_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def mock_of_pip(_: environment.Environment, *words: str) -> None:
        asked.append(Path(words[-1]).read_text(encoding="utf-8"))
        if "--no-binary" in words:
            raise BootError("no compiler")

    monkeypatch.setattr(environment, "_pip", mock_of_pip)
    assert environment._install_peers(peers.PEERS, PEERS_LOCK, tmp_path / "chosen") is False
    assert asked == [without(LOCK, BUILT_HERE), LOCK]
    assert "mysqlclient: no compiler" in capsys.readouterr().out


def test_that_no_service_of_this_machine_starts_because_the_benchmarks_need_its_program(tmp_path: Path) -> None:
    assert "mariadb-server" not in peers.packages()
    folder = tmp_path / "system"
    peers.keep_from_starting(folder)
    assert sorted((link.name, str(link.readlink())) for link in folder.iterdir()) == [
        ("ssh.service", "/dev/null"),
        ("ssh.socket", "/dev/null"),
    ]
    (folder / "ssh.service").unlink()
    (folder / "ssh.service").symlink_to("/lib/systemd/system/of-the-machine")  # a unit that a person chose stays
    peers.keep_from_starting(folder)
    assert str((folder / "ssh.service").readlink()) == "/lib/systemd/system/of-the-machine"


def test_that_the_programs_that_tests_compare_with_are_brought() -> None:
    assert debian.TEST_PACKAGES == (
        "openssh-client",
        "fish",
        "tcsh",
        "zsh",
        "appstream",
        "desktop-file-utils",
        "libglib2.0-bin",
    )


def test_that_a_budget_without_a_figure_says_so_in_its_row_and_in_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, empty = Row(1, "", "whole", 1.0, 2.0), missing(3, "b", "against a peer", 1.2, Unavailable("no compiler"))
    assert "| **not measured** | 1.2 x |  | no compiler |" in table([whole, empty])
    for rows, code in (([whole], 0), ([whole, empty], bench.EMPTY_ROWS)):
        module = type("Module", (), {"run": staticmethod(lambda _rounds, rows=rows: rows)})
        monkeypatch.setattr(bench, "_modules", lambda _only: ["bench_99_none"])
        monkeypatch.setattr(bench.importlib, "import_module", lambda _name, module=module: module)
        assert bench.main([]) == code
    assert "not all was measured: 3b" in capsys.readouterr().err
