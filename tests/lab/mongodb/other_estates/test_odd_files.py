"""mongo-config-rs on real servers of 3.2 whose configuration files are written otherwise than the tests' own."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import mongodb
from tests.lab.mongodb.other_estates.changing import files_as, text_of, write
from tests.lab.mongodb.procedures.conversion import (
    MIRRORS,
    NAME,
    ROLLING,
    ROUTERS,
    WINDOW,
    hashes,
    is_a_set_of,
    is_mirrored,
    load,
    rows_are_there,
)
from tests.lab.procedures.console.steering import Console


def _flow(estate: Estate, router: str) -> str:
    head, _, _ = text_of(estate, router).partition("sharding:")
    return f"{head}sharding: {{configDB: '{mongodb.config_string(estate.spec)}'}}  # three mirrors\n"


def _folded(estate: Estate, router: str) -> str:
    head, _, _ = text_of(estate, router).partition("sharding:")
    return f"---\n{head}sharding:\n  configDB: >-\n    {mongodb.config_string(estate.spec)}\n"


def _flow_storage(text: str) -> str:
    head, _, rest = text.partition("storage:")
    storage = "{dbPath: /var/lib/mysql/db, engine: wiredTiger, wiredTiger: {engineConfig: {cacheSizeGB: 1}}}"
    return f"{head}storage: {storage}\nnet:{rest.partition('net:')[2]}"


def _odd(estate: Estate) -> dict[str, str]:
    c1, c2, c3 = (text_of(estate, host) for host in MIRRORS)
    twice = c3.replace("  engine: wiredTiger\n", "").rstrip("\n") + "\nstorage.engine: wiredTiger\n"
    return {
        "c1": c1.rstrip("\n") + "\n...\n",
        "c2": _flow_storage(c2),
        "c3": twice,
        "r1": _flow(estate, "r1"),
        "r2": _folded(estate, "r2"),
    }


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("answers", "confirm", "members"),
    [pytest.param(WINDOW, "r1", MIRRORS, id="window"), pytest.param(ROLLING, "c1", ("c1", "n1", "n2"), id="rolling")],
)
def test_that_files_of_an_odd_form_are_converted_to_the_end(
    mirrored: Estate, console: Console, answers: dict[str, str], confirm: str, members: tuple[str, ...]
) -> None:
    """Flow style, a folded value, an end of the document, a part that stands twice: no last step refuses one."""
    with files_as(mirrored, _odd(mirrored)):
        before = hashes(mirrored, "c1")
        with load(mirrored) as loads:
            ran = console.run(NAME, "--confirm", confirm, **answers)
        assert ran.code == 0, ran
        console.assert_ended(RunState.DONE, ran)
        for one in loads.values():
            rows_are_there(mirrored, one.done)
        before.pop("chunks", None)  # a mongos splits one when it likes
        is_a_set_of(mirrored, members, before)
        assert "# three mirrors" in text_of(mirrored, "r1")
        assert console.run(NAME, "--json").document()["nothing_to_do"] is True


@pytest.mark.long
@pytest.mark.timeout(600)
def test_that_a_setting_which_stands_twice_is_refused_before_anything_is_stopped(
    mirrored: Estate, console: Console
) -> None:
    """Which of two the server takes is its own affair: the checks name the file, and the line to write."""
    before = text_of(mirrored, "r1")
    string = mongodb.config_string(mirrored.spec)
    write(mirrored, "r1", f"{before}sharding.configDB: {string}\n")
    try:
        ran = console.run(NAME, "--json", "--confirm", "r1", **WINDOW)
        said = " ".join((ran.out + ran.err).split())
        assert ran.code == 1, ran
        assert "CONFIG-FILES" in said, ran
        assert "/etc/mongos.conf" in said, ran
        assert console.runs() == ()
        assert is_mirrored(mirrored)
    finally:
        write(mirrored, "r1", before)
    for router in ROUTERS:
        mongodb.wait_answers(mirrored.spec, router)
