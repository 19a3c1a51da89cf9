#!/bin/sh
# Adds Pilothouse to this login's menu and command line, or takes it away again. Nothing here needs root.
#   ./menu.sh add       ./menu.sh remove
set -eu
cd "$(dirname "$0")"
here=$(pwd -P)
data=${XDG_DATA_HOME:-$HOME/.local/share}
bin=$HOME/.local/bin
entry=$data/applications/pilothouse.desktop

files() {
    (cd share && find . -type f ! -name '*.desktop' | sort)
}

add() {
    if [ -e "$bin/pilothouse" ] && [ ! -L "$bin/pilothouse" ]; then
        echo "menu.sh: $bin/pilothouse is another program, and is left as it is" >&2
        exit 1
    fi
    mkdir -p "$bin" "$data/applications"
    ln -sfn "$here/pilothouse" "$bin/pilothouse"
    files | while IFS= read -r file; do
        mkdir -p "$data/$(dirname "$file")"
        cp "share/$file" "$data/$file"
    done
    # An argument of Exec stands in quotation marks, four characters escaped, and a backslash is one of strings too
    # (Desktop Entry Specification, "The Exec key"); then what sed itself would read in its replacement.
    quoted=$(printf '%s' "$bin/pilothouse" | sed 's/[\\"`$]/\\&/g; s/\\/\\\\/g; s/%/%%/g; s/[\\&|]/\\&/g')
    sed "s|^Exec=pilothouse|Exec=\"$quoted\"|; /^TryExec=/d" share/applications/pilothouse.desktop > "$entry"
    echo "Pilothouse is in the menu; in a shell: $bin/pilothouse"
}

remove() {
    files | while IFS= read -r file; do
        rm -f "$data/$file"
        # Folders that were made for it, and hold nothing else.
        (cd "$data" && rmdir -p "$(dirname "$file")" 2> /dev/null) || :
    done
    rm -f "$entry"
    if [ -L "$bin/pilothouse" ]; then rm -f "$bin/pilothouse"; fi
    rmdir "$data/applications" "$bin" 2> /dev/null || :
    echo "Pilothouse is out of the menu. What is yours stays: $data/pilothouse, ${XDG_CONFIG_HOME:-$HOME/.config}/pilothouse"
}

case "${1:-}" in
add | remove) "$1" ;;
*)
    echo "usage: $0 add|remove" >&2
    exit 2
    ;;
esac
