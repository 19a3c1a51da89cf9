"""SQL to real servers: three roads, TLS verified for real, limits that hold, and coming back by itself."""

from __future__ import annotations

import contextlib
import ssl
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from services.connections.host import HostSession
from services.connections.tls import known_certificates
from services.connections.tls.known_certificates import accept_certificate, fingerprint
from services.errors import (
    AuthFailed,
    CertificateChanged,
    CertificateUnknown,
    QueryFailed,
    TimedOut,
    TlsFailed,
    TlsMissing,
    Unreachable,
)
from services.workstation.data_place import kept_in
from tests.lab.connections.connecting import WRONG, entry, free_session, with_sql
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import on_this_machine

HOST = "n3"
ROADS = ("direct", "tunnel", "socket")
USER = "SELECT CURRENT_USER()"


def back_again(made: HostSession, limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while True:
        with contextlib.suppress(Unreachable):
            assert made.query(USER).rows == (("observer@%",),)
            return
        assert time.monotonic() < deadline, "the session did not come back"
        time.sleep(0.2)


# ------------------------------------------------------------------------------------------------ roads
@pytest.mark.parametrize("via", ROADS)
@pytest.mark.parametrize("tls", ["off", "required", "verify", "verify-ca", "verify-identity"])
def test_that_every_road_with_every_tls_mode_answers_queries_and_status(
    galera_estate: Estate, via: str, tls: str
) -> None:
    with free_session(galera_estate, with_sql(entry(galera_estate, HOST), via=via, tls=tls)) as made:
        assert made.query(USER).rows == (("observer@%",),)
        status = made.status()
        assert len(status) > 400
        assert status["wsrep_cluster_size"] == "3"
        encrypted = made.query("SHOW SESSION STATUS LIKE 'Ssl_version'").pairs()["Ssl_version"]
        assert bool(encrypted) is (tls != "off" and not (via == "socket" and tls in {"required", "verify"}))


def test_that_the_fast_status_is_what_a_plain_query_gives(galera_estate: Estate) -> None:
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
        plain = made.query("SHOW GLOBAL STATUS").pairs()
        for _ in range(5):
            fast = made.status()
            assert fast.keys() == plain.keys()
        fixed = [name for name in plain if name.startswith(("wsrep_local_state", "wsrep_provider", "Rsa_"))]
        assert {name: fast[name] for name in fixed} == {name: plain[name] for name in fixed}


def test_that_a_tunnel_opens_no_listening_port_here(galera_estate: Estate) -> None:
    argv = ["ss", "-Hltn"]
    before = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=10).stdout.count("127.0.0.1")
    with free_session(galera_estate, with_sql(entry(galera_estate, HOST), via="tunnel")) as made:
        made.status()
        now = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=10).stdout.count("127.0.0.1")
    assert now <= before


def test_that_the_ssh_session_outlives_the_sql_session_it_carries(galera: Estate) -> None:
    with free_session(galera, with_sql(entry(galera, HOST), via="tunnel")) as made:
        made.status()
        first = galera.host(HOST).sh("pgrep -c -u dba sshd").out
        galera.sql(HOST, "KILL USER observer")
        with pytest.raises(Unreachable):
            made.status()
        back_again(made)
        assert galera.host(HOST).sh("pgrep -c -u dba sshd").out == first


# ------------------------------------------------------------------------------------------------ TLS
def test_that_another_authority_is_refused_and_no_password_was_sent(galera_estate: Estate, tmp_path: Path) -> None:
    stranger = tmp_path / "ca.pem"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        [*make, "-days", "1", "-subj", "/CN=stranger", "-keyout", str(tmp_path / "k"), "-out", str(stranger)],
        check=True,
        capture_output=True,
        timeout=30,
    )
    for via in ("direct", "tunnel"):
        host = with_sql(entry(galera_estate, HOST), tls="verify-ca", ca=str(stranger), via=via)
        with free_session(galera_estate, host) as made, pytest.raises(TlsFailed, match="is not accepted") as caught:
            made.status()
        assert caught.value.safe == "No password was sent."


@pytest.mark.parametrize("via", ["direct", "tunnel"])
def test_that_verify_identity_wants_the_servers_own_name_or_address(galera_estate: Estate, via: str) -> None:
    good = with_sql(entry(galera_estate, HOST), tls="verify-identity", via=via)
    with free_session(galera_estate, good) as made:
        made.status()
    # n2's certificate is for n2; we say that we meant n3 by reaching n2 under a name of n3.
    config = galera_estate.client_dir / "verify_config"
    other, meant = galera_estate.addresses["n2"], galera_estate.addresses[HOST]
    if via == "tunnel":
        config.write_text(f"Host {meant}\n  HostName {other}\n", encoding="utf-8")
        host = with_sql(entry(galera_estate, HOST, config=str(config)), tls="verify-identity", via="tunnel")
    else:
        host = with_sql(replace(entry(galera_estate, "n2"), address=f"::ffff:{other}"), tls="verify-identity")
    try:
        with (
            free_session(galera_estate, host) as made,
            pytest.raises(TlsFailed, match=r"mismatch|not valid for") as caught,
        ):
            made.status()
        assert any("verify-ca" in advice for advice in caught.value.try_)
    finally:
        config.unlink(missing_ok=True)


def test_that_a_certificate_of_the_labs_own_authority_is_asked_about_and_accepted_for_that_server_only(
    galera_estate: Estate, tmp_path: Path
) -> None:
    hosts = {name: with_sql(entry(galera_estate, name), ca=None) for name in (HOST, "n2")}
    with kept_in(tmp_path):  # tests of the lab have the real home
        with free_session(galera_estate, hosts[HOST]) as made:
            with pytest.raises(CertificateUnknown) as caught:
                made.status()
            file = galera_estate.host(HOST).sh("cat /etc/mysql/tls/server.pem").out
            assert caught.value.fingerprint == fingerprint(ssl.PEM_cert_to_DER_cert(file))
            accept_certificate(caught.value)
            made.try_now()
            assert made.query(USER).rows == (("observer@%",),)
        with free_session(galera_estate, hosts["n2"]) as made, pytest.raises(CertificateUnknown):
            made.status()
        pinned = known_certificates.place()
        pinned.write_text(pinned.read_text().replace(f"{hosts[HOST].address}:", f"{hosts['n2'].address}:"))
        with free_session(galera_estate, hosts["n2"]) as made, pytest.raises(CertificateChanged):
            made.status()


def test_that_a_server_without_tls_is_refused_where_verification_is_asked_for(replication: Estate) -> None:
    # skip-ssl is a start option: the server is started once more without it by the fixture's undo
    host = replication.host("r1")
    host.sh("printf '[mysqld]\\nskip_ssl\\n' > /etc/mysql/mariadb.conf.d/99-notls.cnf && systemctl restart mariadb")
    try:
        base = entry(replication, "r1")
        with (
            free_session(replication, with_sql(base, tls="verify-ca")) as made,
            pytest.raises(TlsFailed, match="no TLS"),
        ):
            made.status()
        for given in ({"tls": "verify"}, {"tls": "verify", "ca": None}, {"tls": "required"}):
            with free_session(replication, with_sql(base, **given)) as made, pytest.raises(TlsMissing):
                made.status()
        for given in ({"tls": "off"}, {"via": "tunnel"}, {"via": "socket"}):  # what its sentence says
            with free_session(replication, with_sql(base, **given)) as made:
                assert made.query(USER).rows
    finally:
        host.sh("rm /etc/mysql/mariadb.conf.d/99-notls.cnf && systemctl restart mariadb")


# ------------------------------------------------------------------------------------------------ the session
def test_that_the_session_is_read_only_plain_and_bounded(galera_estate: Estate) -> None:
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
        values = made.query(
            "SELECT @@tx_read_only, @@sql_mode, @@autocommit, @@wsrep_sync_wait, @@wsrep_dirty_reads,"
            " @@character_set_results, @@max_statement_time",
            limit_s=2.0,
        ).rows[0]
        assert values[:6] == (1, "", 1, 0, 1, "utf8mb4")
        assert values[6] == pytest.approx(1.8)


def test_that_even_a_mighty_account_can_write_nothing_through_the_session(galera_estate: Estate) -> None:
    # The allow-list is stepped around on purpose: this is the net below it.
    from services.connections.sql.session import SqlLink
    from services.secrets import SecretRef
    from tests.lab.connections.connecting import LIMITS, vault
    from tests.lab.estate.vault import VARIABLES

    pilot = with_sql(entry(galera_estate, HOST), user="pilot", password=SecretRef("env", VARIABLES["pilot"]))
    link = SqlLink.open(pilot, vault(galera_estate), None, limits=LIMITS, limit_s=5.0)
    try:
        for statement in ("CREATE TABLE sbtest.x (a INT)", "INSERT INTO mysql.gtid_slave_pos VALUES (9,9,9,9)"):
            with pytest.raises(QueryFailed) as caught:
                link.query(statement, limit_s=5.0)
            assert caught.value.errno == 1792  # ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
        with pytest.raises(QueryFailed) as caught:
            link.query("SELECT 1; SELECT 2", limit_s=5.0)
        assert caught.value.errno == 1064
    finally:
        link.close()


def test_that_a_statement_over_its_limit_is_ended_by_the_server_and_the_session_goes_on(galera_estate: Estate) -> None:
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
        number = made.query("SELECT CONNECTION_ID()").rows
        heavy = (
            "SELECT COUNT(*) FROM information_schema.COLLATIONS a, information_schema.COLLATIONS b,"
            " information_schema.COLLATIONS c, information_schema.COLLATIONS d"
        )
        started = time.monotonic()
        with pytest.raises(TimedOut, match="stopped by the server"):
            made.query(heavy, limit_s=1.0)
        assert time.monotonic() - started < on_this_machine(2.0)
        assert made.query("SELECT CONNECTION_ID()").rows == number


def test_that_a_wrong_password_is_told_and_not_tried_again_at_once(galera_estate: Estate) -> None:
    with free_session(galera_estate, with_sql(entry(galera_estate, HOST), password=WRONG)) as made:
        with pytest.raises(AuthFailed, match="refused the login of observer"):
            made.status()
        denied = galera_estate.sql(HOST, "SHOW GLOBAL STATUS LIKE 'Access_denied_errors'")[0][1]
        with pytest.raises(AuthFailed):
            made.status()
        assert galera_estate.sql(HOST, "SHOW GLOBAL STATUS LIKE 'Access_denied_errors'")[0][1] == denied


def test_that_a_statement_the_server_refuses_is_told_with_the_servers_number_and_the_session_goes_on(
    galera_estate: Estate,
) -> None:
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
        with pytest.raises(QueryFailed, match="Unknown column") as caught:
            made.query("SELECT nope FROM information_schema.GLOBAL_STATUS")
        assert caught.value.errno == 1054
        assert made.query(USER).rows


# ------------------------------------------------------------------------------------------------ faults
@pytest.fixture
def paused(galera: Estate) -> Iterator[Estate]:
    yield galera
    galera.resume(HOST)


@pytest.mark.parametrize("via", ["direct", "tunnel"])
def test_that_a_paused_server_times_out_within_the_limit_and_answers_when_it_goes_on(paused: Estate, via: str) -> None:
    with free_session(paused, with_sql(entry(paused, HOST), via=via)) as made:
        made.status()
        paused.pause(HOST)
        started = time.monotonic()
        with pytest.raises(TimedOut, match="did not answer within 1 s"):
            made.status(limit_s=1.0)
        assert time.monotonic() - started < on_this_machine(1.5)
        started = time.monotonic()
        with pytest.raises(Unreachable):  # the kernel takes the connection, the server never greets
            made.status(limit_s=1.0)
        assert time.monotonic() - started < on_this_machine(3.0)
        paused.resume(HOST)
        back_again(made)


def test_that_closing_a_session_ends_a_call_to_a_paused_server_and_other_hosts_do_not_notice(paused: Estate) -> None:
    with (
        free_session(paused, entry(paused, HOST)) as hung,
        free_session(paused, entry(paused, "n1")) as fine,
        ThreadPoolExecutor(2) as pool,
    ):
        hung.status()
        paused.pause(HOST)
        late = pool.submit(hung.status, limit_s=60.0)
        started = time.monotonic()
        assert len(pool.submit(fine.status, limit_s=5.0).result(6)) > 400
        assert time.monotonic() - started < on_this_machine(1.0)
        assert not late.done()
        hung.close()
        with pytest.raises(Unreachable):
            late.result(2)
        assert time.monotonic() - started < on_this_machine(3.0)
        paused.resume(HOST)


@pytest.mark.parametrize("via", ROADS)
def test_that_the_session_comes_back_after_the_server_was_restarted(replication: Estate, via: str) -> None:
    with free_session(replication, with_sql(entry(replication, "r1"), via=via)) as made:
        made.status()
        replication.stop("r1")
        for _ in range(3):
            with pytest.raises(Unreachable):
                made.status(limit_s=2.0)
        replication.start("r1")
        back_again(made)
        assert int(made.status()["Uptime"]) < 60


def test_that_a_node_without_a_primary_component_still_answers_status_and_selects(galera: Estate) -> None:
    with free_session(galera, entry(galera, HOST)) as made:
        made.status()
        galera.partition([HOST])
        deadline = time.monotonic() + 30
        while made.status()["wsrep_cluster_status"] == "Primary":
            assert time.monotonic() < deadline
            time.sleep(0.5)
        assert made.query("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS LIMIT 1").rows
        assert made.query("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'").pairs() == {"wsrep_on": "ON"}
        galera.heal()
    with free_session(galera, entry(galera, HOST)) as fresh:  # logging in works there as well
        assert fresh.status()
