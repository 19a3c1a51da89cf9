"""A client of a database that root begins reads no option file but root's own, and gives no file away.

Who has the server's account owns a conf.d on many hosts. There it named a folder and a plugin of its own, and root's
`mysql -e 'SELECT 1'`, a read of a plan, ran what it had compiled; `tee=` there made any file that root may make, before
any word behind it was read (MariaDB 10.11.18, tried).
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

from services.connections.observer import commands as allowlist_commands
from services.connections.operator import client as operator_client
from services.connections.operator.roots_client import roots_client
from tests.architecture.sources import tree_of, walked

_SERVICES = Path(__file__).resolve().parents[3] / "services"
_CLIENTS = r"""(?:"\$client"|"\$program"|(?<!pilothouse )\bmysql|\bmariadb)"""
_BEGINS = re.compile(_CLIENTS + r"""\x20+(?:-(?!-version|V|e ')|"\$from")[^\n;]*(?:\\\n[^\n;]*)*""")
_FAKE = """#!/bin/bash
printf '%s\\n' "$@" > "$OUT"
"""
_PRINTS = """#!/bin/bash
printf '%s\\n' --tee=/etc/nologin --plugin-dir=/tmp/evil --host=evil.example --socket=/data/my.sock
"""


def _texts() -> list[tuple[str, str]]:
    """Return every text of the services in which a client begins, with where it stands."""
    found = []
    for file in sorted(_SERVICES.rglob("*.py")):
        nodes = list(walked(tree_of(file)))
        parts = {id(one) for node in nodes if isinstance(node, ast.JoinedStr) for one in node.values}
        for node in (one for one in nodes if id(one) not in parts):
            text = ast.unparse(node) if isinstance(node, ast.JoinedStr) else getattr(node, "value", None)
            if isinstance(node, ast.Constant | ast.JoinedStr) and isinstance(text, str):
                found += [(f"{file.name}:{node.lineno}", line) for line in _BEGINS.findall(text)]
    return found


def test_that_every_client_in_a_program_reads_no_option_file_but_roots_own() -> None:
    begun = _texts()
    assert len(begun) >= 6, "the pattern finds no client any more"
    for where, line in begun:
        first = line.split(None, 2)[1]
        assert first in {"--no-defaults", '"$from"'}, f"{where}: {line}"
        assert "local-infile=0" in line or "--no-defaults" in line, f"{where}: {line}"


def test_that_no_client_is_begun_by_words_of_its_own() -> None:
    """A program of words that begins with a client's name reads every option file of the host."""
    for file in sorted(_SERVICES.rglob("*.py")):
        for node in walked(tree_of(file)):
            words = [getattr(one, "value", None) for one in node.elts] if isinstance(node, ast.Tuple) else []
            options = [word for word in words[1:] if isinstance(word, str) and word.startswith("-")]
            client = bool(words) and words[0] in operator_client.PROGRAMS
            assert not (client and set(options) - {"--version", "-V"}), f"{file.name}: {words}"


@pytest.mark.parametrize("program", operator_client.PROGRAMS)
def test_that_the_operators_client_is_begun_as_roots(program: str) -> None:
    words = operator_client.command(program, "SELECT 1", "/run/s.sock", 5).argv
    assert words == roots_client(program, "--socket=/run/s.sock")


def test_that_the_read_of_a_login_by_another_client_is_refused() -> None:
    read = ("timeout", "8", *roots_client("mysql", "-e", "SELECT 1"))
    assert allowlist_commands.check_words(read) == ""
    for other in (("mysql", "--batch", "-e", "SELECT 1"), (*read[:-1], "SELECT 2"), (*read[:4], "mysql", *read[5:])):
        assert allowlist_commands.check_words(other) != ""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A host whose option files are the server's account's, but for what lies in root's own folder."""
    for name, text in (("mysql", _FAKE), ("my_print_defaults", _PRINTS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "home").mkdir()
    return tmp_path


def _words(ran: Path) -> tuple[list[str], str]:
    env = {"PATH": f"{ran}:{os.environ['PATH']}", "HOME": str(ran / "home"), "OUT": str(ran / "out")}
    done = subprocess.run(roots_client("mysql", "-e", "SELECT 1"), env=env, capture_output=True, text=True, check=True)
    return (ran / "out").read_text(encoding="utf-8").splitlines(), done.stderr


SAFE = ["--batch", "--local-infile=0", "--plugin-dir=", "--socket=/data/my.sock", "-e", "SELECT 1"]


def test_that_of_option_files_the_socket_alone_is_taken(ran: Path) -> None:
    assert _words(ran) == (["--no-defaults", *SAFE], "")


def test_that_roots_own_option_file_is_read_where_nobody_else_may_write_it(ran: Path) -> None:
    own = ran / "home/.my.cnf"
    own.write_text("[client]\npassword=x\n", encoding="utf-8")
    own.chmod(0o600)
    assert _words(ran) == ([f"--defaults-file={own}", *SAFE], "")
    own.chmod(0o620)
    words, told = _words(ran)
    assert words == ["--no-defaults", *SAFE]
    assert f"{own} is another's, or others may write it: it is not read" in told
