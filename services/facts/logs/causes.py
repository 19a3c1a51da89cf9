"""Why a server or a program gave up, out of what it printed: the first error, not the last line. Pure.

A server logs its first [ERROR] at the cause and then what follows from it; the last one is "[ERROR] Aborting" whatever
the cause was (MariaDB KB "Error Log"; MySQL manual "Error Log Output Format": level in brackets after time and thread,
MySQL 8 with [MY-...] [subsystem] behind it).
"""

from __future__ import annotations

import re

_ERROR = re.compile(r"\[ERROR\]|\[FATAL\]|\bFATAL ERROR\b")
_CONSEQUENCE = re.compile(
    r"\[(?:ERROR|FATAL)\](?: \[[^\]]{0,40}\]){0,4}\s{1,9}"
    r"(?:Aborting|Plugin '\S{1,100}' (?:init|registration)|Failed to initialize plugins"
    r"|Unknown/unsupported storage engine"
    r"|\*{3,99} {0,9}(?:FATAL ERROR|$)|\*{9}|-{3,99} \S{1,255} \((?:START|END)\)|Line \d{1,9}\s{0,9}$"
    r"|Cleanup after exit)"
)
"""What follows from an error, and the frame that the scripts of an SST draw around one (wsrep_sst_xtrabackup-v2)."""
_MOMENT = r"(?:\d{4}-\d\d-\d\d[T ]|\d{6} ) ?\d{1,2}:\d\d:\d\d"
_WRITTEN = re.compile(rf"(?:^|: ){_MOMENT}")
_STAMP = re.compile(
    r"^(?:\w{3} {1,3}\d{1,2} [\d:]{8} \S{1,255} \S{1,100}?(?:\[\d{1,10}\])?: )?"  # syslog's: date, host, program
    rf"(?:{_MOMENT}(?:\.\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?[ :]{{1,2}})?"  # the server's
    r"(?:(?:0x)?[0-9a-f]{1,20} {1,2}(?=\[|InnoDB: ))?"  # the thread
)
_QUIET = re.compile(r"\[(?:Note|System|Warning|Info(?:rmation)?)\]|\bWarning: ", re.IGNORECASE)
"""A line that the server itself takes for no error: what it tells of, it has got over, as a page that it recovered."""
_NUMBER = r"(?:errcode|errno|os_error|error number|got error|failed with error)[:=]? {0,2}"
"""errno(3) by mysys: '(Errcode: 28 - ...)', '(errno: 28 "...")', '(OS errno 28 - ...)'; 'error number 28' InnoDB."""
_FULL = re.compile(
    rf"no space left on device|\bdisk (?:is )?full\b|out of disk space|{_NUMBER}28\b"
    r"|\b(?:errcode|errno)[:=]? {0,2}122\b",
    re.IGNORECASE,
)
"""28 is ENOSPC, 122 EDQUOT. Of any other error InnoDB says "Check that the disk is not full"."""
_WAITS = re.compile(r"\bDisk is full writing '")
"""A warning all the same: the server waits for room (mysys, EE_DISK_FULL)."""
_MEMORY = re.compile(
    rf"cannot allocate memory|out of memory|failed to allocate memory|\bbad_alloc\b|{_NUMBER}12\b", re.IGNORECASE
)
_FAILING = re.compile(rf"read-only file system|{_NUMBER}(?:5|30)\b", re.IGNORECASE)
"""5 is EIO, 30 EROFS."""
_DAMAGED = re.compile(
    r"page corruption on disk|corrupt(?:ed)? (?:database )?page|corrupt log record|page dump in ascii"
    r"|space id and page n.{1,3} stored in|is in the future!|malformed log record|invalid log (?:block|header)"
    r"|InnoDB.{0,200}checksum mismatch|missing (?:mlog|file)_|no valid checkpoint|\bset innodb_force_recovery"
    r"|header page contains inconsistent data|aria recovery failed|bad magic header in tc log|can't init tc log",
    re.IGNORECASE,
)
"""Damage in words of its own (InnoDB's buf0buf, log0recv and fsp0file, Aria, the transaction coordinator's log).

Before MySQL 5.7 and MariaDB 10.1 InnoDB gave its lines no level; "corrupt" alone also stands in the hints that every
assertion and every signal prints.
"""
_CORRUPT = re.compile(r"corrupt", re.IGNORECASE)
_ASSERTION = re.compile(r"\bAssertion failure in |\bFailing assertion: ")
_MOST, _ERRORS, _END = 12, 6, 4


def cause(lines: tuple[str, ...]) -> str:
    """Return the first error that is a cause, without its stamps; else the first error; '' where none was printed."""
    errors = [line for line in lines if tells_error(line)]
    first = next((line for line in errors if not _CONSEQUENCE.search(line)), errors[0] if errors else "")
    return unstamped(first)


def unstamped(line: str) -> str:
    """Return a line without the date, host, program and thread before its level."""
    return _STAMP.sub("", line.strip()).strip()


def moment_of(line: str) -> str:
    """Return the date and time that a server wrote before a line, as they stand there; '' where it wrote none."""
    found = _WRITTEN.search(line)
    return found[0].removeprefix(": ") if found is not None else ""


def framing(line: str) -> bool:
    """Return whether an error only follows from another, or frames it."""
    return _CONSEQUENCE.search(line) is not None


def tells_error(line: str) -> bool:
    """Return whether a line tells of an error, by its level or, where it has none, by its words."""
    return _ERROR.search(line) is not None or fails_again(line)


def fails_again(line: str) -> bool:
    """Return whether an error tells of what a mere start does not mend: corruption, a full or failing disk, no memory.

    A line with the level of a note or a warning tells of none, but for a disk that is full.
    """
    if _ERROR.search(line) is None and _QUIET.search(line):
        return _WAITS.search(line) is not None
    marked = _ERROR.search(line) is not None and _CORRUPT.search(line) is not None
    return marked or any(words.search(line) for words in (_FULL, _MEMORY, _FAILING, _DAMAGED))


def disk_full(line: str) -> bool:
    """Return whether an error tells of a full disk."""
    return _FULL.search(line) is not None


def asserts(line: str) -> bool:
    """Return whether a server ended itself at a check of its own: damage or a fault of the program, it does not say."""
    return _ASSERTION.search(line) is not None


def cause_or_last(lines: tuple[str, ...]) -> str:
    """Return the cause; the last line of a program that marks no errors."""
    return cause(lines) or (lines[-1].strip() if lines else "")


def telling(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return at most a dozen lines in their order: the first errors and how it ended; without errors the last lines."""
    if len(lines) <= _MOST:
        return lines
    errors = [i for i, line in enumerate(lines) if tells_error(line)][:_ERRORS]
    if not errors:
        return lines[-_MOST:]
    return tuple(lines[i] for i in sorted({*errors, *range(len(lines) - _END, len(lines))}))
