"""What a command prints for machines (`--json`): one document a line, nowhere else made."""

from __future__ import annotations

import sys


def print_json(document: object) -> None:
    """Write a document as one line of JSON that every reader and every stream takes."""
    from services.json_text import json_line  # late: the first paint waits for this module

    sys.stdout.write(json_line(document) + "\n")
