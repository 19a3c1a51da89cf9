"""How a node's own option files let it start decides whether a run holds its clients out."""

from __future__ import annotations

import pytest

from services.procedures.catalogue.steps.traffic import HELD_OUT_FILE, REJECT, held_out, let_in
from services.procedures.conditions.server.set_back import SetBack
from services.procedures.plan.host_facts import Facts, HostFacts
from tests.unit.procedures.host_of import host_of

ASIDE, OURS = "/var/lib/mysql.pilothouse-before", (f"/etc/mysql/conf.d/{HELD_OUT_FILE}", "")
OTHERS = ("/etc/mysql/conf.d/drained.cnf", "")


def _host(*values: str, files: tuple[tuple[str, str], ...] = ()) -> HostFacts:
    return host_of("n3", options_given=tuple(("mysqld", REJECT, value) for value in values), options_files=files)


def _facts(host: HostFacts) -> Facts:
    return Facts(at=1.0, cluster_id="u", cluster_name="c", hosts=(host,))


@pytest.mark.parametrize(
    ("host", "before"),
    [
        (_host(), "NONE"),
        (_host("NONE"), "NONE"),
        (_host("ALL", files=(OURS,)), "NONE"),  # a run that was left wrote it
        (_host("none", "ALL", files=(OTHERS, OURS)), "NONE"),
    ],
)
def test_that_clients_are_held_out_and_let_in_again(host: HostFacts, before: str) -> None:
    (out,), (back,) = held_out(_facts(host), host, ASIDE), let_in(_facts(host), host, ASIDE)
    assert out.takes is not None
    assert (out.takes.key, back.discharges) == ("held-out:n3", ("held-out:n3",))
    assert SetBack("n3", REJECT, "ALL", before) in out.takes.release_proof


@pytest.mark.parametrize("host", [_host("ALL"), _host("all_kill"), _host("ALL", "ALL", files=(OTHERS, OURS))])
def test_that_a_node_whose_own_files_refuse_clients_is_left_so(host: HostFacts) -> None:
    assert (held_out(_facts(host), host, ASIDE), let_in(_facts(host), host, ASIDE)) == ((), ())
