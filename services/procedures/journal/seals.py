"""Seals: what makes a line of the journal a line that this workstation wrote, and no other (decision 0028). Pure.

Each line's seal is an HMAC-SHA256 (RFC 2104) over everything that the run's journal says up to it: the plan with its
inputs, checks and overrides, the hosts' addresses, the approvals, the values that were read, the states of the steps.
So the newest seal stands for all lines before it, and a line that was changed, left out, moved or put in breaks it.

A seal of version 2 stands for the times of all these lines, too, as they are stored. Version 1 did not; its seals hold
until the first one of version 2 in their run, which binds the times of the lines before it as well. Each version has a
context of its own, so no seal of one is a seal of the other, and behind one of version 2 none of version 1 is ours.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.history.state.procedure_journal import ProcedureLine
from services.procedures.plan.run_model import Binding

KEY_BYTES = 32
_CONTEXT = {1: b"pilothouse journal line 1\n", 2: b"pilothouse journal line 2\n"}
_ID_CONTEXT = b"pilothouse journal key\n"
_SEAL = re.compile(r'(?:(?<=\{)|,)"seal":"([0-9a-f]{16}):([0-9a-f]{64})(:2)?"\}\Z')
_CODE_LETTERS = 16


@dataclass(frozen=True, slots=True)
class Chain:
    """What a run's lines come to.

    Attributes:
        head: SHA-256 over all of them, seals and times left out; times: SHA-256 over their times.
        binding: whether they are this workstation's words.
    """

    head: bytes = b""
    binding: Binding = Binding.BOUND
    times: bytes = b""

    @property
    def code(self) -> str:
        """Return what a person approves by: it stands for every line, and is another one as soon as a line is."""
        return self.head.hex()[:_CODE_LETTERS]


def key_id(key: bytes) -> str:
    """Return by what a key is told from others; nothing of the key can be learned from it."""
    return hmac.digest(key, _ID_CONTEXT, "sha256").hex()[:16]


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal as it stands in a line: the id of its key, the HMAC in hex and its version; '' and '' for none."""

    by: str = ""
    mac: str = ""
    version: int = 0


def unsealed(text: str) -> tuple[str, Seal]:
    """Return a line's JSON text as it was before its seal, and the seal."""
    found = _SEAL.search(text[-120:]) if text.endswith('"}') else None
    if found is None:
        return text, Seal()
    seal = Seal(found.group(1), found.group(2), 2 if found.group(3) else 1)
    return f"{text[: len(text) - len(found.group())]}}}", seal


def sealed(text: str, key: bytes, head: bytes, times: bytes) -> str:
    """Return a line's JSON text with the seal behind its last field.

    Args:
        head, times: of all lines up to this one (`next_head`, `next_times`).
    """
    body = text[:-1]
    comma = "" if body == "{" else ","
    return f'{body}{comma}"seal":"{key_id(key)}:{_mac(key, 2, head, times)}:2"}}'


def next_head(head: bytes, run_id: int, seq: int, kind: str, step_id: str, text: str) -> bytes:
    """Return the head behind one more line; `text` without a seal."""
    line = json.dumps([run_id, seq, kind, step_id, text], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(head + line.encode("ascii")).digest()


def next_times(times: bytes, at: float) -> bytes:
    """Return the hash of the times behind one more line; `at`: exactly as it is stored."""
    return hashlib.sha256(times + repr(float(at)).encode("ascii")).digest()


def chain_of(lines: Iterable[ProcedureLine], key: bytes | None) -> Chain:
    """Return what the lines of one run, in order, come to.

    Args:
        key: this workstation's; None: nothing can be said to be bound.
    """
    head = times = b""
    binding, own = Binding.BOUND, key_id(key) if key is not None else ""
    any_seal = changed = False
    version = 1  # the newest one that this key has sealed with: an older one is not followed behind it
    for line in lines:
        text, seal = unsealed(line.data)
        head = next_head(head, line.run_id, line.seq, line.kind, line.step_id, text)
        times = next_times(times, line.at)
        any_seal = any_seal or bool(seal.mac)
        mine = key is not None and seal.by == own
        if key is not None and mine:
            right = hmac.compare_digest(seal.mac, _mac(key, seal.version, head, times))
            changed = changed or not right or seal.version < version
            version = max(version, seal.version)
        binding = Binding.BOUND if mine else Binding.ELSEWHERE
    if changed:
        return Chain(head, Binding.CHANGED, times)
    return Chain(head, Binding.OLD if head and not any_seal else binding, times)


def _mac(key: bytes, version: int, head: bytes, times: bytes) -> str:
    """Return a seal's HMAC: both hashes have a length of their own (32 bytes), so none runs into the other."""
    return hmac.digest(key, _CONTEXT[version] + head + (times if version > 1 else b""), "sha256").hex()
