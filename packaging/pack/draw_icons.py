"""Draw the icon in all sizes, and one file each for Windows and macOS: `pack.draw_icons DRAWING HICOLOR SIZE...`."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from pack.made import NAME

SIZES_OF_WINDOWS = [(size, size) for size in (16, 24, 32, 48, 64, 128, 256)]


def main() -> None:
    """Draw them; the two of the other systems lie beside the folders of the sizes."""
    drawing, icons = Path(sys.argv[1]), Path(sys.argv[2])
    _application = QGuiApplication([])
    renderer = QSvgRenderer(str(drawing))
    largest = icons
    for size in map(int, sys.argv[3:]):
        image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        renderer.render(painter)
        painter.end()
        largest = icons / f"{size}x{size}" / "apps" / f"{NAME}.png"
        if not image.save(str(largest)):
            raise OSError(f"{largest} could not be written")
    with Image.open(largest) as image_of_all:
        image_of_all.save(icons.parent / f"{NAME}.ico", sizes=SIZES_OF_WINDOWS)
        image_of_all.save(icons.parent / f"{NAME}.icns")


if __name__ == "__main__":
    main()
