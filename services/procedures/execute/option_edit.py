"""Setting and removing options in the text of an option file: only the wanted lines change. Pure.

The grammar is that of services/option_values.py, whose reading of values, comments and white space this is; a section
may stand several times; of an option that stands several times the last wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from services.errors import BadInput
from services.i18n import tr
from services.option_values import SPACE, bytes_of, comment_at, text_of, value_of

_SECTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_LOOSE = "loose_"  # an option that the program need not know
_TO_ESCAPE = {"\n": "\\n", "\r": "\\r", "\b": "\\b", "\\": "\\\\", '"': '\\"'}
# The server reads lines through a buffer of 4096 bytes.
_MOST_LINE = 4000


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the file, with what it means.

    Attributes:
        text: a sign a byte, as the server's reader sees it, without its end; end: "\\n", "\\r\\n" or "" (the last one).
        section: the section it stands in, its own for a header, in small letters: case does not count.
        header: it begins that section.
        name: of an option, as compared; '' for any other line. value: None for an option without `=`.
    """

    text: str
    end: str
    section: str = ""
    header: bool = False
    name: str = ""
    value: str | None = None


def edit_options(text: str, section: str, options: tuple[tuple[str, str | None], ...]) -> str:
    """Return the file's text with the options of one section set, or removed where the value is None.

    An option that stands there is changed where it stands last, its comment kept; a new one comes after the section's
    last option; a new section at the end. Raises BadInput for a name, section or value no option file can hold.
    """
    if not _SECTION.fullmatch(section):
        raise BadInput(tr("An option file cannot have a section called {section}.", section=repr(section)))
    lines, section = _parsed(bytes_of(text)), section.lower()
    for name, value in options:
        _check(name, value)
        lines = _without(lines, section, name) if value is None else _with(lines, section, name, bytes_of(value))
    return text_of("".join(line.text + line.end for line in lines))


def canonical(name: str) -> str:
    """Return an option's name as names are compared: underscores, without `loose`."""
    return name.replace("-", "_").removeprefix(_LOOSE)


def option_value(value: str) -> str:
    """Return a value as it has to stand in an option file: quoted where it holds a sign of the file's own grammar."""
    signs = bytes_of(value)
    if signs == signs.strip(SPACE) and not any(sign in value for sign in "#;'\"\\\n\r\b"):
        return value
    return '"' + "".join(_TO_ESCAPE.get(sign, sign) for sign in value) + '"'


# -- reading -----------------------------------------------------------------------------------------------------------


def _parsed(text: str) -> list[_Line]:
    lines, section = [], ""
    for raw in re.findall(r"[^\n]*\n|[^\n]+\Z", text):
        end = "\r\n" if raw.endswith("\r\n") else "\n" if raw.endswith("\n") else ""
        body = raw.removesuffix(end) if end else raw
        line = _meaning(_Line(body, end, section))
        section = line.section
        lines.append(line)
    return lines


def _meaning(line: _Line) -> _Line:
    start = line.text.lstrip(SPACE)
    if not start or start[0] in "#;!":
        return line
    if start[0] == "[":
        name, closed, _ = start[1:].partition("]")
        return replace(line, section=name.rstrip(SPACE).lower(), header=True) if closed else line
    body = start[: comment_at(start)]
    name, sign, value = body.partition("=")
    shown = canonical(name.rstrip(SPACE))
    return replace(line, name=shown, value=value_of(value.strip(SPACE)) if sign else None)


# -- writing -----------------------------------------------------------------------------------------------------------


def _check(name: str, value: str | None) -> None:
    if not _NAME.fullmatch(name):
        raise BadInput(tr("An option file cannot have an option called {name}.", name=repr(name)))
    if value is not None and ("\0" in value or len(option_value(value)) > _MOST_LINE):
        raise BadInput(
            tr(
                "The value of {name} cannot be written to an option file: it is too long or contains a NUL character.",
                name=name,
            )
        )


def _written(signs: str) -> str:
    return bytes_of(option_value(text_of(signs)))


def _without(lines: list[_Line], section: str, name: str) -> list[_Line]:
    wanted = canonical(name)
    return [line for line in lines if not (line.section == section and line.name == wanted)]


def _with(lines: list[_Line], section: str, name: str, value: str) -> list[_Line]:
    wanted = canonical(name)
    places = [at for at, line in enumerate(lines) if line.section == section and line.name == wanted]
    if not places:
        return _added(lines, section, f"{name} = {_written(value)}".rstrip(), wanted, value)
    at = places[-1]
    line = lines[at]
    if line.value == value:
        return lines
    return [*lines[:at], replace(line, text=_rewritten(line.text, value), value=value), *lines[at + 1 :]]


def _rewritten(text: str, value: str) -> str:
    """Return an option's line with another value: its indentation, the name as written, blanks and comment kept."""
    lead = len(text) - len(text.lstrip(SPACE))
    cut = lead + comment_at(text[lead:])
    body, comment = text[:cut], text[cut:]
    blanks = body[len(body.rstrip(SPACE)) :]
    head, sign, old = body.partition("=")
    if not sign:
        return f"{body.rstrip(SPACE)} = {_written(value)}{blanks}{comment}"
    before = old[: len(old) - len(old.lstrip(SPACE))] if old.strip(SPACE) else ""
    return f"{head}={before}{_written(value)}{blanks if old.strip(SPACE) else old}{comment}"


def _added(lines: list[_Line], section: str, text: str, name: str, value: str) -> list[_Line]:
    end = next((line.end for line in lines if line.end), "\n")
    places = [at for at, line in enumerate(lines) if line.section == section and (line.name or line.header)]
    option = _Line(text, end, section, name=name, value=value)
    if places:
        at = places[-1]
        return [*lines[:at], _ended(lines[at], end), option, *lines[at + 1 :]]
    before = [*lines[:-1], _ended(lines[-1], end)] if lines else []
    if before and before[-1].text.strip(SPACE):
        before.append(_Line("", end, before[-1].section))
    return [*before, _Line(f"[{section}]", end, section, header=True), option]


def _ended(line: _Line, end: str) -> _Line:
    """Return the line with an end: the file's last one may have had none."""
    return line if line.end else replace(line, end=end)
