"""A frozen program that tells of backups of mariadb-backup or xtrabackup in folders of a host. It only reads.

What files hold comes with a bar before each line, so that no line of theirs is taken for one of the program's own; a
folder whose name holds other than plain characters is passed over, as no read of the console could name it.

Files: xtrabackup_checkpoints, xtrabackup_info, xtrabackup_galera_info, xtrabackup_binlog_info; newer MariaDB versions
write the same as mariadb_backup_* (MariaDB KB, "Files Created by mariadb-backup"). An incremental that was prepared
with has `.meta` files whose `.delta` is gone (seen on the lab, mariadb-backup 10.11.18).

With --galera-info a backup brings the binary log file that was begun for it under the lock. 'gtids' is the list at its
head, told only where no event stands in that file: of each domain and server the last change that the backup holds. Its
own word, 'GTID of the last change' (gtid_current_pos), is empty on a node on which nobody writes (seen there, too).

'options' is what a prepare would be refused for, nothing where it would not be: see backup_options.py.

'writers' is the first folder of the whole path that others than root and the server's account may write into.
"""

from __future__ import annotations

from services.connections.operator.backup_options import OPTIONS_OF

BEGINS = r"""log_of() {
  local one; f=
  for one in "$1/xtrabackup_binlog_info" "$1/mariadb_backup_binlog_info"; do
    [ -f "$one" ] && [ ! -L "$one" ] && f=$one && break
  done
  [ -n "$f" ] || return
  IFS=$'\t' read -r name at _ < <(timeout 2 head -c 4096 -- "$f" 2>/dev/null | tr -d '\0') && name=${name##*/} || return
  case $name in ''|*[!A-Za-z0-9_.-]*) return 1;; esac
  f=$1/$name; [ -f "$f" ] && [ ! -L "$f" ] && [ "$(stat -c %s -- "$f")" = "$at" ]
}
begins() {
  local f name at
  log_of "$1" || return
  TZ=UTC0 timeout 5 mariadb-binlog --no-defaults --local-load=/proc/none --base64-output=DECODE-ROWS -- "$f" \
    2>/dev/null |
    awk -F '\t' -v since="${2-}" '
    /^#[0-9]+ +[0-9:]+ server id / {
      if (began == "" && split($1, word, / +/)) { began = substr(word[1], 2) " " word[2]; by = word[5] }
      if ($2 ~ /^Gtid list \[/) { list = substr($2, 11); more = list !~ /\]/ }
      else if ($2 !~ /^(Start: binlog v 4,|Binlog checkpoint )/) odd = 1
      next
    }
    more { line = $0; sub(/^# */, "", line); list = list line; more = list !~ /\]/ }
    END {
      if (odd || list !~ /^\[[0-9, -]*\]$/ || length(list) > 400) exit
      gsub(/[][ ]/, "", list); print "gtids " list
      if (since) { print "since " began; print "by " by }
    }'
}
"""
"""Only plain files are read, a few kB of each within seconds: a pipe with such a name ended the search of a host.

Tells of the backup in a folder 'gtids LIST': of each domain and server the last change that it holds.

With a second word 'since' too, when that log was begun, in UTC: no change that the backup holds is younger; and 'by',
its server's id.
"""

BACKUPS = (
    r"""export LC_ALL=C
most=64
says() {
  local f
  for f in "$1/xtrabackup_$2" "$1/mariadb_backup_$2"; do
    if [ -f "$f" ] && [ ! -L "$f" ]; then
      printf 'file %s\n' "$2"
      timeout 2 head -c 16384 -- "$f" | head -n 60 | tr -c '\n\t -~' '?' | sed 's/^/| /'
      printf '\n'
      return
    fi
  done
}
"""
    + BEGINS
    + OPTIONS_OF
    + r"""head_of() {
  { timeout 2 head -c 21 -- "$1"; timeout 2 head -c "$2" -- "$1" | tail -c +24; } 2>/dev/null | sha256sum
}
own() {
  local f name at size n
  log_of "$1" || return
  [ -e "$2/$name" ] || { echo 'own absent'; return; }
  [ -f "$2/$name" ] && [ ! -L "$2/$name" ] && size=$(stat -c %s -- "$2/$name") || return
  n=$((at < 4096 ? at : 4096))
  if [ "$size" -lt "$at" ] || [ "$(head_of "$f" "$n")" != "$(head_of "$2/$name" "$n")" ]; then echo 'own other'
  elif [ "$size" -gt "$at" ]; then echo 'own longer'; else echo 'own same'; fi
}
writers() {
  local at=$1 who
  who=$(id -u mysql 2>/dev/null) || who=0
  while [ -n "$(find "$at" -maxdepth 0 \( -uid 0 -o -uid "$who" \) ! -perm -002 \( ! -perm -020 -o -gid 0 \))" ] &&
    case $(ls -ld -- "$at") in ?????w????+*) false;; esac
  do
    [ "$at" != / ] || { echo 'writers none'; return; }
    at=${at%/*}; at=${at:-/}
  done
  printf 'writers %s\n' "$(printf %s "$at" | tr -c ' -~' '?')"
}
tell() {
  local d=$1 real links hard metas=0 spent=0 packed m
  case $d in *[!A-Za-z0-9/_.@:+,=\ -]*) return;; esac
  real=$(realpath -e -- "$d") || { printf 'backup %s\nabsent\nend\n' "$d"; return; }
  printf 'backup %s\nreal %s\n' "$d" "$(printf %s "$real" | tr -c ' -~' '?')"
  printf 'size %s\n' "$(du -sb -- "$real" 2>/dev/null | cut -f1)"
  writers "$real"
  links=$(find "$real" \( -type l -o -name '*.isl' \) -printf x 2>/dev/null | wc -c)
  hard=$(find "$real" -type f -links +1 -printf x 2>/dev/null | wc -c)
  packed=$(find "$real" -type f \( -name '*.qp' -o -name '*.lz4' -o -name '*.zst' -o -name '*.xbcrypt' \
    -o -name '*.enc' -o -name '*.gz' \) -printf x 2>/dev/null | wc -c)
  while IFS= read -r -d '' m; do
    metas=$((metas+1)); [ -f "${m%.meta}.delta" ] || spent=$((spent+1))
  done < <(find "$real" -type f -name '*.meta' -print0 2>/dev/null)
  printf 'counts %s %s %s %s %s\n' "$links" "$hard" "$packed" "$metas" "$spent"
  df -PB1 -- "$real" 2>/dev/null | sed -n '2{s/^/disk /;p}'
  printf 'options %s\n' "$(options_of "$d" | head -c 400 | tr '\n' ' ')"
  says "$d" checkpoints
  says "$d" info
  says "$d" galera_info
  says "$d" binlog_info
  begins "$d" since
  [ -z "$beside" ] || own "$d" "$beside"
  printf 'end\n'
}
beside=
for tool in find realpath stat du df sort; do
  command -v "$tool" >/dev/null || { printf '%s is not there\n' "$tool" >&2; exit 69; }
done
if [ "$1" = search ]; then beside=${2-}; else tell "$1"; exit 0; fi
places() {
  printf '/\n'
  while read -r _ at kind _; do
    case $kind in
      ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|bcachefs|nfs|nfs4|cifs|smb3|ceph|fuse.glusterfs|gfs2|ocfs2|lustre|\
      vxfs|overlay|virtiofs|fuseblk|ntfs3|exfat|vfat) [ "$at" = / ] || printf '%s\n' "$at";; esac
  done < /proc/self/mounts
}
places | while IFS= read -r root; do
  find "$root" -xdev -maxdepth 6 \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /usr \
    -o -name '.pilothouse-before*' -o -name '#sql-pilothouse-before*' -o -name 'pilothouse-restore-*' \) -prune \
    -o -type f \
    \( -name xtrabackup_checkpoints -o -name mariadb_backup_checkpoints \) -printf '%h\n' 2>/dev/null
done | sort -u | head -n "$most" | while IFS= read -r d; do tell "$d"; done
"""
)
"""Run as `timeout 30 nice bash -c BACKUPS pilothouse search|FOLDER`: all that are found on the disks of a host, six
folders deep at most and 64 of them, or the one in a folder. A folder that is not there is told as 'absent'.

With a data folder behind 'search', 'own' tells of each backup's binary log what that folder has under its name: a file
with the same head that goes on after it ('longer'), one that does not ('same'), 'other', or 'absent'. At most its first
4096 bytes are held against each other, without the two that say whether a server is writing into it (byte 21 and 22).
"""
