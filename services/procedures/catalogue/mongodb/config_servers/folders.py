"""Which folders the copy of the metadata and its trial make on the last config server. Pure."""

from __future__ import annotations

from services.procedures.catalogue.mongodb.config_servers.party import Party


def trial_of(backup: str) -> str:
    """Return the folder of the scratch server, on a copy of the backup."""
    return f"{backup}.trial"


def part_of(folder: str) -> str:
    """Return where a copy lies until it is whole (folders_of_others.COPY)."""
    return f"{folder}.part"


def folders_of_copy(party: Party) -> tuple[str, ...]:
    """Return the folders that the copy and its trial make on the last config server."""
    trial = trial_of(party.backup)
    return (party.backup, part_of(party.backup), trial, part_of(trial))
