"""Picture of the program in the menu of a small desktop: `python -m tests.lab.package.menu_picture DEB OUT.png`.

A bare Debian 13 with openbox and lxpanel under Xvfb: the menu is opened by a click, the program is in it by its entry.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.lab.package.bare_root import HOME, bare_root

_DESKTOP = "openbox lxpanel lxmenu-data menu-xdg xdotool scrot hicolor-icon-theme"
_SCRIPT = """\
export DISPLAY=:97 XDG_RUNTIME_DIR=$HOME/run; mkdir -p -m 700 $HOME/run
Xvfb :97 -screen 0 1280x800x24 -nolisten tcp >/dev/null 2>&1 & x=$!
trap 'kill $x 2>/dev/null || :' EXIT
for n in $(seq 100); do xdpyinfo >/dev/null 2>&1 && break; sleep 0.1; done
openbox >/dev/null 2>&1 & sleep 1
lxpanel >/dev/null 2>&1 & sleep 5
gio launch /usr/share/applications/pilothouse.desktop; sleep 6
xdotool mousemove 14 787 click 1; sleep 2
for key in {keys}; do xdotool key $key; sleep 0.5; done
sleep 1; scrot -o $HOME/menu.png
"""


def main() -> None:
    """Make the picture."""
    package, picture = Path(sys.argv[1]), Path(sys.argv[2])
    keys = sys.argv[3] if len(sys.argv) > 3 else "Down Right"
    with tempfile.TemporaryDirectory() as folder, bare_root("trixie", Path(folder)) as root:
        root.brings(package, f"/packed/{package.name}")
        root.sh(
            f"apt-get update -qq; apt-get install -y -qq --no-install-recommends /packed/*.deb {_DESKTOP}", limit_s=900
        )
        root.sh(_SCRIPT.format(keys=keys), login="1500:1500", limit_s=120)
        shutil.copy(root.folder / HOME[1:] / "menu.png", picture)


if __name__ == "__main__":
    main()
