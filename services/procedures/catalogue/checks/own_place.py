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
        f"Only root can replace the data folder of {name}",
        block=[others] if others else [],
        unread=[unread(host, f"who can write to {place}", "datadir", "root", "ssh")] if others is None else [],
        good=f"only root can write to {place} and the folders above it",
        why="Another account could replace the folder with a link, and root's next command would follow it. "
        "The run itself would refuse this later.",
        try_=(
            f"Give {place} and the folders above it to root (chown root:root, chmod go-w).",
            "Or bring the node back by SST with add-node.",
        ),
        host=name,
        absolute=True,
    )
