"""Why a server or a program gave up, out of what it printed: the first error, not the last line. Pure.

A server logs its first [ERROR] at the cause and then what follows from it; the last one is "[ERROR] Aborting" whatever
the cause was (MariaDB KB "Error Log"; MySQL manual "Error Log Output Format": level in brackets after time and thread,
MySQL 8 with [MY-...] [subsystem] behind it).
"""

from __future__ import annotations

import re

_ERROR = re.compile(r"\[ERROR\]|\[FATAL\]|\bFATAL ERROR\b")
_CONSEQUENCE = re.compile(
    r"\[(?:ERROR|FATAL)\](?: \[[^\]]{0,40}\]){0,4}\s{1,9}(?:Aborting|Plugin '\S{1,100}' (?:init|registration))"
)
_STAMP = re.compile(
    r"^(?:\w{3} {1,3}\d{1,2} [\d:]{8} \S{1,255} \S{1,100}?\[\d{1,10}\]: )?"  # the journal's: date, host, program
    r"(?:\d{4}-\d{2}-\d{2}[T ] ?\d{1,2}:\d{2}:\d{2}(?:\.\d{1,9}Z?)? \d{1,20} )?"  # the server's: date, time, thread
)
_LASTING = re.compile(r"corrupt|no space left|out of memory|Errcode: 28|disk full", re.IGNORECASE)
_FULL = re.compile(r"no space left|Errcode: 28|disk full", re.IGNORECASE)
"""Errcode: 28 is ENOSPC (errno(3)), as mysys prints it (perror(1))."""
_MOST, _ERRORS, _END = 12, 6, 4


def cause(lines: tuple[str, ...]) -> str:
    """Return the first error that is a cause, without its stamps; else the first error; '' where none was printed."""
    errors = [line for line in lines if _ERROR.search(line)]
    first = next((line for line in errors if not _CONSEQUENCE.search(line)), errors[0] if errors else "")
    return _STAMP.sub("", first.strip())


def fails_again(line: str) -> bool:
    """Return whether an error tells of what a mere start does not mend: corruption, a full disk, no memory."""
    return _LASTING.search(line) is not None


def disk_full(line: str) -> bool:
    """Return whether an error tells of a full disk."""
    return _FULL.search(line) is not None


def cause_or_last(lines: tuple[str, ...]) -> str:
    """Return the cause; the last line of a program that marks no errors."""
    return cause(lines) or (lines[-1].strip() if lines else "")


def telling(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return at most a dozen lines in their order: the first errors and how it ended; without errors the last lines."""
    if len(lines) <= _MOST:
        return lines
    errors = [i for i, line in enumerate(lines) if _ERROR.search(line)][:_ERRORS]
    if not errors:
        return lines[-_MOST:]
    return tuple(lines[i] for i in sorted({*errors, *range(len(lines) - _END, len(lines))}))
