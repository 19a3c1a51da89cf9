"""What is run on a node to prove that state transfers will be encrypted, without one: socat as the scripts run it.

A joiner listens and a donor connects (MariaDB 10.11.18, wsrep_sst_mariabackup, get_transfer: `openssl-listen:PORT` and
`openssl-connect:HOST:PORT,no-sni=1` with cert, key, cafile and an empty commonname: the chain is verified, no name).
Tried with socat 1.7.4 on Debian 12. Of the words only those of the console's own making stand in the texts.
"""

from __future__ import annotations

from services.facts.machine.tcp_ways import TRANSFER_PORTS

PORT, _ = TRANSFER_PORTS
_WAYS = r"""LC_ALL=C; export LC_ALL
sni=; if socat -hhh | grep -q no-sni; then sni=,no-sni=1; fi
way() {
  printf 'pilothouse\n' | runuser -u "$as" -- timeout 10 socat -t 5 - "openssl-connect:$1,$2,commonname=$sni" 2>&1
}
ready() { for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return; sleep 0.1; done; }
bad=0
"""
TRY = (
    _WAYS
    + r"""ca=$1 cert=$2 key=$3 as=$4; shift 4
own="cert=$cert,key=$key,cafile=$ca"
seen=$(mktemp /run/pilothouse-seen-XXXXXX) || exit 3; relay=
trap 'rm -f -- "$seen"; [ -z "$relay" ] || kill "$relay" 2>/dev/null' EXIT
for to; do
  near=$((20000 + RANDOM % 10000))
  socat -x "tcp-listen:$near,bind=127.0.0.1,reuseaddr,fork" "TCP:$to:@PORT@" 2>"$seen" & relay=$!
  ready $near
  said=$(way "127.0.0.1:$near" "$own")
  kill "$relay" 2>/dev/null; wait "$relay" 2>/dev/null; relay=
  sent=$(grep -A 1 '^>' "$seen" | sed -n 2p | cut -c 1-9)
  got=$(grep -A 1 '^<' "$seen" | grep -m 1 '^ 16 03' | cut -c 1-9)
  : >"$seen"
  case "$said/$sent/$got" in
    'pilothouse/ 16 03 '*'/ 16 03 '*) echo "$to: each side has verified the other; the bytes begin$sent and$got: TLS";;
    *) bad=1; echo "$to: no TLS:$sent,$got: $said";;
  esac
done
exit $bad
""".replace("@PORT@", str(PORT))
)
"""$1 CA, $2 certificate, $3 key, $4 the server's user, then the other nodes' addresses.

What is sent comes back only when both sides have verified each other: the listener is an echo. It goes by way of a
relay on this host, which tells the bytes as they go to the port: 16 03 is the head of a TLS handshake (RFC 8446, 5.1).
Whether the relay is there is asked by a connection without a byte, which the listener answers with an alert (15 03).
"""

FOREIGN = (
    _WAYS
    + r"""ca=$1 cert=$2 key=$3 fca=$4 fcert=$5 fkey=$6 as=$7; shift 7
stands=; trap '[ -z "$stands" ] || kill "$stands" 2>/dev/null' EXIT
own="cert=$cert,key=$key,cafile=$ca"
for to; do
  before=$(way "$to:@PORT@" "$own") said=$(way "$to:@PORT@" "cert=$fcert,key=$fkey,cafile=$ca")
  after=$(way "$to:@PORT@" "$own")
  case "$before/$after" in pilothouse/pilothouse) ;;
    *) bad=1; echo "$to does not answer the right certificate: $before, $after"; continue;; esac
  case $said in ''|*' alert '*|*'SSL_'*'Connection reset by peer'*|*'SSL_'*'Broken pipe'*)
      echo "$to refuses a donor with a foreign CA, and lets the right one in";;
    pilothouse) bad=1; echo "$to lets a donor with a foreign CA in";;
    *) bad=1; echo "$to: whether it refuses a foreign CA is not known: $said";; esac
done
near=$((20000 + RANDOM % 10000))
its="cert=$fcert,key=$fkey,cafile=$fca,verify=0"
runuser -u "$as" -- socat "openssl-listen:$near,bind=127.0.0.1,reuseaddr,fork,$its" PIPE 2>/dev/null & stands=$!
ready $near
said=$(way "127.0.0.1:$near" "$own")
case $said in *'certificate verify failed'*) echo "a joiner with a foreign CA is refused: ${said##*] }";;
  *) bad=1; echo "a joiner with a foreign CA is not refused: $said";; esac
exit $bad
""".replace("@PORT@", str(PORT))
)
"""$1 to $3 CA, certificate and key, $4 to $6 those of a foreign CA, $7 the server's user, then the others' addresses.

That nothing comes back is evidence only where the right certificate gets its echo from the same port right before and
after: by TLS 1.3 a refused client's own socat ends without a word, or with a reset. The foreign joiner listens on this
host alone, and itself verifies nothing: only the donor's side can refuse it.
"""
