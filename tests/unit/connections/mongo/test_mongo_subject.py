"""The name that a client certificate logs in with, as accounts of $external are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.connections.mongo.subject import subject_of
from services.errors import BadInput
from tests.unit.connections.tls_peer import Authority


def test_that_it_is_the_subject_of_the_first_certificate_whatever_stands_before_it(tmp_path: Path) -> None:
    assert subject_of(str(Authority(tmp_path).issue("monitor").file)) == "CN=monitor"  # a key stands before it


@pytest.mark.parametrize("text", ["", "no certificate"])
def test_that_a_file_without_one_is_told(text: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.pem"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"mine\.pem"):
        subject_of(str(file))
