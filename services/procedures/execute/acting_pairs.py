"""Putting a pair on a host: by standard input into files of the server's user, of which nobody else reads the key.

Nothing of a key is kept aside, printed or journalled. A file is written whole or not at all (operator_files); one that
an interrupted act left is replaced when it is repeated.
"""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from services.connections.operator import files as operator_files
from services.connections.operator.files import NotRead, NotWritten
from services.connections.ports import FileSeen
from services.facts.transfer.certificate_files import MOST_TEXT, only_certificates
from services.facts.transfer.certificates import faults_of
from services.i18n import tr
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.made_pairs import Pair, made_pair
from services.procedures.looking.local_pair import pair_of, read_local
from services.procedures.plan.actions import PutPair
from services.procedures.plan.pair_sources import HostPair, LocalPair
from services.secrets import Secret

if TYPE_CHECKING:
    from services.connections.ports import OperatorSession

_LIMIT_S = 20.0


def put_pair(
    action: PutPair,
    operator: Callable[[str], OperatorSession],
    host: str,
    now: float,
    before: Callable[[str, Secret], None],
) -> None:
    """Make, read or copy a pair and write its three files. Raises UserErrors; `safe` says what is true then.

    Args:
        before: is told each path and its content before it is written; it raises what forbids it.
    """
    pair, session = _pair(action, operator, now), operator(host)
    for folder in dict.fromkeys(posixpath.dirname(path) for path in (action.ca, action.cert, action.key)):
        made = session.run(operator_files.folder_made(folder), limit_s=_LIMIT_S)
        operator_files.need_done(made, folder, host)
    texts = (
        (action.key, pair.key, "0600", f"{action.owner}:{action.group}"),
        (action.ca, Secret(pair.ca), "0644", "root:root"),
        (action.cert, Secret(pair.cert), "0644", "root:root"),  # the last one: by it a whole pair is known
    )
    for path, content, _, _ in texts:
        before(path, content)
    for path, content, mode, owner in texts:
        try:
            session.write_file(path, content, mode=mode, owner=owner, follow=False, limit_s=_LIMIT_S)
        except NotWritten as problem:
            safe = tr("No transfer uses the new files yet.")
            raise ActFailed(problem.sentence, host=host, safe=safe, try_=problem.try_) from problem


def _pair(action: PutPair, operator: Callable[[str], OperatorSession], now: float) -> Pair:
    """Return the pair, judged as it is sent: of the two that others may read only the certificates go.

    A bundle may have its key beside them; and what lies on a host may have been laid there by the server's account.
    """
    source, mode = action.source, None
    if isinstance(source, HostPair):
        session = operator(source.host)
        ca, cert, key = (_read(session, path) for path in (action.ca, action.cert, action.key))
    elif isinstance(source, LocalPair):
        ca, cert, key = (Secret(read_local(path)) for path in (source.ca, source.cert, source.key))
        mode = stat.S_IMODE(Path(source.key).stat().st_mode)
    else:
        return made_pair(source.name, source.days, now)
    pair = Pair(only_certificates(ca.reveal()), only_certificates(cert.reveal()), key)
    seen = pair_of(pair.ca, pair.cert, pair.key, (action.ca, action.cert, action.key), mode)
    if bad := [fault.sentence for fault in faults_of(seen, now) if fault.blocks]:
        raise ActFailed("; ".join(bad), host="", safe=tr("Nothing was sent to a host."))
    return pair


def _read(session: OperatorSession, path: str) -> Secret:
    """Return a plain file's text: no link is followed, nothing but a file of a pair's size is read."""
    try:
        found = session.look_file(path, follow=False, limit_s=_LIMIT_S)
    except NotRead:
        found = FileSeen(there=False)
    if not found.there or len(found.content) > MOST_TEXT:
        raise ActFailed(
            tr("{path} on {host} is not the regular file that this run created.", path=path, host=session.host),
            host=session.host,
        )
    return Secret(found.content.decode("utf-8", "replace"))
