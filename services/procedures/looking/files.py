"""A file of a host, or why it can't be read."""

from __future__ import annotations

import hashlib

from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.machine.file_answers import is_absent
from services.procedures.plan.looks import Asking


def read_file(asking: Asking, host: str, path: str) -> tuple[str | None, str]:
    """Return (a file's text, ''); (None, '') when it is missing; (None, why) when it can't be read."""
    output = asking.run(host, commands.CONTENT.read(path, sudo=True))
    if output.exit_code == 0:
        return output.text, ""
    said = output.error_text
    return None, "" if is_absent(output) else said or f"cat ended with exit code {output.exit_code}"


def text_of(asking: Asking, host: str, read: CommandRead) -> str:
    """Return what a read gave, '' where it ended badly. Raises UserError where the host gives no answer."""
    output = asking.run(host, read)
    return output.text if output.exit_code == 0 else ""


def wrote_name(host: str, path: str) -> str:
    """Return the name of the value that keeps the digest of what a run wrote into a file."""
    return f"wrote {host}:{path}"


def byte_digest(content: bytes) -> str:
    """Return the SHA-256 of what lies in a file, in hex, as sha256sum(1) prints it."""
    return hashlib.sha256(content).hexdigest()


def digest(text: str) -> str:
    """Return a text's SHA-256 in hex (FIPS 180-4)."""
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # as a look reads it
    return byte_digest(shown.encode())
