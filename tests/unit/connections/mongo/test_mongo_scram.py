"""SCRAM held against the published examples, and what a peer may not make of it."""

from __future__ import annotations

import pytest

from services.connections.mongo.scram import BadProof, Scram, ScramKind

# MongoDB driver specification "Authentication" (SCRAM-SHA-1), RFC 7677 section 3 (SCRAM-SHA-256): mechanism, the
# client's nonce, the server's first message, the client's proof, the server's.
EXAMPLES = (
    (
        "SCRAM-SHA-1",
        "fyko+d2lbbFgONRv9qkxdawL",
        "r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
        "MC2T8BvbmWRckDw8oWl5IVghwCY=",
        "UMWeI25JD1yNYZRMpZ4VHvhZ9e0=",
    ),
    (
        "SCRAM-SHA-256",
        "rOprNGfwEbeRWgbNEkqO",
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    ),
)


@pytest.mark.parametrize(("kind", "nonce", "said", "proof", "own"), EXAMPLES)
def test_that_both_mechanisms_give_the_published_proofs(
    kind: ScramKind, nonce: str, said: str, proof: str, own: str
) -> None:
    scram = Scram(kind, "user", "pencil", nonce)
    assert scram.first == f"n,,n=user,r={nonce}".encode()
    assert scram.answer(said.encode()).endswith(f",p={proof}".encode())
    scram.check(f"v={own}".encode())
    with pytest.raises(BadProof):
        scram.check(b"v=" + own.encode()[::-1])


@pytest.mark.parametrize(
    "said",
    [
        "r=other,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
        "r=nonce,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
        "r=nonceX,s=,i=10000",
        "r=nonceX,s=!!,i=10000",
        "r=nonceX,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=1",
        "r=nonceX,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=4095",
        "r=nonceX,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=999999999",
        "r=nonceX,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=\u00b2000",
        "r=nonceX,s=rQ9ZY3MntBeuP3E1TDVC4w==",
        "m=extension,r=nonceX,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
        f"r=nonce{'X' * 300},s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
        "",
    ],
)
def test_that_a_peer_that_weakens_or_stretches_the_login_gets_no_proof(said: str) -> None:
    with pytest.raises(BadProof):
        Scram("SCRAM-SHA-256", "user", "pencil", "nonce").answer(said.encode())


def test_that_bytes_which_are_no_text_get_no_proof() -> None:
    with pytest.raises(BadProof):
        Scram("SCRAM-SHA-1", "user", "pencil", "nonce").answer(b"r=nonce\xff,s=rQ9ZY3Mn,i=10000")


def test_that_a_server_is_not_believed_before_it_was_answered() -> None:
    with pytest.raises(BadProof):
        Scram("SCRAM-SHA-1", "user", "pencil", "nonce").check(b"v=")


def test_that_a_name_with_commas_and_signs_stays_one_field_and_a_password_is_prepared() -> None:
    assert Scram("SCRAM-SHA-1", "a=b,c", "x", "n").first == b"n,,n=a=3Db=2Cc,r=n"
    said = b"r=nX,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=4096"
    # Roman numeral nine is IX to SASLprep (RFC 4013, section 3).
    assert Scram("SCRAM-SHA-256", "u", "\u2168", "n").answer(said) == Scram("SCRAM-SHA-256", "u", "IX", "n").answer(
        said
    )
    with pytest.raises(BadProof):
        Scram("SCRAM-SHA-256", "u", "\u0627\u0031", "n")
