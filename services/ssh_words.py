"""The words of an ssh_config: how a line is divided, what fits a pattern, what a time or a port is. Pure.

Line by line what OpenSSH does: misc.c (strdelim, argv_split, a2port, convtime), match.c (match_pattern_list).
"""

from __future__ import annotations

import re
import socket

BLANKS = " \t\r\n"
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MOST_OF_A_PATTERN = 1023
_MOST_S = 2**31 - 1


class BadLine(Exception):  # noqa: N818 - it names the line, not a breakdown
    """A line that OpenSSH refuses, or that is not known here; the text ends the sentence 'FILE, line N: ...'."""


def keyword_of(line: str) -> tuple[str, str]:
    """Return a line's first word in lower case and the rest behind blanks and one '='; '' for a line without words."""
    line = line.rstrip(BLANKS + "\f") if len(line) > 1 else line
    word, rest = _first(line)
    if word == "" and rest is not None:  # blanks before it
        word, rest = _first(rest)
    if not word or word.startswith(("\n", "#")):
        return "", ""
    return word.lower(), (rest or "").lstrip(BLANKS)


def _first(text: str) -> tuple[str, str | None]:
    """Return the word that strdelim(3) cuts off, and what is left (None: nothing). Quotes join what they enclose."""
    found = re.search(r'[ \t\r\n"=]', text)
    if found is None:
        return text, None
    at = found.start()
    if found[0] == '"':
        end = text.find('"', at + 1)
        if end < 0:
            return "", None
        return text[:at] + text[at + 1 : end], text[end + 1 :].lstrip(BLANKS)
    rest = text[at + 1 :].lstrip(BLANKS)
    if found[0] != "=" and rest.startswith("="):
        rest = rest[1:].lstrip(BLANKS)
    return text[:at], rest


def arguments(text: str, *, remarks: bool = True) -> list[str]:
    """Divide what stands behind a keyword: quotes, escapes, and a comment behind a blank. Raises BadLine.

    Args:
        remarks: a `#` begins one; in a command's line it is a letter like any other.
    """
    words: list[str] = []
    at = 0
    while at < len(text):
        if text[at] in " \t":
            at += 1
        elif remarks and text[at] == "#":
            break
        else:
            word, at = _argument(text, at)
            words.append(word)
    return words


def _argument(text: str, at: int) -> tuple[str, int]:
    word, quote = "", ""
    while at < len(text):
        one, after = text[at], text[at + 1 : at + 2]
        if one == "\\" and after and (after in "'\"\\" or (not quote and after == " ")):
            word += after
            at += 1
        elif not quote and one in " \t":
            break
        elif not quote and one in "\"'":
            quote = one
        elif one == quote:
            quote = ""
        else:
            word += one
        at += 1
    if quote:
        raise BadLine("a quote does not close")
    return word, at


def fits(text: str, pattern: str) -> bool:
    """Return whether a text fits one pattern: `*` and `?` alone have a meaning."""
    at = step = kept = 0
    star = -1
    while at < len(text):
        if step < len(pattern) and pattern[step] == "*":
            star, kept, step = step, at, step + 1
        elif step < len(pattern) and pattern[step] in {"?", text[at]}:
            at, step = at + 1, step + 1
        elif star >= 0:
            kept += 1
            at, step = kept, star + 1
        else:
            return False
    return not pattern[step:].strip("*")


def fits_list(text: str, patterns: str, *, is_host: bool = False) -> bool:
    """Return whether a text fits a list divided by commas; a pattern behind '!' that fits wins."""
    text, patterns = (text.lower(), patterns.lower()) if is_host else (text, patterns)
    found = False
    for one in patterns.split(","):
        bare = one.removeprefix("!")
        if len(bare) >= _MOST_OF_A_PATTERN:
            return False
        if fits(text, bare):
            if one.startswith("!"):
                return False
            found = True
    return found


def port_of(text: str) -> int:
    """Return a port from 1 to 65535: its number, or that of a service's name (services(5)). Raises BadLine."""
    if re.fullmatch(r"[0-9]{1,9}", text):
        number = int(text)
    else:
        try:
            number = socket.getservbyname(text, "tcp")
        except (OSError, UnicodeError, ValueError):
            number = 0
    if not 1 <= number <= 65_535:
        raise BadLine(f'"{text}" is no port')
    return number


def seconds_of(text: str) -> int | None:
    """Return a time of sshd_config(5), TIME FORMATS, in seconds; None for 'none'. Raises BadLine."""
    if text == "none":
        return None
    parts = re.findall(r"([0-9]{1,10})([smhdwSMHDW]?)", text)
    units = [unit.lower() for _, unit in parts]
    whole = sum(int(number) * _UNITS[unit] for (number, _), unit in zip(parts, units, strict=True))
    seconds = sum(unit in {"", "s"} for unit in units)  # versions differ on a second number of seconds
    if not parts or "".join(number + unit for number, unit in parts) != text or whole > _MOST_S or seconds > 1:
        raise BadLine(f'"{text}" is no time')
    return whole
