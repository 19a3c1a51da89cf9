"""mongo-config-rs on real servers of 3.2: both ways to their end, under load; refused, killed, resumed, taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate import database, mongodb
from tests.lab.estate.estate import Estate
from tests.lab.mongodb.by_hand import reconfigure
from tests.lab.mongodb.conversion import (
    COPY,
    MIRRORS,
    ROUTERS,
    balancer_is_on,
    documents,
    files,
    hashes,
    load,
    outside,
    spans,
)
from tests.lab.procedures.steering import KILLED, Console

NAME = "mongo-config-rs"
SAID = {"name": "csrs", "no_ddl": "yes", "no_others": "yes"}
ROLLING = {"new": "n1,n2", **SAID}
WINDOW = {"way": "window", **SAID}
_TRIAL = "pilothouse_trial"


@pytest.fixture
def mirrored(mongo_sccc: Estate) -> Iterator[Estate]:
    """The cluster with mirrored config servers; made anew where a test has converted it, or left a copy behind."""
    if not _mirrored(mongo_sccc):
        _anew(mongo_sccc)
    before = files(mongo_sccc)
    yield mongo_sccc
    if files(mongo_sccc) != before or not _mirrored(mongo_sccc):
        _anew(mongo_sccc)
    mongo_sccc.host("c3").sh(f"rm -rf {COPY} {COPY}.part {COPY}.trial")


@pytest.fixture
def console(mirrored: Estate, tmp_path: Path) -> Console:
    return Console(mirrored, tmp_path / "data")


def _anew(estate: Estate) -> None:
    estate.down()
    estate.up()


def _mirrored(estate: Estate) -> bool:
    def alone(host: str) -> bool:
        if database.pid(estate.spec, host) is None:
            return False
        said = mongodb.ask(estate.spec, host, {"isMaster": 1})
        return "setName" not in said and "configsvr" in said and not documents(estate, host, "system.replset", "local")

    return all(map(alone, MIRRORS)) and database.pid(estate.spec, "n1") is None


def _map(estate: Estate, router: str) -> str:
    return str(mongodb.ask(estate.spec, router, {"getShardMap": 1})["map"]["config"])


def _started_with(estate: Estate, router: str) -> str:
    parsed: dict[str, Any] = mongodb.ask(estate.spec, router, {"getCmdLineOpts": 1})["parsed"]
    return str(parsed["sharding"]["configDB"])


def _rows_are_there(estate: Estate, ids: list[int]) -> None:
    found = mongodb.ask(
        estate.spec, "r1", {"count": "orders", "query": {"_id": {"$in": ids}}}, database="shop", limit_s=60
    )
    assert found["n"] == len(ids)


def _is_a_set_of(estate: Estate, members: tuple[str, ...], before: dict[str, str]) -> None:
    places = ",".join(mongodb.place(estate.spec, estate.spec.host(one)) for one in members)
    maps = [_map(estate, one) for one in ROUTERS]  # one that left may stand in it for a while
    assert all(one.startswith("csrs/") and set(places.split(",")) <= set(one[5:].split(",")) for one in maps), maps
    assert [_started_with(estate, one) for one in ROUTERS] == [f"csrs/{places}"] * 2
    now = [hashes(estate, one) for one in members]
    assert now == [now[0]] * 3
    assert {name: now[0][name] for name in before} == before
    states = mongodb.states(estate.spec, members[0])
    assert sorted(states.values()) == ["PRIMARY", "SECONDARY", "SECONDARY"], states
    for one in members:
        parsed = mongodb.ask(estate.spec, one, {"getCmdLineOpts": 1})["parsed"]
        assert "configsvrMode" not in parsed["sharding"]
        assert mongodb.ask(estate.spec, one, {"serverStatus": 1})["storageEngine"]["name"] == "wiredTiger"
    assert balancer_is_on(estate)
    assert _TRIAL not in {one["_id"] for one in documents(estate, "r1", "databases")}


@pytest.mark.timeout(900)
def test_that_the_rolling_way_refuses_no_row_and_the_catalog_only_where_the_plan_says_so(
    mirrored: Estate, console: Console
) -> None:
    before = hashes(mirrored, "c1")
    with load(mirrored) as loads:
        ran = console.run(NAME, "--confirm", "c1", **ROLLING)
    assert ran.code == 0, ran
    view = console.assert_ended(RunState.DONE, ran)
    assert [one.refused for one in loads.values()] == [[], []]
    for one in loads.values():
        assert len(one.done) > 100
        _rows_are_there(mirrored, one.done)
        assert outside(one.lost, spans(view, *((f"{r}:new-string", f"{r}:new-string", 5) for r in ROUTERS))) == []
    told = spans(
        view,
        ("c3:copy-down", "c3:back", 6),
        ("c1:mirrored-set", "c1:mirrored-set", 10),
        ("c3:down", "c1:converted", 20),
    )
    refused = [when for when, _ in loads["r2"].catalog]
    assert outside(refused, told) == [], loads["r2"].catalog
    assert any(
        told[2][0] <= when <= told[2][1] for when in refused
    )  # it was read-only there, and we would have seen it
    del before["chunks"]  # a mongos splits one when it likes, also while the catalog is converted
    _is_a_set_of(mirrored, ("c1", "n1", "n2"), before)
    assert [database.pid(mirrored.spec, host) for host in ("c2", "c3")] == [None, None]
    assert mirrored.host("c3").sh(f"ls {COPY}/storage.bson").ok
    assert console.run(NAME, "--json").document()["nothing_to_do"] is True


@pytest.mark.timeout(900)
def test_that_the_way_with_a_window_leaves_the_same_metadata_on_new_folders(mirrored: Estate, console: Console) -> None:
    before = hashes(mirrored, "c1")
    ran = console.run(NAME, "--confirm", "r1", **WINDOW)
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    _is_a_set_of(mirrored, MIRRORS, before)
    for host in MIRRORS:
        assert mirrored.host(host).sh("ls /var/lib/mysql/db/storage.bson /var/lib/mysql/db-csrs/storage.bson").ok
    assert console.run(NAME, "--json").document()["nothing_to_do"] is True


_BACK = [
    pytest.param(ROLLING, "c1", "step-down=proving", id="rolling, right before the point"),
    pytest.param(ROLLING, "c1", "c1:mirrored-set=proving", id="rolling, as a mirrored set", marks=pytest.mark.long),
    pytest.param(ROLLING, "c1", "n2:add=proving", id="rolling, with new members", marks=pytest.mark.long),
    pytest.param(ROLLING, "c1", "c3:copied=acting", id="rolling, in the copy", marks=pytest.mark.long),
    pytest.param(ROLLING, "c1", "scratch-up=proving", id="rolling, with the scratch server", marks=pytest.mark.long),
    pytest.param(WINDOW, "r1", "compared-set=acting", id="window, right before the point", marks=pytest.mark.long),
    pytest.param(WINDOW, "r1", "c1:set-up=acting", id="window, on the new folder", marks=pytest.mark.long),
    pytest.param(WINDOW, "r1", "c3:add=proving", id="window, with members", marks=pytest.mark.long),
]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("answers", "confirm", "when"), _BACK)
def test_that_before_the_point_of_no_return_all_is_taken_back(
    mirrored: Estate, console: Console, answers: dict[str, str], confirm: str, when: str
) -> None:
    before, configured = hashes(mirrored, "c1"), files(mirrored)
    ran = console.killed_run(when, NAME, "--confirm", confirm, **answers)
    assert ran.code == KILLED, ran
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert files(mirrored) == configured
    assert [hashes(mirrored, host) for host in MIRRORS] == [before] * 3
    assert _mirrored(mirrored)
    assert balancer_is_on(mirrored)
    assert all("/" not in _map(mirrored, router) for router in ROUTERS)
    for host in ("n1", "n2"):
        assert mirrored.host(host).sh("ls -A /var/lib/mysql/db").out.strip() == ""
    for host in MIRRORS:
        assert not mirrored.host(host).sh("ls -d /var/lib/mysql/db-csrs", check=False).ok


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("answers", "confirm", "when"),
    [
        pytest.param(ROLLING, "c1", "c1:converted=acting", id="rolling, at the point"),
        *(pytest.param(ROLLING, "c1", n, id=f"rolling, entry {n}", marks=pytest.mark.long) for n in range(3, 150, 6)),
        *(pytest.param(WINDOW, "r1", n, id=f"window, entry {n}", marks=pytest.mark.long) for n in range(5, 150, 6)),
    ],
)
def test_that_a_run_whose_console_was_killed_ends_like_an_unbroken_one(
    mirrored: Estate, console: Console, answers: dict[str, str], confirm: str, when: int | str
) -> None:
    before = hashes(mirrored, "c1")
    ran = console.killed_run(when, NAME, "--confirm", confirm, **answers)
    if ran.code != KILLED:
        assert isinstance(when, int), ran
        assert ran.code == 0, ran  # it has fewer entries than this one
    elif console.view().state is not RunState.DONE:
        if when == "c1:converted=acting":
            refused = console("undo", console.runs()[0], "--yes")
            assert refused.code == 1, refused
            assert "point of no return" in refused.out + refused.err
        again = console("resume", console.runs()[0], "--yes", "--confirm", confirm)
        assert again.code == 0, again
    console.assert_ended(RunState.DONE)
    _is_a_set_of(mirrored, ("c1", "n1", "n2") if answers is ROLLING else MIRRORS, before)


def _refused(console: Console, code: str, **answers: str) -> None:
    ran = console.run(NAME, "--json", **{**ROLLING, **answers})
    assert ran.code == 1, ran
    assert code in ran.out + ran.err, ran
    assert console.runs() == ()


def test_that_metadata_which_differ_are_refused(mirrored: Estate, console: Console) -> None:
    row = {"insert": "tags", "documents": [{"_id": "by hand"}]}
    mongodb.ask(mirrored.spec, "c2", row, database="config")
    try:
        _refused(console, "CONFIG-SAME")
    finally:
        drop = {"delete": "tags", "deletes": [{"q": {"_id": "by hand"}, "limit": 1}]}
        mongodb.ask(mirrored.spec, "c2", drop, database="config")


def test_that_a_shard_of_the_old_protocol_is_refused(mirrored: Estate, console: Console) -> None:
    reconfigure(mirrored, lambda config: config.update(protocolVersion=0))
    try:
        _refused(console, "SHARD-PROTOCOL")
    finally:
        reconfigure(mirrored, lambda config: config.update(protocolVersion=1))


def test_that_a_mongos_with_another_string_is_refused(mirrored: Estate, console: Console) -> None:
    places = [mongodb.place(mirrored.spec, mirrored.spec.host(one)) for one in MIRRORS]
    turned = ",".join((*places[1:], places[0]))
    mirrored.host("r2").sh(
        f"cp -a /etc/mongos.conf /root/; sed -i 's|configDB:.*|configDB: {turned}|' /etc/mongos.conf"
    )
    _restarted(mirrored, "r2")
    try:
        _refused(console, "CONFIG-STRING")
    finally:
        mirrored.host("r2").sh("mv /root/mongos.conf /etc/mongos.conf")
        _restarted(mirrored, "r2")


def test_that_a_mirror_which_is_down_is_refused(mirrored: Estate, console: Console) -> None:
    mirrored.kill9("c2")
    try:
        _refused(console, "CONFIG-FORM")
    finally:
        mirrored.start("c2")
        mongodb.wait_answers(mirrored.spec, "c2")


def test_that_a_mongos_which_the_inventory_does_not_have_is_refused(
    mirrored: Estate, console: Console, tmp_path: Path
) -> None:
    text = console.inventory.read_text(encoding="utf-8")
    parts = [part for part in text.split("[[host]]") if 'name = "r2"' not in part]
    less = tmp_path / "less.toml"
    less.write_text("[[host]]".join(parts), encoding="utf-8")
    console.inventory = less
    _refused(console, "EVERY-MONGOS")


def test_that_a_mongos_of_another_version_is_refused(mirrored: Estate, console: Console) -> None:
    """No second release is at hand: the same program calls itself 3.2.3."""
    _calls_itself(mirrored, "3.2.5", "3.2.3")
    try:
        _refused(console, "CONFIG-VERSIONS")
    finally:
        _calls_itself(mirrored, "3.2.3", "3.2.5")


def _calls_itself(estate: Estate, before: str, after: str) -> None:
    database.stop(estate.spec, "r2")
    estate.host("r2").sh(f"sed -i 's/{before}/{after}/g' /usr/local/bin/mongos")
    database.start(estate.spec, "r2")
    mongodb.wait_answers(estate.spec, "r2")


@pytest.fixture
def mmapv1(mongo_sccc_estate: Estate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Estate]:
    """The cluster anew, its mirrored config servers storing by MMAPv1."""
    monkeypatch.setattr(mongodb, "MIRRORS_STORE_BY", "mmapv1")
    _anew(mongo_sccc_estate)
    yield mongo_sccc_estate
    monkeypatch.undo()
    _anew(mongo_sccc_estate)


@pytest.mark.timeout(900)
def test_that_mmapv1_is_refused_by_the_window_and_left_behind_by_the_rolling_way(
    mmapv1: Estate, tmp_path: Path
) -> None:
    console, before = Console(mmapv1, tmp_path / "data"), hashes(mmapv1, "c1")
    ran = console.run(NAME, "--json", **WINDOW)
    assert ran.code == 1, ran
    assert "CONFIG-ENGINE" in ran.out + ran.err, ran
    ran = console.run(NAME, "--confirm", "c1", **{**ROLLING, "new": "n1,n2,n3"})
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    _is_a_set_of(mmapv1, ("n1", "n2", "n3"), before)
    assert [database.pid(mmapv1.spec, host) for host in MIRRORS] == [None] * 3


def test_that_new_hosts_which_are_not_ready_are_refused(mirrored: Estate, console: Console) -> None:
    mirrored.host("n2").sh("touch /var/lib/mysql/db/somebodys")
    try:
        _refused(console, "NEW-HOSTS")
        _refused(console, "NEW-HOSTS", new="n1,n2,n3")
    finally:
        mirrored.host("n2").sh("rm /var/lib/mysql/db/somebodys")


def test_that_a_server_without_a_file_that_can_be_edited_is_refused(mirrored: Estate, console: Console) -> None:
    mirrored.host("c2").sh("cp -a /etc/mongod.conf /root/; printf 'port = 27019\\n[old]\\n' > /etc/mongod.conf")
    try:
        _refused(console, "CONFIG-FILES")
    finally:
        mirrored.host("c2").sh("mv /root/mongod.conf /etc/mongod.conf")


def test_that_nothing_begins_while_nobody_said_that_the_catalog_rests(mirrored: Estate, console: Console) -> None:
    _refused(console, "NO-DDL", no_ddl="no")


def test_that_a_copy_without_room_is_refused(mirrored: Estate, console: Console) -> None:
    mirrored.fill("c3", leave_mb=50)
    try:
        _refused(console, "BACKUP-ROOM")
    finally:
        mirrored.unfill("c3")


def test_that_a_folder_which_lies_where_the_copy_would_is_never_taken_for_one(
    mirrored: Estate, console: Console
) -> None:
    mirrored.host("c3").sh(f"mkdir {COPY}; touch {COPY}/theirs")
    ran = console.run(NAME, "--confirm", "c1", **ROLLING)
    assert ran.code == 3, ran
    console.assert_ended(RunState.UNDONE, ran)
    assert mirrored.host("c3").sh(f"ls {COPY}").out.split() == ["theirs"]
    assert balancer_is_on(mirrored)
    assert _mirrored(mirrored)


@pytest.mark.timeout(900)
def test_that_a_colleague_who_writes_into_one_mirror_stops_the_run_before_the_set(
    mirrored: Estate, console: Console
) -> None:
    """Their row is in one mirror alone: the copy, or the comparison, tells; all is taken back and their row stays."""
    with console.running("run", NAME, *_words(ROLLING), "--yes", "--confirm", "c1") as running:
        running.wait_for_step("c3:copied", "acting")
        row = {"insert": "tags", "documents": [{"_id": "theirs", "ns": "shop.orders"}]}
        mongodb.ask(mirrored.spec, "c2", row, database="config")
        ran = running.end()
    assert ran.code == 3, ran
    assert "differ in tags" in " ".join((ran.out + ran.err).split()), ran
    assert documents(mirrored, "c2", "tags") != []
    drop = {"delete": "tags", "deletes": [{"q": {"_id": "theirs"}, "limit": 1}]}
    mongodb.ask(mirrored.spec, "c2", drop, database="config")
    assert _mirrored(mirrored)
    if console.view().state is not RunState.UNDONE:
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code == 0, undone


def _words(answers: dict[str, str]) -> tuple[str, ...]:
    return tuple(word for name, value in answers.items() for word in ("--input", f"{name}={value}"))


def _restarted(estate: Estate, host: str) -> None:
    database.stop(estate.spec, host)
    database.start(estate.spec, host)
    mongodb.wait_answers(estate.spec, host)
