"""The operator's own commands: words, never a shell's line, with the few names that the plan fills in. Pure.

A command is split as a POSIX shell splits words (shlex) and run as it stands: no variable, no pipe, no star means
anything, unless the person writes `sh -c '...'`. A name in braces of the closed list is replaced inside its word, after
the splitting; what it stands for is of plain characters only, so it is one harmless word of an `sh -c` too.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from services.facts.typed_commands import braced, is_plain, is_snapshot_name, with_names
from services.i18n import tr
from services.procedures.catalogue.galera.shared.joiner_config import address_of
from services.procedures.catalogue.steps.restored.restoring import folder_of, is_mount
from services.procedures.plan.forms.fields import Fault, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.data_folder import DataFolder

MOST_CHARACTERS = 2_000
NAMES = ("donor", "joiner", "donor_address", "joiner_address", "datadir", "snapshot")
ON_DONOR = ("take", "offer", "remove")
ON_JOINER = ("bring", "detach")


def argv_of(facts: Facts, values: Inputs, field: str) -> tuple[str, ...]:
    """Return the words of one of the operator's commands as they will run, () for none. Only where `faults` is ()."""
    known = names_of(facts, values, donor=field in ON_DONOR)
    words = shlex.split(values[field])
    return tuple(with_names(word, known) for word in words)


def names_of(facts: Facts, values: Inputs, *, donor: bool) -> Mapping[str, str]:
    """Return what the names in braces stand for; {datadir} is the data folder of the host that runs the command."""
    source, target = facts.host(values["donor"]), facts.host(values["joiner"])
    folder = (source if donor else target)[DataFolder].path.rstrip("/")
    return {
        "donor": source.host,
        "joiner": target.host,
        "donor_address": address_of(source),
        "joiner_address": address_of(target),
        "datadir": folder,
        "snapshot": values["snapshot"],
    }


def command_faults(facts: Facts, values: Inputs) -> tuple[Fault, ...]:
    """Return what is wrong with the operator's commands and with the snapshot's name."""
    found = [Fault(name, why) for name in (*ON_DONOR, *ON_JOINER) if (why := _fault(facts, values, name))]
    joiner = facts.host(values["joiner"])
    if is_mount(joiner) and "--del" in values["bring"]:
        why = "{folder} is a mount point, and its old data are kept inside it: --delete would remove them."
        found.append(Fault("bring", tr(why, folder=folder_of(joiner))))
    if values["snapshot"] and not is_snapshot_name(values["snapshot"]):
        found.append(
            Fault("snapshot", "A snapshot name begins with a letter and consists of letters, digits and underscores.")
        )
    return tuple(found)


def _fault(facts: Facts, values: Inputs, name: str) -> str:
    text = values[name]
    if not text:
        return ""
    if len(text) > MOST_CHARACTERS or not text.isprintable():
        return f"A command must have at most {MOST_CHARACTERS} printable characters on one line."
    try:
        words = shlex.split(text)
    except ValueError as problem:
        return f"The command cannot be split into words: {problem}. Quote words that belong together."
    if not words or not words[0]:
        return "A command must begin with a program."
    asked = {found for word in words for found in braced(word)}
    if strange := sorted(asked - set(NAMES)):
        known = ", ".join(f"{{{one}}}" for one in NAMES)
        return f"{{{strange[0]}}} is not known. Known names: {known}."
    filled = names_of(facts, values, donor=name in ON_DONOR)
    if odd := sorted(one for one in asked if not is_plain(filled[one])):
        return f"The value of {{{odd[0]}}} is not known or contains shell characters: write the value itself."
    return ""
