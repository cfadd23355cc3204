#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_plot.sh - `rocesim plot`: what figures show, and how bad input is answered.
#
# Goal: the numbers in a figure are those of the files, the same folders give the same picture byte
# by byte, names can hold anything, everything wrong is refused with the promised status.
# Method: folders written here with numbers worked out by hand; scripts (-o x.gnuplot) searched for
# them and one compared with tests/golden/plot/; pictures of every kind of a real run, where gnuplot is.
# Not pinned: what a picture looks like.
# After a change of the script that is meant: UPDATE=1 tests/cli/plot/test_cli_plot.sh, with ROCESIM set.
set -u
. tests/script.sh
start_forks
golden=$PWD/tests/golden/plot/slowdown.gnuplot
scenarios=$PWD/scenarios

# expect STATUS TEXT OPTIONS...: TEXT is on stderr, in one line (or nothing is where it is empty).
expect() {
    expected=$1
    text=$2
    shift 2
    rocesim plot "$@" >"$work/stdout" 2>"$work/stderr"
    status=$?
    [ "$status" -eq "$expected" ] || fail "plot $*: exit status $status, expected $expected"
    [ -n "$text" ] || [ ! -s "$work/stderr" ] || fail "plot $*: prints on stderr"
    if [ -n "$text" ]; then
        grep -qF -- "$text" "$work/stderr" || fail "plot $*: does not say: $text"
        [ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "plot $*: not one line on stderr"
    fi
    [ "$status" -eq "$expected" ] && { [ -z "$text" ] || grep -qF -- "$text" "$work/stderr"; } ||
        sed 's/^/    /' "$work/stderr" | head -n 5
}

# block FILE NAME: the data block of a script is the standard input.
block() {
    sed -n "/^\\\$$2 << EOD$/,/^EOD$/p" "$1" | sed '1d;$d' >"$work/block"
    diff - "$work/block" >"$work/diff" || {
        fail "data $2 of $1: expected <, is >"
        head -n 10 "$work/diff"
    }
}

# folder NAME SIM_TIME_PS
folder() {
    mkdir -p "$work/$1"
    echo "{\"sim_time_ps\": $2, \"flows\": {}, \"events_csv\": {\"left_out\": 0}}" >"$work/$1/summary.json"
}

cd "$work" || exit 1

# -- slowdown

# 40 flows of i KB with a slowdown of i + 0.5, in falling order, and one that did not end: two bins
# of 20, where floor(20 p) is 10, 19 and 19. One slowdown is below 1.
folder a 1000000
{
    echo flow_id,src,dst,src_port,bytes,start_ns,end_ns,fct_ns,ideal_fct_ns,slowdown,app
    for i in $(seq 40 -1 1); do
        slowdown=$i.5
        [ "$i" -ne 12 ] || slowdown=0.999999
        echo "$i,h0,h1,49152,$((i * 1000)),0,1,1,1,$slowdown,poisson"
    done
    echo "41,h0,h1,49152,99000,0,,,1,,poisson"
    echo "42,h0,h1,49152,64000,0,1,1,1,900,incast"
} >a/flows.csv
expect 0 "" a -o s.gnuplot --kind slowdown --app poisson
# Of the first bin one was raised to 1, so that the 11th of 20 is 10.5.
block s.gnuplot run0 <<'END'
1 10.5 20.5 20.5
2 31.5 40.5 40.5
END
grep -q "^set key title 'a (40 of 41 flows)'" s.gnuplot || fail "unfinished flows are not told"
if [ -n "${UPDATE:-}" ]; then
    cp s.gnuplot "$golden"
fi
diff "$golden" s.gnuplot >diff || {
    fail "the script differs from tests/golden/plot/slowdown.gnuplot"
    head -n 10 diff
}
# --json prints the same numbers and texts, draws nothing, and needs no gnuplot.
expect 0 "" a --json --kind slowdown --app poisson
for text in '{"figures":[{"kind":"slowdown"' '"x_label":"flow size up to (bytes)"' '"y_log":true' \
    '"x_range":[0.5,2.5]' '"name":"median","style":"linespoints","color":"#0072B2"' \
    '"columns":[[1.0,2.0],[10.5,31.5]]' '"columns":[[1.0,2.0],[20.5,40.5]]'; do
    grep -qF -- "$text" "$work/stdout" || fail "--json has no $text: $(head -c 900 "$work/stdout")"
done
expect 2 "expected one of the two" a --json -o s.svg
expect 2 "nothing for pause" a --json --kind pause
# Kinds of traffic have panels of their own; one flow is too few for that.
expect 0 "" a -o s.gnuplot --kind slowdown
block s.gnuplot run0 <<'END'
1 10.5 20.5 20.5
2 31.5 40.5 40.5
END
grep -q "left out: of 1 kind of traffic under 20 flows" s.gnuplot || fail "kinds with few flows"
mkdir -p kinds && cp a/summary.json kinds
{
    cat a/flows.csv
    for i in $(seq 1 20); do
        echo "$((i + 42)),h0,h1,49152,64000,0,1,1,1,$((900 + i)),incast"
    done
} >kinds/flows.csv
expect 0 "" kinds -o s.gnuplot --kind slowdown
block s.gnuplot run0 <<'END'
1 10.5 20.5 20.5
2 31.5 40.5 40.5
END
block s.gnuplot run0_1 <<'END'
1 910 919 920
END
grep -q "^set title 'incast'$" s.gnuplot || fail "no panel of the incast"
# Flows of one size are one bin.
mkdir -p same && cp a/summary.json same
sed 's/49152,[0-9]*,/49152,5000,/' a/flows.csv >same/flows.csv
expect 0 "" same -o s.gnuplot --kind slowdown --app poisson
block s.gnuplot run0 <<'END'
1 21.5 39.5 40.5
END
# A run with other sizes: bins are ranges of size, of all 80 flows: up to 20 KB, up to 40 KB.
mkdir x
cp -r a x/a
sed -i -e 's/^\([0-9]*,h0,h1,49152,\)[0-9]*000,0,1,1,1,\([0-9]\.\)/\12000,0,1,1,1,\2/' x/a/flows.csv
expect 0 "" a x/a -o s.gnuplot --kind slowdown --app poisson
block s.gnuplot run0 <<'END'
1 10.5 20.5 20.5
2 31.5 40.5 40.5
END
grep -q "title 'x/a (40 of 41 flows)'" s.gnuplot || fail "runs of one name are not told apart"
# A time that is none is refused where it stands.
mkdir -p negative && cp a/summary.json negative
sed '3s/,1,1,\([0-9.]*,poisson\)/,-1,1,\1/' a/flows.csv >negative/flows.csv
expect 2 "negative/flows.csv:3:1: fct_ns is '-1', expected a number" negative --kind slowdown
expect 2 "0 finished flows of incasts in flows.csv of a, expected at least 20" \
    a --kind slowdown --app incasts
mkdir bare
cp a/summary.json bare/
expect 2 "nothing for slowdown: no flows.csv in bare" bare --kind slowdown

# -- runs whose traffic begins late

# At 2.0001 s, to 2.002 s: time counts from 2 s on, in ms as of 2 ms; what was before is at 0. Curves
# come as people count, and which are left out is said on the terminal.
folder late 2002000000000
sed -i 's/{/{"traffic_from_ps": 2000100000000, /' late/summary.json
{
    echo time_ns,path,value
    echo '0,port[s10->h1].queue_bytes,4000'
    echo '1000000000,port[s10->h1].queue_bytes,3000'
    echo '2000100000,port[s10->h1].queue_bytes,9000'
    for i in 9 8 7 6 5 4 3 2 1; do echo "2000500000,port[s$i->h1].queue_bytes,5000"; done
} >late/series.csv
cat >late/events.csv <<'END'
time_ns,event,port,priority
2000200000,paused,s1->h1,3
2000700000,resumed,s1->h1,3
END
expect 0 "" late -o late.gnuplot --kind queue
grep -qF "set xlabel 'time after 2 s (ms)'" late.gnuplot || fail "late traffic: $(grep xlabel late.gnuplot)"
grep -q '^set xrange \[0:2\]$' late.gnuplot || fail "late traffic: $(grep xrange late.gnuplot)"
block late.gnuplot c7 <<'END'
0 4
0 3
0.1 9
2 9
END
[ "$(grep -o "title 's[0-9]*" late.gnuplot | tr -dc '0-9\n' | tr '\n' ' ')" = "1 2 3 4 5 6 7 10 " ] ||
    fail "order of curves: $(grep -o "title 's[0-9]*" late.gnuplot)"
grep -q '(the highest 8 of 10 curves, at most 8 a panel)' stdout || fail "left out: $(cat stdout)"
expect 0 "" late -o late.gnuplot --kind pause
grep -qF "set xlabel 'time after 2 s (us)'" late.gnuplot || fail "late pauses: $(grep xlabel late.gnuplot)"
block late.gnuplot run0 <<'END'
200 700 1 1
END

# Of two runs with ten curves each, four each are shown, the highest. A queue pair that is sampled no
# more is gone one sample later, also where it was seen once only; one on change is not.
for run in one two; do
    folder $run 1000000
    {
        echo time_ns,path,value
        for t in 100 200 300 400; do
            for i in 1 2 3 4 5 6 7 8 9 10; do
                [ "$run-$i" = two-10 ] || echo "$t,qp[h$i->h0:2].window_bytes,$((i * 1000))"
            done
            [ "$t" -ne 300 ] || [ "$run" = one ] || echo "$t,qp[h10->h0:2].window_bytes,9999000"
        done
        echo '450,qp[h11->h0:2].window_bytes,88000'
    } | sort -s -n -t, -k1,1 >$run/series.csv
done
expect 0 "" one two -o two.gnuplot --kind series
[ "$(grep -o "title '[a-z]*: h[0-9]*" two.gnuplot | tr -d "'" | cut -d' ' -f2- | tr '\n' ' ')" = \
    "one: h8 one: h9 one: h10 one: h11 two: h8 two: h9 two: h10 two: h11 " ] ||
    fail "curves of two runs: $(grep -o "title '[a-z]*: h[0-9]*" two.gnuplot)"
block two.gnuplot c0 <<'END'
100 0.008
200 0.008
300 0.008
400 0.008
500 0.008
END
block two.gnuplot c3 <<'END'
450 0.088
1000 0.088
END
block two.gnuplot c6 <<'END'
300 9.999
400 9.999
END

# -- series

# A queue of 0, 5000 and 2000 bytes for 100, 200 and 700 ns.
folder b 1000000
cat >b/series.csv <<'END'
time_ns,path,value
0,"port[s0->h'1].queue_bytes[3]",0
0,qp[h0->h1:2].rate_bps,100000000000
100,"port[s0->h'1].queue_bytes[3]",5000
250.500,qp[h0->h1:2].rate_bps,50000000000
300,"port[s0->h'1].queue_bytes[3]",2000
500,port[s0->h1].utilisation,500000
1000,port[s0->h1].utilisation,250000
1000,qp[h0->h1:2].window_bytes,18446744073709551615
1000,nic[h0].tx_packets,7
END
expect 0 "" b -o q.gnuplot --kind queue
block q.gnuplot c0 <<'END'
0 0
100 5
300 2
1000 2
END
grep -qF "set ylabel 'queue of s0->h''1, class 3 (KB)'" q.gnuplot || fail "label of the queue"
grep -qF "set xlabel 'time (ns)'" q.gnuplot || fail "unit of time"
expect 0 "" b -o q.gnuplot --kind queue-cdf
block q.gnuplot c0 <<'END'
0 0
0 0.1
2 0.8
5 1
5 1
END
expect 0 "" b -o q.gnuplot --kind rate
block q.gnuplot c0 <<'END'
0 100
250.5 50
1000 50
END
expect 0 "" b -o q.gnuplot --kind load-time
block q.gnuplot run0 <<'END'
0 500 1 50
500 1000 1 25
END
expect 0 "" b -o q.gnuplot --kind series
grep -q "queue\|rate\|window" q.gnuplot && fail "series shows what has figures of its own"
# More rows than a figure can show: no peak is lost.
folder peak 100000000
{
    echo time_ns,path,value
    for i in $(seq 1 9 99990); do
        echo "$i,port[a->b].queue_bytes,$((i == 40006 ? 987654 : i % 1000))"
    done
} >peak/series.csv
expect 0 "" peak -o q.gnuplot --kind queue
grep -q "^40.006 987.654$" q.gnuplot || fail "a peak of a long series is not drawn"
[ "$(wc -l <q.gnuplot)" -lt 4000 ] || fail "a long series is drawn whole"

# -- pauses

folder c 1000000
cat >c/events.csv <<'END'
time_ns,event,port,priority,reason,src,dst,frame_bytes
100,paused,h0->s0,3,,,,
150,drop,s0->h1,3,link-loss,h0,h1,1090
200,paused,h1->s0,3,,,,
300,resumed,h0->s0,3,,,,
400,paused,h0->s0,3,,,,
600.500,resumed,h1->s0,3,,,,
END
# Stopped for 800 and 400.5 ns; the last pause lasts until the end.
expect 0 "" c -o p.gnuplot --kind pause
block p.gnuplot run0 <<'END'
100 300 1 1
400 1000 1 1
200 600.5 2 1
END
grep -qF "set ytics ('h0->s0' 1, 'h1->s0' 2)" p.gnuplot || fail "ports of pauses"
# Too many to be drawn one by one: a share of the time, here a half.
folder many 60000000
{
    echo time_ns,event,port,priority,reason,src,dst,frame_bytes
    for i in $(seq 0 15 59990); do
        echo "$i,paused,h0->s0,3,,,,"
        echo "$i.500,resumed,h0->s0,3,,,,"
        echo "$((i + 5)),paused,h0->s0,4,,,,"
        echo "$((i + 12)).500,resumed,h0->s0,4,,,,"
    done
} >many/events.csv
expect 0 "" many -o p.gnuplot --kind pause
grep -q " 1 0\.[56]$" p.gnuplot || fail "share of time stopped"
grep -qF "'h0->s0 [4]' 1, 'h0->s0 [3]' 2" p.gnuplot || fail "classes of pauses"

# -- load

folder d 8000000
cat >d/ports.csv <<'END'
port,rate_bps,utilisation
h0->s0,1000000000,0.500000
h1->s0,1000000000,0.250000
s0->h0,1000000000,0.000000
s0->h1#2,1000000000,1.000000
s0->up,1000000000,1.000000
END
expect 0 "" d -o l.gnuplot --kind load
block l.gnuplot run0 <<'END'
1 1 50
2 1 25
1 2 0
2 2 100
1 3 100
END
grep -qF "('h* → s0' 1, 's0 → h*' 2, 's* → up' 3)" l.gnuplot || fail "rows of the load"

# Many rows: neighbours of a kind share one, 32 cells at most.
folder wide 8000000
{
    head -n 1 d/ports.csv
    for i in $(seq 0 35); do
        echo "e$i->a0,1000000000,0.0$((10 + i))000"
        echo "e$i->a1,1000000000,1.000000"
    done
    for i in $(seq 0 35); do
        echo "a0->e$i,1000000000,0.000000"
    done
} >wide/ports.csv
expect 0 "" wide -o l.gnuplot --kind load
grep -qF "('e0–15 → a*' 1, 'e16–31 → a*' 2, 'e32–35 → a*' 3, 'a0 → e*' 4)" l.gnuplot ||
    fail "rows that are shared"
grep -q "^1 2 2.6$" l.gnuplot || fail "the first cell of the second row is not that of e16"

# -- bad input

# The axis ends with the last pause, not with the run; but with the run where a pause lasts so long.
folder over 900000000
printf '%s\n' time_ns,event,port,priority,reason,src,dst,frame_bytes \
    100,paused,h0-\>s0,3,,,, 4000,resumed,h0-\>s0,3,,,, >over/events.csv
expect 0 "" over -o p.gnuplot --kind pause
grep -qF 'set xrange [0:4]' p.gnuplot || fail "pauses that are over: $(grep 'set xrange' p.gnuplot)"
sed -i '$d' over/events.csv
expect 0 "" over -o p.gnuplot --kind pause
grep -qF 'set xrange [0:900]' p.gnuplot || fail "a pause at the end: $(grep 'set xrange' p.gnuplot)"
expect 2 "nothing for pause: no pause in events.csv of d" d --kind pause
expect 2 "unknown kind 'slowdwn', did you mean 'slowdown'?" a --kind slowdwn
expect 2 "expected a file that ends in .svg, .png, .pdf or .gnuplot" a -o x.jpg
expect 2 "expected a file that ends in" a -o .svg
expect 2 "expected result folders"
expect 2 "nowhere: there is no such folder, expected" nowhere
expect 2 "d/missing: there is no such folder, expected" a d/missing
expect 2 "unknown option '--kinds', did you mean '--kind'?" a --kinds queue
mkdir empty
echo '{"flows": {}}' >empty/summary.json
expect 2 "nothing to draw" empty
echo '{' >empty/summary.json
expect 2 "not JSON" empty
mkdir bad
for damage in 's/5000$/5x/' 's/^100/1e2/' 's/time_ns/time/' 's/\]\.rate/rate/' 's/,[0-9]*$//'; do
    cp -r b/. bad
    sed -i "$damage" bad/series.csv
    expect 2 "expected" bad -o b.gnuplot --kind queue
done
rm -r bad/series.csv
mkdir bad/series.csv
expect 2 "series.csv" bad -o b.gnuplot --kind rate
expect 1 "cannot write" a -o missing/s.gnuplot --kind slowdown
PATH=$work/empty "$ROCESIM" plot a -o s.svg --kind slowdown >stdout 2>stderr
[ $? -eq 1 ] || fail "without gnuplot: exit status is not 1"
grep -q "apt-get install gnuplot-nox" stderr || fail "without gnuplot: does not say how to get it"
[ -e s.svg ] || [ -e s.svg.part ] && fail "something is left where nothing was drawn"

# -- pictures

if command -v gnuplot >/dev/null; then
    rocesim run "$scenarios/pfc-storm.yaml" -o run1 --quiet --set \
        'observe=[{series: "port[*->*].queue_bytes", on: change},
            {series: "qp[*:*].rate_bps", on: change}, {series: "qp[*:*].rtt_ps", on: change},
            {series: "port[*->*].utilisation", every: 10us}]' >/dev/null
    name="it's \`touch broken\` \"50%\" @x \$y"
    cp -r run1 "$name"
    expect 0 "" run1 "$name" -o one.svg
    kinds=$(ls one-*.svg | wc -l)
    [ "$kinds" -ge 6 ] || fail "only $kinds figures of a run with everything"
    [ "$(wc -l <"$work/stdout")" -eq "$kinds" ] || fail "not a line for each figure"
    expect 0 "" run1 "$name" -o two.svg
    for file in one-*.svg; do
        cmp -s "$file" "two${file#one}" || fail "$file differs when drawn again"
    done
    [ ! -e broken ] || fail "a folder's name was run as a command"
    grep -q "it.*s.*touch broken" one-load.svg || fail "the folder's name is not in the figure"
    # Of each kind, the curves have the numbers of the script's blocks, in their order.
    expect 0 "" run1 -o all.gnuplot
    expect 0 "" run1 --json
    command -v python3 >/dev/null && { python3 - <<'END' || fail "--json has other numbers than scripts"; }
import glob, json, re
figures = {f["kind"]: f for f in json.load(open("stdout"))["figures"]}
assert set(figures) == {n[4:-8] for n in glob.glob("all-*.gnuplot")}, set(figures)
for kind, figure in figures.items():
    text = open("all-%s.gnuplot" % kind).read()
    blocks = [[row.split() for row in rows.splitlines()]
              for rows in re.findall(r"^\$\S+ << EOD\n(.*?)^EOD", text, re.S | re.M)]
    curves = [c for panel in figure["panels"] for c in panel["curves"]]
    first = [[float(row[0]) for row in block] for block in blocks]
    told = [curve["columns"][0] for curve in curves]
    if kind == "slowdown":
        first = [first[0]] * len(told)
    assert [len(one) for one in told] == [len(one) for one in first], kind
    for a, b in zip(sum(told, []), sum(first, [])): # a script has fewer digits
        assert abs(a - b) <= 1e-4 * max(abs(b), 1e-3), (kind, a, b)
    assert len(figure["panels"]) == len(re.findall(r"^plot ", text, re.M)), kind
END
    for end in png pdf; do
        expect 0 "" run1 -o "three.$end" --kind load,queue
        [ -s "three-load.$end" ] && [ -s "three-queue.$end" ] || fail "no $end"
    done
    if [ -w /dev/full ]; then
        ln -s /dev/full full.svg.part
        expect 1 "full.svg" a -o full.svg --kind slowdown
    fi
    ls ./*.part >/dev/null 2>&1 && fail "something is left of figures that failed"
else
    echo "gnuplot is not installed: pictures were not drawn"
fi

[ "$failures" -eq 0 ]
