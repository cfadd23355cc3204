# SPDX-License-Identifier: Apache-2.0
# scenarios/cache/cache_lib.sh - what the studies share; sourced by them.
#
# A study: begin OUT, row CURVE X OPTIONS... for each simulation, figure at the end. Rows go to data.csv.

# begin OUT: settles where everything is. Sets out, program, quick, scenario, length.
begin() {
    here=$(cd "$(dirname "$0")" && pwd)
    program=${ROCESIM:-$here/../../build/release/rocesim}
    out=$1
    quick=${CACHE_QUICK:-0}
    scenario=zipf.yaml
    if [ ! -x "$program" ]; then
        echo "$program is not there: run make first" >&2
        exit 1
    fi
    mkdir -p "$out"
    echo "== $(sed -n 's/^# \([^ ]* - .*\)/\1/p' "$0" | head -n 1)"
    columns=curve,x,mops,l1_hit_rate,l2_hit_rate,access_ns,access_ns_p99,latency_us_p99,expands,dma_bytes
    echo "$columns" >"$out/data.csv"
    # A busy NIC: many operations at a time, and the times of the defaults.
    length="warm_up=40000 operations=60000"
    [ "$quick" = 0 ] || length="warm_up=2000 operations=4000"
    busy="outstanding=64 cache.window=10ms cache.aging=1ms
        cache.demote.l1-idle=1ms cache.demote.l2-idle=10ms
        cache.adaptive.interval=100us cache.adaptive.cpu=0.5
        cache.record=false"
}

# value FILE PATH: a number of a summary, by its path (apps[0].mops, nics[0].cache.l1_hits); - if none
value() {
    awk -v wanted="$2" '
        { line = $0; match(line, /^ */); depth = RLENGTH / 2; sub(/^ */, "", line); sub(/,$/, "", line)
          key = ""
          if (match(line, /^"[^"]*": /)) {
              key = substr(line, 2, RLENGTH - 4)
              line = substr(line, RLENGTH + 1)
          }
          if (line ~ /^[\]}]/) next
          if (key != "") name[depth] = key
          else if (depth > 0) name[depth] = "[" (count[depth]++) "]"
          path = ""
          for (d = 1; d <= depth; d++) path = path (name[d] ~ /^\[/ || path == "" ? "" : ".") name[d]
          if (line ~ /^[\[{]/) { count[depth + 1] = 0; next }
          if (path == wanted) { gsub(/"/, "", line); print line; found = 1; exit } }
        END { if (!found) print "-" }' "$1"
}

# whole NAME=VALUE: cache.*, detailed.* and load.* are attributes of host0's NIC and of its operations
whole() {
    case $1 in
    cache.* | detailed.*) echo "nodes.host0.nic.$1" ;;
    load.*) echo "traffic[0].contexts.${1#load.}" ;;
    *) echo "$1" ;;
    esac
}

# row CURVE X NAME=VALUE...: a simulation, and its row
row() {
    local curve=$1 x=$2 run set=()
    shift 2
    run=$out/$(echo "$curve-$x" | tr -c 'a-zA-Z0-9.\n-' _)
    for option in "$@"; do
        set+=(--set "$(whole "$option")")
    done
    if ! "$program" run "$here/$scenario" -o "$run" --quiet "${set[@]}" >"$run.log" 2>&1; then
        cat "$run.log" >&2
        echo "run $run failed" >&2
        exit 1
    fi
    local file=$run/summary.json l1 l2 hits misses
    l1=$(value "$file" "nics[0].cache.l1_hit_rate")
    l2=$(value "$file" "nics[0].cache.l2_hit_rate")
    if [ "$l1" = - ]; then
        hits=$(value "$file" "nics[0].context_hits")
        misses=$(value "$file" "nics[0].context_misses")
        l1=$(awk -v h="$hits" -v m="$misses" 'BEGIN { print (h + m > 0 ? h / (h + m) : 0) }')
    fi
    {
        printf '%s,%s,%s,%s,%s' "$curve" "$x" "$(value "$file" "apps[0].mops")" "$l1" "$l2"
        for field in nics[0].cache.access_ns.mean nics[0].cache.access_ns.p99 apps[0].latency_us.p99 \
            nics[0].cache.expands.urgent nics[0].cache.dma_bytes; do
            printf ',%s' "$(value "$file" "$field")"
        done
        echo
    } >>"$out/data.csv"
    tail -n 1 "$out/data.csv"
}

# figure XLABEL COLUMN... [log]: a panel for each column over x, a line for each curve
figure() {
    local xlabel=$1 column curves index panels=0 log=
    shift
    command -v gnuplot >/dev/null || { echo "no gnuplot: no figure" >&2; return 0; }
    curves=$(tail -n +2 "$out/data.csv" | cut -d, -f1 | awk '!seen[$0]++')
    xlabel=${xlabel//\'/}
    {
        echo "set datafile separator ','; set key below; set grid"
        for column in "$@"; do
            if [ "$column" = log ]; then log=1; else panels=$((panels + 1)); fi
        done
        echo "set terminal svg size $((460 * panels)),400; set output '$out/figure.svg'"
        echo "set multiplot layout 1,$panels; set xlabel '$xlabel'"
        [ -z "$log" ] || echo "set logscale x 2"
        for column in "$@"; do
            [ "$column" != log ] || continue
            index=$(head -n 1 "$out/data.csv" | tr , '\n' | grep -n "^$column\$" | cut -d: -f1)
            echo "set ylabel '$column' noenhanced; set yrange [0:*]"
            printf 'plot '
            while read -r curve; do
                printf "'< grep \"^%s,\" %s/data.csv' using 2:%s with linespoints title '%s' noenhanced, " \
                    "$curve" "$out" "$index" "$curve"
            done <<<"$curves" | sed 's/, $//'
            echo
        done
    } >"$out/figure.gnuplot"
    gnuplot "$out/figure.gnuplot"
    echo "$out/figure.svg"
}

# pick QUICK ALL: the values of x
pick() {
    if [ "$quick" = 1 ]; then echo "$1"; else echo "$2"; fi
}
