"""The donor that a run names for one start, and the donor that the server ran with before. All pure.

Sources: MariaDB KB "wsrep_sst_donor" (a trailing comma lets the node take another donor; dynamic: a SET lasts until the
server's next start, which reads the option files).
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.sql.statement import set_back
from services.errors import BadInput
from services.facts.plain_names import is_donor_name
from services.i18n import tr
from services.procedures.catalogue.steps.server import option_folder
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.files import FileWithout
from services.procedures.conditions.server.option import OptionIs
from services.procedures.conditions.server.set_back import SetBack
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import PutFile, RemoveFile, Several, Sql
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Step
from services.procedures.plan.parts.server.options import Options

DONOR = "wsrep_sst_donor"
DONOR_FILE = "99-pilothouse-donor.cnf"


def as_it_runs(host: HostFacts) -> str:
    """Return the donor that the server runs with; of one that is down the donor that its files would start it with."""
    galera = host.node.galera if host.node is not None and host.server_up else None
    return galera.sst_donor if galera is not None else host[Options].option("mysqld", DONOR) or ""


def _ours(donor_name: str) -> str:
    """Return the value as it is written: the comma lets Galera take another donor when this one is busy."""
    return f"{donor_name},"


def _text(donor_name: str) -> str:
    """Return the file's text. Raises BadInput for a name that is none: that member wrote options for others with it.

    It called itself "s3", a line's end, `plugin_load_add=x`, and root wrote both lines (tried).
    """
    if donor_name and not is_donor_name(donor_name):  # '': nobody can be one, which the checks tell
        raise BadInput(
            tr("A member reports the name {name}, which cannot be written to another node's option file.",
               name=repr(donor_name[:80])),
            safe=tr("Nothing was written."),
            try_=(tr("Check wsrep_node_name there; use letters, digits, dots and dashes only."),
                  tr("Or choose another donor.")),
        )  # fmt: skip
    return f"[mysqld]\nwsrep_sst_donor={_ours(donor_name)}\n"


def _named(host: HostFacts, donor_name: str) -> tuple[Temporary, str]:
    """Return it and the option file's path.

    It is over when neither the file nor the server has the name: a start in between has read the file.
    """
    name, before = host.host, as_it_runs(host)
    path, wrote = posixpath.join(option_folder(host), DONOR_FILE), _text(donor_name)
    return (
        Temporary(
            key=f"donor:{name}",
            host=name,
            sentence=f"donor set for {name}",
            danger=f"{name} continues to ask {donor_name} first",
            release=Several((RemoveFile(path, wrote), Sql(set_back(DONOR, _ours(donor_name), before)))),
            released=(FileWithout(name, path, wrote), SetBack(name, DONOR, _ours(donor_name), before)),
        ),
        path,
    )


def name_donor(host: HostFacts, donor_name: str, prefix: str = "") -> Step:
    """Name the donor for the next start only. What a server runs with before is read again, so that it can be back."""
    name = host.host
    donor, path = _named(host, donor_name)
    step = Step(
        step_id=f"{prefix}name-donor-{name}",
        host=name,
        title=f"Set {donor_name} as the donor for the next start of {name}",
        done=f"{name} will ask {donor_name} first",
        why="Galera prefers the donor closest to purging; the trailing comma allows another donor if needed.",
        action=PutFile(path, (_text(donor_name),)),
        # What the server will read counts: a file that it reads later may name another donor.
        proof=(OptionIs(name, "mysqld", DONOR, _ours(donor_name)),),
        repeatable=True,
        estimate_s=0.5,
    )
    return donor.on(step, f"Remove the donor file of {name} and restore the previous donor setting of its server")


def of_running(step: Step, host: HostFacts) -> Step:
    """Return a naming on a node that is up: it begins only while the server runs with what the plan saw."""
    return replace(step, before=(*step.before, VariableIs(host.host, DONOR, as_it_runs(host))))


def forget_donor(host: HostFacts, donor_name: str, prefix: str = "") -> Step:
    """Discharge `name_donor` in the file and in the running server."""
    name = host.host
    donor, _ = _named(host, donor_name)
    step = donor.off(
        f"{prefix}forget-donor-{name}",
        f"Remove the donor setting of {name}",
        f"{name} chooses its donor as before",
        0.5,
    )
    return replace(step, why="The setting applied to one start only; there is nothing to undo.")
