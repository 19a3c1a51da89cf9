"""Sentences in a language: what is not translated, or translated badly, is said in English."""

from __future__ import annotations

import gettext
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from services import i18n
from services.i18n import english, install, mark, tr, tr_context, tr_n
from tests.unit.app.test_boundary import RAISED, thrower

HEADER = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"


_MAGIC = b"\xde\x12\x04\x95"  # of a catalogue
BROKEN = [b"", b"no catalogue", _MAGIC, _MAGIC + b"\0\0\0\0" + b"\xff" * 20]


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    install("en")


def write_catalogue(locales: Path, language: str, sentences: Mapping[str, str]) -> None:
    """Write a .mo file as gettext's manual describes it ("The Format of GNU MO Files")."""
    entries = sorted({"": HEADER, **sentences}.items(), key=lambda pair: pair[0].encode())
    keys, values = [key.encode() for key, _ in entries], [value.encode() for _, value in entries]
    at = 28 + 16 * len(entries)
    tables, body = b"", b""
    for column in (keys, values):
        for text in column:
            tables += struct.pack("<II", len(text), at + len(body))
            body += text + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0)
    file = locales / language / "LC_MESSAGES" / "pilothouse.mo"
    file.parent.mkdir(parents=True)
    file.write_bytes(head + tables + body)


def test_that_without_a_catalogue_a_sentence_is_its_english_and_nothing_is_loaded(tmp_path: Path) -> None:
    assert install("en") == "en"
    assert tr("{host} left", host="db1") == "db1 left"
    assert tr("A brace { stays") == "A brace { stays"
    assert tr_n("{n} host", "{n} hosts", 1) == "1 host"
    assert tr_n("{n} host", "{n} hosts", 2000, n="2,000") == "2,000 hosts"
    assert type(tr("Topology")) is str


def test_that_a_sentence_is_translated_and_its_english_can_be_had_back(tmp_path: Path) -> None:
    sentences = {
        "{host} is {state}": "{host} ist {state}",
        "down": "aus",
        "{n} host\0{n} hosts": "{n} Rechner\0{n} Rechner alle",
        "state\x04open": "offen",
    }
    write_catalogue(tmp_path, "de", sentences)
    assert install("de_CH.UTF-8", locales=tmp_path) == "de"
    said = tr("{host} is {state}", host="db1", state=tr("down"))
    assert said == "db1 ist aus"
    assert english(said) == "db1 is down"
    assert english("as it was stored") == "as it was stored"
    assert tr_n("{n} host", "{n} hosts", 3) == "3 Rechner alle"
    assert english(tr_n("{n} host", "{n} hosts", 1)) == "1 host"
    assert tr_context("state", "open") == "offen"
    assert tr("open") == "open"
    assert tr("") == ""
    assert tr(mark("down")) == "aus"


@pytest.mark.parametrize(
    "bad",
    ["{host} fehlt", "{host} {lag} {extra}", "{host} {lag:.9f}", "{host.__class__} {lag}", "{host {lag", "{} {lag}"],
)
def test_that_a_translation_with_other_placeholders_is_said_in_english(tmp_path: Path, bad: str) -> None:
    write_catalogue(tmp_path, "de", {"{host} lags {lag}": bad})
    install("de", locales=tmp_path)
    assert tr("{host} lags {lag}", host="db1", lag="3 s") == "db1 lags 3 s"


def test_that_a_plural_may_leave_the_number_out_where_the_english_does(tmp_path: Path) -> None:
    write_catalogue(tmp_path, "de", {"One host\0{n} hosts": "Ein Rechner\0Rechner: {n}"})
    install("de", locales=tmp_path)
    assert (tr_n("One host", "{n} hosts", 1), tr_n("One host", "{n} hosts", 2)) == ("Ein Rechner", "Rechner: 2")


def test_that_the_environment_chooses_and_english_comes_first_where_it_stands_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_catalogue(tmp_path, "de", {"down": "aus"})
    for variable in ("PILOTHOUSE_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(variable, raising=False)
    assert install(locales=tmp_path) == "en"
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert install(locales=tmp_path) == "de"
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert install(locales=tmp_path) == "en"
    monkeypatch.setenv("LANGUAGE", "fr:de:en")
    assert install(locales=tmp_path) == "de"
    monkeypatch.setenv("LANGUAGE", "en_GB:de")
    assert install(locales=tmp_path) == "en"
    monkeypatch.setenv("PILOTHOUSE_LANGUAGE", "x-pseudo")
    assert install(locales=tmp_path) == i18n.PSEUDO
    assert install(["fr-FR", "de-Latn-DE", "en-US"], locales=tmp_path) == "de"  # as QLocale.uiLanguages() writes them


@pytest.mark.parametrize("asked", ["xx", "../../etc", ""])
def test_that_an_unknown_language_gives_english(tmp_path: Path, asked: str) -> None:
    assert install(asked, locales=tmp_path) == "en"
    assert tr("down") == "down"


@pytest.mark.expected_log("WARNING", "cannot be read")
@pytest.mark.parametrize("data", BROKEN)
def test_that_a_broken_catalogue_gives_english(tmp_path: Path, data: bytes) -> None:
    write_catalogue(tmp_path, "de", {})
    (tmp_path / "de" / "LC_MESSAGES" / "pilothouse.mo").write_bytes(data)
    install("de", locales=tmp_path)
    assert tr("down") == "down"


@pytest.mark.expected_log("WARNING", "cannot be read")
@pytest.mark.parametrize("raised", [one for one in RAISED if isinstance(one, Exception)])
def test_that_a_catalogue_that_raises_gives_english(
    raised: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_catalogue(tmp_path, "de", {})
    monkeypatch.setattr(gettext, "GNUTranslations", thrower(raised))
    assert install("de", locales=tmp_path) == "de"
    assert tr("down") == "down"


def test_that_the_pseudo_language_accents_every_letter_but_those_of_values_and_markup() -> None:
    install(i18n.PSEUDO)
    said = tr("<b>{host}</b> left the cluster, {lag:.1f} s", host="db1", lag=2.25)
    assert "<b>db1</b>" in said
    assert "2.2 " in said
    rest = said.replace("<b>db1</b>", "")
    assert not [letter for letter in rest if letter.isascii() and letter.isalpha()]
    assert len(tr("left the cluster again")) >= 1.3 * len("left the cluster again")
    assert english(said) == "<b>db1</b> left the cluster, 2.2 s"


def test_that_english_loads_no_catalogue_reader() -> None:
    probe = "import sys; from services import i18n; i18n.install('en'); i18n.tr('x'); print('gettext' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "False"
