"""A tool that obeys what another account wrote, run by root as nobody: by a number that no account and no process has.

A prepare follows the paths that a backup's logs name, and mariadb-backup 10.11.18 begun by root followed them anywhere
(tried): the log of Aria names each table by its path, absolute ones too, and rows out of it were written into the
table at that path, by links there into what only root may write. Which log a backup brings is the word of whoever wrote
it, or of the server's account where root takes it of a live data folder. No list of bad paths would be whole.

So the tool has a number for as long as it runs: the folders that it works in are lent to that number, it may write
nowhere else, and what it leaves is looked through before it is root's again. The server's account would not do: its own
processes could lay links meanwhile in what root goes on with.

Where everybody may write (a folder above with the sticky bit, those for temporary files) it may too: what is of its
number right in there is taken away, and then nothing that it did counts. No other has that number.

The tool needs each folder above by its whole path: where it can't reach it, Aria opens no table, its rows are lost,
and it says 'completed OK!' all the same (tried). So that is asked before it begins. It has the server's group for it;
where that does not suffice (/var/lib/pilothouse is closed), it may enter and read all folders, and write nowhere else.
access(2), and so test(1), knows nothing of that right: the folder itself is entered to ask. A view with the copies
alone mounted in it would not do: files of one copy are renamed into another's folder (tried: EXDEV).
"""

from __future__ import annotations

AS_NOBODY = r"""number_of_nobody() {
  local n tries
  for ((tries = 0; tries < 100; tries++)); do
    n=$((61184 + RANDOM % 4336))
    [ -z "$(getent passwd "$n")" ] && [ -z "$(of_number "$n")" ] && { echo "$n"; return; }
  done
  return 1
}
of_number() { find /proc -mindepth 1 -maxdepth 1 -uid "$1" -name '[1-9]*' -printf '%f\n' 2>/dev/null; }
folders_above() {
  local at
  for at; do
    at=$(realpath -- "$at") || return
    while [ "$at" != / ]; do at=${at%/*}; at=${at:-/}; printf '%s\0' "$at"; done
  done
  printf '%s\0' /tmp /var/tmp /dev/shm
}
as_nobody() {
  local lent=() reads=(--inh-caps=-all) uid gid files ended=0 one
  while [ "$1" != -- ]; do lent+=("$1"); shift; done; shift
  [ "$(id -u)" -eq 0 ] || { "$@"; return; }
  uid=$(number_of_nobody) || { echo 'no number of an account is free'; return 73; }
  gid=$(getent passwd mysql | cut -d : -f 4); gid=${gid:-$uid} files=$(ulimit -Hn)
  chown -R -h -- "$uid:0" "${lent[@]}" && chmod -R u+rwX,go-w,a-s -- "${lent[@]}" || return 73
  nobody() {
    (cd / && { [ "$files" = unlimited ] || ulimit -Sn "$files"; } && unset HOME &&
      exec setpriv --reuid="$uid" --regid="$gid" --clear-groups "${reads[@]}" --no-new-privs -- "$@") </dev/null
  }
  reached() {
    for one in "${lent[@]}"; do nobody sh -c 'cd -- "$1" && test -w .' sh "$one" 2>/dev/null || return; done
  }
  if ! reached; then
    reads=('--inh-caps=-all,+dac_read_search' --ambient-caps=+dac_read_search)
    reached || ended=73
    [ "$ended" -eq 0 ] || printf 'a tool without rights can not reach %s: let others enter what is above it\n' "$one"
  fi
  [ "$ended" -ne 0 ] || nobody "$@" || ended=$?
  for one in 1 2 3 4 5; do
    of_number "$uid" | xargs -r kill -KILL 2>/dev/null
    [ -n "$(of_number "$uid")" ] || break
    sleep 1
  done
  [ -z "$(of_number "$uid")" ] || { echo 'what the tool began can not be ended'; return 73; }
  one=$(find "${lent[@]}" -xdev \( ! -type f ! -type d -o -type f -links +1 -o -name '*.isl' \) -print -quit) &&
    [ -z "$one" ] || { printf '%s is not a plain file or folder of its own: the tool left it\n' "${one:-something}"
                       return 73; }
  chown -R -h -- 0:0 "${lent[@]}" && chmod -R go-w,a-s -- "${lent[@]}" || return 73
  one=$(folders_above "${lent[@]}" | sort -zu | xargs -0rI '{}' find '{}' -mindepth 1 -maxdepth 1 -uid "$uid" \
    -print \( -type d -o -delete \) 2>/dev/null | head -n 1)
  [ -z "$one" ] || { printf '%s was made outside of the copies: what the tool did does not count\n' "$one"; return 73; }
  return "$ended"
}
"""
"""`as_nobody FOLDER... -- TOOL...`, for root's bash: the tool runs as nobody in these folders, which are root's before
and behind it, and in a folder that nobody else may change (own_path). 73: it was not begun, or what it left is refused.

The numbers are those that systemd gives to services while they run (systemd.exec(5), DynamicUser=), the last of the
65,536 that a container has at least. Any of them: containers beside each other find the same ones free, and what a host
ends of its number's is theirs too (tried: a prepare in a container was killed by one on its host). What the tool itself
may have begun is ended before what it left is looked at.
"""
