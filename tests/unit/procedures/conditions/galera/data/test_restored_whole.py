"""Whether a data folder holds whole data, by what stands on the host: the mark, what is kept aside, grastate.dat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.procedures.conditions.galera.data.restored_whole import RestoredWhole
from services.procedures.plan.condition import Kept
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, Attempt, ScriptedHosts, ScriptedSession, out

MARK, ASIDE, STATE = "/var/lib/pilothouse/replay/state", "/srv/db.pilothouse-before", "/srv/db/grastate.dat"
WHOLE = RestoredWhole("n3", "/srv/db", ASIDE, MARK, UUID)
OURS = f"uuid:    {UUID}\nseqno:   -1\nsafe_to_bootstrap: 0\n"
ABSENT, DARK = out("", 1, "cat: x: No such file or directory"), out("", 1, "sudo: a password is required")


class _Host(ScriptedSession):
    """One whose programs answer by the file they are asked for."""

    def __init__(self, files: dict[str, Output]) -> None:
        super().__init__("n3")
        self._files = files

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        return self._files.get(command_of(read).argv[-1], ABSENT)


def _look(files: dict[str, Output]) -> tuple[bool | None, str]:
    hosts = ScriptedHosts("n3")
    hosts.sessions["n3"] = _Host(files)
    answer = Attempt(hosts, ManualClock()).look(WHOLE, NOTHING)
    return answer.holds, answer.evidence


@pytest.mark.parametrize(
    ("files", "holds"),
    [
        ({}, True),  # nothing is kept aside: the old data lie in place
        ({ASIDE: out("directory")}, False),  # restored, and nothing is proven yet
        ({ASIDE: out("directory"), STATE: out(OURS)}, True),
        (
            {ASIDE: out("directory"), STATE: out(OURS.replace("seqno:   -1", "seqno:   77"))},
            True,
        ),  # the server wrote it since
        ({ASIDE: out("directory"), STATE: out(OURS.replace(UUID, "0" * 8 + UUID[8:]))}, False),
        ({ASIDE: out("directory"), STATE: out("uuid:")}, False),
        ({MARK: out("regular file"), ASIDE: out("directory"), STATE: out(OURS)}, False),  # a replay is noted
        ({MARK: out("regular file")}, False),
        ({MARK: DARK}, None),
        ({ASIDE: DARK}, None),
        ({ASIDE: out("directory"), STATE: DARK}, None),
    ],
)
def test_that_data_are_whole_in_place_or_with_a_proven_position_and_without_a_noted_replay(
    files: dict[str, Output], holds: bool | None
) -> None:
    assert _look(files)[0] is holds


def test_that_data_that_hold_a_half_replay_say_where_the_old_ones_are() -> None:
    assert f"{MARK} is there); the old data are in {ASIDE}" in _look({MARK: out("regular file")})[1]


@pytest.mark.parametrize(
    ("files", "recovered", "holds"),
    [
        ({}, "", True),  # nothing is kept aside: the old data lie in place
        ({ASIDE: out("directory"), STATE: out(OURS)}, f"{UUID}:77", True),
        ({ASIDE: out("directory"), STATE: out(OURS)}, f"{UUID}:76", False),
        ({ASIDE: out("directory"), STATE: out(OURS)}, f"{'0' * 8}{UUID[8:]}:77", False),
        ({ASIDE: out("directory"), STATE: out(OURS)}, "", None),  # its server has not told its position yet
        ({ASIDE: out("directory")}, f"{UUID}:77", False),
        ({ASIDE: DARK}, f"{UUID}:77", None),
    ],
)
def test_that_a_state_file_that_was_written_before_the_proof_counts_only_with_the_recovered_position(
    files: dict[str, Output], recovered: str, holds: bool | None
) -> None:
    whole = replace(WHOLE, mark="", recovered=Kept("recovered-n3"), seqno=77)
    hosts = ScriptedHosts("n3")
    hosts.sessions["n3"] = _Host(files)
    past = replace(NOTHING, kept={"recovered-n3": recovered})
    assert Attempt(hosts, ManualClock()).look(whole, past).holds is holds
