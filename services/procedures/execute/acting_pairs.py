"""Putting a pair on a host: by standard input into files of the server's user, of which nobody else reads the key.

Nothing of a key is kept aside, printed or journalled. A file is written whole or not at all (operator_files); one that
an interrupted act left is replaced when it is repeated.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING

from services.connections import operator_files
from services.connections.command import Command
from services.facts.certificates import faults_of, only_certificates
from services.i18n import tr
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.made_pairs import Pair, made_pair
from services.procedures.looking.local_pair import local_pair, read_local
from services.procedures.plan.actions import HostPair, LocalPair, PutPair
from services.secrets import Secret

if TYPE_CHECKING:
    from services.connections.ports import OperatorSession

_LIMIT_S = 20.0


def put_pair(action: PutPair, operator: Callable[[str], OperatorSession], host: str, now: float) -> None:
    """Make, read or copy a pair and write its three files. Raises UserErrors; `safe` says what is true then."""
    pair, session = _pair(action, operator, now), operator(host)
    for folder in dict.fromkeys(posixpath.dirname(path) for path in (action.ca, action.cert, action.key)):
        made = session.run(operator_files.folder_made(folder), limit_s=_LIMIT_S)
        operator_files.need_done(made, folder, host)
    owner = f"{action.owner}:{action.group}"
    texts = (
        (action.key, pair.key, "0600"),
        (action.ca, Secret(pair.ca), "0644"),
        (action.cert, Secret(pair.cert), "0644"),
    )
    for path, content, mode in texts:
        if session.run(Command(("test", "-L", path), sudo=True), limit_s=_LIMIT_S).exit_code == 0:
            raise ActFailed(
                tr("{path} is a symbolic link: root writes no key through one.", path=path),
                host=host,
                safe=tr("No transfer uses the new files yet."),
            )
        session.write_file(path, content, mode=mode, owner=owner, limit_s=_LIMIT_S)


def _pair(action: PutPair, operator: Callable[[str], OperatorSession], now: float) -> Pair:
    source = action.source
    if isinstance(source, HostPair):
        session = operator(source.host)
        ca, cert, key = (_read(session, path) for path in (action.ca, action.cert, action.key))
        return Pair(ca.reveal(), cert.reveal(), key)
    if not isinstance(source, LocalPair):
        return made_pair(source.name, source.days, now)
    seen = local_pair(source.ca, source.cert, source.key)
    if bad := [fault.sentence for fault in faults_of(seen, now) if fault.blocks]:
        raise ActFailed("; ".join(bad), host="", safe=tr("Nothing was sent to a host."))
    # Of the two that others may read only the certificates are sent: a bundle may have a key beside them.
    ca, cert = (only_certificates(read_local(path)) for path in (source.ca, source.cert))
    return Pair(ca, cert, Secret(read_local(source.key)))


def _read(session: OperatorSession, path: str) -> Secret:
    found = session.read_file(path, limit_s=_LIMIT_S)
    if found is None:
        raise ActFailed(tr("{path} is not there any more on {host}.", path=path, host=session.host), host=session.host)
    return Secret(found.decode("utf-8", "replace"))
