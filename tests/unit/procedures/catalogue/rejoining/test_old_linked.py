"""What of a stopped node's data lies elsewhere: the program on real folders, its words, and the rule of three ways."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.observer.allowlist import check_command
from services.connections.programs.folder_programs import ELSEWHERE
from services.connections.reads.commands import LIES_ELSEWHERE
from services.connections.reads.registry import command_of
from services.errors import Refused
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks.old_linked import old_linked
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.elsewhere import Elsewhere, parse_elsewhere
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.host_of import changed


def _told(folder: Path) -> tuple[str, ...] | None:
    done = subprocess.run(("bash", "-c", ELSEWHERE, "pilothouse", folder), capture_output=True, text=True, check=False)
    return parse_elsewhere(done.stdout)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "mysql"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop/orders.ibd").write_text("rows")
    return folder


def test_that_links_and_isl_files_are_told_and_the_folder_itself_where_it_is_a_link(data: Path) -> None:
    assert _told(data) == ()
    (data / "shop/far.isl").write_text("/elsewhere/shop/far.ibd")
    (data / "sales").symlink_to("/elsewhere/sales")
    assert sorted(_told(data) or ()) == [str(data / "sales"), str(data / "shop/far.isl")]
    led = data.parent / "led"
    led.symlink_to(data)
    assert _told(led) == (str(led),)
    assert _told(data.parent / "nowhere") == ()


def test_that_a_name_of_two_lines_is_one_and_of_very_many_the_first_are_told(data: Path) -> None:
    (data / "a\nend").symlink_to("/x")
    assert _told(data) == (f"{data}/a?end",)
    for number in range(40):
        (data / f"l{number}").symlink_to("/x")
    assert len(_told(data) or ()) == 20


def test_that_a_mount_inside_the_folder_is_told() -> None:
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()]
    inside = [mount for mount in mounts if mount.startswith("/dev/")]
    if not inside:
        pytest.skip("nothing is mounted below /dev here")
    assert f"a mount at {inside[0]}" in (_told(Path("/dev")) or ())


def test_that_a_search_that_did_not_end_and_found_nothing_is_not_known() -> None:
    assert parse_elsewhere("") is None
    assert parse_elsewhere("end\n") == ()
    assert parse_elsewhere("link /d/x\n") == ("/d/x",), "what was found by then counts"


@pytest.mark.parametrize("words", [(), ("search",), ("/var/../etc",), ("/d", "/e"), ("-delete",), ("relative",)])
def test_that_the_read_passes_with_one_plain_folder_alone(words: tuple[str, ...]) -> None:
    frozen = ("timeout", "30", "nice", "bash", "-c", ELSEWHERE, "pilothouse")
    check_command(command_of(LIES_ELSEWHERE.read("/var/lib/mysql", sudo=True)))
    with pytest.raises(Refused):
        check_command(Command((*frozen, *words), sudo=True))


def _facts(*, running: bool = False, found: tuple[str, ...] | None = ()) -> Facts:
    cluster = whole("n1", "n2", "n3")
    cluster.kill(cluster.hosts["n3"])
    facts = facts_of(cluster)
    hosts = tuple(changed(h, server_up=running, elsewhere_found=found) if h.host == "n3" else h for h in facts.hosts)
    return replace(facts, hosts=hosts)


def test_that_old_data_that_lie_elsewhere_are_refused_with_what_to_do() -> None:
    check = old_linked(_facts(found=("/var/lib/mysql/shop/far.isl", "a mount at /var/lib/mysql/big")).host("n3"))
    assert (check.code, check.verdict, check.absolute) == ("OLD-LINKED", Verdict.BLOCK, True)
    assert "2 links lead elsewhere: /var/lib/mysql/shop/far.isl, a mount at /var/lib/mysql/big" in check.evidence
    assert any("with its target" in sentence for sentence in check.try_)
    assert any("add-node" in sentence for sentence in check.try_)


def test_that_a_folder_that_was_not_looked_through_never_passes() -> None:
    assert old_linked(_facts().host("n3")).verdict is Verdict.PASS
    assert old_linked(_facts(found=None).host("n3")).verdict is Verdict.BLOCK
    assert old_linked(_facts(running=True, found=None).host("n3")).verdict is Verdict.WARN


@pytest.mark.parametrize("name", ["rejoin-from-incrementals", "rejoin-from-binlogs", "snapshot-node"])
def test_that_each_way_that_puts_other_data_in_place_asks_it(name: str) -> None:
    procedure = procedure_named(name)
    assert Elsewhere in procedure.about.needs
    facts = _facts(found=("/var/lib/mysql/sales",))
    checks = procedure.preflight(facts, {"joiner": "n3", "donor": "n1"})
    assert [check.verdict for check in checks if check.code == "OLD-LINKED"] == [Verdict.BLOCK]
