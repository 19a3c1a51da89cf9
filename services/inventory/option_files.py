"""Reading one of another program's settings files, which may include others: lines, or a problem told."""

from __future__ import annotations

from pathlib import Path

from services.words import tr


def lines_of(file: Path, depth: int, most: int, word: str, problems: list[str]) -> list[str] | None:
    """Return the lines of a file; None when it can't be read, with the reason added to `problems`.

    Args:
        depth, most: how deep in included files we are, and how deep is too deep.
        word: what that program calls an inclusion ("Include", "!include").
    """
    if depth > most:
        problems.append(tr("{file}: {word} goes deeper than {n} files.", file=file, word=word, n=most))
        return None
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as problem:
        problems.append(tr("{file} can't be read: {problem}.", file=file, problem=problem.strerror or problem))
        return None
