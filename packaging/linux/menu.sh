#!/bin/sh
# Adds Pilothouse to this login's menu and command line, or takes it away again. Nothing here needs root.
#   ./menu.sh add       ./menu.sh remove
set -eu
umask go-w
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
cd "$here"

refuse() {
    echo "menu.sh: $1" >&2
    exit "${2:-1}"
}

case "${HOME:-}" in
/*) ;;
*) refuse "HOME is not the absolute path of a folder" 2 ;;
esac
# Under sudo with a kept HOME, links that lie in it would lead root anywhere.
[ -n "$(find "$HOME" -prune -user "$(id -u)")" ] || refuse "$HOME is another login's; run this as that login" 2
# A path that is not absolute is to be ignored (XDG Base Directory Specification, "Basics").
case "${XDG_DATA_HOME:-}" in
/*) data=$XDG_DATA_HOME ;;
*) data=$HOME/.local/share ;;
esac
bin=$HOME/.local/bin
link=$bin/pilothouse
entry=$data/applications/pilothouse.desktop

files() {
    (cd share && find . -type f ! -name '*.desktop' | sort)
}

# Whose the command is: ours, nobody's (nothing is there, or a link to nothing), another copy's, another program's.
whose() {
    target=$(readlink "$link" || :)
    if [ "$target" = "$here/pilothouse" ]; then
        echo ours
    elif [ ! -e "$link" ]; then
        echo nobody
    elif [ -n "$target" ] && [ -f "$(dirname -- "$target")/menu.sh" ]; then
        echo copy
    else
        echo another
    fi
}

add() {
    [ "$(whose)" != another ] || refuse "$link is another program, and is left as it is"
    mkdir -p "$bin" "$data/applications"
    ln -sfn "$here/pilothouse" "$link"
    files | while IFS= read -r file; do
        mkdir -p "$data/$(dirname "$file")"
        rm -f "$data/$file" # a link in its place would be written through
        cp "share/$file" "$data/$file"
    done
    # An argument of Exec stands in quotation marks, four characters escaped, and a backslash is one of strings too
    # (Desktop Entry Specification, "The Exec key"); then what sed itself would read in its replacement.
    quoted=$(printf '%s' "$link" | sed 's/[\\"`$]/\\&/g; s/\\/\\\\/g; s/%/%%/g; s/[\\&|]/\\&/g')
    rm -f "$entry"
    sed "s|^Exec=pilothouse|Exec=\"$quoted\"|; /^TryExec=/d" share/applications/pilothouse.desktop > "$entry"
    echo "Pilothouse is in the menu; in a shell: $link"
}

remove() {
    whose=$(whose)
    if [ "$whose" = copy ]; then
        echo "The menu is another copy's, and is left as it is: $(readlink "$link")"
        return
    fi
    files | while IFS= read -r file; do
        rm -f "$data/$file"
        # Folders that were made for it, and hold nothing else.
        (cd "$data" && rmdir -p "$(dirname "$file")" 2> /dev/null) || :
    done
    rm -f "$entry"
    if [ "$whose" != another ]; then rm -f "$link"; fi
    rmdir "$data/applications" "$bin" 2> /dev/null || :
    echo "Pilothouse is out of the menu. What is yours stays: $data/pilothouse, ${XDG_CONFIG_HOME:-$HOME/.config}/pilothouse"
}

case "${1:-}" in
add | remove) "$1" ;;
*) refuse "usage: $0 add|remove" 2 ;;
esac
