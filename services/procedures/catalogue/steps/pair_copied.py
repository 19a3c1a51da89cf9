"""A pair of certificate and key put on a host, and copied from one that has it. Pure.

The files are new ones (their names have the time of the plan that made them): an undo takes each away that is still
what was put.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.command import Command
from services.procedures.conditions.galera.config.pair_sound import PairSound
from services.procedures.conditions.machine.files import FileAbsent, FileNotAsPut
from services.procedures.plan.actions import PutPair, RemoveFile, Run, Several
from services.procedures.plan.condition import Kept
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Step, Undo
from services.procedures.plan.pair_sources import HostPair
from services.procedures.plan.parts.galera.traffic_files import TrafficFiles, tls_files
from services.procedures.plan.parts.galera.transfer_pairs import FOLDER
from services.procedures.plan.parts.server.options import Options

Files = tuple[str, str, str]
"""CA, certificate, key."""


def put_pair(host: HostFacts, action: PutPair, *, empty_folder: bool) -> Step:
    """Return the step with its undo; the caller says its title, why and proof.

    Args:
        empty_folder: the folder of the files goes with them, where nothing else lies in it.
    """
    name, files = host.host, (action.key, action.cert, action.ca)
    folder = posixpath.dirname(action.ca)
    empty = Run(Command(("rmdir", "--ignore-fail-on-non-empty", "--", folder), sudo=True), ok=(0, 1))
    removed = (*(RemoveFile(path, put=True) for path in files), *((empty,) if empty_folder else ()))
    return Step(
        step_id=f"pair-{name}",
        host=name,
        title="",
        done=f"{name} has the certificate",
        action=action,
        before=(FileAbsent(name, action.cert),),  # written last: a repeat finds none, another's file is left alone
        limit_s=60.0,
        undo=Undo(
            f"Remove the certificate and its key from {name}",
            Several(removed),
            tuple(FileNotAsPut(name, path) for path in files),
        ),
        repeatable=True,
        estimate_s=2.0,
    )


def copied_pair(
    host: HostFacts, source: str, files: Files, account: tuple[str, str], *, empty_folder: bool, same_as: Kept | None
) -> Step:
    """Return the step that copies another host's pair; account: the user and group that own the key.

    Args:
        same_as: the digest of the pair that it must be, kept by the run; None: any whole one.
    """
    return replace(
        put_pair(host, PutPair(*files, HostPair(source), *account), empty_folder=empty_folder),
        title=f"Copy the certificate and its key from {source} to {host.host}",
        why="They pass through this console by standard input and appear on no command line.",
        proof=(PairSound(host.host, *files, same_as),),
    )


def lacking_pair(facts: Facts, joiner: str, donor: str, *, fresh: bool) -> Files | None:
    """Return the pair that encrypt-sst made for all nodes, where a joiner lacks it and its donor has it.

    One pair is for all nodes (encrypt=4 verifies the chain): a new one gets the same. Nobody can sign another: the
    key of that CA was dropped.

    Args:
        fresh: the joiner gets the donor's configuration; else it has its own.
    """
    host, source = facts.host(joiner), facts.host(donor)
    named = dict(tls_files(source if fresh else host))
    files = tuple(named.get(f"[sst] {option}", "") for option in ("tca", "tcert", "tkey"))
    there, theirs = dict(host[TrafficFiles].sizes), dict(source[TrafficFiles].sizes)
    ours = all(posixpath.dirname(path) == FOLDER for path in files)
    lacks = ours and all(path in there and there[path] is None for path in files)
    return (files[0], files[1], files[2]) if lacks and all(theirs.get(path) for path in files) else None


def brought_pair(facts: Facts, joiner: str, donor: str, *, fresh: bool) -> tuple[Step, ...]:
    """Return the step that brings such a pair to a joiner; none where it lacks none."""
    files, host = lacking_pair(facts, joiner, donor, fresh=fresh), facts.host(joiner)
    if files is None:
        return ()
    user = host[Options].option("mysqld", "user") or "mysql"
    return (copied_pair(host, donor, files, (user, user), empty_folder=True, same_as=None),)
