"""What the disk image for macOS holds and how it is sealed; codesign itself is told by what it is called with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pack import macos
from pack.made import Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """An application that PyInstaller has made, before its licences were written."""
    made = Made(tmp_path / "work", tmp_path / "out", "")
    (made.bundle.parent / "Pilothouse.app" / "Contents" / "Resources").mkdir(parents=True)
    made.tree.mkdir()
    (made.tree / "pyproject.toml").write_text('[project]\nversion = "1.0"\n', encoding="utf-8")
    made.licences.write_text("licences", encoding="utf-8")
    made.sbom.write_text("{}", encoding="utf-8")
    return made


@pytest.mark.parametrize("identity", ["", "Developer ID Application: One"])
def test_that_the_image_has_the_licences_and_is_sealed_after_they_were_added(
    made: Made, identity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = made.work / "image" / "Pilothouse.app" / "Contents" / "Resources"
    called: list[list[str]] = []

    def call(words: Sequence[object], _folder: Path) -> str:
        assert {path.name for path in resources.iterdir()} == {"licences.txt", "sbom.cdx.json"}
        called.append([str(word) for word in words])
        return ""

    monkeypatch.setattr(macos, "call", call)
    monkeypatch.setenv(macos.IDENTITY, identity)
    monkeypatch.delenv(macos.PROFILE, raising=False)
    macos.image(made)
    sealed, verified, imaged = called[:3]
    assert sealed[sealed.index("--sign") + 1] == (identity or "-")
    assert "--deep" not in sealed
    assert ("runtime" in sealed) is bool(identity)
    assert verified[:2] == ["codesign", "--verify"]
    assert imaged[0] == "hdiutil"
    assert [words[0] for words in called[3:]] == (["codesign"] if identity else [])
