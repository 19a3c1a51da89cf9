"""Estates of real hosts for the tests.

`galera_estate`, `async_estate` and `two_versions_estate` live for the whole session; `galera`, `replication` and
`two_versions` hand out the same estates whole: faults a test leaves on are undone after it. An estate that was up
before the session stays up (whole again); one that the session brought up is taken down, and nothing of it may be left.

Where the lab cannot run, its tests are skipped with the reason; with CI=true in the environment they fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.estate.host.image import not_to_be_had
from tests.lab.estate.leftovers import leftovers
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.requirements import unavailable_reason
from tests.lab.estate.servers.engine import MYSQL_RELEASE
from tests.lab.estate.spec import STEER, TRIALS
from tests.lab.sharing import fills_gaps

# Building two base images and bringing an estate up may fall into the time of the first test that asks for it.
LAB_TEST_LIMIT_S = 900
_ESTATES = (
    "galera_estate",
    "async_estate",
    "two_versions_estate",
    "steer_estate",
    "rejoin_estate",
    "freeze_estate",
    "mixed_estate",
    "mysql_estate",
    "mongo_rs_estate",
    "mongo_sccc_estate",
    "mongo_csrs_estate",
    "mongo_auth_estate",
    "mongo_keys_estate",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """Share the lab's tests out by estate, where the test command asks for groups."""
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.lab.sharing import ByEstate

    return ByEstate(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each test without a limit one that has room for an estate's making."""
    items.sort(key=lambda item: fills_gaps(item.nodeid))
    for item in items:
        estates = set(_ESTATES) & set(getattr(item, "fixturenames", ()))
        if estates and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LAB_TEST_LIMIT_S))


@pytest.fixture(scope="session")
def lab_available() -> None:
    """Skip (or fail, where CI promises a lab) when this machine cannot carry one."""
    reason = unavailable_reason()
    if reason is not None and os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"CI must run the lab, and cannot: {reason}")
    if reason is not None:
        pytest.skip(reason)


def _session_estate(name: str) -> Iterator[Estate]:
    # Two sessions that break the same estate would each see the other's faults: the second waits.
    with lab_lock(f"session-{name}", limit_s=LAB_TEST_LIMIT_S):
        yield from _held_estate(name)


def _held_estate(name: str) -> Iterator[Estate]:
    estate = Estate(name)
    was_up = estate.is_up()
    estate.up()
    if was_up:
        estate.undo()
    yield estate
    if was_up:
        estate.undo()
        return
    estate.down()
    left = leftovers((estate.spec,))
    assert left == [], f"the lab left on this machine: {left}"


@pytest.fixture(scope="session")
def galera_estate(lab_available: None) -> Iterator[Estate]:
    """Three Synced Galera members n1, n2, n3 (MariaDB 10.11) and the host `spare`."""
    yield from _session_estate("galera")


@pytest.fixture(scope="session")
def async_estate(lab_available: None) -> Iterator[Estate]:
    """A source `src` and its GTID replicas r1 and r2 (MariaDB 10.11)."""
    yield from _session_estate("async")


@pytest.fixture(scope="session")
def two_versions_estate(lab_available: None) -> Iterator[Estate]:
    """A source `old` (MariaDB 10.11, bookworm) and its replica `new` (MariaDB 11.8, trixie)."""
    yield from _session_estate("two-versions")


@pytest.fixture(scope="session")
def steer_estate(lab_available: None) -> Iterator[Estate]:
    """Three Synced Galera members s1, s2, s3 (MariaDB 10.11) and the host `new`, for procedures that change them.

    PILOTHOUSE_LAB_STEER names another estate of the same shape: sessions side by side each need one.
    """
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    yield from _session_estate(os.environ.get("PILOTHOUSE_LAB_STEER") or (STEER, *TRIALS)[process].name)


@pytest.fixture(scope="session")
def rejoin_estate(lab_available: None) -> Iterator[Estate]:
    """The same shape as the steer estate, with room for gigabytes on each host."""
    yield from _session_estate("rejoin")


@pytest.fixture(scope="session")
def freeze_estate(lab_available: None) -> Iterator[Estate]:
    """Three members f1, f2, f3 that load the provider PILOTHOUSE_LAB_GALERA names."""
    yield from _session_estate("freeze")


@pytest.fixture(scope="session")
def mixed_estate(lab_available: None) -> Iterator[Estate]:
    """One Synced member m1 (MariaDB 11.8, trixie) and the host `late` (MariaDB 10.11, bookworm)."""
    yield from _session_estate("mixed")


@pytest.fixture(scope="session")
def mysql_estate(lab_available: None) -> Iterator[Estate]:
    """A group g1, g2, g3 and a source a1 with its replicas a2 (semi-synchronous) and a3 (MySQL of Debian unstable)."""
    reason = not_to_be_had(MYSQL_RELEASE)
    if reason:
        pytest.skip(f"there is no MySQL to be had today: {reason}")
    yield from _session_estate("mysql")


@pytest.fixture(scope="session")
def mongo_rs_estate(lab_available: None) -> Iterator[Estate]:
    """A replica set of MongoDB 3.2: d1 (its preferred primary), d2, d3."""
    yield from _session_estate("mongo-rs")


@pytest.fixture(scope="session")
def mongo_sccc_estate(lab_available: None) -> Iterator[Estate]:
    """A sharded cluster: shard d1 to d3, mirrored config servers c1 to c3, mongos r1 and r2, spare hosts n1 to n3.

    PILOTHOUSE_LAB_SCCC names the other estate of the same shape: sessions side by side each need one.
    """
    yield from _session_estate(os.environ.get("PILOTHOUSE_LAB_SCCC") or "mongo-sccc")


@pytest.fixture(scope="session")
def mongo_csrs_estate(lab_available: None) -> Iterator[Estate]:
    """The same with a replica set of config servers, c1 to c3."""
    yield from _session_estate("mongo-csrs")


@pytest.fixture(scope="session")
def mongo_keys_estate(lab_available: None) -> Iterator[Estate]:
    """A sharded cluster with a keyfile and accounts: shard d1, mirrored config servers c1 to c3, mongos, n1 and n2."""
    yield from _session_estate("mongo-keys")


@pytest.fixture(scope="session")
def mongo_auth_estate(lab_available: None) -> Iterator[Estate]:
    """A replica set with access control: d1, d2 and the arbiter a1; accounts `watch`, `blind` and `pilot`."""
    yield from _session_estate("mongo-auth")


def _whole(estate: Estate) -> Iterator[Estate]:
    yield estate
    estate.load_stop()
    estate.undo()


@pytest.fixture
def galera(galera_estate: Estate) -> Iterator[Estate]:
    """The Galera estate, made whole again after the test."""
    yield from _whole(galera_estate)


@pytest.fixture
def replication(async_estate: Estate) -> Iterator[Estate]:
    """The asynchronous estate, made whole again after the test."""
    yield from _whole(async_estate)


@pytest.fixture
def two_versions(two_versions_estate: Estate) -> Iterator[Estate]:
    """The estate of two versions, made whole again after the test."""
    yield from _whole(two_versions_estate)


@pytest.fixture
def steer(steer_estate: Estate) -> Iterator[Estate]:
    """The estate for procedures, whole; faults a test leaves on are undone after it."""
    yield from _whole(steer_estate)


@pytest.fixture
def rejoining(rejoin_estate: Estate) -> Iterator[Estate]:
    """The estate with room for gigabytes, made whole again after the test."""
    yield from _whole(rejoin_estate)


@pytest.fixture
def freezing(freeze_estate: Estate) -> Iterator[Estate]:
    """The estate with the other provider, whole; faults a test leaves on are undone after it."""
    yield from _whole(freeze_estate)


@pytest.fixture
def mixed(mixed_estate: Estate) -> Iterator[Estate]:
    """The estate of a newer cluster and an older host, whole; faults a test leaves on are undone after it."""
    yield from _whole(mixed_estate)


@pytest.fixture
def mysql(mysql_estate: Estate) -> Iterator[Estate]:
    """The estate of MySQL, made whole again after the test."""
    yield from _whole(mysql_estate)


@pytest.fixture
def mongo_rs(mongo_rs_estate: Estate) -> Iterator[Estate]:
    """The replica set, made whole again after the test."""
    yield from _whole(mongo_rs_estate)


@pytest.fixture
def mongo_sccc(mongo_sccc_estate: Estate) -> Iterator[Estate]:
    """The cluster with mirrored config servers, made whole again after the test."""
    yield from _whole(mongo_sccc_estate)


@pytest.fixture(autouse=True)
def lab_secrets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables that inventory.toml refers to, for every test that uses an estate."""
    for name in _ESTATES:
        if name in request.fixturenames:
            estate: Estate = request.getfixturevalue(name)
            for variable, value in estate.environment().items():
                monkeypatch.setenv(variable, value)
