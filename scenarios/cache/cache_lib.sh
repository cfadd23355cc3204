# SPDX-License-Identifier: Apache-2.0
# scenarios/cache/cache_lib.sh - functions of the cache studies, which source this file.
#
# A study calls begin OUT, then row CURVE X OPTIONS... for each simulation, and draw at the end.
# Rows go to data.csv.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# begin OUT: creates the folder OUT and sets here, program, out, quick, scenario, columns, length
# and busy.
begin() {
    here=$(cd "$(dirname "$0")" && pwd)
    program=${ROCESIM:-$here/../../build/release/rocesim}
    out=$1
    quick=${STUDY_QUICK:-0}
    scenario=zipf.yaml
    if [ ! -x "$program" ]; then
        echo "the program $program does not exist: run make first" >&2
        exit 1
    fi
    mkdir -p "$out"
    echo "== $(sed -n 's/^# \([^ ]* - .*\)/\1/p' "$0" | head -n 1)"
    columns=curve,x,mops,l1_hit_rate,l2_hit_rate,access_ns,access_ns_p99,latency_us_p99,expands,dma_bytes
    columns=$columns,raised,met,met_ns,met_ns_p99,oracle
    echo "$columns" >"$out/data.csv"
    # busy: a NIC with many operations at a time and the default times.
    length="warm_up=40000 operations=60000"
    [ "$quick" = 0 ] || length="warm_up=2000 operations=4000"
    busy="outstanding=64 cache.window=10ms cache.aging=1ms
        cache.demote.l1-idle=1ms cache.demote.l2-idle=10ms
        cache.adaptive.interval=100us cache.adaptive.cpu=0.5
        cache.record=false"
}

# whole NAME=VALUE: prints the full path of a short name: cache.* and detailed.* are attributes of
# host0's NIC, load.* are attributes of its operations.
whole() {
    case $1 in
    cache.* | detailed.*) echo "nodes.host0.nic.$1" ;;
    load.*) echo "traffic[0].contexts.${1#load.}" ;;
    *) echo "$1" ;;
    esac
}

# row CURVE X NAME=VALUE...: runs a simulation and prints its row
row() {
    local curve=$1 x=$2 run set=()
    shift 2
    run=$out/$(echo "$curve-$x" | tr -c 'a-zA-Z0-9.\n-' _)
    for option in "$@"; do
        set+=(--set "$(whole "$option")")
    done
    if ! "$program" run "$here/$scenario" -o "$run" --quiet "${set[@]}" "${more[@]}" >"$run.log" 2>&1; then
        cat "$run.log" >&2
        echo "the run $run failed" >&2
        exit 1
    fi
    local file=$run/summary.json l1 l2 hits misses
    l1=$(value_of "$file" "nics[0].cache.l1_hit_rate")
    l2=$(value_of "$file" "nics[0].cache.l2_hit_rate")
    if [ "$l1" = - ]; then
        hits=$(value_of "$file" "nics[0].context_hits")
        misses=$(value_of "$file" "nics[0].context_misses")
        l1=$(awk -v h="$hits" -v m="$misses" 'BEGIN { print (h + m > 0 ? h / (h + m) : 0) }')
    fi
    {
        printf '%s,%s,%s,%s,%s' "$curve" "$x" "$(value_of "$file" "apps[0].mops")" "$l1" "$l2"
        for field in nics[0].cache.access_ns.mean nics[0].cache.access_ns.p99 apps[0].latency_us.p99 \
            nics[0].cache.expands.urgent nics[0].cache.dma_bytes nics[0].cache.raised \
            nics[0].cache.met_ns.count nics[0].cache.met_ns.mean nics[0].cache.met_ns.p99 \
            nics[0].cache.belady_hit_rate; do
            printf ',%s' "$(value_of "$file" "$field")"
        done
        echo
    } | sed 's/,null/,-/g' >>"$out/data.csv"
    tail -n 1 "$out/data.csv"
}
