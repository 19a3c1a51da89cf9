"""A real set with access control, of whose members the inventory does not know all: nothing is told of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.mongodb.by_hand import inventory_of, knowing
from tests.lab.procedures.console.steering import Console, Ran

ANSWERS = {"clients": "yes", "backup": "yes"}


def _knowing(estate: Estate, folder: Path, *names: str) -> Console:
    """A console whose inventory has these hosts alone, and finds no other."""
    file = inventory_of(estate, folder)
    file.write_text(knowing(file.read_text(encoding="utf-8"), *names), encoding="utf-8")
    return Console(estate, folder / "data", file)


def _refused(console: Console, ran: Ran, *words: str) -> None:
    assert ran.code == 1, ran
    for word in words:
        assert word in ran.out + ran.err, ran
    assert console.runs() == ()


def test_that_an_arbiter_that_nobody_asks_is_no_server_that_was_replaced(
    mongo_auth_estate: Estate, tmp_path: Path
) -> None:
    console = _knowing(mongo_auth_estate, tmp_path, "d1", "d2")
    ran = console.run("mongo-rolling-upgrade", "--json", version="3.2.6", **ANSWERS)
    _refused(console, ran, "EVERY-SERVER", "the arbiter 10.213.18.14:27018 was not read")


@pytest.mark.parametrize(
    ("name", "code"), [("mongo-protocol-upgrade", "EVERY-SET"), ("mongo-rolling-upgrade", "EVERY-SERVER")]
)
def test_that_a_set_of_which_an_arbiter_alone_is_asked_is_not_told_to_be_done(
    mongo_auth_estate: Estate, tmp_path: Path, name: str, code: str
) -> None:
    console = _knowing(mongo_auth_estate, tmp_path, "a1")
    inputs = {"version": "3.2.6"} if "rolling" in name else {}
    _refused(console, console.run(name, "--json", **inputs, **ANSWERS), code)


def test_that_an_arbiter_that_is_asked_from_its_own_host_is_drawn_in_its_set(
    mongo_auth_estate: Estate, tmp_path: Path
) -> None:
    console = Console(mongo_auth_estate, tmp_path / "data", inventory_of(mongo_auth_estate, tmp_path))
    ran = console("check")
    assert "ARBITER" in ran.out, ran
    assert ran.out.count("MongoDB replica set ") == 1, ran
