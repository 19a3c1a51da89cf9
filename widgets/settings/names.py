"""The names of the settings, as their page shows them and the palette finds them; no page is made for that."""

from __future__ import annotations

from services.i18n import mark

THEME, TEXT, LANGUAGE = mark("Theme"), mark("Text size"), mark("Language")
INTERVAL, KEPT, MOST = mark("Sample each server every"), mark("Keep samples for"), mark("Maximum history size")
INVENTORY, KEYRING, LIMITS = mark("Inventory"), mark("Keyring"), mark("Defaults of procedures")
SETTINGS = (THEME, TEXT, LANGUAGE, INTERVAL, KEPT, MOST, INVENTORY, KEYRING, LIMITS)
