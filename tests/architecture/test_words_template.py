"""The template that translators start from holds exactly the sentences of the sources, and every catalogue fits it."""

from __future__ import annotations

from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from boot.extract import as_text, brought_up_to_date, template
from boot.places import LOCALES, TEMPLATE
from services.i18n import install, tr, tr_n


def test_that_the_template_is_fresh() -> None:
    assert TEMPLATE.read_text(encoding="utf-8") == as_text(template()), "run packaging/bootstrap.py words"


def test_that_every_catalogue_is_compiled_and_its_placeholders_fit() -> None:
    for file in LOCALES.glob("*/LC_MESSAGES/*.po"):
        with file.open("rb") as stream:
            assert not list(read_po(stream).check()), file
        assert file.with_suffix(".mo").exists(), file


def test_that_a_translator_starts_from_the_template_and_is_heard(tmp_path: Path) -> None:
    file = tmp_path / "de" / "LC_MESSAGES" / "pilothouse.po"
    file.parent.mkdir(parents=True)
    text = TEMPLATE.read_text(encoding="utf-8")
    assert 'msgid "Topology"\nmsgstr ""' in text
    file.write_text(text.replace('msgid "Topology"\nmsgstr ""', 'msgid "Topology"\nmsgstr "Anordnung"'), "utf-8")
    assert brought_up_to_date(file, template()) == []
    try:
        assert install("de", locales=tmp_path) == "de"
        assert tr("Topology") == "Anordnung"
        assert tr_n("{n} host", "{n} hosts", 2) == "2 hosts"
    finally:
        install("en")


@pytest.mark.parametrize("folder", ["app", "widgets", "services"])
def test_that_no_sentence_is_marked_after_it_was_filled_in(folder: str) -> None:
    root = LOCALES.parents[1]
    late = [
        str(path.relative_to(root))
        for path in (root / folder).rglob("*.py")
        for call in ('tr(f"', "tr(f'", 'mark(f"', 'tr_n(f"', 'tr(\n        f"')
        if call in path.read_text(encoding="utf-8")
    ]
    assert late == []
