"""What the bundle starts."""

import os
import sys

# The starter names the bundle's folder to the dynamic linker. What this program starts (ssh, a ProxyCommand, a
# desktop's question for a passphrase, a browser) is the system's, and must find the system's own libraries
# (PyInstaller manual, "Launching external programs from the frozen application").
for name in ("LD_LIBRARY_PATH", "LIBPATH"):
    before = os.environ.pop(f"{name}_ORIG", None)
    os.environ.pop(name, None)
    if before is not None:
        os.environ[name] = before
for name in [name for name in os.environ if name.startswith("_PYI_")]:
    del os.environ[name]

from app.__main__ import main  # noqa: E402 - nothing of ours is read before

sys.exit(main())
