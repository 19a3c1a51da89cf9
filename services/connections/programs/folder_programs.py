"""Frozen programs about the place of a data folder: what of it lies elsewhere, and whose its way is. They only read.

InnoDB notes a tablespace that lies elsewhere (DATA DIRECTORY) in an .isl file (MariaDB KB, "InnoDB File-Per-Table
Tablespaces"); MyISAM and people use symbolic links. A file system that is mounted inside the folder stays where it is
when the folder is renamed, and is mounted over what was put in its place when the host boots again (fstab(5)).
"""

from __future__ import annotations

from services.connections.operator.files import ROOT_ONLY

ELSEWHERE = r"""export LC_ALL=C; set -o pipefail
data=$1
tell() { printf '%s %s\n' "$1" "$(printf %s "$2" | tr -c ' -~' '?' | head -c 512)"; }
while read -r _ _ _ _ at _; do
  case $at in "$data"/*) tell mount "$at";; esac
done < /proc/self/mountinfo || exit 3
if [ -e "$data" ] || [ -L "$data" ]; then
  find "$data" \( -type l -o -name '*.isl' \) -print0 | {
    n=0
    while IFS= read -r -d '' one; do n=$((n+1)); [ $n -gt 20 ] || tell link "$one"; done
  } || exit 4
fi
echo end
"""
"""Run as `timeout 30 nice bash -c ELSEWHERE pilothouse FOLDER`: each link, *.isl file and mount on a line, then 'end'.

Without its last word the folder was not searched to its end. The folder itself is told where it is a link.
"""

OWN_PATH = r"""own_path() {
  local at=$1
  while :; do
    if [ -L "$at" ]; then own_path "$(realpath -- "$at")" || return 1
    elif [ -e "$at" ]; then
      [ -n "$(find "$at" -maxdepth 0 -type d \( -uid 0 -o -uid "$(id -u)" \) \
          \( -perm -1000 -o ! -perm -002 \( ! -perm -020 -o -gid 0 \) \))" ] &&
        case $(ls -ld -- "$at") in ?????w???[!tT]+*) false;; esac ||
        { printf 'others than root may write into %s, or change what lies there\n' "$at"; return 1; }
    fi
    [ "$at" != / ] || return 0
    at=${at%/*}; at=${at:-/}
  done
}
"""
"""`own_path FOLDER`: nobody but root can put another folder in the place of this one, nor of any above it.

Whoever may write into one of them renames what root made, and root's next program works on what he laid there. In a
folder with the sticky bit (/tmp) nobody renames what is root's: so the folder below has to be root's, and is asked too.
Of a link the way to where it leads is asked, and the way to itself. Where an access list lets somebody write, the
group's bits are its mask (acl(5)), and ls(1) shows a '+': that root's group has the folder says nothing then.
"""

OWN_PLACE = f"""export LC_ALL=C
{OWN_PATH}{ROOT_ONLY}own_path "$1" && cd -P -- "$1" || exit
root_only || {{ printf 'others than root may write into %s\n' "$1"; exit 1; }}
"""
"""Run as `timeout 8 bash -c OWN_PLACE pilothouse FOLDER`, the folder in which a data folder lies: asked before anything
is done, and again before the old data are renamed. Exit 0 where it is so, else 1 and where it is not.

Who may write there (/srv/mysql of the server's account, its data below) lays a link in the place of the new folder, and
root gives away what that leads to. In the folder itself a sticky bit does not suffice: others could lay the new names.
"""
