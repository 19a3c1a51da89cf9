"""Which options a backup's own backup-my.cnf may give to the tool that prepares it: a closed list. It only reads."""

from __future__ import annotations

OPTIONS_OF = r"""refused() {
  printf '%s names %s: %s\n' "$1/backup-my.cnf" "$(printf %.80s "$2" | tr -c ' -~' '?')" "$3"
}
options_of() {
  local file=$1/backup-my.cnf line name value
  local plain='^[A-Za-z0-9_.:;,+-]*$'
  [ -e "$file" ] || [ -L "$file" ] || return 0
  [ -f "$file" ] && [ ! -L "$file" ] || { printf '%s is not a plain file\n' "$file"; return 1; }
  [ "$(stat -c %s -- "$file")" -le 65536 ] || { printf '%s is longer than any tool writes it\n' "$file"; return 1; }
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line#"${line%%[! ]*}"}; line=${line%"${line##*[! ]}"}
    case $line in '' | '#'* | ';'*) continue;; '[mysqld]') kept+=$line$'\n'; continue;; esac
    name=${line%%=*}; value=${line#"$name"}; value=${value#=}
    name=${name%"${name##*[! ]}"}; value=${value#"${value%%[! ]*}"}; name=${name//-/_}
    case $name=${value%/} in
      plugin_load=) continue;;
      innodb_undo_directory=. | innodb_redo_log_encrypt=OFF | innodb_undo_log_encrypt=OFF) ;;
      innodb_undo_directory=*) refused "$1" "$line" 'the undo logs would lie outside the copy'; return 1;;
      innodb_checksum_algorithm=* | innodb_log_checksums=* | innodb_data_file_path=* | innodb_log_files_in_group=* | \
      innodb_log_file_size=* | innodb_page_size=* | innodb_undo_tablespaces=* | innodb_compression_level=* | \
      innodb_fast_checksum=* | innodb_log_block_size=* | innodb_buffer_pool_filename=* | server_id=* | \
      redo_log_version=* | server_uuid=* | master_key_id=*)
        [[ $value =~ $plain ]] && [ "$value" = "${value//..}" ] ||
          { refused "$1" "$line" 'its value may lead out of the copy'; return 1; };;
      *plugin*=* | *encrypt*=* | *key*=*)
        refused "$1" "$line" 'a prepare would load that as root. Backups of encrypted servers are not supported'
        return 1;;
      *) refused "$1" "$line" 'this is none of the options that a prepare is given'; return 1;;
    esac
    kept+="$name=$value"$'\n'
  done < <(timeout 5 head -c 65537 -- "$file" | tr -d '\0')
}
"""
"""`options_of FOLDER`: prints what is refused, and returns 1; else `kept` has the lines that a prepare is given.

A prepare reads that file as root, and loads what it names (plugin_load from plugin_dir: the key management of an
encrypted server), so whoever wrote a backup would be root. What mariadb-backup 10.11.18 writes is all in the list; an
empty plugin_load too, which is left out.
"""
