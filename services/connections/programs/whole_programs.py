"""Frozen programs that tell whether data are whole: pairs of files, the list of all that is defined, sums of rows.

They only read. The last two ask the host's own server as root, over its socket, in a read-only transaction; names go
out and come in as hexadecimal digits, so whatever a name holds is no word of a shell or a statement. No row, no
definition and no account's secret is ever told: a digest of each, cut to half of its length. wsrep_dirty_reads lets
them read a node that refuses clients (wsrep_reject_queries), which a restored one does until it was compared.

Sources: MariaDB KB "Files Created by mariadb-backup", "Information Schema INNODB_SYS_TABLES Table", "CRC32". Tried with
10.11.18: an incremental has `x.ibd.delta` with `x.ibd.meta` for each file that was there before, and `x.new` for one
that was made since the checkpoint it began at; byte 3 of a .frm file is its engine (12 InnoDB, 9 MyISAM, 42 Aria, 20
partitions, and then byte 61 is theirs), a view's begins with TYPE=VIEW.
"""

from __future__ import annotations

from services.connections.operator.roots_client import ROOTS_FILE

PAIRS = r"""export LC_ALL=C
[ -d "$1" ] && cd -- "$1" || { echo absent; exit 0; }
find . -mindepth 2 -maxdepth 2 -type f \( -name '*.frm' -o -name '*.ibd' -o -name '*.new' -o -name '*.ibd.delta' \
  -o -name '*.ibd.meta' -o -name '*.MYD' -o -name '*.MYI' -o -name '*.MAD' -o -name '*.MAI' -o -name '*.ren' \) \
  -not -path './.*' -printf '%P\n' | awk '
function owner(name) { sub(/#[Pp]#.*$/, "", name); return name }
{
  name = $0; kind = ""
  if (match(name, /\.(frm|ibd|new|ibd\.delta|ibd\.meta|MYD|MYI|MAD|MAI|ren)$/)) {
    kind = substr(name, RSTART + 1); name = substr(name, 1, RSTART - 1)
  }
  if (name ~ /\/#sql/ || name ~ /\/FTS_[0-9a-f]+_/) next
  if (kind == "ibd.delta" || kind == "ibd.meta") files++
  has[kind, name] = 1
  if (kind == "frm") { frm[name] = 1; next }
  if (kind == "ren") { renamed[substr(name, 1, index(name, "/"))] = 1; next }
  if (kind ~ /^(ibd|new|ibd\.delta)$/) { space[name] = 1; owned[owner(name)] = 1 }
  if (kind == "ibd.meta") meta[name] = 1
}
END {
  for (name in space) {
    schema = substr(name, 1, index(name, "/"))
    if (!(owner(name) in frm) && !(schema in renamed)) print "lacks frm " name
    if ((("ibd.delta", name) in has) && !(name in meta)) print "lacks ibd.meta " name
  }
  for (name in meta) if (!(("ibd.delta", name) in has)) print "lacks ibd.delta " name
  for (name in frm) {
    schema = substr(name, 1, index(name, "/"))
    if ((name in owned) || (schema in renamed)) continue
    if ((("MYD", name) in has) && (("MYI", name) in has)) continue
    if ((("MAD", name) in has) && (("MAI", name) in has)) continue
    print "look " name
  }
}' | while IFS=' ' read -r word rest; do
  [ "$word" = look ] || { printf '%s %s\n' "$word" "$rest"; continue; }
  read -r a _ _ engine < <(od -An -v -tu1 -N4 -- "$rest.frm")
  case ${a:-} in
    '') printf 'lacks head %s\n' "$rest"; continue;;
    84) continue;;
  esac
  [ "${engine:-0}" != 20 ] || read -r engine < <(od -An -v -tu1 -j61 -N1 -- "$rest.frm")
  case ${engine:-0} in
    12) printf 'lacks ibd %s\n' "$rest";;
    9) printf 'lacks MYD %s\n' "$rest";;
    42) printf 'lacks MAD %s\n' "$rest";;
  esac
done | head -n 2000 | tr -c '\n -~' '?'
find . -mindepth 2 -maxdepth 2 -type f ! -path './.*' \( -name '*.frm' -o -name '*.ibd' -o -name '*.new' \
  -o -name '*.ibd.delta' \) -printf x | wc -c | sed 's/^/end /'
"""
"""Run as `timeout 60 nice bash -c PAIRS pilothouse FOLDER`: 'lacks WHAT SCHEMA/TABLE' for each file that is missing
beside another one, names as the server writes them in file names; at last 'end FILES'. A partition's file is its
table's; what an ALTER or a full-text index made is passed over, and where tables were renamed while the backup was made
(.ren) nothing is said of that schema. 2,000 lines at most.
"""

DEFINED = r"""SET SESSION group_concat_max_len=4294967295, lock_wait_timeout=5, sql_mode='';
SELECT 'table', HEX(TABLE_SCHEMA), HEX(TABLE_NAME), REPLACE(TABLE_TYPE, ' ', '_'), IFNULL(ENGINE, '-'),
  IFNULL(DATA_LENGTH, 0) FROM information_schema.TABLES
  WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema') AND TABLE_TYPE <> 'TEMPORARY';
SELECT 'schema', HEX(SCHEMA_NAME), '', '' FROM information_schema.SCHEMATA;
SELECT 'columns', HEX(TABLE_SCHEMA), HEX(TABLE_NAME), LEFT(MD5(GROUP_CONCAT(CONCAT_WS(0x1f, COLUMN_NAME, COLUMN_TYPE,
  IS_NULLABLE, HEX(IFNULL(COLUMN_DEFAULT, '-')), EXTRA, GENERATION_EXPRESSION) ORDER BY ORDINAL_POSITION
  SEPARATOR 0x1e)), 16) FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'sys') GROUP BY TABLE_SCHEMA, TABLE_NAME;
SELECT 'indexes', HEX(TABLE_SCHEMA), HEX(TABLE_NAME), LEFT(MD5(GROUP_CONCAT(CONCAT_WS(0x1f, INDEX_NAME, SEQ_IN_INDEX,
  COLUMN_NAME, SUB_PART, NON_UNIQUE, INDEX_TYPE) ORDER BY INDEX_NAME, SEQ_IN_INDEX SEPARATOR 0x1e)), 16)
  FROM information_schema.STATISTICS WHERE TABLE_SCHEMA <> 'performance_schema' GROUP BY TABLE_SCHEMA, TABLE_NAME;
SELECT 'foreign-keys', HEX(CONSTRAINT_SCHEMA), HEX(TABLE_NAME), LEFT(MD5(GROUP_CONCAT(CONCAT_WS(0x1f, CONSTRAINT_NAME,
  UPDATE_RULE, DELETE_RULE, UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME) ORDER BY CONSTRAINT_NAME SEPARATOR 0x1e)),
  16) FROM information_schema.REFERENTIAL_CONSTRAINTS GROUP BY CONSTRAINT_SCHEMA, TABLE_NAME;
SELECT 'trigger', HEX(TRIGGER_SCHEMA), HEX(TRIGGER_NAME), LEFT(MD5(CONCAT_WS(0x1f, EVENT_OBJECT_TABLE,
  EVENT_MANIPULATION, ACTION_TIMING, ACTION_STATEMENT, DEFINER)), 16) FROM information_schema.TRIGGERS;
"""
"""Statements for the client with --batch --skip-column-names: all that is defined, also on a private server."""

_ACCOUNTS = r"""SELECT 'view', HEX(TABLE_SCHEMA), HEX(TABLE_NAME), LEFT(MD5(CONCAT_WS(0x1f, VIEW_DEFINITION, DEFINER,
  SECURITY_TYPE)), 16) FROM information_schema.VIEWS;
SELECT 'routine', HEX(db), HEX(CONCAT(type, ' ', name)), LEFT(MD5(CONCAT_WS(0x1f, param_list, returns, body_utf8,
  definer, security_type, sql_mode)), 16) FROM mysql.proc;
SELECT 'event', HEX(EVENT_SCHEMA), HEX(EVENT_NAME), LEFT(MD5(CONCAT_WS(0x1f, EVENT_DEFINITION, EVENT_TYPE,
  INTERVAL_VALUE, INTERVAL_FIELD, EXECUTE_AT, DEFINER)), 16) FROM information_schema.EVENTS;
SELECT 'account', '', HEX(CONCAT(User, '@', Host)), LEFT(MD5(JSON_REMOVE(Priv, '$.password_last_changed')), 16)
  FROM mysql.global_priv;
SELECT 'grants', HEX(TABLE_SCHEMA), HEX(GRANTEE), LEFT(MD5(GROUP_CONCAT(CONCAT(PRIVILEGE_TYPE, IS_GRANTABLE)
  ORDER BY PRIVILEGE_TYPE)), 16) FROM information_schema.SCHEMA_PRIVILEGES GROUP BY TABLE_SCHEMA, GRANTEE;
SELECT 'grants-on', HEX(CONCAT(TABLE_SCHEMA, '.', TABLE_NAME)), HEX(GRANTEE), LEFT(MD5(GROUP_CONCAT(
  CONCAT(PRIVILEGE_TYPE, IS_GRANTABLE) ORDER BY PRIVILEGE_TYPE)), 16) FROM information_schema.TABLE_PRIVILEGES
  GROUP BY TABLE_SCHEMA, TABLE_NAME, GRANTEE;
SELECT 'role', HEX(Role), HEX(CONCAT(User, '@', Host)), Admin_option FROM mysql.roles_mapping;
"""

DICTIONARY = r"""SELECT NAME, SPACE FROM information_schema.INNODB_SYS_TABLES WHERE NAME LIKE '%/%';
"""
"""What InnoDB's dictionary knows, names as the server writes them in file names."""
_SPACES = r"""SELECT '-', SPACE FROM information_schema.INNODB_SYS_TABLESPACES;
"""
"""The tablespaces that it has found. A server that begins with innodb_read_only dies of it (10.11.18, tried)."""

LOST = r"""lost() {
  awk -F '\t' -v files="${2-}" '
    $1 == "-" { there[$2] = 1; next }
    $1 !~ /\/#sql/ && $1 !~ /\/FTS_[0-9a-f]+_/ { space[$1] = $2 }
    END {
      for (name in space) {
        table = name; sub(/#[Pp]#.*$/, "", table); print "frm " table
        if (space[name] != 0 && files) print "ibd " name
        else if (space[name] != 0 && !(space[name] in there)) print "none " name
      }
    }' | sort -u | while IFS=' ' read -r kind name; do
    [ "$kind" != none ] && [ -f "$1/$name.$kind" ] || printf 'lost\t%s\t%s\n' "${kind/none/ibd}" "$name"
  done
}
"""
"""`lost FOLDER [files]` of what DICTIONARY gives: tables that InnoDB knows and whose .frm file is not there, or whose
tablespace it has not found; with 'files' that is looked for as a file in the folder.
"""

_CLIENT = (
    "LC_ALL=C; export LC_ALL\n"
    + ROOTS_FILE
    + r"""program=$(command -v mariadb || command -v mysql) || exit 72
socket=$(my_print_defaults --mysqld 2>/dev/null | sed -n 's/^--socket=//p' | tail -n 1)
program=("$program" "$from" --batch --skip-column-names --local-infile=0 --plugin-dir=)
program+=(--protocol=socket --host=localhost --default-character-set=utf8mb4)
case $socket in /*) program+=("--socket=$socket");; esac
"""
)
TABLES_TOLD = (
    _CLIENT
    + LOST
    + r"""set -o pipefail
say() { "${program[@]}"; }
folder=$(echo 'SELECT @@datadir' | say) || exit
in_hex() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F; }
(cd -- "$folder" && find . -mindepth 1 -maxdepth 1 -type d -name '[!.#]*' -printf '%P\0' |
  while IFS= read -r -d '' at; do [ -e "$at/db.opt" ] || printf 'folder\t%s\t\t\n' "$(in_hex "$at")"; done) || exit
say <<'SQL' || exit
SET SESSION TRANSACTION READ ONLY;
SET SESSION max_statement_time=280, wsrep_sync_wait=0, wsrep_dirty_reads=ON;
"""
    + DEFINED
    + _ACCOUNTS
    + r"""SQL
say <<'SQL' | lost "${folder%/}" || exit
SET SESSION TRANSACTION READ ONLY;
SET SESSION wsrep_dirty_reads=ON;
"""
    + DICTIONARY
    + _SPACES
    + r"""SQL
echo end
"""
)
"""Run as `timeout 300 nice bash -c TABLES_TOLD pilothouse`, for root: 'WHAT, schema, name, digest' with tabs between;
of a table its type, its engine ('-' for none: broken) and about how many bytes it has; 'folder' for each folder that
CREATE DATABASE did not make (no db.opt), by its name in the file system; 'lost' lines; at last 'end'.
"""

_SUMS = r"""how=$1; shift
begin() {
  cat <<SQL
SET SESSION TRANSACTION READ ONLY;
SET SESSION max_statement_time=280, wsrep_sync_wait=0, wsrep_dirty_reads=ON, sql_mode='', time_zone='+00:00',
  lock_wait_timeout=5, group_concat_max_len=4294967295;
SET @s = CONVERT(X'${1%.*}' USING utf8mb4), @t = CONVERT(X'${1#*.}' USING utf8mb4);
SET @from = CONCAT('\`', REPLACE(@s, '\`', '\`\`'), '\`.\`', REPLACE(@t, '\`', '\`\`'), '\`'), @key = NULL;
SELECT CONCAT('\`', REPLACE(k.COLUMN_NAME, '\`', '\`\`'), '\`') INTO @key
  FROM information_schema.STATISTICS k JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = @s AND c.TABLE_NAME = @t
  AND c.COLUMN_NAME = k.COLUMN_NAME WHERE k.TABLE_SCHEMA = @s AND k.TABLE_NAME = @t AND k.INDEX_NAME = 'PRIMARY'
  AND k.SEQ_IN_INDEX = 1 AND c.DATA_TYPE IN ('tinyint', 'smallint', 'mediumint', 'int', 'bigint');
SQL
}
ends() {
  begin "$1"
  cat <<SQL
SET @q = IF(@key IS NULL, 'SELECT 1', CONCAT('SELECT MIN(', @key, '), MAX(', @key, ') FROM ', @from));
PREPARE one FROM @q; EXECUTE one;
SQL
}
ranges() {
  local n at
  for ((n = 0; n < 32; n++)); do
    at=$(($1 + n * $2)); printf ' OR K BETWEEN %s AND %s' "$at" "$((at + ($2 < 1000 ? $2 : 1000) - 1))"
  done
}
sum() {
  begin "$1"
  cat <<SQL
SELECT CONCAT_WS(',', GROUP_CONCAT('ISNULL(\`', REPLACE(COLUMN_NAME, '\`', '\`\`'), '\`)' ORDER BY ORDINAL_POSITION),
  GROUP_CONCAT('IFNULL(CRC32(\`', REPLACE(COLUMN_NAME, '\`', '\`\`'), '\`),0)' ORDER BY ORDINAL_POSITION))
  INTO @each FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = @s AND TABLE_NAME = @t AND IS_GENERATED = 'NEVER';
SET @q = CONCAT('SELECT \'sum\', \'$1\', IFNULL(GROUP_CONCAT(n, \':\', c, \'-\', x, \'-\', t ORDER BY n
  SEPARATOR \'/\'), \'0:0\'), \'$2\' FROM (SELECT n, COUNT(*) AS c, BIT_XOR(h) AS x, SUM(h) AS t FROM (SELECT ',
  REPLACE('$3', 'K', IFNULL(@key, 'K')), ' AS n, CRC32(CONCAT_WS(\'#\', ', @each, ')) AS h FROM ', @from,
  REPLACE('$4', ' K ', CONCAT(' ', IFNULL(@key, ''), ' ')), ') r GROUP BY n) g');
PREPARE one FROM @q; EXECUTE one;
SQL
}
told() { "${program[@]}" 2>&1 | tail -n 1; }
for one in "$@"; do
  bounds=whole low='' high='' where='' part=0
  case $how in
    whole) ;;
    sampled)
      read -r low high < <(ends "$one" | told)
      case ${low#-}:${high#-} in :* | *: | *[!0-9:]*) ;; *) bounds=$low:$high;; esac
      [ "${#low}" -lt 19 ] && [ "${#high}" -lt 19 ] || bounds=whole;;
    *) bounds=$how;;
  esac
  if [ "$bounds" != whole ]; then
    low=${bounds%%:*} high=${bounds#*:} step=$(((high - low) / 32 + 1))
    where=" WHERE 0$(ranges "$low" "$step")" part="(K - $low) DIV $step"
  fi
  said=$(sum "$one" "$bounds" "$part" "$where" | told)
  case $said in
    sum$'\t'*) printf '%s\n' "$said";;
    *) printf 'none\t%s\t%s\n' "$one" "$(printf %.200s "$said" | tr -c ' -~' '?')";;
  esac
done
echo end
"""
SUMS = _CLIENT + _SUMS
"""Run as `timeout 300 nice bash -c SUMS pilothouse HOW SCHEMA.TABLE...`, for root: names in hexadecimal digits; HOW is
'whole', 'sampled' or the 'LOW:HIGH' that a sampled one told. 'sum NAME PART:ROWS-XOR-SUM/... HOW', or 'none NAME WHY'.

Each row gives the CRC32 of the CRC32 of its columns, generated ones left out: CHECKSUM TABLE of such a table differs
for the same rows. A sample is 32 parts of the numbers of a primary key, from its lowest to its highest, of each the
first 1,000 numbers; a table without such a key is read whole. Current rows only, where a table is versioned.
"""
