"""Qt, without what it adds to each import of the whole program.

PySide6 puts a function of its own in the place of `builtins.__import__` and, after each import, reads the source of the
imported module from disk to see whether it names PySide6 (shibokensupport/feature.py: `feature_imported`). That is for
`from __feature__ import snake_case`, which nobody here uses. It was an eighth of all of the time before the first
paint, the same of what a worker imports behind it, and each line of those sources stayed in memory (`linecache`).
"""

from __future__ import annotations

import builtins

_THEIRS = "__feature_import__"


def import_qt() -> None:
    """Import Qt's core, and let Python import as before; call it before anything else imports PySide6.

    A PySide6 that has no such function, or keeps the one before elsewhere, is left as it is.
    """
    import PySide6.QtCore  # noqa: F401 - what puts the function there

    before = getattr(builtins, "__orig_import__", None)
    if before is not None and getattr(builtins.__import__, "__name__", "") == _THEIRS:
        builtins.__import__ = before
