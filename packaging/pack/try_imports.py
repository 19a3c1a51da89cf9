"""Import each module that standard input names, one a line; print those that fail, with why (for tests alone)."""

import importlib
import sys


def main() -> int:
    """Return 1 where one failed."""
    failed = 0
    for name in sys.stdin.read().split():
        try:
            importlib.import_module(name)
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is told
            print(f"{name}: {type(problem).__name__}: {problem}")
            failed = 1
    return failed


sys.exit(main())
