"""The program by which the Observer road looks at a CA, a certificate and a key on a host, without showing the key."""

from __future__ import annotations

MOST_BYTES = 65_536
"""Of one file of certificates: a bundle of some twenty."""

_MOST_FILE = 2**20

_BOUNDED = (
    r"""small() { [ -f "$1" ] && [ "$(stat -L -c %s -- "$1")" -le """
    + str(_MOST_FILE)
    + r""" ]; }
certificates() {
  ! small "$1" || sed -n '/^-----BEGIN CERTIFICATE-----/,/^-----END CERTIFICATE-----/p' -- "$1" | head -c """
    + str(MOST_BYTES)
    + r"""
}
"""
)
"""Of a plain file of a megabyte at most: sed(1) keeps a line whole, and a sparse file without one took 1.1 GB."""

PAIR_LOOK = (
    r"""LC_ALL=C; export LC_ALL; set -o pipefail
as=$(my_print_defaults --mysqld 2>/dev/null | sed -n 's/^--user=//p' | tail -n 1); as=${as:-mysql}
date '+now|%s'
printf 'user|%s|%s|%s\n' "$(id -u -- "$as" 2>/dev/null)" "$as" "$(id -gn -- "$as" 2>/dev/null)"
"""
    + _BOUNDED
    + r"""public() {
  openssl pkey -in "$1" -passin pass: -pubout -outform DER 2>/dev/null </dev/null | sha256sum | cut -c 1-64
}
shell() {
  ssh-keygen -y -P '' -f "$1" 2>/dev/null </dev/null | cut -d ' ' -f 1,2 | tr -d '\n' | sha256sum | cut -c 1-64
}
has() { command -v "$1" >/dev/null 2>&1; }
runuser -u "$as" -- test -d / 2>/dev/null && becomes=yes || becomes=
for what in ca cert key; do
  f=$1; shift
  said=$(stat -L -c '%F|%a|%u|%s' -- "$f" 2>&1) || {
    case $said in *'No such file'*|*'Not a directory'*) echo "$what|absent";; *) echo "$what|unread";; esac; continue; }
  if [ -z "$becomes" ]; then r=unknown
  elif runuser -u "$as" -- test -r "$f" 2>/dev/null; then r=readable; else r=closed; fi
  printf '%s|there|%s|%s\n' "$what" "$said" "$r"
  if [ "$what" != key ]; then
    printf 'begin|%s\n' "$what"
    certificates "$f"
    printf '\nend|%s\n' "$what"
  elif ! small "$f"; then echo 'public|none'
  elif ! has sha256sum || { ! has openssl && ! has ssh-keygen; }; then echo 'public|unknown'
  elif has openssl && sum=$(public "$f"); then echo "public|spki|$sum"
  elif sum=$(shell "$f"); then echo "public|ssh|$sum"
  else echo 'public|none'; fi
done
"""
)
"""$1 the CA's file, $2 the certificate's, $3 the key's. Of the first two only what stands between the marks of a
certificate (RFC 7468) is shown, whatever else is in the file. Of the key only a digest of its public half: by openssl
pkey(1) of its DER form, or, where there is no openssl, by ssh-keygen(1) -y of the key as SSH writes it ('TYPE BASE64').
'readable' is what test -r says as the server's own user (runuser(1)), which an SST's script is. Where nobody can become
that user, or no program reads a key, it is 'unknown': a tool that is missing is no word against a file.

Run as `timeout 15 bash -c PAIR_LOOK pilothouse CA CERT KEY`.
"""

DIGEST_OF = (
    _BOUNDED
    + r"""small "$1" || { printf '%s is not a plain file of at most 1 MB: not read\n' "$1" >&2; exit 73; }
sha256sum <"$1" | cut -c 1-64
"""
)
"""The SHA-256 of a file that a run put: of a key nothing else is ever told. It is a plain file, or it is not read.

Run as `timeout 8 bash -c DIGEST_OF pilothouse FILE`.
"""

TRANSFER_CERTIFICATES = (
    _BOUNDED
    + r"""LC_ALL=C; export LC_ALL
server=$(my_print_defaults --mysqld 2>/dev/null) sst=$(my_print_defaults sst 2>/dev/null)
more=$(my_print_defaults xtrabackup 2>/dev/null) last=$(my_print_defaults mariabackup 2>/dev/null)
value() {
  printf '%s\n' "$1" | awk -F = -v name="--$2" '{ known = $1; gsub(/_/, "-", known); sub(/^--loose-/, "--", known)
    if (known == name) found = substr($0, length($1) + 2) } END { print found }'
}
first() { for g in "$server" "$sst" "$more" "$last"; do v=$(value "$g" "$1"); [ -z "$v" ] || break; done; echo "$v"; }
mode=$(first encrypt); printf 'encrypt|%s\n' "${mode:-0}"
case $mode in [234]) ;; *) exit 0;; esac
ca=$(value "$sst" tca) cert=$(value "$sst" tcert)
if [ -z "$ca$cert$(value "$sst" tkey)$(value "$sst" tcapath)" ]; then ca=$(first ssl-ca) cert=$(first ssl-cert); fi
for what in ca cert; do
  [ $what = ca ] && f=$ca || f=$cert
  [ -n "$f" ] || { echo "$what|unnamed"; continue; }
  said=$(stat -L -c %F -- "$f" 2>&1) || {
    case $said in *'No such file'*|*'Not a directory'*) echo "$what|absent";; *) echo "$what|unread";; esac; continue; }
  [ -f "$f" ] && [ -r "$f" ] || { echo "$what|unread"; continue; }
  printf '%s|there\nbegin|%s\n' "$what" "$what"
  certificates "$f"
  printf '\nend|%s\n' "$what"
done
"""
)
"""The certificates that state transfers use now, found as their scripts do (facts/transfer/sst_options.py): the paths
come from the option files on the host itself. Keys are not looked at.

Run as `timeout 8 bash -c TRANSFER_CERTIFICATES pilothouse`.
"""
