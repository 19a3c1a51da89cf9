"""Colour arithmetic for tests: contrast (WCAG 2.1), colour-blind views (Machado et al. 2009), CIE L*a*b*."""

from __future__ import annotations

import math

from PySide6.QtGui import QColor

# Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG
# 2009, severity 1.0; applied to linear RGB.
DEFICIENCIES: dict[str, tuple[tuple[float, float, float], ...]] = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _rgb(color: QColor) -> tuple[float, float, float]:
    return _linear(color.redF()), _linear(color.greenF()), _linear(color.blueF())


def luminance(color: QColor) -> float:
    """Return WCAG's relative luminance."""
    red, green, blue = _rgb(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    """Return WCAG's contrast ratio, 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _lab(rgb: tuple[float, float, float]) -> tuple[float, float, float]:
    red, green, blue = rgb
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one: QColor, other: QColor, deficiency: str = "") -> float:
    """Return the CIE76 distance of two colours as somebody with this deficiency ('' for none) sees them."""
    seen = []
    for color in (one, other):
        rgb = _rgb(color)
        if deficiency:
            mixed = [sum(w * c for w, c in zip(row, rgb, strict=True)) for row in DEFICIENCIES[deficiency]]
            rgb = (_clamped(mixed[0]), _clamped(mixed[1]), _clamped(mixed[2]))
        seen.append(_lab(rgb))
    return math.dist(seen[0], seen[1])


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value))
