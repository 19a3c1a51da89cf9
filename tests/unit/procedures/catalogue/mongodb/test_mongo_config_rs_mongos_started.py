"""mongo-config-rs in a window, and a mongos that a colleague starts meanwhile. Seen on 3.2.5: it goes over to the set
by itself as soon as that is made, and the undo left it there: it 'uses csrs/'."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.facts.mongodb.model import MongoFacts
from services.facts.yaml_files.edit import edit_yaml
from services.procedures.catalogue.mongodb.config_servers.party import party_of
from services.procedures.catalogue.mongodb.config_servers.shards import mirrored_steps
from services.procedures.conditions.mongodb.steady import SetSteady
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.journal.projection import project
from services.procedures.plan.run_model import RunState, RunView, StepState
from tests.faults.scripted import config_servers
from tests.faults.scripted.names import LEADS, USES
from tests.faults.scripted.running import Bench, Killed

MIRRORS = "c1:27019,c2:27019,c3:27019"
INPUTS = {"way": "window", "name": "cfg", "backup": "/srv/copy", "no_ddl": "yes", "no_others": "yes"}


def _ran(moment: str, *confirmed: str, string: str = MIRRORS) -> tuple[Bench, RunState]:
    """A run of the window's way, with r2 started at this moment, by this string in its file."""
    bench = Bench(config_servers.sharded(), "mongo-config-rs", dict(INPUTS), frozenset(confirmed))
    bench.begin()

    def starts(_: str, what: str) -> None:
        host = bench.cluster.hosts["r2"]
        if moment in what and not host.running:
            host.running = True
            made = bench.cluster.hosts["c1"].variables.get("form") == "set"
            (path,) = host.files
            host.files[path] = edit_yaml(host.files[path], (("sharding.configDB", string),))
            host.variables = {"string": string} | ({"over": "yes"} if made else {})
            config_servers.derived(bench.cluster)

    bench.journal.told = starts
    return bench, bench.run()


def _view(bench: Bench) -> RunView:
    return project(bench.journal.entries(bench.run_id))


def _states(bench: Bench) -> dict[str, StepState]:
    return {one.step.step_id: one.state for one in _view(bench).steps}


def test_that_no_config_server_is_stopped_while_one_runs() -> None:
    bench, ended = _ran("same-behind done", "r1")
    assert ended is RunState.UNDONE
    assert _states(bench)["c1:down"] is StepState.PENDING
    assert "c1: c1:down" not in bench.cluster.log


def test_that_a_set_which_it_may_have_changed_is_not_thrown_away_unless_a_person_says_so() -> None:
    bench, ended = _ran("followed done", "r1")
    assert ended is RunState.FAILED, "it can still go on"
    assert "every mongos to be stopped: not yet" in _view(bench).sentence
    assert "/data/db-cfg/data" in bench.cluster.hosts["c1"].files
    assert all(bench.cluster.hosts[name].running for name in ("c1", "c2")), "c3 is to follow"


def test_that_it_goes_on_with_what_was_changed_where_nobody_gives_it_up() -> None:
    bench, _ = _ran("followed done", "r1")
    bench.journal.told = None
    bench.person.answers = {"breach": "go on", "failed": "again"}
    bench.cluster.hosts["r2"].running = False
    assert bench.run() is RunState.DONE
    assert bench.cluster.replica_set[USES + "r2"] == "set"


def test_that_one_whose_string_a_colleague_changed_has_its_own_again_when_it_is_given_up() -> None:
    bench, ended = _ran("followed done", "r1", "c1", string="cfg/c1:27019,c2:27019,c3:27019")
    assert ended is RunState.UNDONE
    assert bench.cluster.hosts["r2"].variables["string"] == MIRRORS


def test_that_one_which_does_not_come_back_keeps_no_other_one_from_its_clients() -> None:
    bench = Bench(config_servers.sharded(), "mongo-config-rs", dict(INPUTS), frozenset({"r1"}))
    bench.begin()

    def cut_off(_: str, what: str) -> None:
        if "same-behind done" in what:
            bench.cluster.hosts["r2"].reachable = False

    bench.journal.told = cut_off
    ended = bench.run()
    assert ended is RunState.UNDO_FAILED
    assert bench.cluster.hosts["r1"].running
    assert _states(bench)["r1:down"] is StepState.UNDONE
    assert _states(bench)["r2:down"] is StepState.UNDO_FAILED


def test_that_where_a_person_gives_it_up_it_is_restarted_with_the_mirrored_ones() -> None:
    bench, ended = _ran("followed done", "r1", "c1")
    assert ended is RunState.UNDONE
    assert bench.cluster.replica_set[USES + "r2"] == "mirrored"
    assert all(bench.cluster.hosts[name].running for name in ("c1", "c2", "c3", "r1", "r2"))


@pytest.mark.parametrize("moment", ["c1:set-up done", "c3:followed acting"])
def test_that_it_is_told_at_once_and_the_run_asks(moment: str) -> None:
    bench, ended = _ran(moment, "r1")
    assert ended is not RunState.DONE
    assert "NO-MONGOS" in {one.code for one in _view(bench).broken} or ended is RunState.UNDO_FAILED


def test_that_a_copy_never_begun_whose_server_a_colleague_started_again_says_so_and_is_undone() -> None:
    """Seen on 3.2.5: the resumed run waited for the copy up to an hour, without a word, while no mongos ran."""
    bench = Bench(config_servers.sharded(), "mongo-config-rs", dict(INPUTS), frozenset({"r1"}))
    bench.begin()
    bench.journal.told = _dies_after("c3:copied acting")
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    bench.cluster.hosts["c3"].running = True
    assert bench.run() is RunState.UNDONE
    told = [str((one.data or {}).get("error", "")) for one in bench.journal.entries(bench.run_id)]
    assert any("It cannot start now: the MongoDB server of c3" in one for one in told), told


def _dies_after(entry: str) -> Callable[[str, str], None]:
    def told(when: str, what: str) -> None:
        if when == "after" and entry in what:
            raise Killed

    return told


def _changed_and_stopped(*confirmed: str) -> tuple[Bench, RunState]:
    """A run behind which somebody changed the set through a mongos, and stopped that again."""
    bench = Bench(config_servers.sharded(), "mongo-config-rs", dict(INPUTS), frozenset(confirmed))
    bench.begin()

    def changes(when: str, what: str) -> None:
        if when == "after" and "same-copied done" in what:
            for name in ("c1", "c2", "c3"):
                bench.cluster.hosts[name].files["/data/db-cfg/data"] = "v2, with a colleague's database"
            config_servers.derived(bench.cluster)

    bench.journal.told = changes
    state = bench.run()
    bench.journal.told = None
    return bench, state


def test_that_what_a_mongos_changed_which_is_stopped_again_is_gone_on_with_only_by_a_person_s_word() -> None:
    bench, state = _changed_and_stopped("r1")
    assert state is RunState.WAITING
    assert _view(bench).question is not None
    bench.does, bench.person.answers = lambda _, __: None, {"step": "yes"}  # somebody sits there
    assert bench.run() is RunState.DONE
    assert _states(bench)["compared-set"] is StepState.ALREADY, "the copy is not of it any more"
    assert bench.cluster.hosts["c1"].files["/data/db-cfg/data"].startswith("v2")


def test_that_it_is_not_lost_by_an_undo_without_a_person_s_word() -> None:
    bench, _ = _changed_and_stopped("r1")
    assert bench.engine().undo() is RunState.FAILED
    assert bench.cluster.hosts["c1"].files["/data/db-cfg/data"].startswith("v2")
    bench.does, bench.person.answers = lambda _, __: None, {"step": "yes"}  # somebody sits there
    assert bench.run() is RunState.DONE, "going on is still possible"


def test_that_with_it_the_undo_goes_through() -> None:
    bench, _ = _changed_and_stopped("r1", "c1")
    assert bench.engine().undo() is RunState.UNDONE
    assert "/data/db-cfg" not in bench.cluster.hosts["c1"].files


def test_that_an_undo_lets_the_primary_of_a_shard_hand_over_before_it_is_started_again() -> None:
    """One that is ended by systemd hands nothing over (3.2.5): what only it had acknowledged would be rolled back."""
    bench, ended = _ran("followed done", "r1", "c1")
    assert ended is RunState.UNDONE
    acts = [one for one in bench.cluster.log if one.partition(":")[0] in config_servers.SHARD]
    order = ("m3:mirrored", "m2:mirrored", "m1:leads-as-before", "m1:mirrored")
    assert acts == [f"{one[:2]}: undo:{one}" for one in order]
    assert bench.cluster.replica_set[LEADS] == "m1", "it takes the lead back"


def test_that_an_undo_starts_no_member_of_a_shard_again_while_another_one_is_away() -> None:
    bench, _ = _ran("followed done", "r1", "c1")
    wanted = {one.step_id: one.undo for one in bench.plan()[1].steps if one.undo is not None}
    for host in config_servers.SHARD:
        for step in (f"{host}:mirrored", f"{host}:leads-as-before"):
            waits = wanted[step].waits
            assert SetWhole(config_servers.SHARD) in waits
            assert any(isinstance(one, SetSteady) for one in waits), "it has caught up"


def test_that_a_shard_in_which_nobody_else_may_lead_has_nobody_to_hand_over_to() -> None:
    """The step-down would be refused; started again, it leads with all that it had."""
    party = party_of(config_servers.facts_of(config_servers.sharded(), ()), dict(INPUTS))
    (one,) = party.shards
    single = replace(party, shards=(replace(one, hosts=one.hosts[:1], views=(_led_alone(one.views[0]),)),))
    assert [step.step_id for step in mirrored_steps(single)] == ["m1:mirrored"]


def _led_alone(told: MongoFacts) -> MongoFacts:
    assert told.set is not None
    return replace(told, set=replace(told.set, members=tuple(one for one in told.set.members if one.own)))
