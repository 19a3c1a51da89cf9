"""The options of an ssh_config by what is done with them where no `ssh` is there to be asked (OpenSSH, readconf.c)."""

from __future__ import annotations

from services.connections.openssh.treatment import ALGORITHMS

FLAG = frozenset({"true", "false", "yes", "no"})
CHOICES = {
    "identitiesonly": FLAG,
    "hashknownhosts": FLAG,
    "checkhostip": FLAG,
    "canonicalizefallbacklocal": FLAG,
    "proxyusefdpass": FLAG,
    "verifyhostkeydns": FLAG | {"ask"},
    "canonicalizehostname": FLAG | {"always"},
    "stricthostkeychecking": FLAG | {"ask", "off", "accept-new"},
    "fingerprinthash": frozenset({"md5", "sha1", "sha256", "sha384", "sha512"}),
    "addressfamily": frozenset({"any", "inet", "inet6"}),
    "pubkeyauthentication": FLAG | {"unbound", "host-bound"},
}
"""Flags and words; case does not count."""
TEXTS = ALGORITHMS | frozenset(
    """
    bindaddress bindinterface hostkeyalias hostname identityagent ignoreunknown pkcs11provider
    preferredauthentications user
    """.split()  # noqa: SIM905 - a table of words
)
TIMES = frozenset({"connecttimeout", "serveraliveinterval"})
NUMBERS = frozenset({"serveralivecountmax", "canonicalizemaxdots", "requiredrsasize"})
FILE_LISTS = frozenset({"globalknownhostsfile", "userknownhostsfile", "revokedhostkeys"})
MANY = frozenset({"identityfile", "certificatefile"})
"""Each line adds one."""
LINES = frozenset({"proxycommand", "knownhostscommand"})
"""The rest of the line as it stands, a remark in it too."""
CLEARED_BY_NONE = ("proxycommand", "knownhostscommand", "revokedhostkeys", "pkcs11provider")
CRITERIA = frozenset({"host", "originalhost", "user", "localuser", "exec"})
