"""The agent: its keys, whatever their kind, and one sentence where it can't be asked."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING, Any

import paramiko

_PIPE = "\\\\.\\pipe\\"


class Agent(paramiko.Agent):
    """The agent that IdentityAgent names, else SSH_AUTH_SOCK's, else the one that Windows has."""

    if TYPE_CHECKING:  # left out by the stubs
        _connect: Any

    def __init__(self, path: str, limit_s: float) -> None:
        """Ask for its keys; `limit_s` is the wait for each of its answers (a person may have to touch a key).

        Raises OSError, EOFError or SSHException where it does not answer as an agent does.
        """
        place = path or os.environ.get("SSH_AUTH_SOCK", "")
        if os.name == "nt" and not path:
            super().__init__()  # Pageant, or the pipe of Windows' own
            return
        paramiko.agent.AgentSSH.__init__(self)  # Agent's own would look for SSH_AUTH_SOCK, and say nothing
        if place:
            with contextlib.ExitStack() as failed:
                pipe = _pipe_of(place)
                connection = _Pipe(pipe) if pipe else _of_unix(place, limit_s)
                failed.callback(connection.close)
                self._connect(connection)
                failed.pop_all()


def _pipe_of(place: str) -> str:
    """Return the name of a named pipe, '' for any other place.

    In ssh_config `\\\\` stands for one: since 8.9 people of Windows write //./pipe/NAME (Win32-OpenSSH 1949).
    """
    named = place.replace("/", "\\") if os.name == "nt" else place
    return named if named.startswith(_PIPE) else ""


def _of_unix(place: str, limit_s: float) -> Any:
    family = getattr(socket, "AF_UNIX", None)
    if family is None:
        raise OSError(0, "this system has no Unix sockets")
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(limit_s)
        connection.connect(place)
    except BaseException:
        connection.close()
        raise
    return connection


class _Pipe:
    """A named pipe of Windows as the agent's client uses a socket."""

    def __init__(self, place: str) -> None:
        self._pipe = os.open(place, os.O_RDWR | getattr(os, "O_BINARY", 0))

    def send(self, data: bytes) -> int:
        return os.write(self._pipe, data)

    def recv(self, most: int) -> bytes:
        return os.read(self._pipe, most)

    def close(self) -> None:
        os.close(self._pipe)
