"""Passwords in logs, settings and addresses, each in the form in which an attacker's trial found it bare."""

from __future__ import annotations

import re

import pytest

from services.facts.logs import client_text, error_log
from services.facts.logs import part as log_part
from services.facts.masking import masked, masked_line

SECRET = "Pw7x"


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE TABLE t (i INT) ENGINE=FEDERATED CONNECTION='mysql://fed:{SECRET}@host/db/t'",
        f"CREATE USER u IDENTIFIED/**/BY '{SECRET}'",
        f"CREATE USER u identified /*!50000 by*/ '{SECRET}'",
        f"CREATE USER u identified # x\n by '{SECRET}'",
        f"MYSQL_PWD={SECRET} mariadb",
        f"ran mariadb '-p{SECRET}'",
        f"pwd={SECRET}",
        f"token={SECRET}",
        f"api_key={SECRET}",
        f"encrypt-key={SECRET}",
        f"SET GLOBAL wsrep_sst_auth := 'a:{SECRET}'",
        f"ssl-passphrase '{SECRET}'",
    ],
)
def test_that_no_form_of_a_secret_stays(text: str) -> None:
    assert SECRET not in masked(text)
    assert SECRET not in masked_line(text)


@pytest.mark.parametrize(
    "text", ["tcp://10.0.0.1:4567", "listening at: tcp://10.0.0.1:4568, ssl://10.0.0.2:4444", "socket=/run/x, user=app"]
)
def test_that_addresses_and_settings_without_a_secret_stay(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("module", [error_log, client_text, log_part])
def test_that_no_pattern_of_a_log_repeats_without_a_bound(module: object) -> None:
    patterns = {name: found.pattern for name, found in vars(module).items() if isinstance(found, re.Pattern)}
    assert patterns
    for name, pattern in patterns.items():
        bare = re.sub(r"\[\^?\]?[^\]]*\]|\\.", "c", re.sub(r"\((?:\?P<message>)?\.\*\)$", "", pattern))
        assert not re.search(r"[*+]", bare), (name, pattern)
