"""A client of a database that root begins takes no library from an option file, and gives no file away.

Who has the server's account owns a conf.d on many hosts. There it named a folder and a plugin of its own, and root's
`mysql -e 'SELECT 1'`, a read of a plan, ran what it had compiled (MariaDB 10.11.18, tried).
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from services.connections import allowlist_commands, operator_client
from services.connections.command import ROOTS_CLIENT

_SERVICES = Path(__file__).resolve().parents[2] / "services"
_BEGINS = re.compile(
    r"""(?:"\$client"|"\$program"|\bmysql|\bmariadb|\{_CLIENT\}) +-(?!-version|V|e ')[^\n;]*(?:\\\n[^\n;]*)*"""
)


def _texts() -> list[tuple[str, str]]:
    """Return every text of the services in which a client begins, with where it stands."""
    found = []
    for file in sorted(_SERVICES.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        parts = {id(one) for node in nodes if isinstance(node, ast.JoinedStr) for one in node.values}
        for node in (one for one in nodes if id(one) not in parts):
            text = ast.unparse(node) if isinstance(node, ast.JoinedStr) else getattr(node, "value", None)
            if isinstance(node, ast.Constant | ast.JoinedStr) and isinstance(text, str):
                found += [(f"{file.name}:{node.lineno}", line) for line in _BEGINS.findall(text)]
    return found


def test_that_every_client_in_a_program_reads_no_option_file_or_takes_no_library_from_one() -> None:
    begun = _texts()
    assert len(begun) >= 5, "the pattern finds no client any more"
    for where, line in begun:
        safe = "--no-defaults" in line or "--plugin-dir=" in line or "_CLIENT" in line
        assert safe, f"{where}: {line}"
        assert "local-infile=0" in line or "_CLIENT" in line or "--no-defaults" in line, f"{where}: {line}"


@pytest.mark.parametrize("program", operator_client.PROGRAMS)
def test_that_the_operators_client_says_both_behind_its_option_files(program: str) -> None:
    words = operator_client.command(program, "SELECT 1", "/run/s.sock", 5).argv
    assert {"--local-infile=0", "--plugin-dir="} <= set(words[2:]) == {*ROOTS_CLIENT, "--socket=/run/s.sock"}


def test_that_the_read_of_a_login_without_these_words_is_refused() -> None:
    read = ("mysql", "--batch", *ROOTS_CLIENT, "-e", "SELECT 1")
    assert allowlist_commands.check_words(read) == ""
    assert allowlist_commands.check_words(tuple(word for word in read if word != "--plugin-dir=")) != ""
