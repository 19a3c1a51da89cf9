"""A stopped node's state file is kept before a start, and put back where the start is taken back and no transfer came.

The provider takes the state out of grastate.dat before it decides which transfer comes; a server that ends then leaves
its data whole under a file that names none (seen on the lab, MariaDB 10.11.18: a donor whose script failed). The next
start of such a node asks for an SST, and as the last one with the newest rows it could not be bootstrapped.

What is put back names the state with seqno -1: the next start asks InnoDB for its position, as after any crash, so that
nothing rests on what this start did to the data. It is not put back where a file of a database is gone (an SST's
script empties it), where a transfer left its own files, or where the server's log tells of an IST or an inconsistency
since: there the provider's word is the true one. A log that tells nothing of the start shows nothing.
"""

from __future__ import annotations

from services.connections.command import Command
from services.connections.operator.folders_of_others import AS
from services.facts.galera.state_files import OF_PROVIDER
from services.facts.reads import DEFAULT_DATADIR
from services.procedures.catalogue.steps.restored.data_folders import account_of
from services.procedures.catalogue.steps.server import start_unit_of, unit_of
from services.procedures.conditions.galera.data.state_named import StateNamed
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Run
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Step, Undo
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.server.options import Options

KEPT = "/var/lib/pilothouse/before-start"

_LISTED = r"""listed() { find -H "$1" -mindepth 2 -type f -not -name '#*' -printf '%P\n' | sort; }
"""
"""The files of databases: those beside ibdata1 any start may purge or make anew (binary logs, ddl_recovery.log)."""
KEEP_STATE = (
    AS
    + _LISTED
    + r"""set -eu -o pipefail
install -d -m 0700 -- "$2"
into "$1"; acts
{ [ -f ./grastate.dat ] && [ ! -L ./grastate.dat ]; } || { echo "no plain file: $1/grastate.dat" >&2; exit 1; }
$as timeout 5 head -c 4096 -- ./grastate.dat > "$2/grastate.dat"
listed . > "$2/files"
if [ -n "$3" ] && [ -f "$3" ]; then stat -L -c %s -- "$3"; else echo 0; fi > "$2/log-at"
date +%s > "$2/at"
"""
)
SAVE_STATE = (
    AS
    + r"""datadir=$1 to=$2; shift 2
install -d -m 0700 -- "$to" && into "$datadir" && acts
for each do
  [ -e "./$each" ] || [ -L "./$each" ] || continue
  [ -f "./$each" ] && [ ! -L "./$each" ] || die "no plain file: $datadir/$each"
  now=$(mktemp -- "$to/.new-XXXXXXXXXX") && $as timeout 5 head -c 65537 -- "./$each" > "$now" &&
    $as stat -c @%Y -- "./$each" > "$now.at" || die "$datadir/$each could not be read"
  [ "$(stat -c %s -- "$now")" -le 65536 ] || { rm -f -- "$now" "$now.at"; die "$datadir/$each has more than 64 kB"; }
  touch -d "$(head -c 32 -- "$now.at")" -- "$now" && rm -f -- "$now.at" &&
    mv -T --backup=numbered -- "$now" "$to/$each" || die "$to/$each could not be written"
done
"""
)
"""$1 the account, $2 the data folder, $3 where root keeps copies, then names of small files: each copy is numbered.

What is there at that moment: a server that was still up deletes its gvwstate.dat when it is stopped cleanly. They are
read as the account, where the folder is not root's alone: what it laid in a file's place (a link to an endless device,
to a file of root's) is not.
"""
SCRIPT_ENDS_S = 45
"""How long an undo waits for a transfer's script, which outlives its server: its trap ends its own processes first."""
PUT_STATE_BACK = (
    AS
    + r"""set -u -o pipefail
datadir=$1 kept=$2 unit=$3 log=$4 uuid=$5 provider=$6
"""
    + _LISTED
    + r"""stays() { printf 'state file: left as it is: %s\n' "$1"; exit 0; }
names_it() (
  into "$datadir"; acts
  [ -f ./grastate.dat ] && [ ! -L ./grastate.dat ] || exit
  text=$($as timeout 5 head -c 4096 -- ./grastate.dat | tr -d '\0')
  grep -q "^uuid: *$uuid$" <<< "$text"
)
names_it && { echo 'state file: it names its data'; exit 0; }
grep -q "^uuid: *$uuid$" "$kept/grastate.dat" 2>/dev/null || stays 'none was kept'
[ -f "$datadir/ibdata1" ] || stays 'the folder was erased'
[ -e "$datadir/.sst" ] && stays 'a transfer had begun'
mark=; [ -e "$datadir/sst_in_progress" ] && mark=sst_in_progress
umask 077; now=$(mktemp); said=$(mktemp); trap 'rm -f -- "$now" "$said"' EXIT
listed "$datadir" > "$now" || stays 'the folder could not be listed'
gone=$(comm -23 "$kept/files" "$now" | head -n 1)
[ -z "$gone" ] || stays "${gone:0:200} is gone"
journalctl --no-pager -q -o cat -u "$unit" --since "@$(cat "$kept/at")" 2>/dev/null | head -c $((@MOST@ + 1)) > "$said"
at=$(cat "$kept/log-at")
if [ -n "$log" ] && [ -f "$log" ] && [ "$(stat -L -c %s -- "$log")" -ge "$at" ]; then
  [ "$(stat -L -c %s -- "$log")" -le "$((at + @MOST@))" ] || stays 'the log has more since than is read'
  own timeout 20 tail -c "+$((at + 1))" -- "$log" | head -c @MOST@ >> "$said" || stays 'the log could not be read'
fi
[ "$(stat -c %s -- "$said")" -le @MOST@ ] || stays 'the log has more since than is read'
grep -qF -- "$provider" "$said" || stays 'no log tells of the start'
grep -Eiq 'inconsisten|consistency compromised|receiving IST|IST received|reversing history' "$said" &&
  stays 'the log tells of an IST or an inconsistency'
if [ -n "$mark" ]; then
  ran=$(grep -aoE "[w]srep_sst_[A-Za-z0-9_.-]+ --role 'joiner'" "$said" | sort -u)
  case $ran in [w]srep_sst_mariabackup" --role 'joiner'") ;; *) stays 'a transfer had begun';; esac
  runs() { pgrep --ns "$$" --nslist pid -u "$uid" -f '[w]srep_sst_' > /dev/null; [ "$?" -ne 1 ]; }
  for _ in $(seq @WAIT@); do runs || break; sleep 1; done
  runs && stays 'a script of a transfer may run still'
fi
printf '# GALERA saved state\nversion: 2.1\nuuid:    %s\nseqno:   -1\nsafe_to_bootstrap: 0\n' "$uuid" |
  (into "$datadir"
   own sh -c 'umask 007; cat > ./grastate.dat.new && mv -T -- ./grastate.dat.new ./grastate.dat') ||
  stays 'it could not be written'
[ -z "$mark" ] || (into "$datadir"; own rm -f -- ./sst_in_progress) || echo "state file: $mark stays" >&2
echo 'state file: put back'
""".replace("@MOST@", str(64 * 2**20)).replace("@WAIT@", str(SCRIPT_ENDS_S))
)
"""Of the log at most 64 MiB are read, as the account, in 20 s: where there is more, nothing is shown, and nothing put
back. The state file is a plain one, read as the account up to 4 kB: a pipe there would keep root waiting."""


def keep_state(host: HostFacts) -> tuple[Step, ...]:
    """Return the step that keeps the state file of a stopped node; none where it names no state that could be lost."""
    folder = host[DataFolder]
    if folder.grastate is None or not folder.names_state:
        return ()
    name, datadir = host.host, folder.path or DEFAULT_DATADIR
    log = host[Options].option("mysqld", "log_error") or ""
    log = log if log.startswith("/") else ""
    uuid, unit = folder.grastate.uuid, start_unit_of(host)
    account = account_of(host)
    back = ("bash", "-c", PUT_STATE_BACK, "pilothouse", account, datadir, KEPT, unit, log, uuid, OF_PROVIDER)
    return (
        Step(
            step_id=f"keep-state-{name}",
            host=name,
            title=f"Copy the state file of {name} to {KEPT}",
            done=f"The state file of {name} is saved",
            why="A start that fails before a transfer begins may leave the node without a state although its data are "
            "complete.",
            action=Run(Command(("bash", "-c", KEEP_STATE, "pilothouse", account, datadir, KEPT, log), sudo=True)),
            before=(Stopped(name, unit_of(host)),),
            limit_s=120.0,
            undo=Undo(
                f"Restore the state file of {name} if the start cleared it and no transfer began",
                Run(Command(back, sudo=True)),
                limit_s=120.0,
                before=(Stopped(name, unit_of(host)),),
                leaves=(StateNamed(name, datadir),),
            ),
            repeatable=True,
            estimate_s=1.0,
        ),
    )
