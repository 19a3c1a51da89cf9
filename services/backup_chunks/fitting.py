"""Whether backup chunks are a matter of the servers in sight at all."""

from __future__ import annotations

from services.discovery.model import EstateSnapshot
from services.i18n import tr
from services.types import Flavour


def why_not_here(estate: EstateSnapshot) -> str:
    """Return why the calculator is not shown: every server whose product is known is MariaDB; '' where it is."""
    known = {cluster.flavour for cluster in estate.clusters} - {Flavour.UNKNOWN}
    if known != {Flavour.MARIADB}:
        return ""
    return tr("Chunks of a backup: not for MariaDB, which has no xbcloud.")
