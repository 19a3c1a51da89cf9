"""A server that SQL does not reach, and that its own command line says was started to found a cluster."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.discovery.looks.probe import probe
from services.errors import AuthFailed
from services.facts import reads
from services.types import Health
from tests.unit.discovery.scenes import AT, estate, member, node, sql_gone
from tests.unit.procedures.scripted_sessions import ScriptedSession, out


class _Founder(ScriptedSession):
    """A host that tells of one process."""

    words = "/usr/sbin/mariadbd --wsrep-new-cluster --wsrep_start_position=u:-1\n"

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        if read == reads.PROCESS:
            return out("  803 Ssl mariadbd\n")
        return out(self.words if read == commands.SERVER_WORDS.read(803) else "")


@pytest.mark.parametrize(("words", "founded"), [(_Founder.words, 803), ("/usr/sbin/mariadbd --x\n", None), ("", None)])
def test_that_the_command_line_is_read_where_sql_is_refused_on_a_scripted_host(words: str, founded: int | None) -> None:
    session = _Founder("db3")
    session.words, session.state = words, AuthFailed("The server refused the login.", host="db3")
    machine = probe(session, ManualClock(AT)).machine
    assert machine is not None
    assert (machine.process_pid, machine.founded_pid) == (803, founded)


@pytest.mark.parametrize("code", ["auth-failed", "timed-out"])
def test_that_a_server_that_nobody_counts_is_said_to_be_founded(code: str) -> None:
    alone = node(estate(sql_gone(member(3), code=code, founded_pid=803)), "db3")
    assert alone.health is Health.BAD
    assert "mariadbd on db3 was started with --wsrep-new-cluster: it FOUNDED a cluster of its own" in alone.reason


def test_that_a_member_that_the_others_count_and_another_process_are_not() -> None:
    first = sql_gone(member(3), code="auth-failed", founded_pid=803)
    counted = node(estate(member(1), member(2), first), "db3")
    assert "FOUNDED" not in counted.reason
    later = sql_gone(member(3), code="auth-failed", founded_pid=7)
    assert "FOUNDED" not in node(estate(later), "db3").reason
