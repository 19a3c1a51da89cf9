"""A connection that ends while output of its commands is still being read. A mock: the moment is too short for the lab.

paramiko gives the channel's window back as it reads (Channel.recv, _check_add_window); on a transport that has ended
and whose thread has not yet told the channel, that raises EOFError. A run of a procedure ended in a traceback by it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import paramiko
import pytest

from services.connections import remote_command
from services.connections.limits import Limits
from services.connections.remote_stream import RemoteStream
from services.connections.ssh.transport import SshTransport
from services.connections.sudo import Wrapped
from services.errors import Unreachable

PROBLEMS = (EOFError(), OSError("Socket is closed"), paramiko.SSHException("Key-exchange timed out"))


class Ending:
    """A channel with output in its buffer, of a connection that is gone."""

    eof_received = closed = False

    def __init__(self, problem: Exception, *, errors: bool = False) -> None:
        self._problem, self._errors = problem, errors
        self.in_buffer = self.in_stderr_buffer = SimpleNamespace(set_event=lambda _: None)

    def recv_ready(self) -> bool:
        return not self._errors

    def recv_stderr_ready(self) -> bool:
        return self._errors

    def recv(self, _: int) -> bytes:
        raise self._problem

    recv_stderr = recv

    def __getattr__(self, _: str) -> Any:
        return lambda *_: None


def link_to(channel: Ending) -> Any:
    def lost(problem: BaseException | None = None) -> Unreachable:
        return Unreachable(f"The SSH connection ended ({type(problem).__name__}).", host="n1")

    transport = SimpleNamespace(request_exec=lambda *_, **__: None)
    return SimpleNamespace(session=lambda _: channel, transport=transport, lost=lost, alive=True)


@pytest.mark.parametrize("errors", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)
def test_that_a_command_whose_connection_ends_is_unreachable_and_no_crash(problem: Exception, *, errors: bool) -> None:
    link = link_to(Ending(problem, errors=errors))
    with pytest.raises(Unreachable, match="connection ended"):
        remote_command.run(link, Wrapped("cat"), None, host="n1", limit_s=1.0, most=10, what="cat")


@pytest.mark.parametrize(
    "problem", [EOFError(), paramiko.SSHException("x")], ids=lambda problem: type(problem).__name__
)
def test_that_a_stream_whose_connection_ends_is_unreachable_and_no_end(problem: Exception) -> None:
    channel: Any = Ending(problem)
    stream = RemoteStream(channel, Wrapped("tail"), link_to(channel), "n1", Limits(line_bytes=100))
    with pytest.raises(Unreachable, match="connection ended"):
        list(stream.lines(limit_s=1.0))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)
def test_that_the_thread_of_a_connection_whose_hop_ended_first_ends_in_peace(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    """Seen on the lab: 'Exception in thread ssh ...', out of the close of the hop's channel."""

    def run(_: paramiko.Transport) -> None:
        raise problem

    monkeypatch.setattr(paramiko.Transport, "run", run)
    SshTransport.__new__(SshTransport).run()


def test_that_a_stream_that_was_closed_here_just_ends() -> None:
    channel: Any = Ending(EOFError())
    stream = RemoteStream(channel, Wrapped("tail"), link_to(channel), "n1", Limits(line_bytes=100))
    stream.close()
    assert list(stream.lines(limit_s=1.0)) == []


class Refusing(Ending):
    """A channel of a connection that ends as a command is started on it: to close it is an error too."""

    def close(self) -> None:
        raise self._problem


@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)
def test_that_a_command_whose_connection_ends_as_it_is_started_is_unreachable_and_no_crash(
    problem: Exception, *, alive: bool
) -> None:
    """Seen on the lab: an undo ended in a traceback, exit code 1, because the close of the channel raised as well."""
    link = link_to(Refusing(problem))
    link.alive = alive

    def ends(*_: object, **__: object) -> None:
        raise problem

    link.transport.request_exec = ends
    with pytest.raises(Unreachable):
        remote_command.run(link, Wrapped("true"), None, host="n1", limit_s=1.0, most=1 << 20, what="true")
