"""Every TLS mode against every way a server may ask for the password: who is not verified can read nothing of it."""

from __future__ import annotations

import contextlib
import itertools
import json
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.__main__ import main
from services.connections.limits import Limits
from services.connections.probe.test import AccessReport, probe_access
from services.connections.sql.mysql_wire import Account, MySqlWire
from services.connections.sql.session import SqlLink
from services.connections.tls import known_certificates
from services.connections.tls import policy as tls
from services.connections.tls.known_certificates import accept_certificate
from services.connections.tls.policy import Trust, WrongCertificate, trust_for, unverified
from services.errors import BadInput, CertificateChanged, CertificateUnknown, TlsFailed, TlsMissing, UserError
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault, SecretRef
from services.workstation import data_place
from tests.unit.connections.tls_peer import Authority, Issued, TlsPeer

PASSWORD = "geheim€ und lang genug"
LIMITS = Limits(handshake_s=60.0)
PROVEN = ("mysql_native_password", "client_ed25519")
READABLE = ("caching_sha2_password", "sha256_password", "mysql_clear_password", "dialog")
Serve = Callable[..., TlsPeer]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def certificate(authority: Authority) -> Issued:
    return authority.issue("db1.example", "127.0.0.1")


@pytest.fixture
def serve() -> Iterator[Serve]:
    made: list[TlsPeer] = []

    def start(certificate: Issued | None, **more: object) -> TlsPeer:
        made.append(TlsPeer(certificate, **more))  # type: ignore[arg-type]
        return made[-1]

    yield start
    for peer in made:
        peer.close()


@pytest.fixture
def trusting_system(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The system's authorities are the test's (OpenSSL, SSL_CTX_set_default_verify_paths: SSL_CERT_FILE)."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    tls._context.cache_clear()
    yield
    tls._context.cache_clear()


def entry(peer: TlsPeer, **access: object) -> HostEntry:
    sql = SqlAccess("obs", password=SecretRef("env", "P"), port=peer.port, **access)  # type: ignore[arg-type]
    return HostEntry("db1", "127.0.0.1", sql=sql)


def vault() -> MemoryVault:
    return MemoryVault({"env:P": PASSWORD})


def login(host: HostEntry) -> str:
    """Log in and return what proved the server ('' for nothing)."""
    link = SqlLink.open(host, vault(), None, limits=LIMITS, limit_s=3.0)
    try:
        return link.proof
    finally:
        link.close()


def looked_at(host: HostEntry) -> AccessReport:
    return probe_access(host, vault(), limits=LIMITS)


def question(host: HostEntry) -> CertificateUnknown:
    with pytest.raises(CertificateUnknown) as caught:
        login(host)
    return caught.value


# ------------------------------------------------------------------------------------------- modes and plugins
GREETS = ("mysql_native_password", "caching_sha2_password", "sha256_password", "dialog", "")


@pytest.mark.parametrize("offers", [True, False])
@pytest.mark.parametrize("mode", ["off", "required", "verify", "verify-ca", "verify-identity"])
def test_that_whoever_is_not_verified_learns_nothing(
    serve: Serve, certificate: Issued, mode: str, offers: bool
) -> None:
    peer = serve(certificate if offers else None)
    begun = mode == "off" or (mode == "required" and offers)  # to nobody else the login is begun
    for greets, plugin in itertools.product(GREETS, (*PROVEN, *READABLE, "mysql_old_password", "never_heard_of")):
        peer.greets, peer.asks, peer.encrypted = greets, plugin, False
        peer.received.clear()
        passed = False
        with contextlib.suppress(UserError):
            passed = login(entry(peer, tls=mode)) == ""
        case = f"greets {greets}, asks {plugin}"
        assert not peer.learnt(PASSWORD.encode()), case
        assert passed is (begun and plugin in PROVEN), case
        assert any(b"obs" in packet for packet in peer.received) is begun, case
        assert peer.encrypted or not (mode == "required" and offers), case


@pytest.mark.parametrize("greets", ["caching_sha2_password", "sha256_password"])
@pytest.mark.parametrize("mode", ["off", "required"])
def test_that_a_greeting_gets_no_more_than_an_answer_to_its_challenge(
    serve: Serve, certificate: Issued, mode: str, greets: str
) -> None:
    peer = serve(certificate, greets=greets, fast=True)
    assert login(entry(peer, tls=mode)) == ""
    assert not peer.learnt(PASSWORD.encode())


@pytest.mark.parametrize("plugin", READABLE)
def test_that_a_verified_server_may_ask_for_the_password(
    serve: Serve, authority: Authority, certificate: Issued, plugin: str
) -> None:
    """Also the proof that the peer above would have seen it."""
    peer = serve(certificate, asks=plugin)
    for mode in ("verify", "verify-ca", "verify-identity"):
        peer.received.clear()
        assert login(entry(peer, tls=mode, ca=str(authority.file))) == "ca"
        assert peer.learnt(PASSWORD.encode())


@pytest.mark.parametrize("plugin", ["caching_sha2_password", "sha256_password"])
def test_that_the_peer_opens_what_was_encrypted_for_its_own_key(serve: Serve, plugin: str) -> None:
    """As on a server's own socket, where nobody else could have sent it: the peer above reads such a password."""
    import socket

    peer = serve(None, asks=plugin)
    sock = socket.create_connection(("127.0.0.1", peer.port))
    wire = MySqlWire(
        sock, Account("obs", PASSWORD.encode()), server_name="db1", trust=Trust(proof="socket"), road="tunnel",
        limit_s=3.0, most=1000,
    )  # fmt: skip
    wire.close()
    assert peer.learnt(PASSWORD.encode())


def test_that_a_password_asked_for_in_the_clear_is_told_with_what_to_do(serve: Serve, certificate: Issued) -> None:
    peer = serve(certificate, asks="caching_sha2_password")
    for mode, advice in (("off", "through SSH"), ("required", 'Set tls to "verify"')):
        with pytest.raises(TlsFailed, match="cleartext password") as caught:
            login(entry(peer, tls=mode))
        assert caught.value.safe == "The password was not sent."
        assert advice in caught.value.try_[0]


# ------------------------------------------------------------------------------------------- what verifies
def test_that_the_systems_authorities_verify_name_and_chain(
    serve: Serve, authority: Authority, certificate: Issued, trusting_system: None
) -> None:
    assert login(entry(serve(certificate))) == "ca"
    stranger = serve(authority.issue("other.example"))
    assert "mismatch" in question(entry(stranger)).why
    with pytest.raises(TlsFailed, match="mismatch"):  # anybody has a certificate of some public authority
        login(entry(stranger, tls="verify-ca"))
    assert login(entry(stranger, tls="verify-ca", ca=str(authority.file))) == "ca"
    assert not stranger.learnt(PASSWORD.encode())


def test_that_a_named_authority_is_the_only_one_and_nobody_is_asked(
    serve: Serve, authority: Authority, certificate: Issued, tmp_path: Path
) -> None:
    peer = serve(certificate)
    accept_certificate(question(entry(peer)))
    other = Authority(tmp_path, "another CA")
    with pytest.raises(TlsFailed) as caught:
        login(entry(peer, ca=str(other.file)))
    assert type(caught.value) is TlsFailed
    assert login(entry(peer, ca=str(authority.file))) == "ca"


@pytest.mark.parametrize("mode", ["required", "verify", "verify-ca", "verify-identity"])
def test_that_tls_which_is_stripped_off_ends_it_before_anything_is_sent(serve: Serve, mode: str) -> None:
    peer = serve(None)
    with pytest.raises(TlsMissing, match="offers no TLS") as caught:
        login(entry(peer, tls=mode))
    assert caught.value.safe == "No password was sent."
    assert 'tls = "off"' in caught.value.try_[1]
    assert 'via = "tunnel"' in caught.value.try_[0]
    assert peer.received == []


# ------------------------------------------------------------------------------------------- accepted certificates
def test_that_an_unknown_certificate_is_asked_about_and_nobody_logged_in(serve: Serve, certificate: Issued) -> None:
    peer = serve(certificate)
    asked = question(entry(peer))
    assert asked.fingerprint == certificate.fingerprint
    assert certificate.fingerprint in asked.sentence
    assert (asked.name, asked.subject) == (f"127.0.0.1:{peer.port}", "CN=db1.example")
    assert f"--accept-certificate {certificate.fingerprint}" in asked.try_[0]
    assert not any(b"obs" in packet for packet in peer.received)
    assert not known_certificates.place().exists()


def test_that_an_accepted_certificate_is_kept_for_its_owner_only_and_proves_the_server(
    serve: Serve, certificate: Issued
) -> None:
    peer = serve(certificate, asks="mysql_clear_password")
    accept_certificate(question(entry(peer)))
    assert login(entry(peer)) == "pin"
    assert peer.learnt(PASSWORD.encode())
    file = known_certificates.place()
    assert file.read_text() == f"127.0.0.1:{peer.port} sha256 {certificate.fingerprint}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_that_a_changed_certificate_is_refused_with_both_fingerprints_and_nothing_is_sent(
    serve: Serve, authority: Authority, certificate: Issued
) -> None:
    peer = serve(certificate)
    accept_certificate(question(entry(peer)))
    other = authority.issue("db1.example", "127.0.0.1")
    peer.certificate = other
    peer.received.clear()
    with pytest.raises(CertificateChanged) as caught:
        login(entry(peer))
    assert certificate.fingerprint in caught.value.sentence
    assert other.fingerprint in caught.value.sentence
    assert f"{known_certificates.place()}:1" in caught.value.sentence
    assert not any(b"obs" in packet for packet in peer.received)
    file = known_certificates.place()
    file.write_text(file.read_text() + f"127.0.0.1:{peer.port} sha256 {other.fingerprint.lower()}\n")
    assert login(entry(peer)) == "pin"  # a person may let both stand while a certificate is renewed


def test_that_a_certificate_counts_for_the_name_it_was_accepted_for_only(serve: Serve, certificate: Issued) -> None:
    """A member that was only found is never taken for known, whatever ssh_config says of host keys."""
    peer = serve(certificate)
    config = known_certificates.place().parent / "config"
    config.parent.mkdir(parents=True)
    config.write_text("Host *\n  StrictHostKeyChecking accept-new\n")
    host = replace(entry(peer), ssh=SshAccess("dba", config=str(config)))
    accept_certificate(question(host))
    before = known_certificates.place().read_bytes()
    assert question(host.for_member("db2", "localhost")).name == f"localhost:{peer.port}"
    assert known_certificates.place().read_bytes() == before


def test_that_a_file_that_cannot_be_read_is_told_instead_of_asking_anew(serve: Serve, certificate: Issued) -> None:
    peer = serve(certificate)
    known_certificates.place().mkdir(parents=True)
    with pytest.raises(BadInput, match="cannot be read"):
        login(entry(peer))
    assert peer.received == []


def test_that_lines_which_say_nothing_are_passed_over(serve: Serve, certificate: Issued) -> None:
    peer = serve(certificate)
    file = known_certificates.place()
    file.parent.mkdir(parents=True)
    name = f"127.0.0.1:{peer.port}"
    file.write_text(f"# mine\n\n{name}\n{name} sha256 12:34\n{name} md5 {certificate.fingerprint}\n* sha256 x")
    accept_certificate(question(entry(peer)))
    assert file.read_text().endswith(f"* sha256 x\n{name} sha256 {certificate.fingerprint}\n")
    assert login(entry(peer)) == "pin"


@pytest.mark.parametrize("name", ["*:3306", "db1,db2:3306", "db1", "a b:1", "db1:3306\nevil:3306"])
def test_that_no_certificate_is_accepted_for_what_is_no_single_server(name: str, certificate: Issued) -> None:
    asked = CertificateUnknown(
        "?", host="x", fingerprint=certificate.fingerprint, name=name, subject="", why="", try_=()
    )
    with pytest.raises(BadInput, match="does not name a server"):
        accept_certificate(asked)
    assert not known_certificates.place().exists()


def test_that_the_data_folder_named_at_the_start_holds_them(tmp_path: Path) -> None:
    usual = known_certificates.place()
    with data_place.kept_in(tmp_path):
        assert known_certificates.place() == tmp_path / "known_certificates"
    assert known_certificates.place() == usual


def test_that_the_command_line_accepts_the_certificate_whose_fingerprint_it_is_given(
    serve: Serve, certificate: Issued, authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    peer = serve(certificate)
    inventory, data = tmp_path / "inventory.toml", tmp_path / "data"
    inventory.write_text(
        f'version = 1\n[[host]]\nname = "db1"\naddress = "127.0.0.1"\n[host.sql]\nuser = "obs"\nport = {peer.port}\n'
    )

    def tls_of(*accepted: str) -> tuple[str, str]:
        words = [word for shown in accepted for word in ("--accept-certificate", shown)]
        main(["inventory", "check", "--json", "--inventory", str(inventory), "--data", str(data), *words])
        steps = json.loads(capsys.readouterr().out)["steps"]
        found = next(step for step in steps if step["name"] == "tls")
        return found["state"], " ".join((found["sentence"], *found["try"]))

    state, told = tls_of()
    assert state == "failed"
    assert f"--accept-certificate {certificate.fingerprint}" in told
    assert tls_of(authority.issue("other").fingerprint)[0] == "failed"
    assert not (data / "known_certificates").exists()
    assert tls_of(certificate.fingerprint.lower())[0] == "passed"
    assert tls_of()[0] == "passed"


class Channel:
    """What an SSH channel is to the wire: it receives, sends, limits and closes, and is no socket."""

    def __init__(self, port: int) -> None:
        import socket

        self._sock = socket.create_connection(("127.0.0.1", port))
        self.recv, self.sendall = self._sock.recv, self._sock.sendall
        self.settimeout, self.makefile, self.close = self._sock.settimeout, self._sock.makefile, self._sock.close


@pytest.mark.parametrize("right", [True, False])
def test_that_a_channel_is_judged_as_a_socket_is(serve: Serve, certificate: Issued, right: bool) -> None:
    peer = serve(certificate)
    pins = (certificate.fingerprint if right else ":".join(["00"] * 32),)
    trust = Trust(unverified(), required=True, proof="pin", pins=pins)

    def connect() -> MySqlWire:
        return MySqlWire(
            Channel(peer.port), Account("obs", b"x"), server_name="db1", trust=trust, road="open", limit_s=3.0, most=99
        )

    if right:
        connect().close()
        return
    with pytest.raises(WrongCertificate, match=certificate.fingerprint):
        connect()
    assert not any(b"obs" in packet for packet in peer.received)


# ------------------------------------------------------------------------------------------- roads
def test_that_ssh_to_the_host_itself_needs_no_certificate_and_other_roads_do() -> None:
    plain = SqlAccess("obs")
    assert trust_for(plain, "tunnel").proof == "host"
    assert not trust_for(plain, "tunnel").required
    assert trust_for(plain, "tunnel", ("AB",)).proof == "pin"
    assert trust_for(plain, "socket").context is None
    assert (trust_for(plain, "open").proof, trust_for(plain, "open").required) == ("ca", True)
    assert trust_for(replace(plain, tls="off"), "open") == Trust()
    assert trust_for(replace(plain, tls="off"), "tunnel").proof == "host"
    for mode in ("verify-ca", "verify-identity"):  # said so, it is wanted inside SSH too
        assert trust_for(replace(plain, tls=mode), "tunnel").proof == "ca"  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------- the Test
def test_that_the_test_says_ok_of_what_was_verified_only(
    serve: Serve, authority: Authority, certificate: Issued
) -> None:
    def tls_step(host: HostEntry) -> tuple[str, str]:
        return next((step.state, step.sentence) for step in looked_at(host).steps if step.name == "tls")

    peer = serve(certificate)
    state, told = tls_step(entry(peer))
    assert (state, certificate.fingerprint in told) == ("failed", True)
    report = looked_at(entry(peer))
    assert report.certificate is not None
    assert not report.without_tls
    accept_certificate(report.certificate)
    for host, state, words in (
        (entry(peer), "passed", "; verified by the accepted certificate."),
        (entry(peer, ca=str(authority.file)), "passed", "its name and certificate verified by CA"),
        (entry(peer, ca=str(authority.file), tls="verify-ca"), "passed", "its certificate verified by CA"),
        (entry(peer, tls="required"), "warned", "not verified"),
        (entry(peer, tls="off"), "warned", "Not encrypted"),
    ):
        found = tls_step(host)
        assert found[0] == state
        assert words in found[1]
    bare = looked_at(entry(serve(None)))
    assert bare.without_tls
    assert not bare.ok
