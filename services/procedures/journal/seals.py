"""Seals: what makes a line of the journal a line that this workstation wrote, and no other (decision 0028). Pure.

Each line's seal is an HMAC-SHA256 (RFC 2104) over everything that the run's journal says up to it: the plan with its
inputs, checks and overrides, the hosts' addresses, the approvals, the values that were read, the states of the steps.
So the newest seal stands for all lines before it, and a line that was changed, left out, moved or put in breaks it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.history.procedure_journal import ProcedureLine
from services.procedures.plan.run_model import Binding

KEY_BYTES = 32
_CONTEXT = b"pilothouse journal line 1\n"
_ID_CONTEXT = b"pilothouse journal key\n"
_SEAL = re.compile(r'(?:(?<=\{)|,)"seal":"([0-9a-f]{16}):([0-9a-f]{64})"\}\Z')
_CODE_LETTERS = 16


@dataclass(frozen=True, slots=True)
class Chain:
    """What a run's lines come to.

    Attributes:
        head: SHA-256 over all of them, seals left out; binding: whether they are this workstation's words.
    """

    head: bytes = b""
    binding: Binding = Binding.BOUND

    @property
    def code(self) -> str:
        """Return what a person approves by: it stands for every line, and is another one as soon as a line is."""
        return self.head.hex()[:_CODE_LETTERS]


def key_id(key: bytes) -> str:
    """Return by what a key is told from others; nothing of the key can be learned from it."""
    return hmac.digest(key, _ID_CONTEXT, "sha256").hex()[:16]


def unsealed(text: str) -> tuple[str, str, str]:
    """Return a line's JSON text as it was before its seal, the id of the key and the seal, '' and '' for none."""
    found = _SEAL.search(text[-120:]) if text.endswith('"}') else None
    if found is None:
        return text, "", ""
    return f"{text[: len(text) - len(found.group())]}}}", found.group(1), found.group(2)


def sealed(text: str, key: bytes, head: bytes) -> str:
    """Return a line's JSON text with the seal behind its last field; `head`: of all lines up to this one."""
    body = text[:-1]
    comma = "" if body == "{" else ","
    return f'{body}{comma}"seal":"{key_id(key)}:{_mac(key, head)}"}}'


def next_head(head: bytes, run_id: int, seq: int, kind: str, step_id: str, text: str) -> bytes:
    """Return the head behind one more line; `text` without a seal."""
    line = json.dumps([run_id, seq, kind, step_id, text], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(head + line.encode("ascii")).digest()


def chain_of(lines: Iterable[ProcedureLine], key: bytes | None) -> Chain:
    """Return what the lines of one run, in order, come to.

    Args:
        key: this workstation's; None: nothing can be said to be bound.
    """
    head, binding, own = b"", Binding.BOUND, key_id(key) if key is not None else ""
    any_seal = changed = False
    for line in lines:
        text, by, seal = unsealed(line.data)
        head = next_head(head, line.run_id, line.seq, line.kind, line.step_id, text)
        any_seal = any_seal or bool(seal)
        mine = key is not None and by == own
        changed = changed or (mine and not hmac.compare_digest(seal, _mac(key or b"", head)))
        binding = Binding.BOUND if mine else Binding.ELSEWHERE
    if changed:
        return Chain(head, Binding.CHANGED)
    return Chain(head, Binding.OLD if head and not any_seal else binding)


def _mac(key: bytes, head: bytes) -> str:
    return hmac.digest(key, _CONTEXT + head, "sha256").hex()
