"""Sentences people read, in their language: English in the code, gettext's catalogues beside it.

A sentence is its own message id: `tr("{host} left the cluster", host=name)`. In English nothing is loaded and a call
costs one `str.format`. What is stored or handed to machines stays English: `english(text)` gives that back for whatever
`tr` made (resources/docs/adr/0012-translations.md). Catalogues: resources/locale/<language>/LC_MESSAGES/pilothouse.mo
(the layout of https://docs.python.org/3/library/gettext.html).
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:  # a Protocol costs half a millisecond, and the first paint waits for it
    from typing import Protocol, Self

    class Catalogue(Protocol):
        """What answers for a language; gettext.GNUTranslations is one."""

        def gettext(self, message: str, /) -> str:
            """Return the translation, or the message itself."""

        def ngettext(self, one: str, many: str, n: int, /) -> str:
            """Return the translation in the plural form that `n` takes."""

        def pgettext(self, context: str, message: str, /) -> str:
            """Return the translation of a word that has several, told apart by its context."""


DOMAIN = "pilothouse"
PSEUDO = "x-pseudo"  # every sentence accented and longer: finds what nobody marked, and layouts that clip

_LOG = logging.getLogger(__name__)
_LOCALES = Path(__file__).parent.parent / "resources" / "locale"
_T = TypeVar("_T")
_TAG = r"[A-Za-z]{2,8}(?:_[A-Za-z0-9]{1,8})*"


class Words(str):
    """A translated sentence that still knows its English."""

    __slots__ = ("_message", "_values")
    _message: str
    _values: Mapping[str, object]

    def __new__(cls, translated: str, message: str, values: Mapping[str, object]) -> Self:
        """Keep the English `message` and its values beside the translation."""
        words = super().__new__(cls, translated)
        words._message, words._values = message, values
        return words

    @property
    def english(self) -> str:
        """The sentence as the code has it, its values filled in (translated ones in English too)."""
        values = {name: english(value) for name, value in self._values.items()}
        return self._message.format(**values) if values else self._message


_catalogue: Catalogue | None = None  # None is English; replaced whole, so that any thread may read it


def mark(text: str) -> str:
    """Return `text` as it is: marks a constant for extraction, which is translated where it is shown (`tr(NAME)`)."""
    return text


def tr(text: str, /, **values: object) -> str:
    """Return the sentence in the person's language, its {placeholders} filled with `values`.

    Without values nothing is filled in (braces stay braces). A translation whose placeholders differ from the English
    ones is not used. What is translated already stays as it is.
    """
    if _catalogue is None:
        return text.format(**values) if values else text
    if isinstance(text, Words):
        return text
    return _worded(_catalogue.gettext(text) if text else "", text, text, values)


def tr_n(one: str, many: str, n: int, /, **values: object) -> str:
    """Return `one` or `many` as the language counts `n`, which fills {n} unless `values` has another n."""
    filled = {"n": n, **values}
    if _catalogue is None:
        return (one if n == 1 else many).format(**filled)
    return _worded(_catalogue.ngettext(one, many, n), one if n == 1 else many, many, filled)


def tr_context(context: str, text: str, /, **values: object) -> str:
    """Like `tr`, for a word whose translation depends on where it stands ("open" the state, "open" the act)."""
    if _catalogue is None:
        return text.format(**values) if values else text
    return _worded(_catalogue.pgettext(context, text), text, text, values)


def english(value: _T) -> _T:
    """Return the English of a sentence `tr` made, anything else as it is: for stores, journals and machines."""
    return cast(_T, value.english) if isinstance(value, Words) else value


def stored(value: object) -> object:
    """Encode a sentence in English: `enc_hook` of whatever msgspec writes (it knows no subclass of str).

    A value that says itself what stands in a file for it is written as that.
    """
    if isinstance(value, Words):
        return value.english
    simpler: Callable[[], object] | None = getattr(value, "stored", None)
    if simpler is not None:
        return simpler()
    raise NotImplementedError(f"{type(value).__name__} cannot be stored")


def install(language: str | Iterable[str] | None = None, *, locales: Path = _LOCALES) -> str:
    """Choose the language of this process and return it ('en' when there is no catalogue of those asked for).

    Args:
        language: a tag ("de", "pt_BR"), several in order of preference, or None for what the environment says.
        locales: the folder of the catalogues.
    """
    global _catalogue  # noqa: PLW0603  (one language a process, chosen at its start)
    wanted = (language,) if isinstance(language, str) else from_environment() if language is None else language
    _catalogue = None
    for tag in wanted:
        if tag == PSEUDO:
            from services.i18n_pseudo import Pseudo

            _catalogue = Pseudo()
            return PSEUDO
        for name in _names(tag):
            if name == "en":
                return "en"
            if (file := locales / name / "LC_MESSAGES" / f"{DOMAIN}.mo").is_file():
                _catalogue = _read(file)
                return name
    return "en"


def no_translation(language: str, installed: str) -> str:
    """Return a sentence where a language was asked for and `install` gave English instead; '' where it is as asked."""
    if installed != "en" or "en" in _names(language):
        return ""
    return f"There is no translation for {language!r} (there is: {', '.join(languages())}). English is used."


def languages() -> tuple[str, ...]:
    """Return the tags of the languages there are, English first."""
    return "en", *sorted(file.parent.parent.name for file in _LOCALES.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))


def from_environment() -> tuple[str, ...]:
    """Return the languages the environment asks for, the wish most meant first (gettext(3): LANGUAGE, LC_ALL, ...)."""
    own = os.environ.get("PILOTHOUSE_LANGUAGE", "")
    if own:
        return (own,)
    for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable, ""):
            return tuple(value.split(":"))
    return ()


def _names(tag: str) -> tuple[str, ...]:
    """'de_CH.UTF-8@euro' -> ('de_CH', 'de'); 'C' and 'POSIX' are English; what is no tag gives nothing."""
    bare = re.split(r"[.@]", tag, maxsplit=1)[0].replace("-", "_")
    if bare in ("C", "POSIX"):
        return ("en",)
    if not re.fullmatch(_TAG, bare):
        return ()
    short = bare.split("_", 1)[0]
    return ("en",) if short.lower() == "en" else tuple(dict.fromkeys((bare, short)))


def _read(file: Path) -> Catalogue | None:
    from gettext import GNUTranslations

    try:
        with file.open("rb") as stream:
            return GNUTranslations(stream)
    except Exception as problem:  # noqa: BLE001 - a damaged file raises what its bytes make of it (struct.error)
        _LOG.warning("The catalogue %s cannot be read (%s); English is used.", file, problem)
        return None


def _worded(translated: str, text: str, other: str, values: Mapping[str, object]) -> str:
    """Fill in the translation, or the English `text` where its placeholders don't fit (`other` is its plural)."""
    if values:
        has, of_text, of_other = placeholders(translated), placeholders(text), placeholders(other)
        if has is None or of_text is None or of_other is None or not of_text & of_other <= has <= of_text | of_other:
            translated = text
        translated = translated.format(**values)
    return Words(translated, text, values)


@lru_cache(maxsize=4096)
def placeholders(text: str) -> frozenset[str] | None:
    """Return the placeholders of a sentence with their formats ('{lag:.1f}' gives 'lag!:.1f'), None for broken braces.

    The formats belong to them: a catalogue is another person's file and may not reach into a value ('{a.b}').
    """
    from string import Formatter

    try:
        parts = tuple(Formatter().parse(text))
    except ValueError:
        return None
    return frozenset(f"{name}!{how or ''}:{spec}" for _, name, spec, how in parts if name is not None)
