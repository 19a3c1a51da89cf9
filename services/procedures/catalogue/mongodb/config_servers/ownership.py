"""Whose the data folders are: what a server says of its folder may lead anywhere, and root works there."""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import checked, listed, unread
from services.procedures.catalogue.mongodb.config_servers.party import Party
from services.procedures.plan.checks import Check
from services.procedures.plan.parts.mongodb.data import MongoData


def folders(party: Party) -> Check:
    """Each data folder belongs to its server, and nobody else may change it or a folder above it."""
    faults = []
    for host in (*party.servers, *party.new):
        data, account = party.facts.host(host)[MongoData], party.process(host).account
        if data.owner is None or data.odd is None:
            faults.append(unread(party.facts.host(host), f"who can change the data folder of {host}", "data"))
        elif data.odd:
            faults.append(f"{host}: {data.odd}")
        elif host in party.servers and data.owner != account:
            faults.append(f"{host}: {data.path} belongs to the account {data.owner}, but the server runs as {account}")
        elif host in party.new and party.process(host).user not in {data.owner_name, str(data.owner)}:
            faults.append(
                f"{host}: {data.path} belongs to {data.owner_name or data.owner}, and {party.unit(host)} runs its "
                f"server as {party.process(host).user or 'an unknown account'}"
            )
    return checked(
        "CONFIG-FOLDERS",
        "Each data folder belongs to its server",
        block=faults,
        good=listed([party.data(host) for host in (*party.servers, *party.new)]),
        why="The run copies, creates and removes files there as that account, never as root: the paths that a server "
        "reports may lead anywhere.",
        try_=("Run each server as a separate account, in a folder that belongs only to it (chown).",),
    )
