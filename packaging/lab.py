#!/usr/bin/env python3
"""The lab's command line: `python3 packaging/lab.py up galera`. Needs root on Debian, and no virtual environment."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.lab.estate.cli import main

if __name__ == "__main__":
    sys.exit(main())
