"""mongo-config-rs: what a reviewer found by reading it, each with the loss that it would have brought."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from services.connections.ports import Output
from services.connections.reads.commands import FILE_KIND, SIZE, WAY
from services.connections.reads.read import CommandRead
from services.facts.mongodb.sharding import HostList, Shard
from services.procedures.catalogue.mongodb.config_servers.common import shards_step
from services.procedures.catalogue.mongodb.config_servers.party import default_backup, party_of
from services.procedures.conditions.config_servers.strangers import NoOtherRouter, NoOtherShard, OthersSeenTo
from services.procedures.conditions.config_servers.uses import ShardsUse
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.there import FolderThere
from services.procedures.conditions.mongodb.balancer import BalancerIs, NothingMoves
from services.procedures.plan.actions import Ask, WaitFor
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.parts.mongodb.data import MongoData
from tests.faults.scripted.config_servers import SHARD
from tests.unit.discovery.mongo_scenes import place
from tests.unit.procedures.catalogue.mongodb.test_mongo_config_rs import (
    PROCEDURE,
    ROLLING,
    WINDOW,
    _blocks,
    _facts,
    _plan,
    _told,
    _with,
)
from tests.unit.procedures.scripted_sessions import out

if TYPE_CHECKING:
    from services.procedures.plan.part import Reading


def _step(plan: Plan, step_id: str) -> Step:
    return next(step for step in plan.steps if step.step_id == step_id)


def test_that_a_new_hosts_folder_is_no_symbolic_link() -> None:
    """find(1) follows none: taken back, the folder would never be empty, and the run never at rest."""
    before = _step(_plan(_facts()), "n1:up").before
    assert FolderThere("n1", "/data/db") in before


@pytest.mark.parametrize("folder", ["/", "/data/db", "/data/db/", "/data/db/copy", "/data", "/data/db-cfg"])
def test_that_a_copy_in_around_or_beside_itself_is_refused(folder: str) -> None:
    """The data folder itself passed as a copy that is there already; one around it is copied whole to be tried."""
    assert "BACKUP-ROOM" in _blocks(_facts(), {**WINDOW, "backup": folder})


def test_that_a_folder_which_is_there_already_is_not_taken_for_todays_copy() -> None:
    for inputs in (ROLLING, WINDOW):
        down = _step(_plan(_facts(), inputs), "c3:copy-down")
        assert FileAbsent("c3", "/srv/copy") in down.before


def test_that_every_shard_is_asked_for_itself() -> None:
    """In one question a shard without a primary was passed over, and every shard was said to use the set."""
    party = party_of(_facts(), {**ROLLING, "way": "rolling"})
    (one,) = party.shards
    two = replace(party, shards=(one, replace(one, name="rs1", hosts=("m4", "m5", "m6"))))
    action = shards_step(two).action
    assert isinstance(action, WaitFor)
    assert action.conditions[:2] == (ShardsUse(SHARD, "cfg"), ShardsUse(("m4", "m5", "m6"), "cfg"))
    lists = [(type(one), one.host) for one in action.conditions[2:] if isinstance(one, NoOtherRouter | NoOtherShard)]
    assert lists == [(kind, host) for kind in (NoOtherRouter, NoOtherShard) for host in party.lasting], "anew, by each"


def test_that_a_shard_which_is_no_set_of_the_inventory_blocks() -> None:
    facts = _facts()
    first = facts.host("r1")
    assert first.node is not None
    assert first.node.mongo is not None
    known = first.node.mongo.cluster
    assert known is not None
    assert known.shards is not None
    for hosts in (HostList("rs9", (place("m9:27018"),)), HostList("", (place("m9:27018"),))):
        shards = (*known.shards, Shard("other", hosts))
        assert "SHARD-PROTOCOL" in _blocks(_told(facts, "r1", cluster=replace(known, shards=shards)))


def test_that_a_mongos_that_came_after_the_plan_is_looked_for_before_the_catalog_is_stopped() -> None:
    for inputs, step in ((ROLLING, "c3:down"), (WINDOW, "r1:down")):
        before = _step(_plan(_facts(), inputs), step).before
        assert [one.names for one in before if isinstance(one, NoOtherRouter)] == [
            ("r1:27017", "r1:27017", "r2:27017", "r2:27017")
        ]


def test_that_a_shard_that_came_after_the_plan_is_looked_for_while_all_can_be_taken_back() -> None:
    """Before the first stop that the catalog or a client feels, and once more when nobody can add one any more."""
    wanted = {"c3:down": "c1", "c1:converted": "n1"}, {"r1:down": "c1", "c1:down": "c1"}
    for inputs, looked in zip((ROLLING, WINDOW), wanted, strict=True):
        plan = _plan(_facts(), inputs)
        for step, host in looked.items():
            (found,) = (one for one in _step(plan, step).before if isinstance(one, NoOtherShard))
            assert (found.host, found.names, found.word) == (host, ("rs0",), "")
            assert "make a new plan" in found.way


def test_that_past_the_point_a_person_is_asked_about_one_that_came_before_the_shards_are_waited_for() -> None:
    for inputs in (ROLLING, WINDOW):
        steps = {one.step_id: one for one in _plan(_facts(), inputs).steps}
        asks = steps["others"]
        assert list(steps).index("shards") == list(steps).index("others") + 1
        assert isinstance(asks.action, Ask)
        assert not asks.action.unattended, "only a person can tell"
        assert {type(one) for one in asks.already} == {OthersSeenTo}
        waited = steps["shards"].action
        assert isinstance(waited, WaitFor)
        lists = [one for one in waited.conditions if isinstance(one, NoOtherRouter | NoOtherShard)]
        assert {one.word for one in lists} == {asks.action.keep}


class _Linked:
    """Reads of a host whose data folder is a symbolic link of root's: without a slash behind it the link is told of."""

    def run(self, part: str, read: CommandRead) -> Output:
        del part, read
        return out("WiredTiger\n")

    def text(self, part: str, read: CommandRead) -> str | None:
        del part
        if read.name == WAY.name:  # realpath(1)
            return "at drwxr-x--- 998 998 /disk/db\nat drwxr-xr-x 0 0 /disk\nat drwxr-xr-x 0 0 /\nend\n"
        followed = read.values[-1] == "/data/db/"
        return "5000000000\t/data/db\n" if followed else "12\t/data/db\n"


def test_that_size_and_owner_are_of_the_folder_that_a_link_leads_to() -> None:
    """Of the link itself they were 12 bytes, and root: no room was wanted, and the scratch server ran as root."""
    found = MongoData.read(_facts().host("c3"), cast("Reading", _Linked()))
    assert found is not None
    assert (found.path, found.bytes, found.entries, found.owner) == ("/data/db", 5_000_000_000, 1, 998)


@pytest.mark.parametrize(("kind", "size"), [("symbolic link", 1_000_000_300), ("directory", 300), (None, None)])
def test_that_a_journal_on_a_disk_of_its_own_is_counted(kind: str | None, size: int | None) -> None:
    """On a real server two copies of it filled the disk, for which there was 'room'; in the folder it is counted."""

    class Apart(_Linked):
        def run(self, part: str, read: CommandRead) -> Output:
            del part, read
            return out("WiredTiger\njournal\n")

        def text(self, part: str, read: CommandRead) -> str | None:
            if read.name == FILE_KIND.name:
                return kind
            if read.name == SIZE.name:
                return "1000000000\tj\n" if read.values[-1] == "/data/db/journal/" else "300\tdb\n"
            return super().text(part, read)

    found = MongoData.read(_facts().host("c3"), cast("Reading", Apart()))
    assert found is not None
    assert found.bytes == size


def test_that_the_copy_of_data_right_below_the_root_has_a_clean_path() -> None:
    facts = _with(_facts(), "c3", lambda one: one.with_part(MongoData("/data", 9, 3, 998)))
    assert default_backup(facts, ("c3",)) == "/pilothouse-config-backup"


@pytest.mark.parametrize("name", ["old", "old.part", "old.trial"])
def test_that_the_copy_of_an_earlier_run_is_told_before_anything_is_switched_off(name: str) -> None:
    """After an undo the copy stays: a second run switched the balancer off, and ended at its third step."""
    left, at = ("db", name, "old-2.trial"), {**ROLLING, "backup": "/data/old"}
    facts = _with(_facts(), "c3", lambda one: one.with_part(replace(one[MongoData], beside=left)))
    assert _blocks(facts, at) == ["BACKUP-ROOM"]
    told = next(one for one in PROCEDURE.preflight(facts, at) if one.code == "BACKUP-ROOM")
    assert name in told.evidence
    assert told.answers[0].values == ("/data/old-3",)
    assert _blocks(facts, {**at, "backup": "/data/old-3"}) == []


def test_that_a_balancer_which_a_colleague_switched_on_again_holds_the_run_up() -> None:
    """Nobody looked again: on real servers the balancer stood on at the question and at the step down."""
    plan = _plan(_facts())
    ids, off = [step.step_id for step in plan.steps], BalancerIs("r1", on=False, others=("r2",))
    for rests, stop in (("rests-before", "c3:copy-down"), ("rests-behind", "c3:down")):
        wait = _step(plan, rests).action
        assert isinstance(wait, WaitFor)
        told = replace(off, others=("r2", "c1", "c2", "c3"))  # by a config server too: the point looks again
        assert wait.conditions == (told, NothingMoves("r1", ("r2",)))
        assert ids.index(rests) < ids.index(stop)
    assert off in _step(plan, "c1:mirrored-set").before
    assert off in _step(plan, "c3:down").before
    ids = [step.step_id for step in _plan(_facts(), WINDOW).steps]
    assert ids.index("rests-before") < ids.index("r1:down")


@pytest.mark.parametrize("inputs", [ROLLING, WINDOW])
def test_that_one_config_server_that_answers_alone_is_told_and_brings_nothing_down(inputs: Inputs) -> None:
    """With two of three away the plan raised an IndexError before any check could say so."""
    facts = _facts()
    alone = replace(facts, members=tuple(name for name in facts.members if name not in {"c2", "c3"}))
    plan = PROCEDURE.plan(alone, inputs)
    assert plan.nothing_to_do
    assert "CONFIG-FORM" in _blocks(alone, inputs)
