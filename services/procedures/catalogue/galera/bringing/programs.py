"""The programs that bring a backup from one host to another. Each is given to a host as one word; for root's shell.

Sources: MariaDB KB, "Using Encryption and Compression Tools With mariadb-backup" (--stream to standard output, mbstream
-x) and "mariadb-backup Options" (--galera-info, --throttle); socat(1) (OPENSSL-LISTEN and OPENSSL-CONNECT verify the
other's certificate unless verify=0; with an empty commonname the chain is verified, and no name; -t waits for the other
direction after one has ended; EXEC). Tried with socat 1.7.4.4, mariadb-backup 10.11.18 and GNU tar 1.34: a stream that
was cut short is an error of tar (2); of mbstream only where it is cut within a piece, and not between two.

Both ends of a stream are asked: it is whole when the sender's program ended well and the node has said that it unpacked
all of it. A stream that broke is unpacked into nothing that is ever used: the next one begins in an empty folder.
"""

from __future__ import annotations

from services.procedures.catalogue.steps.restoring_programs import OWN_PATH

MARK = ".pilothouse-brought"
ANSWER_S = 3600

_CLEAR = rf"""clear() {{
  [ -e "$1" ] || [ -L "$1" ] || return 0
  [ -d "$1" ] && [ ! -L "$1" ] || return 4
  if [ -f "$1/{MARK}" ]; then
    find "$1" -xdev -mindepth 1 ! -path "$1/{MARK}" -delete && rm -f -- "$1/{MARK}" || return 5
  fi
  rmdir -- "$1" || return 4
}}
"""

MAKE_PLACE = rf"""umask 077; export LC_ALL=C
{OWN_PATH}{_CLEAR}place=$1
[ "$(realpath -m -- "$place")" = "$place" ] || {{ echo "a symbolic link leads to $place"; exit 8; }}
own_path "${{place%/*}}" || exit 10
clear "$place" || {{ was=$?; echo "$place is there already, and no run made it"; exit $was; }}
mkdir -p -m 0700 -- "${{place%/*}}" && mkdir -m 0700 -- "$place" && echo pilothouse > "$place/{MARK}" || exit 5
own_path "$place" || exit 10
"""
"""$1 the run's own folder: made anew and empty; what an earlier run left in it goes, by its mark."""

CLEAR_PLACE = rf"""export LC_ALL=C
{_CLEAR}clear "$1" || {{ was=$?; echo "$1 is not a folder of what was brought"; exit $was; }}
"""
"""$1 the folder: removed only by the mark that MAKE_PLACE makes in it, the mark last."""

UNPACK = r"""set -u -o pipefail; umask 077; export LC_ALL=C
dd bs=1 count=1 of=.first status=none; [ -s .first ] || exit 9
rm -rf --one-file-system .part .came && mkdir .part || { echo 'broke off: no folder could be made'; exit 5; }
case $1 in
  now) set -- mbstream -x -C .part;;
  host) set -- tar -x -C .part --no-same-owner --no-same-permissions -f -;;
  *) exit 4;;
esac
if said=$(cat .first - | "$@" 2>&1 | tail -n 3 | tr '\n' ' ') && sync -f .part && mv -T .part .came; then echo unpacked
else rm -rf --one-file-system .part; printf 'broke off: %s\n' "${said:-it was not whole}"; sleep 2; fi
"""
"""One stream, from its first byte on: into an empty folder, which gets its name only when all of it was there.

A connection without a byte (somebody looks whether the port is open) changes nothing.
"""

RECEIVE = rf"""set -u; umask 077; export LC_ALL=C
cd -- "$1" && [ -f {MARK} ] && printf '%s' "$4" > .unpack || exit 3
for n in {{1..1000}}; do
  socat -b 262144 -t {ANSWER_S} "$2" "EXEC:bash .unpack $3"
  sleep 0.2
done
"""
"""$1 the run's own folder, $2 socat's words for the port, $3 now or host, $4 UNPACK: one stream after another."""

_ROAD = rf"""place=$1 to=$2; shift 2
cd -- "$place" && [ -f {MARK} ] || exit 3
sni=; ! grep -q no-sni <<< "$(socat -hhh)" || sni=,no-sni=1
own="cert=$place/cert.pem,key=$place/key.pem,cafile=$place/ca.pem,commonname=$sni"
way="openssl-connect:$to,$own,connect-timeout=10,retry=30,interval=1,keepalive"
road() {{ socat -b 262144 -t {ANSWER_S} - "$way"; }}
ended() {{
  answer=$(tail -n 1 .answer | tr -c ' -~\n' '?'); rm -rf --one-file-system .work .answer
  echo "the node says: ${{answer:-nothing}}"
  [ "$1" = "$2" ] && [ "$answer" = unpacked ] || {{ echo "failed: exit codes $1, the last is the road's"; exit 9; }}
  echo 'sent: whole'
}}
"""

SEND_NOW = (
    "set -u -o pipefail; umask 077; export LC_ALL=C\n"
    + _ROAD
    + r"""rm -rf --one-file-system .work && mkdir .work || exit 5
"$@" --target-dir="$place/.work" | road > .answer
ended "${PIPESTATUS[*]}" '0 0'
"""
)
"""$1 the run's own folder, $2 the node's address and port, the rest the command that streams a backup."""
SENT_NOW = r"completed OK!\s*\n(?s:.*)\nsent: (whole)\s*\Z"

SEND_HOST = (
    "set -u -o pipefail; umask 077; export LC_ALL=C\n"
    + _ROAD
    + r"""rate=$1; shift
failed() { echo "failed: $1"; exit 9; }
rm -rf --one-file-system .work && mkdir .work || exit 5
words=()
for one; do
  path=$one name=${one##*/}
  [ -d "$path" ] && [ "$(realpath -e -- "$path")" = "$path" ] || failed "$path is no folder of its own"
  odd=$(find "$path" ! -type f ! -type d -print -quit) && [ -z "$odd" ] || failed "${odd:-$path} is no plain file"
  echo "reading $path"
  (cd -- "$path" && find . -type f -print0 | sort -z | xargs -0 -r sha256sum -b --) |
    sed "s# \*\./# *$name/#" >> .work/.manifest || failed "$path could not be read"
  words+=(-C "${path%/*}/" "./$name")
done
[ -s .work/.manifest ] || failed 'there are no files'
hold() { if [ "$rate" = 0 ]; then cat; else pv -q -L "$rate"; fi; }
tar -c --hard-dereference -f - -C "$place/.work" .manifest "${words[@]}" | hold | road > .answer
ended "${PIPESTATUS[*]}" '0 0 0'
"""
)
"""$1 and $2 as in SEND_NOW, $3 bytes a second at most (0: no bound), the rest the backups' folders.

The digest of every file goes before them, made from what lies there: a file that changes meanwhile is found out.
"""
SENT_HOST = r"^sent: (whole)\s*\Z"

TAKE_IN = rf"""set -u -o pipefail; umask 077; export LC_ALL=C
cd -- "$1" && [ -f {MARK} ] || exit 3
kind=$2; shift 2
failed() {{ echo "failed: $1"; exit 9; }}
found() {{ for f in "$1/mariadb_backup_$2" "$1/xtrabackup_$2"; do [ ! -f "$f" ] || {{ cat -- "$f"; return; }}; done; }}
if [ -d .came ]; then
  if [ "$kind" = now ]; then
    grep -q '^backup_type = full-backuped$' <<< "$(found .came checkpoints)" || failed 'it is no full backup'
    [ -n "$(found .came info)" ] || failed 'its own description is missing'
    [ -n "$(found .came galera_info)" ] || failed 'it names no position'
    mv -T -- .came "$1" || exit 6
  else
    if [ ! -e .verified ]; then
      (cd .came && sha256sum --quiet --strict -c .manifest) || failed 'a file is not what it was on its host'
      [ "$(find .came -type f ! -path .came/.manifest -printf x | wc -c)" = "$(wc -l < .came/.manifest)" ] ||
        failed 'there are other files than were sent'
      sync -f .came && : > .verified || exit 5
    fi
    for name; do [ ! -e ".came/$name" ] || mv -T -- ".came/$name" "$name" || exit 6; done
    rm -rf --one-file-system .came
  fi
fi
for name; do [ -d "$name" ] || failed "$name did not come"; done
echo "came: $# folders, $(du -csb -- "$@" | tail -n 1 | cut -f 1) bytes"
"""
"""$1 the run's own folder, $2 now or host, the rest the backups' names: what came is proven, and gets its names.

Begun again it goes on where it was. A backup made now vouches for itself: 'completed OK!' was its sender's last word.
"""
CAME = r"^came: (\d+ folders, \d+ bytes)\s*\Z"
