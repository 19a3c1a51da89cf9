"""The disk image for macOS: Pilothouse.app and a link to Applications; signed and notarised where that is asked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from boot.places import say
from pack.made import Made, call

IDENTITY, PROFILE = "PILOTHOUSE_IDENTITY", "PILOTHOUSE_NOTARY_PROFILE"
"""The identity of codesign(1), the keychain profile of notarytool(1); without them neither is done, which is said."""


def image(made: Made) -> None:
    """Make the disk image."""
    folder = made.work / "image"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    application = folder / "Pilothouse.app"
    shutil.copytree(made.bundle.parent / "Pilothouse.app", application, symlinks=True)
    (folder / "Applications").symlink_to("/Applications")
    signed = _sign(made, application)
    file = made.out / f"{made.name}.dmg"
    say(f"making {file.name}")
    words = ["hdiutil", "create", "-volname", "Pilothouse", "-srcfolder", folder, "-ov", "-format", "UDZO", file]
    call(words, made.work)
    if signed:
        _notarise(made, file)


def _sign(made: Made, application: Path) -> bool:
    identity = os.environ.get(IDENTITY)
    if not identity:
        say(f"not signed: {IDENTITY} names no identity; macOS asks who opens it for the first time")
        return False
    rights = made.tree / "packaging" / "macos" / "entitlements.plist"
    words = ["codesign", "--force", "--deep", "--timestamp", "--options", "runtime", "--entitlements", rights]
    call([*words, "--sign", identity, application], made.work)
    return True


def _notarise(made: Made, file: Path) -> None:
    profile = os.environ.get(PROFILE)
    if not profile:
        say(f"not notarised: {PROFILE} names no keychain profile")
        return
    call(["xcrun", "notarytool", "submit", file, "--keychain-profile", profile, "--wait"], made.work)
    call(["xcrun", "stapler", "staple", file], made.work)
