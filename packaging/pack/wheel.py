"""The wheel and the sdist, and the wheel unpacked."""

from __future__ import annotations

import shutil
import sys

from boot.places import say
from pack.archive import pack_anew
from pack.made import Made, call


def build(made: Made) -> None:
    """Build both from what is committed, the wheel from the sdist; unpack the wheel."""
    say("building the sdist, and the wheel from it")
    for old in made.out.glob("pilothouse-*"):
        if old.suffix in {".whl", ".gz"}:
            old.unlink()
    call([sys.executable, "-m", "build", "--no-isolation", "--outdir", made.out, made.tree], made.work)
    pack_anew(next(made.out.glob("pilothouse-*.tar.gz")))
    shutil.rmtree(made.site, ignore_errors=True)
    pip = [sys.executable, "-I", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    wheel = next(made.out.glob("pilothouse-*.whl"))
    call([*pip, "--no-deps", "--no-index", "--no-compile", "--target", made.site, wheel], made.work)
    for record in made.site.glob("pilothouse-*.dist-info/direct_url.json"):
        record.unlink()  # where the wheel lay on the machine that built the bundle
