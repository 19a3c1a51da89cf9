"""Can nobody but root exchange the folder in which a node's data lie? Asked before anything is moved. Pure."""

from __future__ import annotations

import posixpath

from services.procedures.catalogue.checks.parts import checked, unread
from services.procedures.catalogue.steps.restored.restoring import folder_of
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.machine.own_place import OwnPlace


def own_place(host: HostFacts) -> Check:
    """The run asks the same again before it moves the old data: there it refuses with everything begun."""
    name, place, others = host.host, posixpath.dirname(folder_of(host)), host[OwnPlace].others
    return checked(
        "OWN-PLACE",
        f"Only root may exchange the data folder of {name}",
        block=[others] if others else [],
        unread=[unread(host, f"who may write into {place}", "datadir", "root", "ssh")] if others is None else [],
        good=f"{place} and all above it are root's alone",
        why="Whoever may write there lays a link in its place, and root's next command works on what that leads to. "
        "The run would refuse it too, in its middle.",
        try_=(
            f"Give {place} and what is above it to root (chown root:root, chmod go-w): the server needs none there.",
            "Else bring the node back with add-node, by an SST.",
        ),
        host=name,
        absolute=True,
    )
