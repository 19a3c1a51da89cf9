"""A Galera node's data folder: whose it is, and the acts of root on it, as that account. Pure.

Who may write above its own data puts a link in the place of a name: `mv`, `mkdir`, `chown` and `sed -i` of root went
where it led. Programs that need a folder of root's own for a while are in restoring_programs.py.
"""

from __future__ import annotations

from services.connections.command import Command
from services.connections.operator import folders_of_others
from services.procedures.catalogue.steps.restored.restoring_programs import TAKE, WITHOUT_IDENTITY
from services.procedures.plan.actions import Run
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder

DEFAULT = "/var/lib/mysql"
ACCOUNT = "mysql"


def folder_of(host: HostFacts) -> str:
    """Return the data folder's path, without a slash behind it."""
    return (host[DataFolder].path or DEFAULT).rstrip("/")


def account_of(host: HostFacts) -> str:
    """Return the account whose the data folder is, by number where it was read."""
    return str(host[DataFolder].owner or ACCOUNT)


def inside(host: HostFacts, *argv: str) -> Command:
    """Return a command that runs in the data folder, as its account."""
    return folders_of_others.inside(folder_of(host), account_of(host), *argv)


def edited(host: HostFacts, name: str, expression: str) -> Run:
    """Return the act that edits a file in the data folder by a word of sed(1)."""
    return Run(inside(host, "sed", "-i", expression, f"./{name}"))


def renamed(host: HostFacts, path: str, new: str, ok: tuple[int, ...] = (0,)) -> Run:
    """Return the act that renames a folder of the host's account; it ends with 1 where there is none."""
    return Run(folders_of_others.renamed(path, new, account_of(host)), ok=ok)


def put_away(host: HostFacts, aside: str, came: str) -> Run:
    """Return the act that removes the data folder that a run made, as `came` first, while the old one is kept."""
    return Run(folders_of_others.put_away(folder_of(host), aside, came, account_of(host)))


def made(host: HostFacts) -> Run:
    """Return the act that makes the data folder, empty, for its account."""
    return Run(folders_of_others.made(folder_of(host), account_of(host), "0755"))


def taken(host: HostFacts, ok: tuple[int, ...] = (0,)) -> Run:
    """Return the act that makes the data folder root's; it ends with 1 where it can't be written."""
    return Run(Command(("bash", "-c", TAKE, "pilothouse", folder_of(host), account_of(host)), sudo=True), ok=ok)


def without_identity(host: HostFacts, *more: str) -> Run:
    """Return the act that takes another server's identity out of the data folder, and one more file."""
    return Run(Command(("bash", "-c", WITHOUT_IDENTITY, "pilothouse", folder_of(host), *more), sudo=True))
