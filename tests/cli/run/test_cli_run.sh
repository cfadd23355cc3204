#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_run.sh - the program as people and scripts use it.
#
# Goal: result folders are complete and the same on every run, exit statuses are the promised ones,
# nothing is lost or overwritten in silence.
# Method: the shipped scenarios, run with variations, compared byte by byte; files that cannot be
# written; signals.
# Not pinned: the numbers of the results.
set -u
. tests/script.sh
start_forks
here=scenarios

# expect STATUS WHAT COMMAND...: stdout and stderr are kept in out and err.
expect() {
    expected=$1
    what=$2
    shift 2
    "$@" >"$work/stdout" 2>"$work/stderr"
    status=$?
    if [ "$status" -ne "$expected" ]; then
        fail "$what: exit status $status, expected $expected"
        sed 's/^/    /' "$work/stderr" | head -n 5
    fi
}

says() {
    grep -qF -- "$1" "$work/stderr" || {
        fail "$2: stderr does not say: $1"
        sed 's/^/    /' "$work/stderr" | head -n 5
    }
}

# Differences but for wall_* fields.
same() {
    diff -r -I '^ *"wall_' "$1" "$2" >"$work/diff" || {
        fail "$3"
        head -n 5 "$work/diff"
    }
}

digest() {
    sed -n 's/^ *"digest": "\(.*\)",$/\1/p' "$1/summary.json"
}

# -- results

expect 0 "run" rocesim run $here/quickstart.yaml -o "$work/a" --quiet
for file in summary.json scenario.yaml flows.csv ports.csv events.csv series.csv \
    captures/receiver.pcap.gz captures/sender.pcap.gz; do
    [ -s "$work/a/$file" ] || fail "no $file"
done
grep -qx '10.0.0.1 host0' "$work/a/hosts" || fail "hosts: no host0"
[ "$(cut -d' ' -f2 "$work/a/ethers")" = "$(sed 1d "$work/a/ports.csv" | cut -d, -f1)" ] ||
    fail "ethers: not the ports of ports.csv"
[ -s "$work/stderr" ] && fail "run prints on stderr"
[ "$(wc -l <"$work/a/flows.csv")" -eq 8 ] || fail "flows.csv has not 7 flows and a header"
header=flow_id,src,dst,src_port,bytes,start_ns,end_ns,fct_ns,ideal_fct_ns,slowdown
header=$header,retransmitted_packets
head -n 1 "$work/a/flows.csv" | grep -q "^$header" || fail "header of flows.csv"
gzip -t "$work/a/captures/receiver.pcap.gz" || fail "capture is no gzip"
for key in version scenario seed digest ended sim_time_ps wall_s events packet_hops packets \
    bytes_delivered flows ecn_marked cnp_sent pfc retransmitted_packets apps nics; do
    grep -q "^  \"$key\": " "$work/a/summary.json" || fail "summary.json has no $key"
done

expect 0 "run into earlier results" rocesim run $here/quickstart.yaml -o "$work/a"
cp -r "$work/a" "$work/b"
expect 0 "run again" rocesim run $here/quickstart.yaml -o "$work/b"
same "$work/a" "$work/b" "two runs differ"
for threads in 2 4; do
    expect 0 "run on $threads threads" \
        "$ROCESIM" run $here/quickstart.yaml -o "$work/t$threads" --threads $threads
    same "$work/a" "$work/t$threads" "results depend on threads"
done
expect 0 "run of the resolved scenario" rocesim run "$work/a/scenario.yaml" -o "$work/c"
same "$work/a" "$work/c" "the resolved scenario gives other results"
expect 0 "resolved into earlier results" rocesim run "$work/a/scenario.yaml" -o "$work/c"
same "$work/a" "$work/c" "running into earlier results gives others"

expect 0 "run without observers" rocesim run $here/quickstart.yaml -o "$work/d" \
    --set "captures=[]" --set "observe=[]"
[ "$(digest "$work/a")" = "$(digest "$work/d")" ] || fail "observers change the digest"
[ -e "$work/d/series.csv" ] && fail "series.csv without series"
expect 0 "run with another seed" rocesim run $here/quickstart.yaml -o "$work/d" --seed 2
[ "$(digest "$work/a")" != "$(digest "$work/d")" ] || fail "the seed does not matter"

expect 0 "run --json" rocesim run $here/quickstart.yaml --json
grep -q "\"digest\": \"$(digest "$work/a")\"" "$work/stdout" || fail "--json prints no summary"
says "without -o DIR none is written" "a run without -o"
expect 0 "until" rocesim run $here/quickstart.yaml --until 10us -o "$work/u"
grep -q '"ended": "until"' "$work/u/summary.json" || fail "until is not said"
grep -q ',unfinished,network$' "$work/u/flows.csv" || fail "unfinished flows are not said"
expect 0 "compare" rocesim compare "$work/a" "$work/u"
grep -q "slowdown p50" "$work/stdout" || fail "compare prints no slowdown"
[ "$(grep -c '^note: FCT and slowdown of u are those of ' "$work/stdout")" -eq 1 ] &&
    [ "$(grep -c '^note:' "$work/stdout")" -eq 1 ] || fail "compare: who has unfinished flows"

# Events beyond the limit are counted: rows and what was left out add up to all.
expect 0 "few events" rocesim run $here/pfc-storm.yaml -o "$work/e" --set outputs.events-max=5
[ "$(wc -l <"$work/e/events.csv")" -eq 6 ] || fail "events-max does not hold"
left=$(sed -n '/"events_csv"/,/}/s/^ *"left_out": \([0-9]*\).*/\1/p' "$work/e/summary.json")
expect 0 "all events" rocesim run $here/pfc-storm.yaml -o "$work/e"
[ "$(wc -l <"$work/e/events.csv")" -eq $((left + 6)) ] || fail "events left out do not add up"

for file in "$here"/*.yaml $here/demo/demo.yaml; do
    expect 0 "check $file" rocesim check "$file"
    expect 0 "topo $file" rocesim topo "$file"
    grep -q "^graph network" "$work/stdout" || fail "topo $file prints no graph"
done

# Headroom is told where a class is lossless, and only there.
expect 0 "headroom" rocesim check $here/quickstart.yaml
grep -q "headroom  .* switch port" "$work/stdout" || fail "check tells no headroom"
expect 0 "no headroom" rocesim check $here/quickstart.yaml --set switch.pfc.enabled=false
grep -q "headroom" "$work/stdout" && fail "check tells headroom without PFC"

# Detailed NICs: their operations are those of the list of NICs, and what each took is said.
expect 0 "detailed NICs" rocesim run $here/guidelines/verbs-rate.yaml -o "$work/nics"
sum=$(sed -n 's/^ *"wqes_completed": \([0-9]*\),$/\1/p' "$work/nics/summary.json" |
    awk '{ sum += $1 } END { print sum }')
[ "${sum:-0}" -gt 1000 ] && grep -q "^  \"operations\": $sum,$" "$work/nics/summary.json" ||
    fail "operations are not the $sum of the NICs"
events=$(sed -n 's/^  "events": \([0-9]*\),$/\1/p' "$work/nics/summary.json")
sed -n 's/^  "events_per_operation": \(.*\),$/\1/p' "$work/nics/summary.json" |
    awk -v e="$events" -v n="$sum" '{ x = $1 * n / e } END { exit !(x > 0.999 && x < 1.001) }' ||
    fail "events_per_operation is not $events / $sum"
grep -q 'cache hits: contexts .* %' "$work/stdout" || fail "hits of detailed NICs are not said"
grep -q '^  "operations": null,$' "$work/a/summary.json" || fail "operations without detailed NICs"

# The ideal time is that of an idle path whatever is asked of its links, and is not worked out frame by
# frame: 100 TB are 1e11 of them.
cat >"$work/idle.yaml" <<'END'
topology: {dumbbell: {left: 1, right: 1, host-rate: 100Gbps, bottleneck-rate: 40Gbps}}
nic: {congestion-control: none, mtu: 1024}
traffic: [{flows: {list: [host0 host1 1MB 0us]}}]
END
for links in network.timing=exact network.timing=hpcc network.framing=bare; do
    expect 0 "idle, $links" rocesim run "$work/idle.yaml" -o "$work/idle" --set $links
    tail -n 1 "$work/idle/flows.csv" | grep -q ',1\.000000,' || fail "idle path, $links: not the ideal"
    expect 0 "100 TB, $links" timeout 1200 "$ROCESIM" run "$work/idle.yaml" --until 1us \
        --set $links --set "traffic[0].flows.list=[host0 host1 100TB 0us]"
done

# Scenarios that read files run from another folder too.
mkdir "$work/files"
printf 'topology: {star: {hosts: 4}}\ntraffic: [{flows: {file: rows.txt}}]\n' >"$work/files/x.yaml"
printf 'host0 host1 10KB 0us\nhost2 host3 10KB 1us\n' >"$work/files/rows.txt"
expect 0 "file beside the scenario" rocesim run "$work/files/x.yaml" -o "$work/f"
expect 0 "resolved with a file" rocesim run "$work/f/scenario.yaml" -o "$work/g"
same "$work/f" "$work/g" "the resolved scenario does not find its files"

# Flows that fail are a result, counted and told from those the end of the run cut off.
cat >"$work/dead.yaml" <<'END'
topology: {star: {hosts: 3}}
links: {host1--switch0: {down: [{at: 0us}]}}
nic: {timeout: 10}
traffic: [{flows: {list: [host0 host1 10KB 1us, host0 host2 10KB 1us]}}]
END
expect 0 "failing flows" rocesim run "$work/dead.yaml" -o "$work/dead"
grep -q 'flows  *1 of 2 completed, 1 FAILED$' "$work/stdout" || fail "failed flows are not said"
grep -q '^    "failed": 1,$' "$work/dead/summary.json" || fail "flows.failed is not 1"
grep -q '^    "completed": 1,$' "$work/dead/summary.json" || fail "flows.completed is not 1"
grep -q '^0,.*,1000,,,[0-9.]*,,.*,transport retry limit exceeded,network$' "$work/dead/flows.csv" ||
    fail "the status of a failed flow"
grep -q '^1,.*,success,network$' "$work/dead/flows.csv" || fail "the status of its neighbour"
expect 0 "before they fail" rocesim run "$work/dead.yaml" -o "$work/dead" --until 1ms
grep -q '^0,.*,unfinished,network$' "$work/dead/flows.csv" || fail "an unfinished flow is said to be failed"
grep -q '^    "failed": 0,$' "$work/dead/summary.json" || fail "flows.failed is not 0"

# A run cut within its first frame: nobody used more than there was, and what has no values is said
# to have none.
cat >"$work/slow.yaml" <<'END'
until: 5us
topology: {pair: {rate: 1Gbps}}
traffic: [{flows: {list: [host0 host1 1MB 0us]}}]
END
expect 0 "cut short" rocesim run "$work/slow.yaml" -o "$work/slow"
grep -q 'host0->host1 .* \(9[0-9]\|100\)\.[0-9] % used' "$work/stdout" ||
    { cat "$work/stdout"; fail "utilisation of a cut run"; }
grep -qE '^ +all +1 +0 +- +- +- +- +-$' "$work/stdout" || fail "percentiles of no flow"
[ "$(grep -c '"p99": null' "$work/slow/summary.json")" -ge 2 ] || fail "percentiles of no flow in JSON"
expect 0 "compare a cut run" rocesim compare "$work/slow" "$work/slow"
grep -qE '^FCT p50 +- +-$' "$work/stdout" || { cat "$work/stdout"; fail "compare of no flow"; }

# Link changes beyond the traffic do not keep a run alive; one that flows wait for does.
cat >"$work/later.yaml" <<'END'
topology: {star: {hosts: 3}}
links: {host1--switch0: {down: [{at: 0us, until: 1s}, {at: 2s}]}}
nic: {timeout: 17}
traffic: [{flows: {list: [host0 host2 10KB 1us]}}]
END
expect 0 "a late link change" rocesim run "$work/later.yaml" -o "$work/later"
grep -q 'everything is done at [0-9.]* us' "$work/stdout" || { cat "$work/stdout"; fail "ends late"; }
[ "$(wc -l <"$work/later/events.csv")" -eq 3 ] || fail "link changes beyond the end are events"
expect 0 "a link that is waited for" rocesim run "$work/later.yaml" -o "$work/later" \
    --set "traffic[0].flows.list=[host0 host1 10KB 1us]"
grep -q 'flows  *1 of 1 completed' "$work/stdout" || { cat "$work/stdout"; fail "link up unseen"; }

# Flows beyond the end are counted apart, use of links counts from the first start on, and timeouts
# are explained: at 900 us of 1 ms host0 sends at line rate.
cat >"$work/beyond.yaml" <<'END'
until: 1ms
topology: {star: {hosts: 3}}
link: {bit-error-rate: 1e-12}
nic: {timeout: 3, congestion-control: none}
links: {host2--switch0: {down: [{at: 910us, until: 930us}]}}
traffic:
  - flows: {list: [host0 host1 2MB 900us, host2 host0 20KB 905us, host1 host2 1MB 1ms, host1 host0 1MB 2ms]}
  - incast: {bytes: 1MB, senders: 2, every: 100us, stop: 0s, to: host0} # plans nothing
END
expect 0 "check of flows beyond the end" rocesim check "$work/beyond.yaml"
grep -q '^warning: 2 transfers start at or after the end .*until: 1.000 ms.*first at 1.000 ms' \
    "$work/stdout" || { cat "$work/stdout"; fail "check: flows beyond the end"; }
expect 0 "flows beyond the end" rocesim run "$work/beyond.yaml" -o "$work/beyond"
grep -q ' of 4 completed; 2 start at or after the end of the run' "$work/stdout" ||
    { cat "$work/stdout"; fail "flows beyond the end"; }
grep -q '"not_begun": 2' "$work/beyond/summary.json" || fail "not_begun"
grep -q '"traffic_from_ps": 900000000,' "$work/beyond/summary.json" || fail "traffic_from_ps"
grep -qE 'host0->switch0 .* (9[5-9]|100)\.[0-9] % used' "$work/stdout" ||
    { cat "$work/stdout"; fail "use from the first start on"; }
grep -qE '^  timeouts  [1-9][0-9]*: .* waited 32.77 us .* nic.timeout 3 ' "$work/stdout" ||
    { cat "$work/stdout"; fail "timeouts"; }
expect 0 "time-outs of another transport" rocesim run "$work/beyond.yaml" -o "$work/beyond-sdr" \
    --set nic.transport=sdr
grep -qE '^  timeouts  [1-9][0-9]*: .* by the timers of nic.transport sdr$' "$work/stdout" ||
    { cat "$work/stdout"; fail "timeouts of sdr"; }

# A watermark that no map is beyond is said, and only with the transport that has it.
for watermark in 2 3; do
    expect 0 "watermark $watermark" rocesim check "$work/beyond.yaml" --set nic.timeout=14 \
        --set nic.transport=adamap --set nic.adamap.cached=3 --set nic.adamap.watermark=$watermark
    said=$(grep -c '^warning: nic.adamap.watermark of host0 is 3, not less than nic.adamap.cached, 3: ' \
        "$work/stderr" "$work/stdout" | awk -F: '{n += $2} END {print n}')
    [ "$said" -eq $((watermark == 3)) ] || fail "watermark $watermark: said $said times"
done
# Constants of TIMELY that are for slower links than the NIC's are said; those of other NICs are not.
for control in timely timely-patched dcqcn; do
    for rate in 0bps 10Mbps 100Mbps; do
        expect 0 "$control, $rate" rocesim check scenarios/quickstart.yaml \
            --set nic.congestion-control=$control --set nic.timely.ai-rate=$rate \
            --set nic.timely-patched.ai-rate=$rate
        said=$(cat "$work/stderr" "$work/stdout" |
            grep -c "^warning: nic.$control.ai-rate of host0 is 10.*Mbps, .* 10000 increases .* 100.*Mbps")
        wanted=0
        [ $control = dcqcn ] || [ $rate != 10Mbps ] || wanted=1
        [ "$said" -eq $wanted ] || fail "$control, $rate: said $said times"
    done
done
# So are settings of the inside of a NIC that has none.
for setting in nic.cache.policy=lru nic.detailed.wqe.entries=64 nic.detailed.cpu.post=1us; do
    for model in ideal detailed; do
        expect 0 "$setting, $model" rocesim check "$work/beyond.yaml" --set nic.timeout=14 \
            --set nic.model=$model --set $setting
        said=$(cat "$work/stderr" "$work/stdout" |
            grep -c "^warning: --set $setting: .* has no effect: it needs nic.model other than ideal")
        wanted=0
        [ $model = ideal ] && wanted=1
        [ "$said" -eq $wanted ] || fail "$setting, $model: said $said times"
    done
done
# A folder in place of a file of losses: one message, which says once what was expected.
expect 2 "a folder of losses" rocesim check scenarios/wan/omnidma.yaml --set loss_file="$work"
[ "$(grep -o 'expected a file' "$work/stderr" | wc -l)" -eq 1 ] ||
    { cat "$work/stderr"; fail "a folder of losses"; }

expect 2 "values of no builder" rocesim check scenarios/wan/omnidma.yaml --set topology.wan.values=leaves=2
grep -q "values: 'leaves=2' without a builder that takes them" "$work/stderr" ||
    { cat "$work/stderr"; fail "values of no builder"; }

# A timeout that the round trip exceeds is said, by check and by run, with what to set.
cat >"$work/wan.yaml" <<'END'
topology: {dumbbell: {left: 2, right: 2, bottleneck-delay: 40ms}}
switch: {pfc: {enabled: false}}
traffic: [{flows: {list: [host0 host2 10KB 1us]}}]
END
warning='^warning: the round trip from host. to host. takes 80.0[0-9]* ms, longer than .* 67.11 ms: '
warning+='.*set nic.timeout to 16 instead of 14'
for command in check run; do
    expect 0 "$command over a WAN" rocesim $command "$work/wan.yaml"
    grep -qE "$warning" "$work/stderr" || { cat "$work/stderr"; fail "$command: no such warning"; }
    [ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "$command: more than one warning"
    # irn, adamap and sdr have time-outs of their own, from the path's round trip.
    for setting in nic.timeout=16 nic.timeout=0 topology.dumbbell.bottleneck-delay=30ms \
        nic.transport={irn,adamap,sdr}; do
        expect 0 "$command, $setting" rocesim $command "$work/wan.yaml" --set $setting
        # Without a time-out what a lossy class loses is lost, which has a warning of its own.
        wanted=0
        [ $setting = nic.timeout=0 ] && wanted=1
        [ "$(wc -l <"$work/stderr")" -eq $wanted ] &&
            [ "$(grep -c 'nothing repeats a lost last packet' "$work/stderr")" -eq $wanted ] ||
            fail "$command: other warnings with $setting"
    done
done

# What is sent again so is answered again, when the queue pair is gone: arrived, late, no drop.
expect 0 "late answers" rocesim run "$work/wan.yaml" -o "$work/wan"
grep -q '^  drops  *0; [1-9]' "$work/stdout" || { cat "$work/stdout"; fail "drops without a loss"; }
grep -q '"late_answers": [1-9]' "$work/wan/summary.json" || fail "late answers are not counted"

# -- failures of a run

expect 1 "stall" rocesim run $here/pfc-deadlock.yaml -o "$work/s"
says "PFC deadlock, each waits for the next: s0->s1, s1->s2, s2->s3, s3->s4, s4->s0, s0->s1" stall
says "h0, QP 2: class 3 paused by s0" stall
grep -q '"ended": "stalled"' "$work/s/summary.json" || fail "stall is not in the summary"

# Shells make background jobs ignore SIGINT until the program catches it, when the run begins. Without
# --foreground timeout sends it twice, and the second one ends the program at once.
timeout --foreground 3000 "$ROCESIM" run $here/demo/demo.yaml --until 1s \
    --set "traffic[0].poisson.stop=200ms" \
    -o "$work/i" >"$work/stdout" 2>"$work/stderr" &
child=$!
for _ in $(seq 6000); do
    sleep 0.1
    [ -e "$work/i/.unfinished/events.csv" ] && break
done
sleep 0.1
kill -INT $child
wait $child
status=$?
[ "$status" -eq 1 ] || fail "interrupted: exit status $status, expected 1"
says "interrupted: the results are those up to this moment" interrupted
grep -q '"ended": "interrupted"' "$work/i/summary.json" || fail "interruption is not in the summary"
[ -s "$work/i/flows.csv" ] || fail "no flows.csv of an interrupted run"

for file in flows.csv ports.csv events.csv series.csv scenario.yaml hosts \
    captures/receiver.pcap.gz; do
    rm -rf "$work/w"
    mkdir -p "$work/w/captures"
    cp "$work/a/summary.json" "$work/w"
    ln -s /dev/full "$work/w/$file"
    expect 1 "full disk at $file" rocesim run $here/quickstart.yaml -o "$work/w"
    says "$work/w/.unfinished/$file" "full disk at $file"
    [ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "full disk at $file: not one line"
done
# A folder is known by its summary, so this one turns into a device while the run is on its way.
rm -rf "$work/w"
timeout --foreground 3000 "$ROCESIM" run $here/demo/demo.yaml --until 1s \
    --set "traffic[0].poisson.stop=200ms" \
    -o "$work/w" >"$work/stdout" 2>"$work/stderr" &
child=$!
for _ in $(seq 6000); do
    sleep 0.1
    [ -e "$work/w/.unfinished/events.csv" ] && break
done
ln -s /dev/full "$work/w/.unfinished/summary.json"
sleep 0.1
kill -INT $child
wait $child
status=$?
[ "$status" -eq 1 ] || fail "full disk at summary.json: exit status $status, expected 1"
says "$work/w/.unfinished/summary.json: cannot write" "full disk at summary.json"
"$ROCESIM" run $here/quickstart.yaml >/dev/full 2>"$work/stderr"
[ $? -eq 1 ] || fail "a full standard output is not an error"
"$ROCESIM" params >/dev/full 2>"$work/stderr"
[ $? -eq 1 ] || fail "a full standard output is not an error of params"

# -- bad input and usage

bad() {
    what=$1
    text=$2
    shift 2
    expect 2 "$what" "$@"
    says "$text" "$what"
    [ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "$what: not one line on stderr"
    [ -s "$work/stdout" ] && fail "$what: prints on stdout"
}

# What is known before the run begins is bad input.
bad "folder that cannot be made" "/proc/rocesim: cannot make the folder" \
    "$ROCESIM" run $here/quickstart.yaml -o /proc/rocesim/x
touch "$work/file"
bad "folder in a file" "$work/file/x" rocesim run $here/quickstart.yaml -o "$work/file/x"
mkdir -m 555 "$work/closed"
chmod 755 "$work"
as_nobody=()
[ -w "$work/closed" ] && as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${as_nobody[@]}" "$ROCESIM" --version >/dev/null 2>&1; then # for root every folder is open
    bad "folder that is closed" "folder: Permission denied" \
        "${as_nobody[@]}" "$ROCESIM" run $here/perftest.yaml -o "$work/closed"
else
    echo "not tried: a folder that is closed, as nobody else can run $ROCESIM"
fi

mkdir "$work/mine"
echo precious >"$work/mine/thesis.tex"
bad "foreign folder" "holds 'thesis.tex' and no results" \
    "$ROCESIM" run $here/quickstart.yaml -o "$work/mine"
[ "$(ls "$work/mine")" = thesis.tex ] || fail "a foreign folder was touched"
bad "file for a folder" "is not a folder" \
    "$ROCESIM" run $here/quickstart.yaml -o "$work/mine/thesis.tex"

# Everything in a user's folder is there afterwards, byte for byte.
untouched() {
    rm -rf "$work/kept"
    cp -r "$work/user" "$work/kept"
    bad "$@"
    diff -r "$work/kept" "$work/user" >/dev/null || fail "$1: the folder was touched"
}
mkdir -p "$work/user/captures"
cp $here/quickstart.yaml "$work/user/scenario.yaml"
echo '{"total": 3}' >"$work/user/summary.json"
echo mine >"$work/user/flows.csv"
echo mine >"$work/user/captures/mine.pcap"
here_in_user() {
    (cd "$work/user" && "$ROCESIM" "$@")
}
untouched "the scenario's folder" ".: holds the scenario itself, scenario.yaml" \
    here_in_user run scenario.yaml -o .
untouched "the scenario's folder by its path" "holds the scenario itself" \
    "$ROCESIM" run "$work/user/scenario.yaml" -o "$work/mine/../user/"
untouched "a summary and a scenario of others" "and no results of a run" \
    "$ROCESIM" run $here/quickstart.yaml -o "$work/user"
ln -s "$work/user/scenario.yaml" "$work/link.yaml"
untouched "a link to a scenario in the folder" "holds the scenario itself" \
    "$ROCESIM" run "$work/link.yaml" -o "$work/user"
rm -rf "$work/user"
cp -r "$work/a" "$work/user"
untouched "the scenario of earlier results" "holds the scenario itself" \
    "$ROCESIM" run "$work/user/scenario.yaml" -o "$work/user"

# Beside earlier results, a user's files stay; the captures of the earlier run go.
echo mine >"$work/user/captures/mine.pcap"
echo mine >"$work/user/notes.txt"
expect 0 "user's files beside results" rocesim run $here/quickstart.yaml -o "$work/user" \
    --set "captures=[]"
[ -e "$work/user/hosts" ] && fail "names of captures that went are left"
[ "$(ls "$work/user/captures")" = mine.pcap ] || fail "not just the captures of the run went"
[ "$(cat "$work/user/notes.txt" "$work/user/captures/mine.pcap")" = "$(printf 'mine\nmine')" ] ||
    fail "a user's file beside results was changed"

bad "missing file" "missing.yaml: cannot open" rocesim run missing.yaml
bad "folder for a file" "is a folder, expected a file" rocesim run $here
: >"$work/empty.yaml"
bad "empty file" "no content" rocesim run "$work/empty.yaml"
truncate -s 100M "$work/large.yaml"
bad "100 MB of zeros" "too large, expected at most 16 MiB" rocesim run "$work/large.yaml"
yes 'seed: [b, c]' | head -c 100000000 >"$work/large.yaml"
bad "100 MB of YAML" "too large, expected at most 16 MiB" rocesim run "$work/large.yaml"
head -c 15000000 "$work/large.yaml" >"$work/large2.yaml"
bad "15 MB of YAML" "expected" rocesim run "$work/large2.yaml"
head -c 100000 "$ROCESIM" >"$work/program.yaml"
bad "binary file" "a program or library (ELF), expected a text" rocesim run "$work/program.yaml"
mkfifo "$work/pipe.yaml"
bad "pipe without a writer" "nobody writes into yet" timeout 600 "$ROCESIM" run "$work/pipe.yaml"
bad "no command" "expected run, hpcc, check" rocesim
bad "unknown command" "did you mean 'run'?" rocesim rnu x.yaml
bad "unknown option" "did you mean '--quiet'?" rocesim run x.yaml --quite
bad "option without value" "expected a value" rocesim run x.yaml -o
bad "value for a flag" "expected none" rocesim run x.yaml --quiet=yes
bad "no scenario" "nothing given, expected one scenario, a name or a file" rocesim run
bad "two scenarios" "2 names given, expected one scenario, a name or a file" rocesim check a.yaml b.yaml
bad "wrong set" "--set nic.mtuu=3: unknown key 'mtuu' in nic, did you mean 'mtu'?" \
    "$ROCESIM" run $here/quickstart.yaml --set nic.mtuu=3
bad "wrong seed" "--seed x: seed:" rocesim run $here/quickstart.yaml --seed x
bad "wrong until" "--until 5: until:" rocesim run $here/quickstart.yaml --until 5
bad "wrong threads" "--threads 0: threads:" rocesim run $here/quickstart.yaml --threads 0
bad "unknown attribute" "did you mean 'switch.ecn.kmin'?" rocesim params switch.ecn.kmim
bad "no word of an attribute" "a word such as buffer" rocesim params qwertz
bad "no results" "mine: summary.json is not there, expected" rocesim compare "$work/mine"
bad "no results to draw" "mine: summary.json is not there" rocesim timeline "$work/mine" -o -
mkdir "$work/j"
echo '{"flows": 3' >"$work/j/summary.json"
bad "broken summary" "not JSON" rocesim compare "$work/j"
echo '[]' >"$work/j/summary.json"
bad "foreign summary" "not the summary of a run" rocesim compare "$work/j"

# -- the hottest ports: by largest queue, then by bytes sent, then in the order of ports.csv

cat >"$work/hot.yaml" <<'END'
topology: {leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 4}}
traffic: [incast: {to: host0, bytes: 64KB}, permutation: {bytes: 20KB}]
END
for count in 1 5 16 1000; do
    expect 0 "$count hottest ports" rocesim run "$work/hot.yaml" -o "$work/hot" --quiet \
        --set outputs.hottest-ports=$count
    tail -n +2 "$work/hot/ports.csv" | cut -d, -f1,4,7 | sort -s -t, -k3,3nr -k2,2nr |
        head -n $count | cut -d, -f1 >"$work/expected"
    sed -n '/"hottest_ports"/,/\]/s/.*"port": "\([^"]*\)".*/\1/p' "$work/hot/summary.json" |
        cmp - "$work/expected" || fail "$count hottest ports"
done

# -- reference

expect 0 "version" rocesim --version
grep -q '^rocesim [0-9]' "$work/stdout" || fail "no version"
for command in run check topo params compare; do
    expect 0 "$command --help" rocesim $command --help
    grep -q "^rocesim $command" "$work/stdout" || fail "$command --help does not show its use"
done
expect 0 "params of a group" rocesim params switch.ecn
grep -q '^switch.ecn.kmin = ' "$work/stdout" || fail "params switch.ecn has no kmin"
grep -q '^nic' "$work/stdout" && fail "params switch.ecn shows others"
expect 0 "params of a group with its dot" rocesim params switch.ecn.
grep -q '^switch.ecn.kmin = ' "$work/stdout" || fail "params switch.ecn. has no kmin"
expect 0 "params of a word in paths" rocesim params kmin
grep -q '^switch.ecn.kmin = ' "$work/stdout" || fail "params kmin has no switch.ecn.kmin"
expect 0 "params of a word in meanings" rocesim params XOFF
grep -q '^switch.pfc.alpha = ' "$work/stdout" || fail "params XOFF has no switch.pfc.alpha"
expect 0 "params of a card" rocesim params nic.detailed.pcie.lanes
grep -q 'auto: connectx 8, connectx-3 8, connect-ib 16, .*, connectx-8 16' "$work/stdout" ||
    fail "params: what a profile has is not said"
"$ROCESIM" params nic.congestion-control | grep -q "one of none dcqcn .* timely.* dcqcn-hpcc" ||
    fail "params: which algorithms there are"
"$ROCESIM" params --markdown | cmp - docs/formats/attributes.md ||
    fail "docs/formats/attributes.md: rocesim params --markdown > docs/formats/attributes.md"
"$ROCESIM" params --outputs-markdown | cmp - docs/formats/outputs.md ||
    fail "docs/formats/outputs.md: rocesim params --outputs-markdown > docs/formats/outputs.md"

echo "$failures failures"
[ "$failures" -eq 0 ]
