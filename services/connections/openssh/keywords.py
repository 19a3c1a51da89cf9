"""The options of an ssh_config by what is done with them where no `ssh` is there to be asked (OpenSSH, readconf.c)."""

from __future__ import annotations

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
}
"""Flags and words; case does not count."""
TEXTS = frozenset(
    {"hostname", "hostkeyalgorithms", "user", "hostkeyalias", "pkcs11provider", "identityagent", "ignoreunknown"}
)
TIMES = frozenset({"connecttimeout", "serveraliveinterval"})
NUMBERS = frozenset({"serveralivecountmax", "canonicalizemaxdots", "requiredrsasize"})
FILE_LISTS = frozenset({"globalknownhostsfile", "userknownhostsfile", "revokedhostkeys"})
MANY = {"identityfile": "identityfile", "identityfile2": "identityfile", "certificatefile": "certificatefile"}
"""Each line adds one."""
LINES = frozenset({"proxycommand", "knownhostscommand"})
"""The rest of the line as it stands, a remark in it too."""
CLEARED_BY_NONE = ("proxycommand", "knownhostscommand", "revokedhostkeys", "pkcs11provider")
CRITERIA = frozenset({"host", "originalhost", "user", "localuser", "exec"})

# What has no say in where a connection goes, as whom, or what it trusts, here: read past, whatever its value.
OF_NO_WEIGHT = frozenset(
    """
    addkeystoagent addressfamily afstokenpassing batchmode bindaddress bindinterface casignaturealgorithms
    challengeresponseauthentication channeltimeout cipher ciphers clearallforwardings compression compressionlevel
    connectionattempts controlmaster controlpath controlpersist dsaauthentication dynamicforward
    enableescapecommandline enablesshkeysign escapechar exitonforwardfailure fallbacktorsh fingerprinthash
    forkafterauthentication forwardagent forwardx11 forwardx11timeout forwardx11trusted gatewayports
    globalknownhostsfile2 gssapiauthentication gssapidelegatecredentials hostbasedacceptedalgorithms
    hostbasedauthentication hostbasedkeytypes ipqos kbdinteractiveauthentication
    kbdinteractivedevices keepalive kerberosauthentication kerberostgtpassing kexalgorithms localcommand
    localforward loglevel logverbose macs nohostauthenticationforlocalhost numberofpasswordprompts
    obscurekeystroketiming passwordauthentication permitlocalcommand permitremoteopen preferredauthentications
    protocol pubkeyacceptedalgorithms pubkeyacceptedkeytypes pubkeyauthentication rekeylimit remotecommand
    remoteforward requesttty rhostsauthentication rhostsrsaauthentication rsaauthentication securitykeyprovider
    sendenv sessiontype setenv skeyauthentication smartcarddevice stdinnull streamlocalbindmask
    streamlocalbindunlink syslogfacility tcpkeepalive tisauthentication tunnel tunneldevice updatehostkeys
    useprivilegedport userknownhostsfile2 useroaming usersh visualhostkey warnweakcrypto xauthlocation
    """.split()  # noqa: SIM905 - a table of words
)
