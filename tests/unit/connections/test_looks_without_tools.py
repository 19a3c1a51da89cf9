"""The programs that look at certificates and backups, really run where their tools are missing or may not read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from services.connections.programs.backup_programs import BACKUPS
from services.connections.programs.tls_programs import PAIR_LOOK, TRANSFER_CERTIFICATES
from services.facts.transfer.certificate_files import parse_pair
from services.facts.transfer.certificates import faults_of
from tests.unit.pairs import NOW, Authority

BASH = shutil.which("bash")
TOOLS = ("date", "stat", "id", "sed", "head", "tail", "cut", "sha256sum", "awk", "cat", "timeout", "find", "realpath")
pytestmark = pytest.mark.skipif(BASH is None, reason="no bash(1) here")


def _run(folder: Path, program: str, *words: str, without: tuple[str, ...] = (), defaults: str = "") -> str:
    """Return what a program prints where only some tools are there, and my_print_defaults prints these lines."""
    tools = folder / "tools"
    tools.mkdir()
    for name in TOOLS:
        if name not in without and (path := shutil.which(name)) is not None:
            (tools / name).symlink_to(path)
    said = tools / "my_print_defaults"
    said.write_text(f"#!{BASH}\n[ \"$1\" != sst ] || printf %b '{defaults}'\n")
    said.chmod(0o755)
    argv = [str(BASH), "-c", program, "pilothouse", *words]
    done = subprocess.run(argv, env={"PATH": str(tools)}, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def _pair(folder: Path) -> tuple[str, str, str]:
    authority = Authority()
    paths = [folder / name for name in ("ca.pem", "cert.pem", "key.pem")]
    for path, text in zip(paths, (authority.pem, *authority.pair()), strict=True):
        path.write_text(text)
        path.chmod(0o600)
    ca, cert, key = map(str, paths)
    return ca, cert, key


def test_that_without_runuser_openssl_and_ssh_keygen_a_good_pair_has_no_fault_that_blocks(tmp_path: Path) -> None:
    paths = _pair(tmp_path)
    pair = parse_pair(_run(tmp_path, PAIR_LOOK, *paths), paths)
    assert pair is not None
    assert [fault.code for fault in faults_of(pair, NOW) if fault.blocks] == []
    assert (pair.key.readable, pair.public) == (None, ("", ""))


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("--tcert={folder}/cert.pem\\n--tkey={folder}/key.pem\\n", ["ca|unnamed", "cert|there"]),
        ("--tca={folder}/no.pem\\n--tcert={folder}/cert.pem\\n", ["ca|absent", "cert|there"]),
        ("--tca={folder}/ca.pem\\n--tcert={folder}\\n", ["ca|there", "cert|unread"]),
    ],
)
def test_that_a_certificate_that_no_option_names_is_not_said_to_be_absent(
    tmp_path: Path, named: str, told: list[str]
) -> None:
    _pair(tmp_path)
    said = _run(tmp_path, TRANSFER_CERTIFICATES, defaults="--encrypt=3\\n" + named.format(folder=tmp_path))
    assert [line for line in said.splitlines() if line.startswith(("ca|", "cert|"))] == told


@pytest.mark.parametrize("tool", ["find", "realpath"])
def test_that_a_search_for_backups_without_its_tools_does_not_end_well(tmp_path: Path, tool: str) -> None:
    said = _run(tmp_path, BACKUPS, "search", "/var/lib/mysql", without=(tool,))
    assert said.startswith("exit 69: ")
    assert "is not there" in said
