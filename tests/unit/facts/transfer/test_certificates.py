"""A pair is judged by what a host tells of it: chain, key, dates, names, and who may read what."""

from __future__ import annotations

import pytest

from services.facts.transfer.certificate_files import loaded, parse_pair
from services.facts.transfer.certificates import PairSeen, days_of, faults_of
from tests.unit.pairs import DAY, NOW, PATHS, Authority, told

CA, OTHER = Authority(), Authority("other CA")
CERT, KEY = CA.pair()


def seen(text: str) -> PairSeen:
    found = parse_pair(text, PATHS)
    assert found is not None
    return found


def codes(text: str, now: float = NOW) -> tuple[str, ...]:
    return tuple(fault.code for fault in faults_of(seen(text), now))


@pytest.mark.parametrize("how", ["spki", "ssh"])
def test_that_a_good_pair_has_no_fault_whichever_program_told_of_its_key(how: str) -> None:
    pair = seen(told(CA.pem, CERT, KEY, how=how))
    assert faults_of(pair, NOW) == ()
    assert (pair.user, pair.uid, pair.group, pair.chain[0].name, pair.ends) == (
        "mysql", 106, "mysql", "server", NOW + 100 * DAY
    )  # fmt: skip


def test_that_each_thing_that_is_wrong_has_its_code_and_blocks() -> None:
    strange = OTHER.pair()[1]
    old = CA.pair(ends=NOW - DAY)
    young = CA.pair(begins=NOW + DAY)
    same = CA.pair(name="test CA")
    good = told(CA.pem, CERT, KEY)
    for text, code in (
        (told(OTHER.pem, CERT, KEY), "chain"),
        (told(CA.pem, CERT, strange), "mismatch"),
        (told(CA.pem, *old), "expired"),
        (told(CA.pem, *young), "not-yet"),
        (told(CA.pem, *same), "same-name"),
        (told(CA.pem, CERT, KEY, mode="640"), "open"),
        (told(CA.pem, CERT, KEY, readable="closed"), "closed"),
        (good.replace("key|there|regular file", "key|there|directory"), "no-file"),
        (good[: good.index("public|")] + "public|none\n", "no-key"),
        (told("", CERT, KEY), "no-certificate"),
        (good.replace("cert|there|regular file|644|106|700|readable", "cert|absent"), "absent"),
        (good.replace("key|there|regular file|600|106|240|readable", "key|unread"), "unread"),
    ):
        found = faults_of(seen(text), NOW)
        assert [fault.code for fault in found if fault.blocks] == [code], code
        assert all(fault.sentence for fault in found)


def test_that_a_certificate_that_runs_out_within_thirty_days_is_told_and_blocks_nothing() -> None:
    text = told(CA.pem, *CA.pair(ends=NOW + 29 * DAY))
    fault = faults_of(seen(text), NOW)[0]
    assert (fault.code, fault.blocks, "expires in 29 days" in fault.sentence) == ("soon", False, True)
    assert codes(text, NOW - 2 * DAY) == ("not-yet", "not-yet")
    ending = Authority("ending", NOW + 3 * DAY)
    assert (
        "the CA certificate ending expires in 3 days"
        in faults_of(seen(told(ending.pem, *ending.pair())), NOW)[0].sentence
    )
    assert days_of(30 * 3600.0) == "30 h"


def test_that_a_chain_may_have_certificates_between_which_have_to_be_cas() -> None:
    between, no_ca = Authority("between"), Authority("no ca")
    between.certificate, no_ca.certificate = (
        loaded(_signed_by_ca(one, ca=ca))[0] for one, ca in ((between, True), (no_ca, False))
    )
    for one, wanted in ((between, ()), (no_ca, ("chain",))):
        cert, key = one.pair("own")
        chain = cert + _pem(one)
        assert codes(told(CA.pem, chain, key)) == wanted


def _signed_by_ca(one: Authority, *, ca: bool) -> str:
    from tests.unit import pairs

    made = pairs._signed(one.name, CA.name, one.key.public_key(), CA.key, NOW - DAY, NOW + 50 * DAY, ca=ca)
    return pairs._pem(made)


def _pem(one: Authority) -> str:
    from tests.unit import pairs

    return pairs._pem(one.certificate)


def test_that_the_digest_tells_pairs_apart_and_copies_alike() -> None:
    one, two = seen(told(CA.pem, CERT, KEY)), seen(told(CA.pem, *CA.pair()))
    assert one.digest == seen(told(CA.pem, CERT, KEY, mode="400")).digest
    assert one.digest != two.digest


@pytest.mark.parametrize(
    "text",
    ["", "x", "ca", "ca|there|a", "key|there|regular file|9|x|y|z", "public|spki|xyz\nca|absent", "begin|ca\n" * 9],
)
def test_that_what_is_no_answer_is_read_without_an_error_and_is_never_a_good_pair(text: str) -> None:
    pair = parse_pair(text, PATHS)
    assert pair is None or any(fault.blocks for fault in faults_of(pair, NOW))


def test_that_endless_texts_and_broken_certificates_are_bounded() -> None:
    broken = CERT.replace("MII", "AAA", 1)
    assert loaded(broken) == ()
    assert loaded(broken + CERT) == loaded(CERT + broken) == ()  # never another one in the place of the first
    assert len(loaded(CERT * 50)) <= 20
    assert loaded("-----BEGIN CERTIFICATE-----" + "A" * 400_000) == ()
