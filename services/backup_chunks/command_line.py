"""An operator's backup command, taken apart: never run, never shown. Only what is asked about is kept of it.

Words are split as a shell would (shlex, POSIX), and what a shell would put in first ($NAME, `...`) is 'not known'.
Sources: Percona, "xtrabackup command-line options", "The xbcloud command-line options"; MySQL manual, "Using Options on
the Command Line": - and _ alike, the last of several counts, K, M, G are powers of 1024.
"""

from __future__ import annotations

import itertools
import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.errors import BadInput
from services.facts.reading import size
from services.i18n import tr
from services.lines import lines_of

MOST = 16_000
"""Characters of one command or script."""
_PUNCTUATION = "();<>|&\n"
_ASKED_ABOUT = frozenset({
    "read-buffer-size", "encrypt-chunk-size", "encrypt", "encrypt-threads", "parallel", "stream", "compress",
    "max-retries", "max-backoff",
})  # fmt: skip
_SECRET = frozenset({
    "password", "encrypt-key", "transition-key", "s3-secret-key", "s3-access-key", "s3-session-token",
    "google-secret-key", "google-access-key", "google-session-token", "azure-access-key", "swift-password", "swift-key",
})  # fmt: skip
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_BEFORE = frozenset({
    "sudo", "nice", "ionice", "chrt", "env", "nohup", "time", "exec", "command", "timeout", "stdbuf",
    "then", "do", "if", "else", "!", "{",
})  # fmt: skip
_WITH_VALUE = frozenset({"-n", "-c", "-u", "-g", "-k", "-s", "-o", "-e", "-i", "-p"})
"""Options of such starters that take the next word: nice -n, ionice -c, sudo -u, timeout -k, stdbuf -o."""
_BACKUP, _CLOUD = frozenset({"xtrabackup"}), frozenset({"xbcloud"})
_OF_MARIADB = frozenset({"mariabackup", "mariadb-backup"})


@dataclass(frozen=True, slots=True)
class Call:
    """One program with the options that are asked about.

    Attributes:
        options: name with '-' -> value; '' is an option without one.
        verb: its first plain word ('put'); secrets: options that have a password or a key for their value, by name.
    """

    program: str
    options: Mapping[str, str] = field(default_factory=dict)
    verb: str = ""
    secrets: tuple[str, ...] = ()

    def has(self, option: str) -> bool:
        """Return whether the option stands there."""
        return option in self.options

    def unknown(self, option: str) -> bool:
        """Return whether its value is put in by the shell, so that nobody can tell it here."""
        return any(sign in self.options.get(option, "") for sign in "$`")

    def number(self, option: str) -> int | None:
        """Return a size or a count; None where it is not there or can't be read."""
        return size(self.options.get(option, ""))


@dataclass(frozen=True, slots=True)
class Job:
    """One backup command.

    Attributes:
        name: what it is called in sentences; pipeline: its calls from the one that reads the data to the last.
        pipefail: `set -o pipefail` stands before it; pipestatus: PIPESTATUS is looked at somewhere.
        mariadb: it is MariaDB's own backup program.
    """

    name: str
    pipeline: tuple[Call, ...]
    pipefail: bool = False
    pipestatus: bool = False
    mariadb: bool = False

    @property
    def backup(self) -> Call:
        """The call of xtrabackup; one without options where there is none."""
        return next((call for call in self.pipeline if call.program in _BACKUP), Call(""))

    @property
    def cloud(self) -> Call:
        """The call of xbcloud; one without options where there is none."""
        return next((call for call in self.pipeline if call.program in _CLOUD), Call(""))

    @property
    def between(self) -> tuple[str, ...]:
        """The programs that stand between the two."""
        names = [call.program for call in self.pipeline]
        if not self.backup.program or not self.cloud.program:
            return ()
        return tuple(names[names.index(self.backup.program) + 1 : names.index(self.cloud.program)])


def parse_job(name: str, text: str) -> Job:
    """Return a command taken apart: the pipeline with xtrabackup (or MariaDB's program) and xbcloud in it.

    Else the first that makes a backup, else the first that names one of them: a script may ask for a version before.

    Raises BadInput where quotes don't end, or no such program is called. Nothing of the text is in the sentence: it may
    hold a password.
    """
    if len(text) > MOST:
        raise BadInput(tr("{name} is longer than {most} characters.", name=name, most=MOST))
    tokens = _tokens(name, text)
    pipelines = _pipelines(tokens)
    made_by = _BACKUP | _OF_MARIADB
    chosen = (
        next((p for p in pipelines if p.calls(made_by) and p.calls(_CLOUD)), None)
        or next((p for p in pipelines if p.backs_up(made_by)), None)
        or next((p for p in pipelines if p.calls(made_by)), None)
        or next((p for p in pipelines if p.calls(_CLOUD)), None)
    )
    if chosen is None:
        raise BadInput(
            tr("{name} calls neither xtrabackup nor xbcloud.", name=name),
            try_=(tr("Give the whole line, as the job runs it: xtrabackup --backup … | xbcloud put …"),),
        )
    looked_at = any("PIPESTATUS" in token for token in tokens)
    return Job(name, chosen.parts, chosen.pipefail, looked_at, chosen.calls(_OF_MARIADB))


@dataclass(frozen=True, slots=True)
class _Pipeline:
    parts: tuple[Call, ...]
    pipefail: bool

    def calls(self, programs: frozenset[str]) -> bool:
        return any(call.program in programs for call in self.parts)

    def backs_up(self, programs: frozenset[str]) -> bool:
        return any(call.program in programs and call.has("backup") for call in self.parts)


def _tokens(name: str, text: str) -> Sequence[str]:
    """Return the words and the shell's signs; a newline is a sign, a comment is nothing."""
    joined = re.sub(r"\\\r?\n", " ", text)
    lexer = shlex.shlex(_without_comments("\n".join(lines_of(joined))), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:
        raise BadInput(tr("{name}: a quote is not closed.", name=name)) from None


def _without_comments(text: str) -> str:
    """Return a script without its comments: a # where a word may begin, outside of quotes, up to the line's end."""
    kept: list[str] = []
    quote, before, comment, escaped = "", "\n", False, False
    for sign in text:
        comment = sign != "\n" and (comment or (sign == "#" and not quote and before in f" \t{_PUNCTUATION}"))
        if comment:
            continue
        if quote:
            quote = "" if sign == quote and not escaped else quote
        elif sign in "'\"" and not escaped:
            quote = sign
        escaped = sign == "\\" and not escaped and quote != "'"
        before = "x" if escaped else sign
        kept.append(sign)
    return "".join(kept)


def _pipelines(tokens: Sequence[str]) -> list[_Pipeline]:
    """Return every pipeline, each with whether pipefail was set before it."""
    found: list[_Pipeline] = []
    calls: list[Call] = []
    words: list[str] = []
    pipefail = False
    for token in (*tokens, "\n"):
        sign = _sign(token)
        if not sign:
            words.append(token)
            continue
        if words:
            set_now = _sets_pipefail(words)
            pipefail = pipefail if set_now is None else set_now
            calls.append(_call(words))
            words = []
        elif sign == "\n":
            continue  # a line that ends with | goes on
        if sign not in {"|", "|&"}:
            found += [_Pipeline(tuple(calls), pipefail)] if calls else []
            calls = []
    return found


def _sign(token: str) -> str:
    """Return the sign that ends a program's words; '' for a word or a redirection, which is one of them."""
    if not token or not set(token) <= set(_PUNCTUATION):
        return ""
    sign = token.strip("\n") or "\n"
    return "" if set(sign) & set("<>") else sign


def _sets_pipefail(words: Sequence[str]) -> bool | None:
    """Return True for `set -o pipefail`, alone or with other letters, False for `set +o pipefail`, None for neither."""
    if words[0] != "set":
        return None
    signs = [a[0] for a, b in itertools.pairwise(words) if re.fullmatch(r"[-+][A-Za-z]*o", a) and b == "pipefail"]
    return signs[-1] == "-" if signs else None


def _call(words: Sequence[str]) -> Call:
    """Return one program's words; redirections, assignments and programs that start others are passed over."""
    left = _without_redirections(words)
    while left and (_ASSIGNED.fullmatch(left[0]) or posixpath.basename(left[0]) in _BEFORE):
        left = _past_starter(left)
    if not left:
        return Call("")
    program, rest = posixpath.basename(left[0]), left[1:]
    options: dict[str, str] = {}
    secrets: list[str] = []
    verb = ""
    for at, word in enumerate(rest):
        if not word.startswith("--") or word == "--":
            verb = verb or ("" if word.startswith("-") else word)
            secrets += ["-p"] if program in _BACKUP and re.match("-p.", word) else []
            continue
        named, joined, value = word[2:].partition("=")
        named = named.replace("_", "-")
        after = rest[at + 1] if at + 1 < len(rest) else ""
        value = value if joined else "" if after.startswith("-") else after
        options[named] = value if named in _ASKED_ABOUT else ""
        secrets += [f"--{named}"] if value and named in _SECRET else []
    return Call(program, options, verb if program in _CLOUD else "", tuple(dict.fromkeys(secrets)))


def _past_starter(words: list[str]) -> list[str]:
    """Return what follows `sudo -u mysql`, `nice -n 19`, `NAME=value`: up to the next known program, else the next."""
    known = _BACKUP | _CLOUD | _OF_MARIADB
    if _ASSIGNED.fullmatch(words[0]):
        return words[1:]
    for at, word in enumerate(words):
        if posixpath.basename(word) in known:
            return words[at:]
    rest = words[1:]
    while rest and (rest[0].startswith("-") or re.fullmatch(r"\d+[smhd]?", rest[0], re.ASCII)):
        rest = rest[2:] if rest[0] in _WITH_VALUE else rest[1:]
    return rest


def _without_redirections(words: Sequence[str]) -> list[str]:
    """Return the words without `2> log`, `< file`, `2>&1`."""
    left: list[str] = []
    skip = False
    for word in words:
        if word and set(word) <= set("<>&"):
            if left and left[-1].isascii() and left[-1].isdigit():
                left.pop()
            skip = True
        elif skip:
            skip = False
        else:
            left.append(word)
    return left
