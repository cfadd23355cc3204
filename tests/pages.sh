# SPDX-License-Identifier: Apache-2.0
# tests/pages.sh - runs the commands of pages as a reader would: `. tests/script.sh; . tests/pages.sh`.
#
# A block of YAML in a page is the file that the paragraph before it names: "Save this as `NAME`:". A block
# that is indented by four spaces is typed into a shell, in a folder with links to the source tree. A
# comment before such a block says how it differs:
#   <!-- test: slow -->              only with TEST_LONG=1
#   <!-- test: no, REASON -->        never
#   <!-- test: ends with N -->       its status is N
#   <!-- test: needs COMMAND -->     where COMMAND is installed

# split_page PAGE FOLDER: writes each block to FOLDER/NNN.sh or FOLDER/NNN.file:NAME, in the order of the
# page, and its comment to FOLDER/NNN.how.
split_page() {
    awk -v folder="$2" '
        function finish() { if (name != "") close(name); name = "" }
        /^<!-- test: .* -->$/ { how = $0; sub(/^<!-- test: /, "", how); sub(/ -->$/, "", how); next }
        /^```/ {
            finish()
            if (fence) { fence = 0; next }
            fence = 1
            if ($0 == "```yaml" && file != "") name = sprintf("%s/%03d.file:%s", folder, ++n, file)
            file = ""
            next
        }
        fence { if (name != "") print >name; next }
        /^    / && (blank || name != "") && !list {
            if (name == "") {
                name = sprintf("%s/%03d.sh", folder, ++n)
                if (how != "") print how >sprintf("%s/%03d.how", folder, n)
                how = ""
            }
            print substr($0, 5) >name
            blank = 0
            next
        }
        /^ *$/ { blank = 1; next }
        { finish(); blank = 0; list = /^ *([-*]|[0-9]+\.) / || (list && /^  /) }
        match($0, /[Ss]ave (this|it|this one|what [a-z ]*) ?as `[^`]*`/) {
            file = substr($0, RSTART, RLENGTH); sub(/^[^`]*`/, "", file); sub(/`$/, "", file)
        }' "$1"
}

# run_page PAGE: runs the blocks of a page, one after another, in a folder of its own.
run_page() {
    local page=$1 folder block how status wanted
    folder=$work/page-$(basename "$page" .md)
    mkdir -p "$folder/blocks" "$folder/try"
    split_page "$page" "$folder/blocks"
    for link in scenarios examples tools docs; do
        ln -sfn "$PWD/$link" "$folder/try/$link"
    done
    for block in "$folder"/blocks/*.file:* "$folder"/blocks/*.sh; do
        case $block in *.file:*) [ ! -e "$block" ] || cp "$block" "$folder/try/${block##*.file:}" ;; esac
    done
    for block in "$folder"/blocks/*.sh; do
        [ -e "$block" ] || { fail "$page: no command was found"; return; }
        how=$(cat "${block%.sh}.how" 2>/dev/null || true)
        wanted=0
        case $how in
        no,*) continue ;;
        slow) [ -n "${TEST_LONG:-}" ] || continue ;;
        "ends with "*) wanted=${how#ends with } ;;
        "needs "*) command -v "${how#needs }" >/dev/null || continue ;;
        "") ;;
        *) fail "$page: no such way to run a block: $how" ;;
        esac
        if ! command -v gnuplot >/dev/null; then sed -i '/rocesim plot /d' "$block"; fi
        if ! command -v tshark >/dev/null; then sed -i '/^tshark /d' "$block"; fi
        if ! command -v dot >/dev/null; then sed -i 's/ | dot .*//' "$block"; fi
        (cd "$folder/try" && PATH=$(dirname "$ROCESIM"):$PATH bash -eu -o pipefail "$block") \
            >"$folder/said" 2>&1
        status=$?
        commands=$((${commands:-0} + $(grep -c . "$block")))
        [ $status = "$wanted" ] ||
            fail "$page: status $status, not $wanted, of: $(cat "$block")
$(tail -n 5 "$folder/said")"
    done
}
