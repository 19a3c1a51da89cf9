"""Names that a person takes for each other are refused when an inventory is read, with one sentence that names both."""

from __future__ import annotations

import json

import pytest

from services.errors import BadInput
from services.inventory.imports import ImportReport, vetted
from services.inventory.lookalikes import skeleton
from services.inventory.model import HostEntry, Inventory
from services.inventory.toml_file import parse_inventory


def inventory(*names: str, clusters: tuple[str, ...] = ()) -> str:
    hosts = "".join(f'[[host]]\nname = {json.dumps(n)}\naddress = "10.0.0.1"\n' for n in names)
    groups = "".join(f"[[cluster]]\nname = {json.dumps(n)}\nseeds = [{json.dumps(names[0])}]\n" for n in clusters)
    return f"version = 1\n{groups}{hosts}"


def fault(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        parse_inventory(text, "inventory.toml")
    return str(caught.value)


ALIKE = ["DB1", "db1.", "d\u04311", "\uff44\uff421", "\u0501b1", "d\u03b21", "db\u00b9"]


@pytest.mark.parametrize("other", ALIKE)
def test_that_two_hosts_whose_names_look_alike_are_refused_together(other: str) -> None:
    told = fault(inventory("db1", other))
    assert 'the host names "db1" and "' in told
    assert '" look alike and could be confused; rename one.' in told
    assert other.isascii() or f"[U+{ord(next(c for c in other if not c.isascii())):04X}]" in told


def test_that_a_turkish_i_is_an_i() -> None:
    for other in ("d\u0131sk1", "D\u0130SK1"):
        assert "look alike" in fault(inventory("disk1", other))


def test_that_clusters_whose_names_look_alike_are_refused() -> None:
    told = fault(inventory("db1", clusters=("orders", "Orders")))
    assert 'the cluster names "orders" and "Orders" look alike' in told


@pytest.mark.parametrize("name", [" db1", "db1 ", "\u00a0db1", "db1\u200b", "d\u00adb1", "db1\u202e", "db\ufeff1"])
def test_that_a_name_with_something_out_of_sight_is_refused_by_itself(name: str) -> None:
    told = fault(inventory(name))
    assert "must not begin or end with a space, nor contain invisible characters" in told


def test_that_seven_hosts_that_look_like_one_are_all_told_at_once() -> None:
    told = fault(inventory("db1", "DB1", "db1.", "d\u04311", "d\u00df1", " db1", "db1\u200b"))
    assert (told.count("look alike"), told.count("invisible characters")) == (3, 2)


def test_that_names_that_differ_to_the_eye_stay() -> None:
    names = ("db1", "db2", "db10", "db-1", "db1.example", "db1 (2)", "сервер-1", "сервер-2", "café", "cafe")
    read = parse_inventory(inventory(*names, clusters=("db1",)))
    assert tuple(h.name for h in read.hosts) == names
    assert isinstance(read, Inventory)


def test_that_a_skeleton_is_its_own_skeleton() -> None:
    for name in (*ALIKE, "D\u0130SK.. .", "\u1e9e", "\ufb01x", "а\u0301b"):
        assert skeleton(skeleton(name)) == skeleton(name)


def test_that_an_import_leaves_out_the_second_of_two_hosts_that_look_alike() -> None:
    hosts = (HostEntry("db1", "10.0.0.1"), HostEntry("DB1", "10.0.0.2"))
    report = vetted(ImportReport("x", hosts), {"DB1": "file, line 7"})
    assert [host.name for host in report.hosts] == ["db1"]
    assert len(report.problems) == 1
    assert report.problems[0].startswith(
        'file, line 7: "DB1" is left out: the host names "db1" and "DB1" look alike and could be confused;'
    )
