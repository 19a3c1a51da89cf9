"""A connection that stands when the program ends: paramiko's own hook says nothing on the terminal."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import socket, threading
from services.connections.ssh.transport import SshTransport
near, far = socket.socketpair()
far.sendall(b"SSH-2.0-OpenSSH_9.6\\r\\n")
transport = SshTransport(near)
transport.start_client(event=threading.Event())
"""


def test_that_a_program_that_ends_with_a_connection_leaves_no_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", CODE], capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
