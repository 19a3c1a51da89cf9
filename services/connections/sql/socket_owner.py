"""Whether a Unix socket can only be the server's: a name in a folder that others write to may be anybody's.

While a server is down, whoever may make names in its socket's folder can listen there in its place (/tmp/mysql.sock).
"""

from __future__ import annotations

import os
import re
import socket
import stat
import struct
from pathlib import Path

_OF_THE_SERVER = re.compile(r"/(?:(?:var/)?run|var/lib)/(?:mysql|mysqld|mariadb)[A-Za-z0-9_.@-]*/[^/\0]+")
_UCRED = struct.Struct("3i")  # pid, uid, gid: man unix(7), SO_PEERCRED


def is_of_the_server(path: str) -> bool:
    """Return whether a socket on another host lies where only root makes folders: in /run and /var/lib.

    Nothing over there is asked: who listens behind a forwarded socket is not told by SSH.
    """
    return _OF_THE_SERVER.fullmatch(path) is not None


def listens_as_itself(sock: socket.socket, path: str) -> bool:
    """Return whether who listens on a socket of this machine is root, this program's own user or the folder's owner.

    Both are looked at, who called listen(2) and whom the name in the folder belongs to. The folder's owner counts where
    nobody else can have put the folder there: every folder above belongs to root, to this user or to that owner, and
    none is one where everybody may make names.
    """
    mine = {0, os.geteuid()}
    try:
        others = {_peer(sock, path), Path(path).stat().st_uid} - mine
        given = Path(path).absolute()
        found = [folder.stat() for folder in {*given.parents, *given.resolve().parents}]
        owner = given.resolve().parent.stat().st_uid
    except (OSError, RuntimeError):
        return False
    open_to_all = any(one.st_mode & stat.S_IWOTH for one in found)
    whose = {one.st_uid for one in found} - mine
    return not others or (others == {owner} and whose <= others and not open_to_all)


def _peer(sock: socket.socket, path: str) -> int:
    """Return the user who listens; where the system does not say, whom the socket belongs to."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return Path(path).stat().st_uid
    uid: int = _UCRED.unpack(sock.getsockopt(socket.SOL_SOCKET, option, _UCRED.size))[1]
    return uid
