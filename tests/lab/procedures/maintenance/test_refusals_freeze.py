"""What keeps a cache from being frozen on the provider that can: one real obstacle for each blocking check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.scenarios import FREEZE
from tests.lab.procedures.states.obstacles import Obstacle, Refusal, assert_refused, disk_nearly_full, nothing, setting
from tests.lab.procedures.whole import Whole

ACCEPTED = "FOREIGN-PROVIDER"
"""It blocks here always, for good reasons; the lab overrides it."""
FROZEN = setting(
    "f1",
    "wsrep_provider_options",
    "'gcache.freeze_purge_at_seqno=now'",
    "'gcache.freeze_purge_at_seqno=-1'",
)
NOT_CACHED = 10**12


def _freeze(code: str, obstacle: Obstacle, *, final: bool = False, **more: object) -> Refusal:
    return Refusal(code, obstacle, ((FREEZE.procedure, {**FREEZE.inputs, **more}),), final=final)


@contextmanager
def root_without_login(estate: Estate) -> Iterator[None]:
    """Root of the donor logs in at its server as somebody whom the server does not know."""
    estate.host("f1").sh("cat > /root/.my.cnf", stdin="[mysql]\nuser=nobody_here\n")
    try:
        yield
    finally:
        estate.host("f1").sh("rm /root/.my.cnf")


REFUSALS = (
    _freeze("GUARD-LOGIN", root_without_login, final=True),
    _freeze("FREEZE-SEEN", FROZEN),
    _freeze("FREEZE-DISK", disk_nearly_full("f1")),
    _freeze("FREEZE-SEQNO", nothing, final=True, mode="seqno", seqno=NOT_CACHED),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_that_no_cache_is_frozen_while_this_stands_in_the_way(
    freezing: Estate, freezing_console: Console, freeze_before: Whole, refusal: Refusal
) -> None:
    ((procedure, inputs),) = refusal.procedures
    more = ("--override", f"{refusal.code}=it is only a test") if refusal.final else ()
    with refusal.obstacle(freezing):
        ran = freezing_console.run(procedure, "--json", *FREEZE.more, *more, **inputs)
        assert_refused(ran, refusal.code)
        blocked = {check["code"] for check in ran.document()["checks"] if check["verdict"] == "block"}
        assert blocked == {ACCEPTED, refusal.code}
        assert freezing_console.runs() == ()
    freeze_before.assert_as_before()
