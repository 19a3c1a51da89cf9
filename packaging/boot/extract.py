"""The catalogues: sentences out of the sources into resources/locale/pilothouse.pot, translations compiled.

Runs in the project's own environment (Babel is a dependency of development only): `python -m boot.extract`, by the verb
`words`. The template names no lines and no dates: it changes when a sentence does, and with nothing else.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from boot.places import LOCALES, ROOT, TEMPLATE, say

# How services/i18n.py (and plural and some, which call it) is called: where the sentence, its plural and its
# context ("c") stand among the arguments.
KEYWORDS = {"tr": None, "mark": None, "tr_n": (1, 2), "tr_context": ((1, "c"), 2), "plural": (2, 3), "some": (2, 3)}
FOLDERS = ("app", "widgets", "services")
# Sentences in the data of the charts: these keys of every table.
TABLES = {"charts.toml": {"title", "subtitle", "label", "hint", "empty"}, "metrics.toml": {"title", "misleading"}}
HEADER = "# Sentences of Pilothouse, for translators (resources/docs/adr/0012-translations.md)."
_DATES = re.compile(r'^"(POT-Creation-Date|PO-Revision-Date|Generated-By|Report-Msgid-Bugs-To): .*\\n"\n', re.MULTILINE)


def template() -> Catalog:
    """Return the template of all sentences in the sources."""
    catalogue = Catalog(header_comment=HEADER, project="Pilothouse", fuzzy=False)
    for message, context in _sentences():
        catalogue.add(message, context=context)
    return catalogue


def _sentences() -> Iterator[tuple[str | tuple[str, ...], str | None]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for _line, message, _comments, context in extract_from_file("python", path, keywords=KEYWORDS):
                yield message, context
    for name, keys in TABLES.items():
        for text in _told(tomllib.loads((ROOT / "resources" / name).read_text(encoding="utf-8")), keys):
            yield text, None


def _told(table: object, keys: Iterable[str]) -> Iterator[str]:
    if isinstance(table, dict):
        for key, value in table.items():
            if key in keys and isinstance(value, str) and value:
                yield value
            else:
                yield from _told(value, keys)
    elif isinstance(table, list):
        for entry in table:
            yield from _told(entry, keys)


def as_text(catalogue: Catalog) -> str:
    """Return the catalogue as a .po file sorted by sentence, without dates."""
    out = BytesIO()
    write_po(out, catalogue, sort_output=True, no_location=True, width=120)
    return _DATES.sub("", out.getvalue().decode("utf-8"))


def brought_up_to_date(file: Path, sentences: Catalog) -> list[Message]:
    """Merge new sentences into a language's .po, compile its .mo, and return the translations that can't be used."""
    with file.open("rb") as stream:
        catalogue = read_po(stream, locale=file.parents[1].name, domain=file.stem)
    catalogue.update(sentences, no_fuzzy_matching=True)
    file.write_text(as_text(catalogue), encoding="utf-8")
    with file.with_suffix(".mo").open("wb") as compiled:
        write_mo(compiled, catalogue)
    return [message for message, _errors in catalogue.check()]


def main() -> int:
    """Write the template and bring every language up to date; 1 when a translation can't be used."""
    sentences = template()
    LOCALES.mkdir(parents=True, exist_ok=True)
    TEMPLATE.write_text(as_text(sentences), encoding="utf-8")
    say(f"{len(sentences)} sentences are in {TEMPLATE.relative_to(ROOT)}")
    unusable = 0
    for file in sorted(LOCALES.glob("*/LC_MESSAGES/*.po")):
        wrong = brought_up_to_date(file, sentences)
        unusable += len(wrong)
        say(f"{file.relative_to(ROOT)}: {'compiled' if not wrong else f'{len(wrong)} translations do not fit'}")
    return 1 if unusable else 0


if __name__ == "__main__":
    sys.exit(main())
