"""What an ssh_config says of one host, in the words of `ssh -G`: whoever read it, ssh itself or our reader."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from services.errors import BadInput
from services.i18n import tr

LISTS = frozenset({"globalknownhostsfile", "userknownhostsfile", "revokedhostkeys"})
"""Options of several values that `ssh -G` writes into one line."""
OTHER_NAMES = {
    "pubkeyacceptedkeytypes": "pubkeyacceptedalgorithms",
    "hostbasedkeytypes": "hostbasedacceptedalgorithms",
    "smartcarddevice": "pkcs11provider",
    "dsaauthentication": "pubkeyauthentication",
    "identityfile2": "identityfile",
    "rsaminsize": "requiredrsasize",
    "protocolkeepalives": "serveraliveinterval",
    "setuptimeout": "serveraliveinterval",
}
"""A setting's older names, and those of one vendor's ssh (Red Hat's RSAMinSize, Debian's keepalives)."""
_A_FILE_BEGINS = re.compile(r"(?<!\s)\s++(?=[/~%$]|[A-Za-z]:[\\/]|__PROGRAMDATA__|none$)")
_YES = frozenset({"yes", "true"})


@dataclass(frozen=True, slots=True)
class Settings:
    """An option's name in lower case -> its values in order; an option that is not set is left out.

    has_user: the file names a login itself (else `user` is this machine's).
    is_expanded: UserKnownHostsFile and IdentityAgent have their tokens put in.
    puts_in_revoked: so has RevokedHostKeys (OpenSSH 10.0 and newer).
    own: the options that the program says without any file, too: nobody set them.
    """

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    has_user: bool = True
    is_expanded: bool = False
    puts_in_revoked: bool = False
    own: frozenset[str] = frozenset()

    def all(self, name: str) -> tuple[str, ...]:
        """Return all values of an option."""
        return tuple(self.values.get(name, ()))

    def one(self, name: str, otherwise: str = "") -> str:
        """Return an option's value."""
        return next(iter(self.values.get(name, ())), otherwise)

    def without(self, name: str) -> Settings:
        """Return the same without an option."""
        return replace(self, values={key: value for key, value in self.values.items() if key != name})

    def yes(self, name: str) -> bool:
        """Return whether a flag is set."""
        return self.one(name).lower() in _YES

    def number(self, name: str) -> int | None:
        """Return a number; None where it is not set, or none."""
        text = self.one(name)
        if text in {"", "none"}:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 10:
            raise BadInput(tr('ssh_config: "{text}" is not a number for {key}.', text=text, key=name))
        return int(text)


def settings_of(text: str) -> Settings:
    """Read what `ssh -G` writes: a line for each value, or several values of file names in one line."""
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        name, _, value = line.removesuffix("\r").partition(" ")
        name = OTHER_NAMES.get(name, name)
        if name.islower() and value:
            found.setdefault(name, []).extend(_A_FILE_BEGINS.split(value) if name in LISTS else [value])
    return Settings(found, is_expanded=True)
