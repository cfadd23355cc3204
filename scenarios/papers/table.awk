# SPDX-License-Identifier: Apache-2.0
# scenarios/papers/table.awk - makes the table "ours, theirs, difference" from ours.csv, published.csv
# and orders.csv. Variables: share (percent of asked rows that must be within tolerance), csv (file
# of the same table).
BEGIN {
    FS = ","
    print "key,ours,published,unit,difference_percent,tolerance_percent,verdict,source" > csv
}
FNR == 1 { file++; next }
/^#/ { if (file == 2) { sub(/^# ?/, ""); notes = notes "   " $0 "\n" } next }
file == 1 { ours[$1] = $2; next }
file == 3 {
    asked++
    if ($3 == "ok") good++
    orders[++m] = sprintf("%-66s %20s  %s", $1, $2, $3)
    printf "%s,,,,,,%s,\"%s\"\n", $1, $3, $2 > csv
    next
}
{
    source = $5
    for (i = 6; i <= NF; i++) source = source "," $i
    difference = ""
    verdict = "shown"
    if (!($1 in ours) || ours[$1] == "") {
        value = "-"
        verdict = $4 == "" ? "not measured" : "MISSING"
    } else {
        value = ours[$1]
        # Only an exact zero meets a published zero.
        if ($2 != 0) difference = sprintf("%+.1f", 100 * (value / $2 - 1))
        else difference = value == 0 ? "+0.0" : "inf"
        if ($4 != "") {
            off = difference + 0; if (off < 0) off = -off
            verdict = difference != "inf" && off <= $4 ? "ok" : "OUT"
        }
    }
    if ($4 != "") { asked++; if (verdict == "ok") good++ }
    n++
    row[n] = sprintf("%-38s %12s %12s %-7s %8s %6s  %s", $1, shorten(value), $2, $3, \
        difference == "" ? "" : difference "%", $4 == "" ? "" : "+-" $4 "%", verdict)
    printf "%s,%s,%s,%s,%s,%s,%s,\"%s\"\n", $1, value, $2, $3, difference, $4, verdict, source > csv
}
function shorten(value) { return value == "-" ? value : sprintf("%.5g", value) }
END {
    printf "%-38s %12s %12s %-7s %8s %6s\n", "", "ours", "theirs", "unit", "diff.", "asked"
    for (i = 1; i <= n; i++) print row[i]
    for (i = 1; i <= m; i++) print orders[i]
    printf "%s", notes
    if (asked) {
        printf "%d of %d asked rows within their tolerance (%d %% needed)\n", good, asked, share
        if (100 * good < share * asked) exit 1
    }
}
