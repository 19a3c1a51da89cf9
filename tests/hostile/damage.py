"""Bytes and texts of real replies, damaged: changed, left out, doubled, cut, stretched; the same for a seed."""

from __future__ import annotations

import random
from typing import Any

ODD = (
    "²", "٣", "１", "9" * 5000, "-1", "1e999", "nan", "inf", "\0", "\x1b[2J", "\u202e", "\ud7ff", "\u2028", "\x85",
    "=", ":", ";", ",", "\t", "\n", "\n\n", " ", "'", '"', "\\", "%", "#", "-", "0", "18446744073709551615",
    "9223372036854775808", "<b>",
)  # fmt: skip
"""What is no number and looks like one, what ends a line or a field, what a terminal or a page would act on."""
STRETCHED = 40_000


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to six faults."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(out)) if out else 0
        kind = chance.randrange(6)
        if kind == 0:
            out[at : at + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            out[at : at + 1] = chance.choice((b"\x00", b"\xff", b"\xfe", b"\xfb", b"\x7f"))
        elif kind == 2:
            del out[at : at + chance.randint(1, 9)]
        elif kind == 3:
            out[at:at] = chance.randbytes(chance.randint(1, 40))
        elif kind == 4:
            out[at:at] = out[at : at + chance.randint(1, 60)]
        else:
            del out[at:]
    return bytes(out)


def talk(chance: random.Random, parts: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return a talk with one or two of its parts damaged."""
    said = list(parts)
    for _ in range(chance.randint(1, 2)):
        at = chance.randrange(len(said))
        said[at] = damaged(said[at], chance)
    return tuple(said)


def damaged_text(text: str, chance: random.Random) -> str:
    """Return a text with one to four faults, now and then one of its pieces over and over."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text)) if text else 0
        end = at + chance.randint(1, 30)
        kind = chance.randrange(8)
        if kind < 3:
            text = text[:at] + chance.choice(ODD) + text[end if kind else at :]
        elif kind == 3:
            text = text[:at] + text[end:]
        elif kind == 4:
            text = text[:at] + text[at : end * 4] + text[at:]
        elif kind == 5:
            text = text[:at]
        elif kind == 6:
            text = text[:at] + text[at:end] * (STRETCHED // max(1, end - at)) + text[end:]
        else:
            lines = text.split("\n")
            chance.shuffle(lines)
            text = "\n".join(lines)
    return text


def damaged_value(value: Any, chance: random.Random) -> Any:
    """Return one value of a row: damaged, of another type, or missing."""
    if chance.random() < 0.3:
        return chance.choice((None, b"\xff\xfe", b"", 2**63, -1, 1.5e308, *ODD))
    return damaged_text(str(value), chance)


def damaged_pairs(pairs: dict[str, str], chance: random.Random, most: int = 6) -> dict[str, str]:
    """Return names and texts with a few texts damaged, names lost and names made up."""
    out = dict(pairs)
    for _ in range(chance.randint(1, most)):
        name = chance.choice(list(out)) if out else "x"
        kind = chance.randrange(8)
        if kind == 0:
            out.pop(name, None)
        elif kind == 1:
            out[damaged_text(name, chance)] = out.get(name, "")
        elif kind == 2:
            out[name] = chance.choice(ODD)
        else:
            out[name] = damaged_text(out.get(name, ""), chance)
    return out


def damaged_host(recorded: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return what a host answered (tests/unit/recorded/replies.py) with some of its answers damaged."""
    out = dict(recorded)
    if isinstance(out.get("status"), dict) and "error" not in out["status"]:
        out["status"] = damaged_pairs(out["status"], chance)
    out["queries"] = {sql: _rows(found, chance) for sql, found in out.get("queries", {}).items()}
    out["commands"] = {words: _output(found, chance) for words, found in out.get("commands", {}).items()}
    return out


def _rows(found: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    if "error" in found or chance.random() < 0.3:
        return found
    columns, rows = list(found["columns"]), [list(row) for row in found["rows"]]
    for _ in range(chance.randint(1, 5)):
        kind = chance.randrange(5)
        row = chance.choice(rows) if rows else []
        if kind == 0 and columns:
            columns[chance.randrange(len(columns))] = damaged_text(chance.choice(columns), chance)
        elif kind == 1 and row:
            row.pop()
        elif kind == 2 and rows:
            rows += rows[: chance.randint(1, 20)]
        elif row:
            row[chance.randrange(len(row))] = damaged_value(chance.choice(row), chance)
    return {"columns": columns, "rows": rows}


def _output(found: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    if "error" in found or chance.random() < 0.3:
        return found
    out = dict(found)
    if chance.random() < 0.2:
        out["exit"] = chance.choice((0, 1, 2, 124, 127, 255, -1))
    if chance.random() < 0.2:
        out["stderr"] = damaged_text(out["stderr"] or "x: Permission denied", chance)
    out["stdout"] = damaged_text(out["stdout"], chance)
    return out
