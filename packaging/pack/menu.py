"""What a desktop and a shell read of the program: menu entry, icons, metainfo, manual page, completions.

Laid out as below /usr/share or ~/.local/share: XDG Base Directory, Desktop Entry and Icon Theme Specifications,
AppStream. Manual page and completions are made from the command line's own parser.
"""

from __future__ import annotations

import gzip
import shutil
from datetime import UTC, datetime
from pathlib import Path

from boot.places import say
from pack.made import NAME, Made, epoch, python

COMPLETIONS = {
    "bash": f"bash-completion/completions/{NAME}",
    "zsh": f"zsh/site-functions/_{NAME}",
    "fish": f"fish/vendor_completions.d/{NAME}.fish",
}
"""Where the three shells look below a `share` (bash-completion README; zsh and fish: Debian's own packages)."""
ICON_SIZES = (16, 22, 24, 32, 48, 64, 96, 128, 192, 256, 512)


def build(made: Made) -> None:
    """Write all of it into made.share."""
    say("drawing the icons; writing menu entry, manual page and completions")
    share, own = made.share, made.tree / "packaging" / "linux"
    shutil.rmtree(share, ignore_errors=True)
    _file(share / "applications" / f"{NAME}.desktop", (own / f"{NAME}.desktop").read_text(encoding="utf-8"))
    day = datetime.fromtimestamp(epoch(), UTC).date().isoformat()
    text = (own / f"{NAME}.metainfo.xml").read_text(encoding="utf-8").replace("@VERSION@", made.version)
    text = text.replace("@DATE@", day).replace("@STABILITY@", "stable" if made.version >= "1" else "development")
    _file(share / "metainfo" / "io.pilothouse.Pilothouse.metainfo.xml", text)
    icons = share / "icons" / "hicolor"
    drawing = made.site / "resources" / "icons" / "app.svg"
    _file(icons / "scalable" / "apps" / f"{NAME}.svg", drawing.read_text(encoding="utf-8"))
    for size in ICON_SIZES:
        (icons / f"{size}x{size}" / "apps").mkdir(parents=True)
    python(made, ["-m", "pack.draw_icons", drawing, icons, *map(str, ICON_SIZES)], made.work)
    for shell, place in COMPLETIONS.items():
        _file(share / place, python(made, ["-m", "pack.shell_words", shell], made.work))
    page = python(made, ["-m", "pack.shell_words", "man", made.version, day], made.work)
    manual = share / "man" / "man1" / f"{NAME}.1.gz"
    manual.parent.mkdir(parents=True)
    manual.write_bytes(gzip.compress(page.encode(), 9, mtime=0))


def _file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
