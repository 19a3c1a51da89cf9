"""mongo-config-rs: what is refused, in which order both ways go, what is taken back, and what is never touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.connections.operator import folders_of_others
from services.facts.mongodb.model import Metadata
from services.facts.mongodb.sharding import Router
from services.facts.yaml_files.settings import settings_of
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.mongodb.config_servers.edits import edits_of
from services.procedures.catalogue.mongodb.config_servers.party import is_loopback, party_of
from services.procedures.catalogue.mongodb.shared.scratch import scratch_of
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.plan.actions import EditYaml, Run, Several, WaitFor
from services.procedures.plan.checks import Verdict
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan, Risk, Step
from services.procedures.plan.parts.machine.volumes import Volumes
from services.procedures.plan.parts.mongodb.data import MongoData
from services.procedures.plan.parts.mongodb.process import MongoProcess
from services.procedures.plan.wording import wording
from services.secrets import Secret
from tests.faults.scripted.config_servers import AT, ROUTERS, SERVERS, facts_of, sharded
from tests.unit.discovery.mongo_scenes import place

PROCEDURE = procedure_named("mongo-config-rs")
ROLLING: Inputs = {"new": "n1,n2", "name": "cfg", "backup": "/srv/copy", "no_ddl": "yes", "no_others": "yes"}
WINDOW: Inputs = {**{k: v for k, v in ROLLING.items() if k != "new"}, "way": "window"}


def _facts(*new: str, engine: str = "wiredTiger") -> Facts:
    return facts_of(sharded(*(new or ("n1", "n2")), engine=engine), ())


def _with(facts: Facts, host: str, change: Callable[[HostFacts], HostFacts]) -> Facts:
    return replace(facts, hosts=tuple(change(one) if one.host == host else one for one in facts.hosts))


def _server(facts: Facts, host: str, **more: Any) -> Facts:
    """The same facts with one server another."""

    def change(one: HostFacts) -> HostFacts:
        assert one.node is not None
        assert one.node.mongo is not None
        mongo = replace(one.node.mongo, server=replace(one.node.mongo.server, **more))
        return replace(one, node=replace(one.node, mongo=mongo))

    return _with(facts, host, change)


def _told(facts: Facts, host: str, **more: Any) -> Facts:
    def change(one: HostFacts) -> HostFacts:
        assert one.node is not None
        assert one.node.mongo is not None
        return replace(one, node=replace(one.node, mongo=replace(one.node.mongo, **more)))

    return _with(facts, host, change)


def _process(facts: Facts, host: str, **more: Any) -> Facts:
    return _with(facts, host, lambda one: one.with_part(replace(one[MongoProcess], **more)))


def _data(facts: Facts, host: str, **more: Any) -> Facts:
    return _with(facts, host, lambda one: one.with_part(replace(one[MongoData], **more)))


def _blocks(facts: Facts, inputs: Inputs = ROLLING) -> list[str]:
    assert PROCEDURE.faults(facts, inputs) == ()
    return [one.code for one in PROCEDURE.preflight(facts, inputs) if one.verdict is Verdict.BLOCK]


def _plan(facts: Facts, inputs: Inputs = ROLLING) -> Plan:
    plan = PROCEDURE.plan(facts, inputs)
    assert violations(plan) == ()
    return plan


def _ids(plan: Plan) -> list[str]:
    return [step.step_id for step in plan.steps]


def test_that_a_sound_cluster_is_refused_nothing_by_either_way() -> None:
    assert _blocks(_facts()) == []
    assert _blocks(_facts(), WINDOW) == []
    assert _blocks(_facts("n1", "n2", "n3", engine="mmapv1"), {**ROLLING, "new": "n1,n2,n3"}) == []


@pytest.mark.parametrize(
    ("code", "facts"),
    [
        ("CONFIG-FORM", _server(_facts(), "c2", config="", role="standalone")),
        ("CONFIG-FORM", _server(_facts(), "c1", role="member", config_mode="sccc", set_name="cfg")),
        ("CONFIG-VERSIONS", _server(_facts(), "c1", version="3.2.3")),
        ("CONFIG-VERSIONS", _server(_facts(), "m2", version="3.2.6")),
        ("CONFIG-VERSIONS", _server(_facts(), "r1", version="")),
        ("CONFIG-VERSIONS", _server(_facts(), "r1", version="3.4.0")),
        ("CONFIG-SAME", _told(_facts(), "c3", metadata=Metadata((("chunks", "other"),), AT))),
        ("CONFIG-SAME", _told(_facts(), "c3", metadata=None)),
        ("CONFIG-STRING", _server(_facts(), "r2", config_string="c2:27019,c1:27019,c3:27019")),
        ("CONFIG-FILES", _process(_facts(), "c2", running=2, trouble="several servers run there")),
        ("CONFIG-FILES", _process(_facts(), "c2", unit="")),
        ("CONFIG-FILES", _process(_facts(), "r1", settings=())),
        ("CONFIG-FILES", _process(_facts(), "c2", trouble="it is not YAML")),
        ("CONFIG-FILES", _process(_facts(), "c2", odd="others than root may change /opt/mongod", program="")),
        ("CONFIG-FILES", _process(_facts(), "c2", open_way="others than root may write into /srv/mongodb")),
        ("CONFIG-FILES", _process(_facts(), "r1", open_way=None)),
        ("NEW-HOSTS", _process(_facts(), "n1", open_way="others than root may write into /etc")),
        ("CONFIG-FILES", _process(_facts(), "c2", account=0)),
        ("CONFIG-FILES", _process(_facts(), "r1", account=None)),
        ("CONFIG-FOLDERS", _process(_facts(), "c3", account=33)),
        ("CONFIG-FOLDERS", _data(_facts(), "c3", odd="others may change /data")),
        ("CONFIG-FOLDERS", _data(_facts(), "n1", odd=None)),
        ("CONFIG-FOLDERS", _data(_facts(), "c1", owner=None)),
        ("CONFIG-FILES", _process(_facts(), "c1", text=Secret("sharding: configsvr\nreplication: 1\n"))),
        ("CONFIG-FILES", _process(_facts(), "r2", text=Secret("sharding: a\n"))),
        ("CONFIG-FILES", _process(_facts(), "c1", given=(("replication.replSetName", "old"),))),
        ("CONFIG-FILES", _process(_facts(), "r1", given=(("sharding.configDB", "c1:27019,c2:27019,c3:27019"),))),
        ("CONFIG-FILES", _server(_facts(), "c1", data_path="/data/db-other")),
        ("CONFIG-FILES", _process(_facts(), "c3", text=Secret("storage: {dbPath: /data/db}\nsecurity:\n"))),
        ("CONFIG-FILES", _process(_facts(), "r1", text=Secret("sharding: {configDB: a}\nnet: ~\n"))),
        ("CONFIG-ENGINE", _server(_facts(), "c1", engine="")),
        ("NEW-HOSTS", _process(_facts(), "c1", others=("net.ssl.mode",))),
        ("NEW-HOSTS", _with(_facts(), "n1", lambda one: one.with_part(MongoData("/data/db", 9, 3)))),
        ("NEW-HOSTS", _with(_facts(), "n1", lambda one: replace(one, address="127.0.0.1"))),
        ("BACKUP-ROOM", _with(_facts(), "c3", lambda one: one.with_part(Volumes()))),
    ],
)
def test_that_what_is_not_sound_or_not_known_blocks(code: str, facts: Facts) -> None:
    assert code in _blocks(facts)


@pytest.mark.parametrize(("name", "value"), [("replication.replSetName", "cfg"), ("sharding.configsvrMode", "sccc")])
def test_that_a_set_or_mode_which_came_into_the_file_since_the_start_blocks(name: str, value: str) -> None:
    """Stopped for its copy the last config server came back as something else, taken back too."""
    had = _facts().host("c3")[MongoProcess].settings
    facts = _process(_facts(), "c3", settings=(*had, (name, value)))
    assert _blocks(facts) == ["CONFIG-FILES"]
    check = next(one for one in PROCEDURE.preflight(facts, ROLLING) if one.code == "CONFIG-FILES")
    assert f"c3 runs with no {name}, but its file /etc/mongod.conf has {value}" in check.evidence


STRING = "c1:27019,c2:27019,c3:27019"


@pytest.mark.parametrize(
    "text",
    [
        f"sharding: {{configDB: '{STRING}'}}\n",
        f"sharding:\n  configDB: >-\n    {STRING}\nnet:\n  port: 27017\n",
        f"---\nsharding:\n  configDB: {STRING}\n...\n",
    ],
)
@pytest.mark.parametrize("inputs", [ROLLING, WINDOW])
def test_that_a_file_of_an_odd_form_is_changed_and_not_refused(text: str, inputs: Inputs) -> None:
    assert _blocks(_process(_facts(), "r1", text=Secret(text)), inputs) == []


@pytest.mark.parametrize("inputs", [ROLLING, WINDOW])
def test_that_the_checks_try_every_edit_of_the_plan(inputs: Inputs) -> None:
    facts = _facts()
    party = party_of(facts, {"new": "", **inputs, "way": inputs.get("way", "rolling")})
    tried = [edit for host in party.everyone for edit in edits_of(party, host)]
    assert [one for step in _plan(facts, inputs).steps for one in _edits(step) if one not in tried] == []


def _edits(step: Step) -> list[EditYaml]:
    acts = [step.action, step.undo.action if step.undo is not None else step.action]
    inner = [one for act in acts for one in (act.actions if isinstance(act, Several) else (act,))]
    return [one for one in inner if isinstance(one, EditYaml)]


def test_that_an_option_on_a_command_line_is_named_with_what_to_do() -> None:
    facts = _process(_facts(), "c2", given=(("storage.dbPath", "/data/db"),))
    check = next(one for one in PROCEDURE.preflight(facts, WINDOW) if one.code == "CONFIG-FILES")
    assert "c2: --dbpath /data/db on the command line of mongod.service" in check.evidence
    assert "add storage.dbPath: /data/db to /etc/mongod.conf" in " ".join(check.try_)
    assert _blocks(facts) == [], "the rolling way leaves its folder as it is"


def test_that_an_unknown_mongos_blocks_while_it_may_be_alive() -> None:
    facts = _facts()
    first = facts.host("r1")
    assert first.node is not None
    assert first.node.mongo is not None
    known = first.node.mongo.cluster
    assert known is not None
    stray = Router(place("r9:27017"), "3.2.5", AT - 5, 10)
    assert known.routers is not None
    for moment, blocked in ((AT - 5, True), (None, True), (AT - 300, False)):
        routers = (*known.routers, replace(stray, pinged_at=moment))
        changed = _told(facts, "r1", cluster=replace(known, routers=routers))
        assert ("EVERY-MONGOS" in _blocks(changed)) is blocked, moment
    for host in ROUTERS:
        facts = _told(facts, host, cluster=replace(known, routers=None))
    assert "EVERY-MONGOS" in _blocks(facts)


def test_that_a_host_on_which_a_server_runs_is_not_offered_as_a_new_one() -> None:
    faults = PROCEDURE.faults(_process(_facts(), "n1", running=1), ROLLING)
    assert [one.field for one in faults] == ["new"]


@pytest.mark.parametrize("name", ["1a", "a b", "a/b", "a" * 40, "ä"])
def test_that_a_name_which_no_string_can_hold_is_a_fault(name: str) -> None:
    assert [one.field for one in PROCEDURE.faults(_facts(), {**ROLLING, "name": name})] == ["name"]


@pytest.mark.parametrize("folder", ["srv", "/srv/../etc", "/srv/a b", "/srv/$x"])
def test_that_a_folder_which_no_shell_may_see_is_a_fault(folder: str) -> None:
    assert [one.field for one in PROCEDURE.faults(_facts(), {**ROLLING, "backup": folder})] == ["backup"]


def test_that_the_window_wants_wiredtiger_and_the_rolling_way_a_third_host_for_mmapv1() -> None:
    old = _facts("n1", "n2", engine="mmapv1")
    assert "CONFIG-ENGINE" in _blocks(old, WINDOW)
    assert "NEW-HOSTS" in _blocks(old)


def test_that_nothing_begins_before_somebody_says_that_the_catalog_rests() -> None:
    assert "NO-DDL" in _blocks(_facts(), {**ROLLING, "no_ddl": "no"})
    assert "NO-OTHERS" not in _blocks(_facts(), {**ROLLING, "no_others": "no"})


def test_that_a_copy_that_was_tried_comes_before_every_change() -> None:
    for inputs in (ROLLING, WINDOW):
        ids = _ids(_plan(_facts(), inputs))
        assert ids.index("compared-copy") < ids.index("c3:back") < ids.index("initiate")
        assert ids[0] == "balancer-off"
        assert ids[-2:] == ["balancer-on", "last-look"]


def test_that_the_rolling_way_has_one_point_of_no_return_and_reads_only_before_it() -> None:
    plan = _plan(_facts())
    final = [step.step_id for step in plan.steps if step.no_return]
    assert final == ["c1:converted"]
    ids = _ids(plan)
    assert ids.index("c3:down") < ids.index("votes") < ids.index("step-down") < ids.index("c1:converted")
    assert ids.index("c1:converted") < ids.index("r1:new-string") < ids.index("r2:new-string") < ids.index("c2:retired")
    assert next(step for step in plan.steps if step.no_return).risk is Risk.IRREVERSIBLE


def test_that_every_change_before_the_point_is_taken_back_or_goes_with_one_that_is() -> None:
    for inputs in (ROLLING, WINDOW):
        steps = _plan(_facts(), inputs).steps
        point = next(at for at, step in enumerate(steps) if step.no_return)
        for step in steps[:point]:
            if step.risk in {Risk.READS, Risk.YOU} or step.step_id in {"c3:copied", "c3:back"}:
                continue
            assert step.undo or step.goes_with or step.discharges, step.step_id


def _folder_acts(plan: Plan) -> list[tuple[str, ...]]:
    """Return program and words of every act on a folder of a server's account, of steps and undos."""
    actions = [step.action for step in plan.steps] + [step.undo.action for step in plan.steps if step.undo]
    small = [one for action in actions for one in (action.actions if isinstance(action, Several) else (action,))]
    argvs = [one.command.argv for one in small if isinstance(one, Run)]
    return [(argv[2], *argv[5:]) for argv in argvs if argv[:2] == ("bash", "-c")]


def test_that_the_window_touches_no_old_data_folder() -> None:
    acts = _folder_acts(_plan(_facts(), WINDOW))
    assert len(acts) > 5
    for program, *words in acts:
        touched = words[1:] if program is folders_of_others.COPY else words
        assert "/data/db" not in touched, words


@pytest.mark.parametrize("inputs", [ROLLING, WINDOW])
def test_that_root_touches_no_folder_of_a_server_but_by_the_helper(inputs: Inputs) -> None:
    """Whoever may write above its data folder won each race against root's cp, mkdir and chown."""
    plan = _plan(_facts(), inputs)
    lines = [line for step in plan.steps for line in wording(step.action)]
    lines += [line for step in plan.steps if step.undo for line in wording(step.undo.action)]
    words = {word for line in lines if not line.startswith("sudo bash -c") for word in line.split()[:2]}
    assert not words & {"cp", "mv", "rm", "mkdir", "chown", "chmod", "find", "rmdir", "ln"}


def test_that_no_trial_server_runs_as_root() -> None:
    lines = [line for step in _plan(_facts()).steps for line in wording(step.action) if "systemd-run" in line]
    assert ["--uid=100" in line.split() for line in lines] == [True]


def test_that_new_members_come_without_a_vote_and_get_one_together() -> None:
    plan = _plan(_facts())
    text = "\n".join(line for step in plan.steps for line in wording(step.action))
    assert 'cfg.members.push({_id: 1, host: "n1:27019", priority: 0, votes: 0})' in text
    assert "configsvr: true" in text
    assert text.index("votes: 0") < text.index(".votes = 1")


def test_that_a_new_members_file_is_the_first_ones_but_for_what_is_its_own() -> None:
    told = {"storage.dbPath": "/data/db", "storage.engine": "mmapv1", "storage.mmapv1.smallFiles": True}
    more = {"net.port": 27019, "net.bindIp": "127.0.0.1,c1", "security.keyFile": "/etc/key"}
    facts = _process(
        _facts(), "c1", settings=tuple(sorted({**told, **more, "sharding.clusterRole": "configsvr"}.items()))
    )
    up = next(step for step in _plan(facts).steps if step.step_id == "n1:up")
    text = "\n".join(line.removeprefix("+ ") for line in wording(up.action) if line.startswith("+ "))
    assert settings_of(text) == {
        "storage.dbPath": "/data/db",
        "storage.engine": "wiredTiger",
        "net.port": 27019,
        "net.bindIp": "127.0.0.1,n1",
        "security.keyFile": "/etc/key",
        "replication.replSetName": "cfg",
        "sharding.clusterRole": "configsvr",
    }


def test_that_a_new_member_starts_with_its_host_where_the_first_one_does_and_not_after_an_undo() -> None:
    facts = _process(_facts(), "n1", enabled=False)
    up = next(step for step in _plan(facts).steps if step.step_id == "n1:up")
    assert "sudo systemctl enable mongod.service" in wording(up.action)
    assert up.undo is not None
    assert "sudo systemctl disable mongod.service" in wording(up.undo.action)
    for other in (_facts(), _process(_process(facts, "c1", enabled=False), "c1", enabled=False)):
        up = next(step for step in _plan(other).steps if step.step_id == "n1:up")
        assert not any("able" in line for line in wording(up.action) if "systemctl" in line)


def test_that_an_mmapv1_server_leaves_in_the_end_and_is_in_no_string() -> None:
    plan = _plan(_facts("n1", "n2", "n3", engine="mmapv1"), {**ROLLING, "new": "n1,n2,n3"})
    ids = _ids(plan)
    assert ids.index("leads") < ids.index("c1:removed") < ids.index("c1:retired")
    strings = [line for step in plan.steps for line in wording(step.action) if "sharding.configDB" in line]
    assert strings == ["+ sharding.configDB: cfg/n1:27019,n2:27019,n3:27019"] * 2


@pytest.mark.parametrize("folder", ["/", "/data", "/data/db", "/data/db/copy"])
def test_that_a_copy_which_is_not_apart_from_the_data_is_refused(folder: str) -> None:
    assert "BACKUP-ROOM" in _blocks(_facts(), {**ROLLING, "backup": folder})


def test_that_every_folder_which_a_run_makes_is_seen_to_be_new_before_anything_else() -> None:
    for inputs, made in ((ROLLING, {"/srv/copy"}), (WINDOW, {"/srv/copy", "/data/db-cfg"})):
        first = next(step for step in _plan(_facts(), inputs).steps if step.step_id == "nothing-there")
        assert isinstance(first.action, WaitFor)
        paths = {one.path for one in first.action.conditions if isinstance(one, FileAbsent)}
        assert made <= paths


def test_that_nothing_is_to_be_done_where_the_servers_are_a_set() -> None:
    facts = _facts()
    for host in SERVERS:
        facts = _server(facts, host, role="member", config="replica-set", set_name="cfg")
    for host in ROUTERS:
        facts = _server(facts, host, config_string="cfg/c1:27019,c2:27019,c3:27019")
    blocked = [one.code for one in PROCEDURE.preflight(facts, ROLLING) if one.verdict is Verdict.BLOCK]
    assert blocked == ["CONFIG-FORM"]  # no member reported its set: what they are is not known


@pytest.mark.parametrize(
    ("name", "loopback"),
    [("127.0.0.1:27019", True), ("[::1]:27019", True), ("localhost:27019", True), ("c1:27019", False)],
)
def test_that_a_name_which_means_the_reader_is_no_name_for_a_member(name: str, loopback: bool) -> None:
    assert is_loopback(name) is loopback


def test_that_a_run_locks_each_shard_as_the_cluster_that_it_is_to_an_inventory_without_the_mongos() -> None:
    for inputs in (ROLLING, WINDOW):
        assert [hosts for _, hosts in _plan(_facts(), inputs).parts] == [("m1", "m2", "m3")]


def test_that_what_is_dropped_is_called_by_the_time_of_the_plan_and_no_persons_own() -> None:
    """It is dropped before it is made, and by the undo: a database that was there before would be lost."""
    for inputs in (ROLLING, WINDOW):
        plan = _plan(_facts(), inputs)
        acts = [line for s in plan.steps for one in (s, s.undo) if one is not None for line in wording(one.action)]
        dropped = {line.partition(".runCommand")[0] for line in acts if "dropDatabase" in line}
        assert dropped == {f'db.getSiblingDB("{scratch_of(_facts())}")'}
        assert any(scratch_of(_facts()) in line for line in acts if "enableSharding" in line)
    later = replace(_facts(), at=_facts().at + 1)
    assert scratch_of(later) != scratch_of(_facts())
