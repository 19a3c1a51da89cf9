"""A line that every login shell reads alike: who logs in chose the shell, and csh has other rules than POSIX.

In csh a line's end ends a word even within single quotes, and the lines after it run as commands of their own; a ! is
replaced from the history, within quotes too (csh(1), "Lexical structure", "History substitutions"; tried with tcsh
6.24: one of our programs left a file `stamped` behind). So a line that holds either is given to sh, written in letters
that mean nothing to any shell (base64(1)), whatever shell it comes through.
"""

from __future__ import annotations

import base64


def for_any_shell(line: str) -> str:
    """Return a POSIX shell's line as one that fish, csh and POSIX shells hand on to sh word by word."""
    if "\n" not in line and "!" not in line:
        return line
    letters = base64.b64encode(line.encode("utf-8", "surrogateescape")).decode("ascii")
    return f"""sh -c 'eval "$(printf %s {letters} | base64 -d)"'"""
