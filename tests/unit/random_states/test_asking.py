"""How the end of a command is read: by its document, and by the exit code that the contract gives that end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.lab.random_states.asking import Asked, Ended, read_end

ASKED = Asked("add-node", "s1", "", "")


def _read(code: int | None, document: Mapping[str, Any], err: str = "") -> Asked:
    return read_end(ASKED, Ended(code, json.dumps(document) + "\n", err))


def _run(state: str, question: str = "") -> dict[str, Any]:
    asked = {"ask": {"question": question}} if question else None
    return {"state": state, "sentence": "said", "steps": [], "question": asked}


def _refused(*codes: str, evidence: str = "") -> dict[str, Any]:
    checks = [{"code": code, "evidence": evidence} for code in codes]
    return {"refused": list(codes), "nothing_to_do": not codes, "checks": checks}


@pytest.mark.parametrize(
    ("code", "document", "end"),
    [
        (0, _run("done"), "done"),
        (3, _run("undone"), "undone"),
        (4, _run("waiting for you", "Confirm s1."), "waiting for you"),
        (1, _refused("HEALTH-GATE"), "refused"),
        (0, _refused(), "nothing to do"),
        (2, {"error": "input"}, "bad input"),
    ],
)
def test_that_an_end_with_the_code_of_the_contract_is_what_the_document_says(
    code: int, document: dict[str, Any], end: str
) -> None:
    assert _read(code, document).end == end


@pytest.mark.parametrize(
    ("code", "document"), [(0, _run("undo failed")), (1, _run("done")), (4, _refused("HISTORY")), (7, _run("done"))]
)
def test_that_a_code_that_is_not_of_the_contract_broke(code: int, document: dict[str, Any]) -> None:
    assert _read(code, document).end == "broke"


def test_that_a_traceback_broke_and_no_end_hangs() -> None:
    assert _read(0, _run("done"), "Traceback (most recent call last):").end == "broke"
    assert _read(None, {}).end == "hang"


def test_that_a_past_that_is_not_known_is_noted_from_a_refusal_and_from_a_question() -> None:
    assert _read(1, _refused("HISTORY", evidence="whether they share their past is not known")).unknown
    assert _read(4, _run("waiting for you", "whether s1 shares its history with s3 is not known")).unknown
    assert not _read(1, _refused("HISTORY", evidence="forked after seqno 3")).unknown
