"""Keeps what the login gave of Qt's folders, before PyInstaller's hook for PySide6 names the bundle's own over it.

Runs before PyInstaller's own hooks, and these before launch.py (PyInstaller manual, "Changing Runtime Behavior").
"""

import os

for name in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH"):
    os.environ.pop(f"{name}_ORIG", None)
    if name in os.environ:
        os.environ[f"{name}_ORIG"] = os.environ[name]
