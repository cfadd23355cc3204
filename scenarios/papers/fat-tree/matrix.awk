# SPDX-License-Identifier: Apache-2.0
# scenarios/papers/fat-tree/matrix.awk - prints ours.csv and published.csv as tables in Markdown.
# Each load has a table with a row for each scheme. A cell is "ours (theirs)", in italics if the two
# are more than 20 % apart. The variables loads, schemes and columns are those of run.sh.
BEGIN { FS = "," }
FNR == 1 { file++; next }
/^#/ { next }
file == 1 { ours[$1] = $2; next }
{ theirs[$1] = $2 }

function cell(key, text, apart) {
    if (!(key in ours)) return " - |"
    if (!(key in theirs)) return sprintf(" %.3g |", ours[key])
    text = sprintf(ours[key] < 999.5 ? "%.3g (%s)" : "%.0f (%s)", ours[key], theirs[key])
    apart = theirs[key] == 0 ? ours[key] != 0 : \
        ours[key] / theirs[key] > 1.2 || ours[key] / theirs[key] < 0.8
    return apart ? " *" text "* |" : " " text " |"
}
END {
    load_count = split(loads, load, " ")
    scheme_count = split(schemes, scheme, " ")
    column_count = split(columns, column, " ")
    for (l = 1; l <= load_count; l++) {
        printf "**%s**: p95 slowdown from that percentile of sizes on, ours (theirs):\n\n|", load[l]
        for (c = 1; c <= column_count; c++) printf " | %s", column[c]
        print " | p95 latency, us | paused, % |"
        for (c = 0; c < column_count + 3; c++) printf "|---"
        print "|"
        for (s = 1; s <= scheme_count; s++) {
            key = load[l] " " scheme[s] " p"
            printf "| %s |", scheme[s]
            for (c = 1; c <= column_count; c++) printf "%s", cell(key "95 from " column[c] "%")
            print cell(key "95 latency") cell(key "aused")
        }
        print ""
    }
}
