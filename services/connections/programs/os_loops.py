"""The streams of a host's numbers, one line per second, as frozen texts of the registry (read_programs.py).

Each line of OS_LOOP (the grammar is in services/facts/machine/os_stream.py):
- no fork per sample: `mapfile` and `read` are bash builtins (man bash(1)), measured 0.15 ms of CPU per sample against
  3 ms for a new channel with `cat`; `stat -f` forks, so it runs every third second only;
- `read -r -t` on standard input is the sleeper: when the console dies, the channel closes, standard input ends, `read`
  returns 1 and the loop ends by itself (a timeout returns more than 128);
- the cadence is drift-free: the next moment is computed from the last planned one, never from "now + 1 s", and is
  skipped forward when the host slept;
- a network device with a driver of its own (`device`) is told each minute, without those that are ways of another one
  that has a driver too (`lower_*`: a virtual function below its synthetic device), and without a card's ports to its
  own virtual functions (`phys_port_name` pf0vf1; Linux, Documentation/networking/representors.rst). Where none has one
  (a container's own network), those that their kind does not rule out: no tun_flags, nothing below, Ethernet or
  InfiniBand by `type`, and no DEVTYPE (bridge, bond, vlan, vxlan, geneve, wireguard, macsec and their like name it);
- the server is a process called as the second or third word says, mysqld or mariadbd where there is none: of several
  the one in a server's own unit, then one in none, then another unit's; a container's last, told by its PID namespace
  (NSpid in /proc/PID/status, man proc_pid_status(5)) and then said to be of the group '/docker/PID'. Its control group
  and the program's own follow its state, then how many are as near as it: more than one are told apart by nobody here.
  A zombie is none of them, nor a child of another one (a server forks before it runs a script);
- a file system over several devices, btrfs, tells a number of its own (0:33), which no device has: its device is the
  one it is mounted from (proc_pid_mountinfo(5));
- EPOCHREALTIME (bash 5.0) is the host's own clock in the same line; bash 4 falls back to whole seconds.
"""

from __future__ import annotations

_NEAREST = r"""group_of() {
  _two=; _one=
  { while IFS= read -r _line; do
    case $_line in
      0::*) _two=${_line#0::};;
      *:name=systemd:*) _one=${_line#*:name=systemd:};;
      *) [ -n "$_one" ] || _one=${_line#*:*:};;
    esac
  done < "$1"; } 2>/dev/null
  _group=$_one; [ -n "$_group" ] && [ "$_group" != / ] || _group=$_two
  case $_group in /*[!A-Za-z0-9:_.@/-]*|[!/]*|'') _group=-;; esac
}
nearest() {
  _best=-1; _pid=; _who=-; _many=0
  for _at in /proc/[0-9]*/comm; do
    _comm=; { read -r _comm < "$_at"; } 2>/dev/null || continue
    case $_comm in "$d1"|"$d2") ;; *) continue;; esac
    _at=${_at#/proc/}; _at=${_at%/comm}; _inner=; _one_more=1
    { while read -r _key _outer _inner; do
      case $_key in
        State:) [ "$_outer" != Z ] || _one_more=0;;
        PPid:)
          _comm=; { read -r _comm < "/proc/$_outer/comm"; } 2>/dev/null
          case $_comm in "$d1"|"$d2") _one_more=0;; esac;;
        NSpid:) break;;
      esac
      _inner=
    done < "/proc/$_at/status"; } 2>/dev/null
    group_of "/proc/$_at/cgroup"
    case $_group in
      */mariadb*.service|*/mysql*.service|*/mongo*.service) _rank=3;; *.service*) _rank=1;; *) _rank=2;;
    esac
    [ -z "$_inner" ] || { _rank=0; _group=/docker/$_at; }
    if [ "$_rank" -gt "$_best" ]; then _best=$_rank; _pid=$_at; _who=$_group; _many=0; fi
    [ "$_rank" -lt "$_best" ] || _many=$((_many+_one_more))
  done
}
"""
"""`nearest` finds the server's process of those called so, its group, how near it is, how many are; '' for none."""

_FIND_NICS = r"""find_nics() {
  nics=; [ "$1" -eq 0 ] || return 0
  _over=' '; nics=';@nic'; _cards=
  for _nic in /sys/class/net/*/device; do
    for _low in "${_nic%/device}"/lower_*; do _over="$_over${_low##*/lower_} "; done
  done
  for _nic in /sys/class/net/*/device; do
    _nic=${_nic%/device}; _port=; { read -r _port < "$_nic/phys_port_name"; } 2>/dev/null
    case $_port in pf*vf[0-9]*|*pf*sf[0-9]*|c[0-9]*pf[0-9]*|pf[0-9]) continue;; esac
    _nic=${_nic##*/}
    case $_nic$_over in \**|*" $_nic "*) ;; *) _cards="$_cards;$_nic";; esac
  done
  [ -n "$_cards" ] || for _nic in /sys/class/net/*; do
    for _low in "$_nic"/lower_*; do break; done
    [ ! -e "$_low" ] && [ ! -e "$_nic/tun_flags" ] || continue
    _port=; { read -r _port < "$_nic/type"; } 2>/dev/null
    while read -r _low; do case $_low in DEVTYPE=*) _port=;; esac; done < "$_nic/uevent"
    case $_port in 1|32) _cards="$_cards;?${_nic##*/}";; esac
  done 2>/dev/null
  nics="$nics$_cards"
}
"""
"""The cards; where none has a driver, those that may be one by their kind, each behind a question mark."""

OS_LOOP = (
    r"""LC_ALL=C
dir=$1 d1=${2:-mysqld} d2=${3:-mariadbd} pid= who=- near=-1 many=0 n=0 scan=0 sp= vi=()
now() { local e=$EPOCHREALTIME; if [ -n "$e" ]; then t=${e/[.,]/}; else printf -v t '%(%s)T' -1; t=${t}000000; fi; }
find_server() { nearest; pid=$_pid who=$_who near=$_best many=$_many; }
find_mount() {
  local a b dev root at rest on best=0 d=$dir/
  mnt=0:0
  while read -r a b dev root at rest; do
    [ "$at" = / ] && at=
    if [ "${d#"$at"/}" != "$d" ] && [ "${#at}" -ge "$best" ]; then best=${#at}; mnt=$dev; on=$rest; fi
  done < /proc/self/mountinfo
  on=${on#* - }; on=${on#* }; on=${on%% *}
  case $mnt$on in 0:*/dev/*) on=$(stat -L -c '0x%t 0x%T' -- "$on" 2>/dev/null) && printf -v mnt '%d:%d' $on;; esac
}
"""
    + _NEAREST
    + _FIND_NICS
    + r"""pick() { local i; out="$out;@$1"; for i in $2; do out="$out;${x[i]}"; done; }
group_of /proc/self/cgroup; own=$_group
now; next=$t
while :; do
  out="t $t"
  mapfile -t x < /proc/stat
  if [ -z "$sp" ]; then
    for i in "${!x[@]}"; do case ${x[i]} in cpu\ *|ctxt\ *|procs_*|btime\ *|processes\ *) sp="$sp $i";; esac; done
    nl=${#x[@]}
  elif [ "${#x[@]}" -ne "$nl" ]; then sp=; fi
  if [ -n "$sp" ]; then pick stat "$sp"; else out="$out;@stat;${x[0]}"; fi
  { mapfile -t x < /proc/diskstats; } 2>/dev/null && { IFS=';'; out="$out;@disk;${x[*]}"; unset IFS; }
  mapfile -t -n 20 x < /proc/meminfo; IFS=';'; out="$out;@mem;${x[*]}"; unset IFS
  read -r x < /proc/loadavg; out="$out;@load;$x"
  { mapfile -t x < /proc/vmstat; } 2>/dev/null
  if [ "${#vi[@]}" -eq 0 ]; then
    for i in "${!x[@]}"; do
      case ${x[i]} in pgpgin\ *|pgpgout\ *|pswpin\ *|pswpout\ *|pgmajfault\ *|oom_kill\ *) vi+=("$i");; esac
    done
  fi
  pick vm "${vi[*]}"
  { mapfile -t -s 2 x < /proc/net/dev; } 2>/dev/null && { IFS=';'; out="$out;@net;${x[*]}"; unset IFS; }
  for f in cpu io memory; do
    [ -r "/proc/pressure/$f" ] || continue
    { mapfile -t x < "/proc/pressure/$f"; } 2>/dev/null && { IFS=';'; out="$out;@psi $f;${x[*]}"; unset IFS; }
  done
  s=
  [ -n "$pid" ] && { read -r c < "/proc/$pid/comm"; } 2>/dev/null && case $c in
    "$d1"|"$d2") { read -r x < "/proc/$pid/stat"; } 2>/dev/null && { x=${x##*) }; s=${x%% *}; };;
  esac
  if [ -z "$s" ] || { [ "$near" -lt 2 ] && [ $((n%3)) -eq 0 ]; } || [ $((n%60)) -eq 59 ]; then
    [ -n "$s" ] || pid=
    if [ -n "$s" ] || [ "$scan" -le 0 ]; then
      find_server; scan=3
      [ -n "$pid" ] && { read -r x < "/proc/$pid/stat"; } 2>/dev/null && { x=${x##*) }; s=${x%% *}; }
    fi
    scan=$((scan-1))
  else scan=0; fi
  out="$out;@proc;${pid:--} ${s:--} $who $own $many"
  if [ $((n%60)) -eq 0 ]; then find_mount; fi; find_nics $((n%60)); out="$out$nics"
  if [ $((n%3)) -eq 0 ]; then
    printf '%s;@fs;%s ' "$out" "$mnt"
    stat -f -c '%S %b %a' -- "$dir" 2>/dev/null || echo -
  else printf '%s\n' "$out"; fi || exit 0
  n=$((n+1)); next=$((next+1000000)); now
  w=$((next-t))
  if [ "$w" -le 0 ]; then
    if [ "$w" -lt -1000000 ]; then next=$t; fi
    w=1000
  fi
  printf -v w '%d.%06d' $((w/1000000)) $((w%1000000))
  read -r -t "$w" _; [ $? -gt 128 ] || exit 0
  now
done
"""
)

OS_LOOP_SH = (
    r"""LC_ALL=C; export LC_ALL
dir=$1; d1=${2:-mysqld}; d2=${3:-mariadbd}; n=0
"""
    + _NEAREST
    + _FIND_NICS
    + r"""find_server() { nearest; pid=${_pid:--}; who=$_who; best=$_best; many=$_many; }
group_of /proc/self/cgroup; own=$_group
best=-1; who=-; many=0
pid=-
while :; do
  s=-
  if [ ! -r "/proc/$pid/stat" ] || { [ "$best" -lt 2 ] && [ $((n%3)) -eq 0 ]; } || [ $((n%60)) -eq 59 ]; then
    find_server
  fi
  if [ "$pid" != - ]; then
    x=; { read -r x < "/proc/$pid/stat"; } 2>/dev/null; x=${x##*) }; s=${x%% *}; [ -n "$s" ] || s=-
  fi
  fs=
  if [ $((n%3)) -eq 0 ]; then fs=";@fs;0:0 $(stat -f -c '%S %b %a' -- "$dir" 2>/dev/null || echo -)"; fi
  t=$(date +%s.%N); case $t in *N) t=${t%.*}.0;; esac
  {
    printf 't %s\n@stat\n' "$t"; cat /proc/stat
    printf '@disk\n'; cat /proc/diskstats 2>/dev/null
    printf '@mem\n'; cat /proc/meminfo
    printf '@load\n'; cat /proc/loadavg
    printf '@vm\n'; cat /proc/vmstat 2>/dev/null
    printf '@net\n'; cat /proc/net/dev 2>/dev/null
  } | tr '\n' ';' || exit 0
  find_nics $((n%60))
  printf '@proc;%s %s %s %s %s%s%s\n' "$pid" "$s" "$who" "$own" "$many" "$nics" "$fs" || exit 0
  n=$((n+1))
  sleep 1
done
"""
)
