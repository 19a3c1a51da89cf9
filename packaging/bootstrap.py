#!/usr/bin/env python3
"""The developer's one command: demo, run, test, lint, bench, package, docs, words, lock.

Needs nothing but Python: the environment, its packages and (on Debian, as root) the system's packages are its own work.
This file stays readable for an old Python, so that the sentence below reaches the person instead of a syntax error.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  (an older Python is exactly who must get past this line)
    sys.exit(
        "Pilothouse needs Python 3.11 or newer; this is Python %d.%d (%s).\n"  # noqa: UP031  (no f-string in Python 2)
        "What to try: python3.11 packaging/bootstrap.py, or on Debian 12 and newer: apt-get install python3"
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )

from boot.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
