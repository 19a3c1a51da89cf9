"""mongo-config-rs on real servers of 3.2: both ways to their end, under load; and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb
from tests.lab.mongodb.by_hand import reconfigure
from tests.lab.mongodb.procedures.conversion import (
    COPY,
    MIRRORS,
    NAME,
    ROLLING,
    ROUTERS,
    WINDOW,
    anew,
    as_words,
    balancer_is_on,
    documents,
    hashes,
    is_a_set_of,
    is_mirrored,
    load,
    outside,
    rows_are_there,
    spans,
)
from tests.lab.procedures.console.steering import Console


@pytest.fixture
def console(mirrored: Estate, tmp_path: Path) -> Console:
    return Console(mirrored, tmp_path / "data")


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
        rows_are_there(mirrored, one.done)
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
    is_a_set_of(mirrored, ("c1", "n1", "n2"), before)
    assert [database.pid(mirrored.spec, host) for host in ("c2", "c3")] == [None, None]
    assert mirrored.host("c3").sh(f"ls {COPY}/storage.bson").ok
    assert console.run(NAME, "--json").document()["nothing_to_do"] is True


@pytest.mark.timeout(900)
def test_that_the_way_with_a_window_leaves_the_same_metadata_on_new_folders(mirrored: Estate, console: Console) -> None:
    before = hashes(mirrored, "c1")
    ran = console.run(NAME, "--confirm", "r1", **WINDOW)
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    is_a_set_of(mirrored, MIRRORS, before)
    for host in MIRRORS:
        assert mirrored.host(host).sh("ls /var/lib/mysql/db/storage.bson /var/lib/mysql/db-csrs/storage.bson").ok
    assert console.run(NAME, "--json").document()["nothing_to_do"] is True


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
        anew(mirrored)  # not by a change: one that elected by terms before would end itself, or its primary's lead


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
    anew(mongo_sccc_estate)
    yield mongo_sccc_estate
    monkeypatch.undo()
    anew(mongo_sccc_estate)


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
    is_a_set_of(mmapv1, ("n1", "n2", "n3"), before)
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


def test_that_a_data_folder_whose_place_others_may_exchange_is_refused(mirrored: Estate, console: Console) -> None:
    folder = mirrored.host("c2").sh("awk '/dbPath:/ { print $2 }' /etc/mongod.conf").out.strip()
    place = folder.rpartition("/")[0]
    mirrored.host("c2").sh(f"chmod o+w {place}")
    try:
        _refused(console, "CONFIG-FOLDERS")
    finally:
        mirrored.host("c2").sh(f"chmod o-w {place}")


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
    ran = console.run(NAME, "--json", "--confirm", "c1", **ROLLING)
    assert ran.code == 1, ran
    assert "BACKUP-ROOM" in ran.out + ran.err, ran
    assert console.runs() == ()
    assert mirrored.host("c3").sh(f"ls {COPY}").out.split() == ["theirs"]
    assert balancer_is_on(mirrored)
    assert is_mirrored(mirrored)


@pytest.mark.timeout(900)
def test_that_a_colleague_who_writes_into_one_mirror_stops_the_run_before_the_set(
    mirrored: Estate, console: Console
) -> None:
    """Their row is in one mirror alone: the copy, or the comparison, tells; all is taken back and their row stays."""
    with console.running("run", NAME, *as_words(ROLLING), "--yes", "--confirm", "c1") as running:
        running.wait_for_step("c3:copied", "acting")
        row = {"insert": "tags", "documents": [{"_id": "theirs", "ns": "shop.orders"}]}
        mongodb.ask(mirrored.spec, "c2", row, database="config")
        ran = running.end()
    assert ran.code == 3, ran
    assert "differ in tags" in " ".join((ran.out + ran.err).split()), ran
    assert documents(mirrored, "c2", "tags") != []
    drop = {"delete": "tags", "deletes": [{"q": {"_id": "theirs"}, "limit": 1}]}
    mongodb.ask(mirrored.spec, "c2", drop, database="config")
    assert is_mirrored(mirrored)
    if console.view().state is not RunState.UNDONE:
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code == 0, undone


def _restarted(estate: Estate, host: str) -> None:
    database.stop(estate.spec, host)
    database.start(estate.spec, host)
    mongodb.wait_answers(estate.spec, host)
