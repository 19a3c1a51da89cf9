"""A real replica set with access control, a keyfile and an arbiter: who may ask what, and that nothing is made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.__main__ import main
from services.discovery.families.mongodb.kind import REPLICA_SET
from services.discovery.judgement import states
from services.discovery.model import ClusterSnapshot
from services.types import Health
from tests.lab.estate.estate import Estate
from tests.lab.mysql.watching import becomes, watched


def _inventory(estate: Estate, tmp_path: Path, **changed: str) -> str:
    text = (estate.client_dir / "inventory-all.toml").read_text(encoding="utf-8")
    for old, new in changed.items():
        assert old in text
        text = text.replace(f'"{old}"', f'"{new}"')
    file = tmp_path / "inventory.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_that_the_watching_account_sees_the_set_and_an_arbiter_is_known_by_its_greeting(
    mongo_auth_estate: Estate, tmp_path: Path
) -> None:
    with watched(mongo_auth_estate, tmp_path) as watcher:

        def cluster() -> ClusterSnapshot:
            return next(c for c in watcher.snapshot().clusters if c.kind == REPLICA_SET)

        def whole() -> bool:
            nodes = [n for c in watcher.snapshot().clusters for n in c.nodes if n.host]
            return {n.name.partition(":")[0]: (n.code, n.health) for n in nodes} == {
                "d1": ("mongodb-primary", Health.GOOD),
                "d2": ("mongodb-secondary", Health.GOOD),
                "a1": ("mongodb-arbiter", Health.GOOD),
            }

        becomes(whole, limit_s=30)
        assert [(c.primary, c.votes, c.votes_known) for c in cluster().components] == [(True, 3, 3)]
        assert cluster().problems == ()


def test_that_a_wrong_password_is_a_refused_login_and_nothing_is_said_of_the_set(
    mongo_auth_estate: Estate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PILOTHOUSE_LAB_OBSERVER_PASSWORD", "wrong")
    assert main(["check", "--inventory", _inventory(mongo_auth_estate, tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "MongoDB login refused" in said
    assert "PRIMARY" not in said
    assert states.LOGIN_REFUSED.over("MongoDB").word == "MongoDB login refused"


def test_that_an_account_without_rights_makes_no_state_up(
    mongo_auth_estate: Estate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inventory = _inventory(mongo_auth_estate, tmp_path, watch="blind")
    assert main(["check", "--inventory", inventory]) == 1
    said = capsys.readouterr().out
    assert "state not known" in said
    assert "The account is not authorized for this command:" in said
    assert main(["inventory", "check", "--inventory", inventory]) in {0, 1}
    assert "the set's status (needs clusterMonitor)" in capsys.readouterr().out
