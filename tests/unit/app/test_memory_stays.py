"""No core dump of a program that has passwords in memory: asked of a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOOK = """
import ctypes, resource
from app.__main__ import main
main(["--version"])
print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl of Linux")
def test_that_a_start_turns_core_dumps_and_reading_by_others_off() -> None:
    said = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.splitlines()[-1] == "(0, 0) 0"
