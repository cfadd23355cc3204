#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_diff.sh - rocesim diff: parameters, first rows, flows and summaries that differ.
#
# Goal: where two programs give one scenario different digests, the first arrival that differs is named.
# Equal runs differ in nothing; of others the parameter that was changed is named, the flow that
# moved most is first, and the first differing row is the first.
# Method: runs that differ in one thing; rows found by cmp.
# Not pinned: the layout.
set -u
. tests/script.sh
start_forks

quick=scenarios/quickstart.yaml
rocesim run $quick -o "$work/a" --quiet >/dev/null || fail "run"
rocesim run $quick -o "$work/b" --quiet --threads 2 >/dev/null || fail "run"
rocesim run $quick -o "$work/c" --quiet --set switch.ecn.kmin=50KB >/dev/null || fail "run"
rocesim diff "$work/a" "$work/b" >"$work/out" || fail "equal runs: $(cat "$work/out")"
grep -q "^nothing differs$" "$work/out" || fail "equal runs: $(cat "$work/out")"
rocesim diff "$work/a" "$work/c" >"$work/out"
[ $? -eq 1 ] || fail "exit status of a difference"
[ "$(sed -n '/^parameters$/,/^[a-z].*:/p' "$work/out" | grep -c '^  ')" -eq 1 ] &&
    grep -Eq '^  switch.ecn.kmin  *[0-9.A-Za-z]*  *50KB$' "$work/out" ||
    fail "parameters: $(cat "$work/out")"
grep -Eq '^  digest  *[0-9a-f]{16}  *[0-9a-f]{16}$' "$work/out" || fail "no digests"
grep -q '  wall_' "$work/out" && fail "wall_ values are told"
line=$(cmp "$work/a/series.csv" "$work/c/series.csv" | sed 's/.*line //')
grep -q "^series.csv: the first row that differs is line $line$" "$work/out" ||
    fail "first row: line $line, $(grep series.csv "$work/out")"
grep -qF "  A  $(sed -n "${line}p" "$work/a/series.csv")" "$work/out" || fail "the row itself"
most=$(paste -d, <(cut -d, -f2,3,8 "$work/a/flows.csv") <(cut -d, -f8 "$work/c/flows.csv") | awk -F, '
    NR > 1 { d = $4 - $3; d = d < 0 ? -d : d; if (d > best) { best = d; name = $1 " -> " $2 } }
    END { print name }')
[ "$(sed -n '/^flows: /{n;s/^  \([^ ]* -> [^ ]*\).*/\1/p}' "$work/out")" = "$most" ] ||
    fail "the flow that moved most is $most: $(grep -A1 '^flows:' "$work/out")"
rocesim diff "$work/a" "$work/none" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q "there is no such folder, expected" "$work/err" || fail "a folder that is not there"

# Files that are none.
for file in events.csv series.csv; do
    rm -rf "$work/odd" && cp -r "$work/a" "$work/odd" && rm "$work/odd/$file"
    ln -s /dev/zero "$work/odd/$file"
    within 60 rocesim diff "$work/a" "$work/odd" >"$work/out"
    [ $? -eq 1 ] && grep -q "$file: is no regular file" "$work/out" ||
        fail "$file is a device: $(cat "$work/out")"
done

# Files that were cut short, replaced, emptied or taken away do not pass as equal, on either side.
differs() # WHAT FILE PATTERN: the damaged copy of a
{
    for pair in "a odd" "odd a"; do
        rocesim diff "$work/${pair% *}" "$work/${pair#* }" >"$work/out"
        [ $? -eq 1 ] && grep -Eq "$3" "$work/out" && ! grep -q "^nothing differs" "$work/out" ||
            fail "$2 $1, $pair: $(cat "$work/out")"
    done
}
for file in flows.csv ports.csv pauses.csv events.csv series.csv; do
    rm -rf "$work/odd" && cp -r "$work/a" "$work/odd" && rm "$work/odd/$file"
    differs "taken away" $file "odd/$file: cannot open"
    cp "$work/a/$file" "$work/odd/$file" && printf '1,2\n' >>"$work/odd/$file"
    differs "with one more row" $file "^$file: the first row that differs|odd/$file:[0-9]+:1: "
    : >"$work/odd/$file"
    differs empty $file "^$file: the first row that differs|odd/$file:1:1: "
done
rm -rf "$work/odd" && cp -r "$work/a" "$work/odd" && sed -i '$d' "$work/odd/flows.csv"
differs "without its last row" flows.csv "^flows.csv: [AB] has fewer rows$"
cp "$work/a/flows.csv" "$work/odd/flows.csv" && sed -Ei '2s/,success(,|$)/,nan\1/' "$work/odd/flows.csv"
differs "with another status" flows.csv "^flows.csv: the first row that differs is line 2$"
rm -rf "$work/a2" && cp -r "$work/a" "$work/a2" && rm "$work"/a2/pauses.csv && rm "$work/odd/pauses.csv"
cp "$work/a/flows.csv" "$work/odd/flows.csv"
rocesim diff "$work/a2" "$work/odd" >"$work/out" || fail "a file both lack: $(cat "$work/out")"

# The same scenario, another digest: another program made one of them.
cat >"$work/other" <<END
#!/bin/bash
[ "\$1" = run ] && exec "$ROCESIM" "\$@" --set switch.ecn.kmin=50KB
exec "$ROCESIM" "\$@"
END
chmod +x "$work/other"
"$work/other" run $quick -o "$work/d" --quiet >/dev/null || fail "run of another program"
cp "$work/a/scenario.yaml" "$work/d/scenario.yaml"
rocesim diff "$work/a" "$work/d" >"$work/out"
grep -q "^first event that differs: unknown: $work/d has digest .*(--b PROGRAM)" "$work/out" ||
    fail "another program is not told of: $(grep first "$work/out")"
rocesim diff "$work/a" "$work/d" --b "$work/other" >"$work/out"
node=$(sed -n 's/^first event that differs: what arrives at //p' "$work/out")
time=$(sed -n '/^first event/,$s/^  [AB]  from [^ ]* at \([0-9]*\) ps .*/\1/p' "$work/out" |
    sort -n | head -n 1)
[ -n "$node" ] && [ -n "$time" ] || fail "no first event: $(grep -A2 'first event' "$work/out")"
# At no node anything differs just before, and a nanosecond later something does at this one.
for program in rocesim "$work/other"; do
    sed '/^observe:/,$d' "$work/a/scenario.yaml" >"$work/near.yaml"
    printf 'observe: [{series: "node[*].arrivals_hash", start: %sps, every: 1ns}]\n' "$time" \
        >>"$work/near.yaml"
    "$program" run "$work/near.yaml" -o "$work/near" --quiet --set outputs.series-max=18 >/dev/null
    sed -n 2,10p "$work/near/series.csv" >"$work/before.$(basename "$program")"
    sed -n 11,19p "$work/near/series.csv" >"$work/after.$(basename "$program")"
done
[ "$(wc -l <"$work/before.rocesim")" -eq 9 ] && cmp -s "$work/before.rocesim" "$work/before.other" ||
    fail "something differs before $time ps: $(diff "$work/before.rocesim" "$work/before.other")"
diff "$work/after.rocesim" "$work/after.other" | grep -q "^< .*,node\[$node\].arrivals_hash," ||
    fail "nothing differs at $node after $time ps"
rocesim diff "$work/a" "$work/d" --b "$work/nothing" |
    grep -q 'first event that differs: unknown: .*cannot be run' ||
    fail "a program that is not there"
exit $((failures > 0))
