"""Codes of checks that can block and that no state of walk_stops.py makes block, each with the reason."""

from __future__ import annotations

_TEXTS = "judged of what a survey of real backups and binary logs tells: their unit tests, and the lab, refuse by it"
_CHAINS = "a chain of backups that the scripted hosts do not have: unit tests, and the lab, refuse by it"
_LATER = "asked in the second part of a plan, of what the run recovered: the lab has it (test_refusals_after_crash)"
_MONGODB = "the scripted MongoDB clusters have no such fact: the checks' own unit tests refuse by it"
_TUNING = "measured or read of real programs and disks: the checks' own unit tests refuse by it"
_FILES = "files, certificates or volumes that the scripted hosts do not have: the checks' own unit tests refuse by it"
_GROUP = "a group that the scripted cluster can't form: the checks' own unit tests refuse by it"
_CODES = {
    _TEXTS: (
        "AHEAD BACKUP-KIND BACKUP-TOOL BACKUP-USED DONE-BY FILTERED FILTERS FILTERS-THEN GALERA-THREE "
        "GTID-MODE HOLES IST-REACHES OTHER-UUID OWN-LOG OWN-REACH PRIVATE-LOGIN PXC-POSITION RACE "
        "SERVER-VERSION-JOINER STREAMING WAY WRITER"
    ),
    _CHAINS: (
        "ASIDE BACKUP-OPTIONS CHAIN-FULL CHAIN-LSN CHAIN-MISSING CHAIN-NODE CHAIN-ORDER COMPARE "
        "DISK-ROOM DONOR-SYNCED SETTINGS"
    ),
    _LATER: ("CHOSEN-BEHIND JOINS-FIRST NO-CANDIDATE RECOVERED-HISTORY"),
    _MONGODB: (
        "BACKUP-ROOM BALANCER COMPATIBILITY CONFIG-ENGINE CONFIG-FILES CONFIG-FOLDERS CONFIG-FORM "
        "CONFIG-HALF-WAY CONFIG-SAME CONFIG-STRING CONFIG-VERSIONS EVERY-MONGOS EVERY-SERVER EVERY-SET "
        "NEW-HOSTS OLD-ENTRIES ONE-RELEASE SET-LAG SET-VERSIONS SET-WHOLE SHARD-PROTOCOL TERMS-BEFORE "
        "TOO-OLD"
    ),
    _TUNING: ("COMPRESSED-TWICE COMPRESSOR-MISMATCH RATIO TRIAL-NODE TUNING-TOOLS USE-MEMORY"),
    _FILES: (
        "DONOR-WRITER FREEZE-SEQNO IST-REACH JOINER-CONFIGURED KEEP-DATA NAMED-MEMBERS OLD-DATA OLD-LINKED ONE-CA "
        "ONE-FOLDER ONE-VOLUME OWN-FILES OWN-PLACE ROOT-LOGIN SST-MODE SST-ONE-PLACE SST-SECRETS TLS-PAIR"
    ),
    _GROUP: ("CLUSTER-SIZE DONOR-PREFIX IST-REACH-* JOINER-RUNS PROVIDER-PROTOCOL SERVER-UUID"),
}
NOT_WALKED = {code: reason for reason, codes in _CODES.items() for code in codes.split()}
"""Code -> why it is not walked."""
