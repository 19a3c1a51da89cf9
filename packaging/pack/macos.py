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
    for path in (made.licences, made.sbom):  # made after the application was, and no disk image may lack them
        shutil.copy(path, application / "Contents" / "Resources")
    signed = _sign(made, application)
    file = made.out / f"{made.name}.dmg"
    say(f"making {file.name}")
    words = ["hdiutil", "create", "-volname", "Pilothouse", "-srcfolder", folder, "-ov", "-format", "UDZO", file]
    call(words, made.work)
    if signed:
        call(["codesign", "--timestamp", "--sign", os.environ[IDENTITY], file], made.work)
        _notarise(made, file)


def _sign(made: Made, application: Path) -> bool:
    """Seal the application again, as what lies in it has changed; return whether with an identity.

    PyInstaller has signed each library by itself (its manual, "macOS Binary Code Signing"): --deep would leave out
    those among the resources, and give each the rights of the program.
    """
    identity = os.environ.get(IDENTITY)
    if identity:
        rights = made.tree / "packaging" / "macos" / "entitlements.plist"
        how = ["--timestamp", "--options", "runtime", "--entitlements", rights]
    else:
        say(f"not signed: {IDENTITY} names no identity; macOS asks for confirmation when it is first opened")
        how = []
    call(["codesign", "--force", *how, "--sign", identity or "-", application], made.work)
    call(["codesign", "--verify", "--deep", "--strict", application], made.work)
    return bool(identity)


def _notarise(made: Made, file: Path) -> None:
    profile = os.environ.get(PROFILE)
    if not profile:
        say(f"not notarised: {PROFILE} names no keychain profile")
        return
    call(["xcrun", "notarytool", "submit", file, "--keychain-profile", profile, "--wait"], made.work)
    call(["xcrun", "stapler", "staple", file], made.work)
