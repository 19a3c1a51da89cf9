"""How a command ends with a problem: its sentences on stderr, or one JSON document on stdout for machines."""

from __future__ import annotations

import sys
from argparse import Namespace

from app.cli.machine import print_json
from services.errors import UserError


def tell(problem: UserError, options: Namespace, code: int) -> int:
    """Write what happened, what is safe and what to try; return the exit code."""
    if getattr(options, "json", False):
        document = {
            "error": problem.code,
            "sentence": problem.sentence,
            "host": problem.host,
            "safe": problem.safe,
            "try": list(problem.try_),
        }
        print_json(document)
    else:
        sys.stderr.write(problem.as_text() + "\n")
    return code
