"""Do a stopped node's old data lie in its data folder themselves? Asked before they are kept and others are put there.

The rule of every procedure that puts other data into a data folder (steps/restored/restoring.py). What a link or a
mount leads to is neither kept aside nor replaced: a table's file there would be written by the restored server and by
whoever reads the kept data, and a file system that is mounted inside the folder covers the restored files after a
boot.
"""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import checked, unread
from services.procedures.catalogue.steps.restored.restoring import folder_of
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.galera.elsewhere import Elsewhere

_SHOWN = 4


def old_linked(host: HostFacts) -> Check:
    """Return whether a stopped node's data folder holds all of its files itself."""
    name, folder, found = host.host, folder_of(host), host[Elsewhere].found
    away = [f"{len(found)} links lead elsewhere: {', '.join(found[:_SHOWN])}"] if found else []
    running = found is None and host.server_up is True
    blind = (
        [unread(host, f"the contents of {folder}", "datadir", "root", "ssh")] if found is None and not running else []
    )
    still = f"a server runs on {name}: its data folder is searched when the server is stopped"
    return checked(
        "OLD-LINKED",
        f"The data folder of {name} contains all of its files",
        block=away,
        warn=running,
        must_read=blind,
        good=still if running else f"no link, *.isl file or mount in {folder}",
        why="Files outside of the data folder are neither kept nor replaced: old files would mix with restored ones.",
        try_=(
            f"Replace each link in {folder} with its target, unmount what is mounted there, then check again.",
            "Or bring the node back by SST with add-node: tables with *.isl files allow nothing else.",
        )
        if away
        else (),
        host=name,
        absolute=bool(away),
    )
