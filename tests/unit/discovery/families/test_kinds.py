"""Kinds of cluster are values that their families declare; files hold their words, as they always did."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest

from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.families.builtin import BUILT_IN
from services.discovery.families.galera.family import Galera
from services.discovery.families.galera.kind import GALERA
from services.discovery.families.group_replication.family import GroupReplication
from services.discovery.families.mongodb.family import MongoDb
from services.discovery.families.proxysql.family import ProxySql
from services.discovery.families.registry import registered
from services.discovery.families.replication.family import Replication
from services.discovery.families.single.family import Single
from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.errors import BadInput
from services.facts.model import GaleraFacts, GroupFacts, NodeFacts, ReplicationFacts
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.server import MongoServer
from services.types import ClusterKind

_EACH = (
    NodeFacts("db1", at=1.0),
    NodeFacts("db1", at=1.0, galera=GaleraFacts()),
    NodeFacts("db1", at=1.0, group=GroupFacts()),
    NodeFacts("db1", at=1.0, replication=ReplicationFacts()),
    NodeFacts("db1", at=1.0, mongo=MongoFacts(MongoServer())),
)
"""Of each family the part that it reads."""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("GALERA", "Galera"),
        ("ASYNC", "asynchronous replication"),
        ("SINGLE", "single server"),
        ("UNKNOWN", "replication not known"),
    ],
)
def test_that_files_of_former_releases_give_the_same_kinds(code: str, words: str) -> None:
    read = snapshot_from_json(f'{{"at":1.0,"clusters":[{{"cluster_id":"c","kind":"{words}","name":"c","at":1.0}}]}}')
    assert read.clusters[0].kind == registered().kind(words)
    assert read.clusters[0].kind.code == code
    assert f'"kind":"{words}"'.encode() in snapshot_to_json(read)


def test_that_what_a_family_declares_stands_in_the_list_of_families() -> None:
    families = (Galera(), GroupReplication(), MongoDb(), Replication(), ProxySql(), Single())
    assert [family.kinds for family in BUILT_IN] == [family.kinds for family in families]
    for listed, family in zip(BUILT_IN, families, strict=True):
        assert [listed.speaks(facts) for facts in _EACH] == [family.speaks(facts) for facts in _EACH]
        assert listed.takes.__func__ is type(family).takes, "and what is asked of it the family itself answers"


def test_that_facts_of_one_family_load_no_other() -> None:
    words = "galera=GaleraFacts(node_uuid='u', state_uuid='s', cached_downto=1), server=ServerFacts()"
    code = (
        "import sys; from services.facts.model import GaleraFacts, NodeFacts, ServerFacts;"
        "from services.discovery.snapshot import updated_estate;"
        "from services.discovery.families.registry import registered;"
        f"facts = NodeFacts('db1', at=1.0, sql_at=1.0, {words});"
        "estate = updated_estate(None, {'db1': facts}, 1.0); estate = updated_estate(estate, {'db1': facts}, 2.0);"
        "asked = registered(); assert asked.live_id(facts) and asked.lent(facts);"
        "asked.leads(facts), asked.told(facts);"
        "assert estate.clusters[0].kind.code == 'GALERA';"
        "print(*sorted(name.split('.')[3] for name in sys.modules if name.endswith('.family')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["galera"]


def test_that_a_snapshot_is_read_from_a_file_without_loading_what_judges() -> None:
    code = (
        "import sys; from services.discovery.as_json import snapshot_from_json;"
        """snapshot_from_json('{"at":1.0,"clusters":[{"cluster_id":"c","kind":"Galera","name":"c","at":1.0}]}');"""
        "print(*[name for name in sys.modules if name.endswith(('.family', '.judge', 'facts.galera'))])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


@pytest.mark.parametrize("said", ['"Paxos"', "7", "null", '["Galera"]', '{"code":"GALERA"}'])
def test_that_a_kind_which_no_family_declares_is_refused(said: str) -> None:
    with pytest.raises(BadInput):
        snapshot_from_json(f'{{"at":1.0,"clusters":[{{"cluster_id":"c","kind":{said},"name":"c","at":1.0}}]}}')


def test_that_a_copy_of_a_kind_is_no_other_kind() -> None:
    estate = copy.deepcopy(EstateSnapshot(1.0, (ClusterSnapshot("c", GALERA, "c", 1.0),)))
    assert estate.clusters[0].kind == GALERA
    assert {estate.clusters[0].kind, GALERA} == {GALERA}
    assert ClusterKind("GALERA", "another word") == GALERA != ClusterKind("SINGLE", "Galera")
