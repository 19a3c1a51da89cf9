"""A pair is made once, put by standard input, read back without its key, and never two of them on one cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.operator.files import NotRead, NotWritten
from services.connections.ports import FileSeen, Output
from services.errors import BadInput
from services.facts.transfer.certificates import faults_of
from services.procedures.conditions.galera.config.pair_sound import LocalPairSound, PairSound
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.acting_pairs import put_pair
from services.procedures.execute.made_pairs import made_pair
from services.procedures.journal.codec import decode, encode
from services.procedures.looking.local_pair import local_pair
from services.procedures.plan.actions import PutPair
from services.procedures.plan.condition import Kept
from services.procedures.plan.invariants.plans import touched
from services.procedures.plan.looks import Past
from services.procedures.plan.pair_sources import HostPair, LocalPair, MadePair
from services.procedures.plan.wording import wording
from services.secrets import Secret
from tests.unit.pairs import DAY, NOW, PATHS, Authority, told
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out

CA = Authority()
CERT, KEY = CA.pair()


class Files:
    """A changing session whose files are kept here."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.files: dict[str, tuple[str, str, str]] = {}
        self.links: set[str] = set()
        self.ran: list[str] = []

    def run(self, command: Command, *, limit_s: float = 30.0) -> Output:
        del limit_s
        self.ran.append(str(command))
        return out()

    def look_file(self, path: str, *, whole: bool = True, follow: bool = True, limit_s: float = 10.0) -> FileSeen:
        del whole, limit_s
        if path in self.links and not follow:
            raise NotRead(f"{path} is a symbolic link")
        return FileSeen(path in self.files, self.files[path][0].encode() if path in self.files else b"")

    def write_file(
        self, path: str, content: Secret, *, mode: str, owner: str, follow: bool = True, limit_s: float = 10.0
    ) -> None:
        del limit_s
        if path in self.links and not follow:
            raise NotWritten(f"{path} is a symbolic link")
        self.files[path] = (content.reveal(), mode, owner)


def _put(action: PutPair, *hosts: Files) -> None:
    known = {one.host: one for one in hosts}
    put_pair(action, known.__getitem__, hosts[0].host, NOW, lambda path, content: None)  # type: ignore[arg-type]


def test_that_a_made_pair_is_whole_valid_from_yesterday_on_and_its_key_is_for_the_server_alone() -> None:
    host = Files("n1")
    _put(PutPair(*PATHS, MadePair("orders", 90)), host)
    ca, cert, key = (host.files[path] for path in PATHS)
    assert [mode for _, mode, _ in (ca, cert, key)] == ["0644", "0644", "0600"]
    assert [owner for _, _, owner in (ca, cert, key)] == ["root:root", "root:root", "mysql:mysql"]
    pair = local_pair_of(ca[0], cert[0], key[0])
    assert faults_of(pair, NOW + 59 * DAY) == ()
    assert [fault.code for fault in faults_of(pair, NOW + 91 * DAY)] == ["expired", "expired"]
    assert (pair.cas[0].name, pair.chain[0].name) == ("orders CA", "orders server")
    assert not any(word in line for line in host.ran for word in ("PRIVATE", key[0][40:60]))


def local_pair_of(ca: str, cert: str, key: str) -> object:
    from services.facts.transfer.certificate_files import parse_pair

    return parse_pair(told(ca, cert, key), PATHS)


def test_that_a_copy_is_the_same_pair_and_a_host_that_lost_it_is_told() -> None:
    one, two = Files("n1"), Files("n2")
    _put(PutPair(*PATHS, MadePair("orders", 90)), one)
    _put(PutPair(*PATHS, HostPair("n1")), two, one)
    assert one.files == two.files
    one.files.clear()
    with pytest.raises(ActFailed, match="is not the regular file that this run created"):
        _put(PutPair(*PATHS, HostPair("n1")), Files("n3"), one)


def test_that_what_the_servers_account_laid_there_meanwhile_is_copied_to_no_other_host() -> None:
    one, two = Files("n1"), Files("n2")
    _put(PutPair(*PATHS, MadePair("orders", 90)), one)
    one.links.add(PATHS[0])
    with pytest.raises(ActFailed, match="is not the regular file"):
        _put(PutPair(*PATHS, HostPair("n1")), two, one)
    one.links.clear()
    good = one.files[PATHS[0]]
    one.files[PATHS[0]] = ("root:hush:1:0\n", *good[1:])
    with pytest.raises(ActFailed, match="no certificate"):
        _put(PutPair(*PATHS, HostPair("n1")), two, one)
    one.files[PATHS[0]] = (f"root:hush:1:0\n{good[0]}", *good[1:])
    _put(PutPair(*PATHS, HostPair("n1")), two, one)
    assert not any("hush" in text for text, _, _ in two.files.values())
    one.files[PATHS[2]] = (CA.pair()[1], *good[1:])
    with pytest.raises(ActFailed, match="does not belong"):
        _put(PutPair(*PATHS, HostPair("n1")), Files("n3"), one)


def test_that_no_key_is_written_through_a_link() -> None:
    host = Files("n1")
    host.links.add(PATHS[2])
    with pytest.raises(ActFailed, match="symbolic link"):
        _put(PutPair(*PATHS, MadePair("orders", 90)), host)
    assert host.files == {}


def test_that_two_made_pairs_differ_and_neither_ca_can_sign_again() -> None:
    one, two = made_pair("a", 9, NOW), made_pair("a", 9, NOW)
    assert one.cert != two.cert
    assert "PRIVATE" not in one.ca + one.cert
    key = serialization.load_pem_private_key(one.key.reveal().encode(), None)
    assert key.key_size == 3072  # type: ignore[union-attr]


@pytest.mark.parametrize("source", [MadePair("a", 9), LocalPair("/a", "/b", "/c"), HostPair("n1")])
def test_that_journal_and_plan_hold_names_alone(source: MadePair | LocalPair | HostPair) -> None:
    action = PutPair(*PATHS, source)
    assert decode(PutPair, encode(action)) == action
    assert len(wording(action)) == 3
    assert touched(action) == ({"n1"} if isinstance(source, HostPair) else set())


# -- files of the workstation ------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    found = []
    for name, text in (("ca", CA.pem), ("cert", CERT), ("key", KEY)):
        path = tmp_path / f"{name}.pem"
        path.write_text(text)
        path.chmod(0o600)
        found.append(str(path))
    return found[0], found[1], found[2]


def _look(files: tuple[str, str, str], now: float = NOW) -> tuple[bool | None, str]:
    answer = Attempt(ScriptedHosts(), ManualClock(now)).look(LocalPairSound(*files), NOTHING)
    return answer.holds, answer.evidence


def test_that_good_files_are_put_as_they_are(files: tuple[str, str, str]) -> None:
    assert _look(files)[0] is True
    host = Files("n1")
    _put(PutPair(*PATHS, LocalPair(*files)), host)
    assert [host.files[path][0] for path in PATHS] == [CA.pem, CERT, KEY]


def test_that_of_a_bundle_with_its_key_only_the_certificates_go_into_files_that_others_may_read(
    files: tuple[str, str, str],
) -> None:
    for path in files[:2]:
        Path(path).write_text(f"{KEY}# my own words\n{Path(path).read_text()}")
    host = Files("n1")
    _put(PutPair(*PATHS, LocalPair(*files)), host)
    assert [host.files[path][0] for path in PATHS] == [CA.pem, CERT, KEY]


def test_that_bad_files_are_refused_each_with_its_sentence_and_nothing_is_sent(files: tuple[str, str, str]) -> None:
    ca, cert, key = map(Path, files)
    expired, its = CA.pair(ends=NOW - DAY)
    host = Files("n1")
    for change, sentence in (
        (lambda: ca.write_text(Authority("x").pem), "is not of the CA"),
        (lambda: key.write_text(CA.pair()[1]), "does not belong"),
        (lambda: (cert.write_text(expired), key.write_text(its)), "expired"),
        (lambda: key.write_text("hush"), "no private key"),
        (lambda: key.chmod(0o644), "others than its owner"),
        (key.unlink, "No such file"),
    ):
        before = [(path, path.read_text()) for path in (ca, cert, key)]
        change()  # type: ignore[operator]
        holds, evidence = _look(files)
        assert (holds, sentence in evidence) == (False, True), (sentence, evidence)
        assert "hush" not in evidence
        with pytest.raises((ActFailed, BadInput)):
            _put(PutPair(*PATHS, LocalPair(*files)), host)
        for path, text in before:
            path.write_text(text)
        key.chmod(0o600)
    assert host.files == {}


def test_that_a_pipe_and_an_endless_file_are_no_files(tmp_path: Path, files: tuple[str, str, str]) -> None:
    big = tmp_path / "big"
    big.write_bytes(b"x" * 300_000)
    with pytest.raises(BadInput, match="too long"):
        local_pair(str(big), files[1], files[2])
    with pytest.raises(BadInput):
        local_pair(os.devnull, files[1], files[2])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadInput, match="not a plain file"):
        local_pair(files[0], files[1], str(pipe))


# -- on a host ---------------------------------------------------------------------------------------------------------


def test_that_a_pair_on_a_host_is_that_of_the_run_or_another() -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs["timeout"] = out(told(CA.pem, CERT, KEY))
    prover = Attempt(hosts, ManualClock(NOW))
    first = prover.look(PairSound("n1", *PATHS, keep="pair"), NOTHING)
    assert first.holds is True
    kept = dict(first.kept)
    assert prover.look(PairSound("n1", *PATHS, Kept("pair")), Past(kept, {})).holds is True
    hosts.sessions["n1"].programs["timeout"] = out(told(CA.pem, *CA.pair()))
    other = prover.look(PairSound("n1", *PATHS, Kept("pair")), Past(kept, {}))
    assert (other.holds, "a different pair" in other.evidence) == (False, True)
    assert prover.look(PairSound("n1", *PATHS, Kept("pair")), NOTHING).holds is False
    hosts.sessions["n1"].programs["timeout"] = out("", 1, "no sudo")
    assert prover.look(PairSound("n1", *PATHS), NOTHING).holds is None
