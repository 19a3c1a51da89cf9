"""The programs that measure a host and the road between two, for bash, each with its bounds as words. Pure text.

Numbers alone leave a host, never a byte of its data: what is read goes into a pipe and to /dev/null. The file that is
written for the write rate has no name any more when the first byte comes, so nothing of it stays but an empty file,
where it is killed in that instant. It is made under a name that nobody can have laid a link under (bash(1), noclobber:
O_EXCL), for its folder is the server's.
All of it is the act of the folder's account: a link that it lays in a table's place leads it where it may go itself,
and root opens no device of the host for it.
Sources: dd(1) (status=progress: bytes and seconds so far, also of one that is ended early), bash(1) (TIMEFORMAT),
openssl-speed(1ssl); the files that count are those of get_footprint in wsrep_sst_mariabackup (MariaDB 10.11).
"""

from __future__ import annotations

_RATE = r"""
rate() { tr '\r' '\n' | awk '/ bytes .* copied, /{b=$1; for (i = 1; i < NF; i++) if ($i == "copied,") s = $(i + 1)}
  END { if (b > 0 && s > 0) printf "%.0f:%.0f", b, s * 1e6; else printf "-" }'; }
"""

HOST = (
    r"""export LC_ALL=C; umask 077
dir=$1 seconds=$2 mib=$3 write=$4 ciphers=$5; shift 5
cd -P -- "$dir" || exit 3
list=$(find . -xdev -type f -regextype posix-extended \
  -regex '\.(/[A-Za-z0-9@#$_.-]+)*/([A-Za-z0-9@#$_.-]+\.(ibd|MY[ID]|MA[ID])|ibdata[0-9]+|undo[0-9]+)' \
  -size +0 -printf '%s %p\n' | sort -rn)
data=$(awk '{ sum += $1 } END { printf "%.0f", sum }' <<< "$list")
[ "$data" -gt 0 ] || exit 4
"""
    + _RATE.strip()
    + r"""
tables=$(awk '/\.ibd$/ && $1 >= 1048576' <<< "$list")
places=$(awk -v n="$mib" '{ size[NR] = int($1 / 1048576); if (size[NR] < 1) size[NR] = 1
    path[NR] = $2; sum += size[NR] }
  END { if (n > sum) n = sum; step = sum / n; file = 1; before = 0
    for (i = 0; i < n; i++) { at = int(i * step)
      while (at >= before + size[file]) before += size[file++]
      print at - before, path[file] } }' <<< "${tables:-$list}")
sample() { while read -r skip path; do
  dd if="$path" bs=1M skip="$skip" count=1 status=none 2> /dev/null; done <<< "$places"; }
out="data=$data"
read -r size largest <<< "$list"
block=4194304 half=$((size / 2 / 4194304)) most=$((mib * 1048576 * 4 / 4194304))
[ "$half" -gt "$most" ] && half=$most
if [ "$half" -ge 1 ]; then
  out="$out read=$(timeout "$seconds" dd if="$largest" of=/dev/null bs=$block count="$half" iflag=direct \
    status=progress 2>&1 | rate)"
fi
if [ "$half" -ge 4 ]; then
  quarter=$((half / 4))
  four=$(for i in 0 1 2 3; do
    echo "$(timeout "$seconds" dd if="$largest" of=/dev/null bs=$block count=$quarter skip=$((half + i * quarter)) \
      iflag=direct status=progress 2>&1 | rate)" &
  done; wait)
  out="$out read4=$(awk -F: 'NF == 2 { b += $1; if ($2 > t) t = $2; n++ }
    END { if (n == 4) printf "%.0f:%.0f", b, t; else printf "-" }' <<< "$four")"
fi
in=$(sample | wc -c)
out="$out sample=$in"
one() {
  pack=$1 unpack=$2
  { sample |
    { TIMEFORMAT='c %U %S'; time timeout "$seconds" $pack 2> /dev/null; } 2>&3 |
    tee >(echo "n $(wc -c)" >&3) |
    { TIMEFORMAT='d %U %S'; time timeout "$seconds" $unpack 2> /dev/null; } 2>&3 |
    { echo "b $(wc -c)" >&3; }; } 3>&1 > /dev/null
}
for name; do
  case $name in
    zstd) pack='zstd -1 -T1 -q -c' unpack='zstd -d -q -c';;
    lz4) pack='lz4 -1 -q -c' unpack='lz4 -d -q -c';;
    pigz) pack='pigz -1 -p1 -c' unpack='pigz -d -c';;
    gzip) pack='gzip -1 -c' unpack='gzip -d -c';;
    *) exit 5;;
  esac
  command -v "$name" > /dev/null || { out="$out $name=-"; continue; }
  out="$out $name=$(one "$pack" "$unpack" |
    awk '$1 == "c" || $1 == "d" { t[$1] = $2 + $3 } $1 == "n" || $1 == "b" { t[$1] = $2 }
    END { printf "%.0f:%.0f:%.0f:%.0f", t["b"], t["n"], t["c"] * 1e6, t["d"] * 1e6 }')"
done
if [ "$ciphers" = yes ] && command -v openssl > /dev/null; then
  for name in aes-128-gcm aes-256-gcm chacha20-poly1305; do
    speed=$(timeout "$seconds" openssl speed -seconds 1 -bytes 16384 -evp $name 2> /dev/null |
      awk '{ last = $NF } END { sub(/k$/, "", last); printf "%.0f", last * 1000 }')
    out="$out $name=${speed:--}"
  done
fi
if [ "$write" = yes ]; then
  free=$(df -PB1 . | awk 'NR == 2 { print $4 }')
  if [ "${free:-0}" -gt $((in * 4 + 1073741824)) ] && probe=$(mktemp -u .pilothouse-measure.XXXXXXXXXXXX); then
    set -C; exec 4> "$probe" || exit 7; set +C; rm -f -- "$probe"
    out="$out write=$(sample | timeout "$seconds" dd bs=1M iflag=fullblock conv=fdatasync status=progress \
      2>&1 >&4 | rate)"
    exec 4>&-
  fi
fi
echo "measured: $out"
"""
)
"""Measures one host. Words: data folder, seconds of each part, MiB of the sample, whether to write (yes or no) and to
try ciphers, compressors. Ends with 3: no such folder; 4: no data files in it.

The sample is spread evenly over the tablespaces of a MiB and more, whatever their size: each byte of them counts alike.
It is read once before it counts, so that compressors don't wait for the disk; what they cost is counted in
processor seconds, which other work on the host does not lengthen. The disk is read past the page cache, in two halves
of the largest file: by one reader, then by four.
"""

ROAD = (
    r"""export LC_ALL=C
address=$1 port=$2 seconds=$3 mib=$4
"""
    + _RATE.strip()
    + r"""
began=$(date +%s%N)
said=$({ timeout "$seconds" dd if=/dev/zero bs=1M count="$mib" status=progress 2>&3 |
  timeout $((seconds + 15)) socat -u - "TCP:$address:$port,connect-timeout=5"; echo "socat ${PIPESTATUS[1]}"; } 3>&1)
case $said in *"socat 0") ;; *) echo "the way to $address port $port: ${said##*$'\n'}" >&2; exit 6;; esac
took=$((($(date +%s%N) - began) / 1000)) sent=$(rate <<< "$said")
[ "${sent%%:*}" != - ] && [ "$took" -ge 200000 ] && echo "measured: road=${sent%%:*}:$took" || echo "measured: road=-"
"""
)
"""Sends zeros to a port behind which /dev/null is, at most so many seconds and MiB, and tells how fast they went, until
the last of them left the donor's buffers. What took less than a fifth of a second tells nothing.

Words: address (an IPv6 one in brackets), port, seconds, MiB. Ends with 6 where the way is closed or broke.
"""
