"""What is done with each setting of ssh_config(5), in one table: kept, read past and why, or refused by its name.

Whoever reads the files, ssh or our reader, this table is asked. A setting that is not in it (a newer ssh's) is refused
where a file sets it: nobody here knows whether it guards.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.connections.openssh.settings import OTHER_NAMES, Settings

ALGORITHMS = frozenset(
    {"ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms", "casignaturealgorithms"}
)
"""Lists, with ssh's `+`, `-` and `^`; `ssh -G` writes them whole, set or not."""
KEPT = ALGORITHMS | frozenset(
    """
    addressfamily bindaddress certificatefile checkhostip connecttimeout fingerprinthash globalknownhostsfile
    hashknownhosts hostkeyalias hostname identitiesonly identityagent identityfile knownhostscommand pkcs11provider
    port preferredauthentications proxycommand proxyjump pubkeyauthentication requiredrsasize revokedhostkeys
    serveralivecountmax serveraliveinterval stricthostkeychecking user userknownhostsfile
    """.split()  # noqa: SIM905 - a table of words
)
"""They decide where a connection goes, as whom, and what it trusts."""
WHILE_READING = frozenset(
    """
    canonicaldomains canonicalizefallbacklocal canonicalizehostname canonicalizemaxdots canonicalizepermittedcnames
    host ignoreunknown include match tag
    """.split()  # noqa: SIM905
)
"""Done with once the files are read."""
GUARDS = ("BindInterface", "ProxyUseFdpass", "RefuseConnection", "VerifyHostKeyDNS")
"""They decide in ssh whether a host is the right one, or how it is reached, and can't be kept here."""
HARMLESS: Mapping[str, frozenset[str]] = {
    why: frozenset(words.split())
    for why, words in {
        "nothing is forwarded, here or there, but to the servers of the inventory": """
            clearallforwardings dynamicforward exitonforwardfailure forwardagent forwardx11 forwardx11timeout
            forwardx11trusted gatewayports localforward permitremoteopen remoteforward streamlocalbindmask
            streamlocalbindunlink tunnel tunneldevice xauthlocation""",
        "no terminal and no session of a person: commands alone, with an environment of their own": """
            channeltimeout enableescapecommandline escapechar forkafterauthentication localcommand
            obscurekeystroketiming permitlocalcommand remotecommand requesttty sendenv sessiontype setenv stdinnull""",
        "connections are made and kept by Pilothouse itself, never those of another ssh": """
            batchmode connectionattempts controlmaster controlpath controlpersist tcpkeepalive ipqos""",
        "the inventory says whether a password is given, and which": """
            kbdinteractiveauthentication kbdinteractivedevices numberofpasswordprompts passwordauthentication
            challengeresponseauthentication skeyauthentication tisauthentication""",
        "ways to log in that are not offered": """
            enablesshkeysign gssapiauthentication gssapiclientidentity gssapidelegatecredentials
            gssapikexalgorithms gssapikeyexchange gssapirenewalforcesrekey gssapiserveridentity gssapitrustdns
            hostbasedacceptedalgorithms hostbasedauthentication""",
        "security keys are reached through the agent, and nothing is put into it": "addkeystoagent securitykeyprovider",
        "stricter here: keys are checked on this machine too, none is taken over unasked, and renewed by 512 MB": """
            nohostauthenticationforlocalhost rekeylimit updatehostkeys""",
        "what ssh says, and how; less is packed": """
            compression compressionlevel loglevel logverbose syslogfacility versionaddendum
            visualhostkey warnweakcrypto""",
        "of no meaning to any OpenSSH of today": """
            afstokenpassing cipher fallbacktorsh globalknownhostsfile2 keepalive kerberosauthentication
            kerberostgtpassing protocol rhostsauthentication rhostsrsaauthentication rsaauthentication
            useblacklistedkeys useprivilegedport userknownhostsfile2 useroaming usersh""",
    }.items()
}
OF_NO_WEIGHT = frozenset[str]().union(*HARMLESS.values())
OF_VENDORS = frozenset({"usekeychain"})
"""Of no weight, and known to one vendor's ssh alone: Apple's, whose agent has the keychain's keys."""


def is_known(name: str) -> bool:
    """Return whether a setting is in the table; case does not count."""
    word = OTHER_NAMES.get(name.lower(), name.lower())
    guards = {guard.lower() for guard in GUARDS}
    return any(word in part for part in (KEPT, WHILE_READING, OF_NO_WEIGHT, OF_VENDORS, guards))


def refused(found: Settings) -> str | None:
    """Return the name of a setting that guards and can't be kept, where it is set."""
    through_others = bool(found.one("proxyjump") or found.one("proxycommand", "none").lower() != "none")
    sets = {
        "BindInterface": bool(found.one("bindinterface")) and not through_others,
        "ProxyUseFdpass": found.yes("proxyusefdpass") and bool(found.one("proxycommand")),
        "RefuseConnection": bool(found.one("refuseconnection")),
        "VerifyHostKeyDNS": found.yes("verifyhostkeydns"),
    }
    return next((guard for guard in GUARDS if sets[guard]), None)


def not_known(found: Settings, without_files: Settings) -> str | None:
    """Return the name of a setting that the table lacks and that the files set: it is not as without any file."""
    return next(
        (name for name in found.values if not is_known(name) and found.all(name) != without_files.all(name)), None
    )
