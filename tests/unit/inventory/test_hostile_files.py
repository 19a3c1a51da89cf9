"""Files that other programs and people keep, made so that reading them would never end: each is told as a sentence."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services import globs
from services.connections.ssh.config import target_for
from services.errors import BadInput
from services.inventory.imports_mycnf import import_my_cnf
from services.inventory.imports_ssh import import_ssh_config
from services.inventory.imports_workbench import import_workbench
from services.inventory.model import SshAccess
from services.inventory.toml_file import load_inventory, parse_inventory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    """Reading ends while a person still waits, by the processor's time: a busy machine makes it no slower itself."""
    begun, worked = time.monotonic(), time.process_time()
    yield
    assert time.process_time() - worked < 5.0
    assert time.monotonic() - begun < 60.0


@pytest.fixture(params=["device", "pipe", "huge", "folder"])
def endless(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "endless"
    if request.param == "device":
        path.symlink_to("/dev/zero")
    elif request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    else:
        with path.open("wb") as stream:
            stream.truncate(2**36)
    return path


def test_that_an_endless_file_is_a_problem_of_every_import(endless: Path) -> None:
    for read in (import_my_cnf, import_ssh_config, import_workbench):
        report = read(endless)
        assert not report.hosts
        assert "endless" in report.problems[0]


def test_that_an_endless_inventory_or_ssh_config_is_refused(endless: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load_inventory(endless)
    with pytest.raises(BadInput, match="cannot be read"):
        target_for(SshAccess(user="", config=str(endless)), "db1")


def test_that_an_endless_file_that_is_included_is_told_and_the_rest_is_read(endless: Path, tmp_path: Path) -> None:
    options = tmp_path / "my.cnf"
    options.write_text(f"!include {endless}\n[client]\nhost=db1\nuser=x\n")
    report = import_my_cnf(options)
    assert [host.name for host in report.hosts] == ["client"] or len(report.hosts) == 1
    assert "endless" in report.problems[0]
    config = tmp_path / "config"
    config.write_text(f"Include {endless}\nHost db1\n")
    ssh = import_ssh_config(config)
    assert [host.name for host in ssh.hosts] == ["db1"]
    assert "endless" in ssh.problems[0]
    if endless.is_dir():  # nothing stands in it, as for ssh
        assert target_for(SshAccess(user="", config=str(config)), "db1").host == "db1"
        return
    with pytest.raises(BadInput, match="cannot be read"):
        target_for(SshAccess(user="", config=str(config)), "db1")


def test_that_files_that_include_themselves_many_times_over_come_to_an_end(tmp_path: Path) -> None:
    options, config = tmp_path / "my.cnf", tmp_path / "config"
    options.write_text(f"!include {options}\n" * 30 + f"!includedir {tmp_path}\n" * 30)
    config.write_text(f"Include {config}\n" * 30)
    for report in (import_my_cnf(options), import_ssh_config(config)):
        assert any("more than 200 files" in problem for problem in report.problems)
        assert len(report.problems) < 250
    with pytest.raises(BadInput, match=r"Include|recursive configuration includes"):
        target_for(SshAccess(user="", config=str(config)), "db1")


def test_that_a_quote_that_does_not_close_in_an_include_is_told(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text('Include "half\nHost db1\n')
    with pytest.raises(BadInput, match=r"line 1: (invalid quotes|a quote does not close)"):
        target_for(SshAccess(user="", config=str(config)), "db1")


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "{a=" * 50_000, "x = " + "9" * 50_000])
def test_that_toml_without_bottom_is_told(text: str) -> None:
    with pytest.raises(BadInput, match=r"nested too deep|too many digits"):
        parse_inventory(text, "inventory.toml")


@pytest.mark.parametrize("pattern", ["/*/*/*/*/*/*/*", "TREE/*/*/*"])
def test_that_a_pattern_that_would_look_at_the_whole_machine_is_told(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if pattern.startswith("TREE"):  # a machine of its own, larger than the bound: a real one may hold little
        monkeypatch.setattr(globs, "MOST_NAMES", 100)
        for number in range(125):
            (tmp_path / "tree" / f"{number % 5}" / f"{number // 5 % 5}" / f"{number // 25}").mkdir(parents=True)
        pattern = pattern.replace("TREE", str(tmp_path / "tree"))
    config = tmp_path / "config"
    config.write_text(f"Include {pattern}\nInclude {pattern}.conf\nHost db1\n")
    with pytest.raises(BadInput, match="a file name pattern matches too many files"):
        target_for(SshAccess(user="", config=str(config)), "db1")
    report = import_ssh_config(config)
    assert [host.name for host in report.hosts] == ["db1"]
    assert any("a file name pattern matches too many files" in problem for problem in report.problems)


def test_that_a_folder_of_very_many_files_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "MOST_NAMES", 20)
    for number in range(30):
        (tmp_path / f"{number}.cnf").touch()
    options = tmp_path / "my.options"
    options.write_text(f"[client]\nhost=db1\nuser=x\n!includedir {tmp_path}\n")
    report = import_my_cnf(options)
    assert [host.address for host in report.hosts] == ["db1"]
    assert "a file name pattern matches too many files" in report.problems[0]


def test_that_a_pattern_finds_what_a_shell_finds(tmp_path: Path) -> None:
    for name in ("a/x.conf", "a/y.conf", "a/.hidden.conf", "b/x.conf", "b/[1].conf", "z"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "dangling.conf").symlink_to(tmp_path / "nowhere")
    for pattern in ("*/*.conf", "a/?.conf", "[ab]/x.conf", "*/x.conf", "b/[[]1].conf", "z", "none", "a/.h*", "*.conf",
                    "a/../b/x.*", "z/*", "**/x.conf"):  # fmt: skip
        expected = sorted(Path(name) for name in glob.glob(str(tmp_path / pattern)))  # noqa: PTH207 - the oracle
        assert globs.Globs().matching(tmp_path / pattern) == expected, pattern
