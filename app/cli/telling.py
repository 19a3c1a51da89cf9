"""How a command ends with a problem: its sentences on stderr, or one JSON document on stdout for machines."""

from __future__ import annotations

import sys
from argparse import Namespace

from services.errors import UserError
from services.i18n import english


def tell(problem: UserError, options: Namespace, code: int) -> int:
    """Write what happened, what is safe and what to try; return the exit code."""
    if getattr(options, "json", False):
        import json  # late: the first paint waits for this module

        document = {
            "error": problem.code,
            "sentence": english(problem.sentence),
            "host": problem.host,
            "safe": english(problem.safe),
            "try": [english(advice) for advice in problem.try_],
        }
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        sys.stderr.write(problem.as_text() + "\n")
    return code
