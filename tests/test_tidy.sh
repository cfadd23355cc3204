#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# tests/test_tidy.sh - tools/tidy finds what it promises to find.
#
# Goal: each habit has a broken file that is reported, with its line, and a clean tree is silent.
# Method: a scratch repository with one good file, then one bad file at a time.
# Does not pin: the exact words after the place.
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/tools" "$scratch/kernel/part" "$scratch/net" "$scratch/nic/cc" "$scratch/cli" \
    "$scratch/docs/models"
cp tools/tidy "$scratch/tools/"
cd "$scratch"
git init -q .
head='// SPDX-License-Identifier: Apache-2.0'
printf '%s\n// kernel/good.c - a file.\nint sim_good(void);\n' "$head" >kernel/good.c
tools/tidy || { echo "a clean tree is not silent" && exit 1; }

count=0
# expect FILE PATTERN: the file on stdin, and nothing else, is reported with the pattern.
expect() {
    cat >"$1"
    if found=$(tools/tidy); then
        echo "$1 ($2): nothing was found in" && cat "$1" && exit 1
    fi
    if ! grep -q "^$1:.*$2" <<<"$found" || [ "$(wc -l <<<"$found")" -ne 1 ]; then
        echo "$1: expected $2, got: $found"
        exit 1
    fi
    rm "$1"
    count=$((count + 1))
}

text="$head
// a file."
long=$(printf 'x%.0s' $(seq 101))
expect kernel/bad.c '1: no SPDX' <<<$'// a file.\n// more'
expect kernel/bad.c '2: no comment' <<<"$head"$'\nint a;'
expect kernel/bad.c '3: longer than 100' <<<"$text"$'\n'"// $long"
expect kernel/bad.c '3: tab' <<<"$text"$'\n\tint a;'
expect kernel/bad.c '3: space at the end' <<<"$text"$'\nint a; '
expect kernel/bad.c '85: function of more' <<<"$text"$'\n{'"$(printf '\n    a;%.0s' $(seq 81))"$'\n}'
expect kernel/bad.c '3: kernel may not include' <<<"$text"$'\n#include "net/packet.h"'
expect cli/bad.c '3: net/net_internal.h is internal' <<<"$text"$'\n#include "net/net_internal.h"'
expect net/bad.c '3: include "packet.h" by its path' <<<"$text"$'\n#include "packet.h"'
expect kernel/bad.h '3: the guard is KERNEL_BAD_H' <<<"$text"$'\n#ifndef BAD_H\n#endif'
expect kernel/bad.c '3: not used here' <<<"$text"$'\n    strcpy(a, b);'
expect cli/bad.c '3: memory comes from' <<<"$text"$'\n    a = malloc(1);'
expect net/bad.c '3: a result may not' <<<"$text"$'\n    x = exp(2.0);'
expect net/bad.c '3: docs/models/none.md is missing' <<<"$text"$'\n// See docs/models/none.md.'
expect docs/models/bad.md '2: the first section' <<<$'# Bad\n## Parameters\n## Validation\n## References'
expect docs/models/bad.md 'no section validation' \
    <<<$'# Bad\n## Scope and limitations\n## Parameters\n## References'

structs=$(for i in {1..7}; do printf 'typedef struct a%d {\n    int b;\n} a%d_t;\n' "$i" "$i"; done)
expect net/bad.h ' 7 structs' <<<"$text"$'\n'"$structs"
for i in 1 2 3; do
    printf '%s\nint net_a%d(int b,\n           int c)\n{\n    return 0;\n}\n' "$text" "$i" >net/a$i.c
done
declared=$(printf 'int net_a%d(int b);\n' 1 2 3)
expect net/bad.h 'its functions are defined in more than two files:.* net/a2.c' <<<"$text"$'\n'"$declared"
printf '# SPDX-License-Identifier: Apache-2.0\nnet/bad.h\n' >tools/tidy-headers.txt
printf '%s\n' "$text" "$declared" >net/bad.h
tools/tidy || { echo "a header of the list: not excused" && exit 1; }
rm net/a3.c
tools/tidy | grep -q 'net/bad.h is a good header now' ||
    { echo "a good header in the list: not found" && exit 1; }
rm tools/tidy-headers.txt net/bad.h net/a[12].c

expect kernel/bad.sh 'not a bash script' <<<'# SPDX-License-Identifier: Apache-2.0'$'\nif true; then'
printf '%s\nint a;' "$text" >net/bad.c
tools/tidy | grep -q '^net/bad.c: no newline' || { echo "no newline: not found" && exit 1; }
rm net/bad.c
expect nic/cc/cc_bad.c 'its name repeats' <<<"$text"
expect nic/cc/bad.c '3: nic/cc may not include nic/store/x.h' <<<"$text"$'\n#include "nic/store/x.h"'
printf '# A\n\n    kernel/  part/\n    nic/     cc/, gone/\n\n## B\n' >ARCHITECTURE.md
mkdir kernel/other
printf '%s\n' "$text" | tee nic/cc/a.c kernel/part/a.c >kernel/other/a.c
tools/tidy | grep -q 'does not name other/ of kernel/other' ||
    { echo "a folder not named: not found" && exit 1; }
tools/tidy | grep -q '^ARCHITECTURE.md:4: the room nic has no folder gone/' ||
    { echo "a folder that is gone: not found" && exit 1; }
[ "$(tools/tidy | wc -l)" -eq 2 ] || { echo "the tree: $(tools/tidy)" && exit 1; }
rm -r ARCHITECTURE.md kernel/other nic/cc/a.c kernel/part/a.c

printf '%s\n' "$text" | tee kernel/twice.h >kernel/part/twice.h
tools/tidy | grep -q '^kernel: two headers have the name twice.h' ||
    { echo "two names: not found" && exit 1; }
rm kernel/twice.h
for i in {1..23}; do
    printf '%s\n' "$text" >kernel/part/$i.c
done
tools/tidy | grep -q '^kernel/part: 24 source files' || { echo "a full folder: not found" && exit 1; }
echo "$((count + 5)) habits"
