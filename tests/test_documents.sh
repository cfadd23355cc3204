#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/test_documents.sh - scenarios that documents show are good ones.
#
# Goal: who copies a scenario from README.md or docs/ has one that can be run.
# Method: each block of yaml in them is checked; one without a topology stands over a leaf-spine.
# Does not pin: blocks of other files (sweeps, plans, constants).
set -u
. tests/script.sh

# blocks DOCUMENT: each block of yaml to $work/LINE.yaml.
blocks() {
    rm -f "$work"/*.yaml
    awk -v folder="$work" '
        /^```/ && inside { inside = 0; close(name); next }
        /^```yaml/ { inside = 1; name = folder "/" NR ".yaml"; next }
        inside { print > name }' "$1"
}

count=0
while read -r document; do
    blocks "$document"
    for block in "$work"/*.yaml; do
        [ -e "$block" ] && ! grep -qE '^(scenario|constants):' "$block" || continue
        grep -q '^topology:' "$block" || echo 'topology: {leaf-spine: {}}' >>"$block"
        "$ROCESIM" check "$block" >"$work/out" 2>&1 ||
            fail "$document:$(basename "$block" .yaml): $(cat "$work/out")"
        count=$((count + 1))
    done
done < <(find README.md docs -name '*.md' | sort)
[ "$count" -ge 4 ] || fail "$count scenarios found"
[ $failures -eq 0 ] || {
    echo "rerun: ctest --test-dir build/release -R '^test_documents$' --output-on-failure"
    exit 1
}
