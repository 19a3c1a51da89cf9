"""A command's line through the login's own shell. fish and csh are not on every machine: where one is missing, its
rules for quotes are mocked here, by the manuals."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.connections.any_shell import for_any_shell
from services.connections.command import Command
from services.connections.reads.commands import COMMANDS
from services.connections.sudo import wrap
from services.inventory.model import SshAccess
from services.secrets import MemoryVault

WORDS = st.text(alphabet="\\'\"$`!;(){} \n\tab~*?#&|<>=%^[]", min_size=1, max_size=12)


def mocked_fish(line: str) -> list[str]:
    """Return the words that fish reads out of a line (fish manual, "Quotes"); fail where one is left open."""
    words, word, at = [], "", 0
    while at < len(line):
        found = re.compile(
            r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\$]|\\.)*)\"|([A-Za-z0-9@%+=:,./_-]+)|( )", re.DOTALL
        ).match(line, at)
        assert found, line[at:]
        single, double, bare, blank = found.groups()
        if blank:
            words.append(word)
            word = ""
        elif single is not None:
            word += re.sub(r"\\([\\'])", r"\1", single)
        elif double is not None:
            word += re.sub(r'\\([\\"$\n])', r"\1", double)
        else:
            word += bare
        at = found.end()
    return [*words, word]


@given(WORDS)
@example("\\'; touch /tmp/x #")
@example("a\\")
@example("\\\\'")
def test_that_a_word_is_one_word_to_a_mock_of_fish_and_to_a_real_posix_shell(word: str) -> None:
    line = Command(("printf", "%s", word)).shell_text()
    assert mocked_fish(line) == ["printf", "%s", word]
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True, timeout=10)
    assert done.stdout.decode() == word


@given(WORDS)
def test_that_no_line_holds_what_csh_takes_for_an_end_or_a_history(word: str) -> None:
    line = wrap(Command(("printf", "%s", word)), SshAccess("dba"), MemoryVault(), user="dba", host="db1").line
    assert "\n" not in line
    assert "!" not in line
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True, timeout=10)
    assert done.stdout.decode() == word


def test_that_a_line_in_letters_hands_on_its_input_and_its_exit_code() -> None:
    argv = ["sh", "-c", for_any_shell("cat\nexit 7")]
    done = subprocess.run(argv, input=b"in", capture_output=True, check=False, timeout=10)
    assert (done.stdout, done.returncode) == (b"in", 7)
    assert for_any_shell("cat '/var/log/a log'") == "cat '/var/log/a log'"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_that_every_text_of_the_registry_reaches_sh_as_it_is(name: str) -> None:
    words = tuple(word if isinstance(word, str) else "/var/lib/mysql" for word in COMMANDS[name].words)
    plain = Command(words).shell_text()
    line = wrap(Command(words), SshAccess("dba"), MemoryVault(), user="dba", host="db1").line
    if line != plain:
        letters = re.fullmatch(r"sh -c 'eval \"\$\(printf %s ([A-Za-z0-9+/=]+) \| base64 -d\)\"'", line)
        assert letters
        assert base64.b64decode(letters[1]).decode() == plain
    assert mocked_fish(plain) == list(words)


@pytest.mark.parametrize("shell", ["fish", "tcsh", "zsh"])
def test_that_a_real_shell_of_another_kind_reads_the_programs_as_they_are(shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    for name, template in COMMANDS.items():
        words = tuple(word if isinstance(word, str) else "/var/lib/mysql" for word in template.words)
        line = wrap(Command(("printf", "[%s]", *words)), SshAccess("d"), MemoryVault(), user="d", host="h").line
        done = subprocess.run([program, "-c", line], capture_output=True, check=True, timeout=20)
        assert done.stdout.decode() == "".join(f"[{word}]" for word in words), name
