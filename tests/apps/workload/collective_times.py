# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/collective_times.py - compares times of collectives on an idle star with closed
# forms, to the picosecond, and digests for several threads. Called by test_collectives.sh.
#
# A byte takes 20 ps at 400 Gbps, a link 500 ns. A frame has 82 bytes beside the payload of a SEND,
# 98 beside that of a WRITE, and 86 as an ACK; 12 of them are the gap, which nobody waits for.
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import mscclpp_plans

ROCESIM = os.environ["ROCESIM"]
LONG = os.environ.get("TEST_LONG") == "1"
BYTE, DELAY = 20, 1_000_000
STAR = SCENARIO = """
topology: {star: {hosts: %d, rate: 400Gbps, delay: 500ns}}
nic: {congestion-control: none, mtu: 4096}
traffic:
  - collective: {%s}
"""
failed = 0


def run(hosts, words, *more):
    command = [ROCESIM, "run", "-", "--json", "--quiet", *more]
    text = SCENARIO % (hosts, words)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    return json.loads(done.stdout)


def padded(size):  # payloads are multiples of 4 bytes
    return (size + 3) // 4 * 4


def send(size):  # until the last bit is there, over one switch
    return 2 * BYTE * (padded(size) + 82 - 12) + DELAY


def write(size):
    return 2 * BYTE * (padded(size) + 98 - 12) + DELAY


ACK_SENT = BYTE * 86  # goes out before what the packet set off
ACK = 2 * BYTE * (86 - 12) + DELAY


def chain(sizes, before=0):  # messages, each of which sets off the next one, so much later
    ack = 0 if before else ACK_SENT
    times = [before + send(size) + ack for size in sizes[:-1]]
    return sum(times) + before + write(sizes[-1]) + ACK


def exchanges(ranks):  # shares of the buffer that halving and doubling move
    shares = []
    while ranks > 1:
        ranks //= 2
        shares.append(ranks)
    return shares


def pat(ranks):
    distance = 1
    while 2 * distance < ranks:
        distance *= 2
    shares = []
    while distance > 0:
        shares.append((ranks - distance - 1) // (2 * distance) + 1)
        distance //= 2
    return shares


def family(ranks, rank, second):  # NCCL's double binary tree: the parent and the children
    def plain(r):
        bit = r & -r if r else 1
        while not r and bit < ranks:
            bit *= 2
        parent = None
        if r:
            parent = (r ^ bit) | 2 * bit
            parent = r ^ bit if parent >= ranks else parent
        return parent

    parents = [plain(r) for r in range(ranks)]
    return parents[rank], [r for r in range(ranks) if parents[r] == rank]


def tree(ranks, size, final=write):  # one channel, so one tree; one packet a message
    sent, ready = {}, {}

    def up(rank):
        parent, children = family(ranks, rank, False)
        arrivals = sorted(up(child) + send(size) for child in children)
        time = 0
        for arrival in arrivals:  # the second of two waits for the first at the switch
            time = max(arrival, time + BYTE * (padded(size) + 82) if time else arrival)
        return time + (ACK_SENT if children else 0)

    ends = []

    def down(rank, time):
        _, children = family(ranks, rank, False)
        for child in children:  # in NCCL's order: the smaller one first
            leaf = not family(ranks, child, False)[1]
            frame = final if leaf else send
            arrival = time + frame(size)
            ends.append(arrival + ACK)
            down(child, arrival + ACK_SENT)
            time += BYTE * (padded(size) + (98 if leaf and final is write else 82))

    down(0, up(0))
    return max(ends)


def local(size, rate):  # within a host, without the delay
    return int(size * 8 * 1e12 / rate)


def between(nodes, size):  # a ring of SENDs, from one message that is ready to the last arrival
    count = 2 * (nodes - 1)
    return count * send(size) + max(0, count - 1) * ACK_SENT


def tree_rate(per_node, nodes):  # NCCL's limit of NVLS between nodes
    ranks = per_node * nodes
    return 8e9 * (57.7 if nodes == 2 else 45.5) * per_node * ranks / (2 * (ranks - 1)) if nodes > 1 else math.inf


def two_levels(algorithm, per_node, nodes, size):
    # One shard or chunk may be a byte longer than the others, and decides.
    rail = nodes if algorithm != "nvls-tree" else 1  # chunks of a shard
    chunks = per_node * rail
    part = -(-size // chunks)
    long = rail * (size // chunks) + min(rail, size % chunks)
    short = rail * (size // chunks)
    delay = 1_000_000
    if algorithm == "hierarchical":
        inside = (per_node - 1) * (local(long, 3.6e12) + delay)
        return inside + between(nodes, part) + max(inside, ACK if nodes > 1 else 0)
    # A rank sends all shards but its own, and receives all but its own; the NVSwitch has all. They
    # share its link, so that short ones pass at one time, and the long one later. The rate is that of
    # full loops (16 channels of 128 KiB for each rank of a node, 32 at most), which wait for a step of 6 us.
    full = 8 * 16 * 131072 * min(per_node, 32)
    rate = min(1 / (1 / (3.6e12 * (18 * 20.6 / 450) * 5 / 6) + 6e-6 / full), tree_rate(per_node, nodes))
    rate = int(rate / per_node * max(per_node - 1, 1))

    def reduced(shard, chunk):  # when the owner of a shard has it
        hand_in = (per_node - 2) * local(short, rate) + local(shard, rate) + delay
        hand_in = hand_in if per_node > 1 else 0
        if algorithm == "nvls" or nodes == 1:
            return hand_in + between(nodes, chunk)
        return hand_in + tree(nodes, chunk, send) - ACK

    last = reduced(long, part)
    ends = [last + ACK] if nodes > 1 else [last]
    if per_node > 1:
        others = reduced(short, size // chunks) + (per_node - 2) * local(short, rate)
        ends.append(max(last, others) + local(long, rate) + delay)
    return max(ends)


def check(what, found_us, expected_ps, more_ps=0):
    global failed
    if not 0 <= round(found_us * 1e6) - expected_ps <= more_ps:
        print(f"{what}: {found_us * 1e6:.0f} ps, expected {expected_ps}")
        failed = 1


def compare(ranks, size, kind, algorithm, expected_ps, more="", protocol="plain", more_ps=0):
    words = f"kind: {kind}, algorithm: {algorithm}, bytes: {size}, protocol: {protocol}{more}"
    check(f"{ranks} ranks, {words}", run(ranks, words)["apps"][0]["finish_us"]["max"], expected_ps,
          more_ps)


def power(ranks):
    return ranks & (ranks - 1) == 0


for n in [2, 3, 4, 7, 8, 16, 31, 64, 128] if LONG else [2, 3, 8, 31, 128]:
    for rest in [0, 1]:  # a chunk that is a byte longer is the last one everywhere
        size, part = 24 * n + rest, 24 + rest
        compare(n, size, "all-gather", "ring", chain([part] * (n - 1)))
        compare(n, size, "reduce-scatter", "ring", chain([part] * (n - 1)))
        compare(n, size, "all-reduce", "ring", chain([part] * (2 * (n - 1))))
        compare(n, size, "broadcast", "chain", chain([size] * (n - 1)))
        compare(n, size, "reduce", "chain", chain([size] * (n - 1)))
    size = 24 * n
    shares = [24 * share for share in exchanges(n)]
    if power(n):
        compare(n, size, "reduce-scatter", "halving-doubling", chain(shares))
        compare(n, size, "all-gather", "halving-doubling", chain(shares[::-1]))
        compare(n, size, "all-reduce", "halving-doubling", chain(shares + shares[::-1]))
    compare(n, size, "all-gather", "pat", chain([24 * share for share in pat(n)]))
    compare(n, size, "reduce-scatter", "pat", chain([24 * share for share in pat(n)[::-1]]))
    compare(n, size, "all-reduce", "tree", tree(n, size))
    if n <= 31:  # later, ACKs come between
        together = (n - 2) * BYTE * (1000 + 98) + write(1000) + ACK
        compare(n, 1000 * n, "all-to-all", "direct", together)
        compare(n, 1000 * n, "all-to-all", "pairwise", together, ", channels: 1")
    # NCCL's: a clear-to-send of 64 bytes, then WRITEs with immediates; the end needs no ACK.
    steps = n - 1
    clear = write(64) + steps * (ACK_SENT + write(24) + 2 * BYTE * 4)
    compare(n, size, "all-gather", "ring", clear, ", channels: 1", "simple")
    # NCCL's tuning: 8.4 us of a ring's call and 4 us of its launch, 14 us of a message between nodes.
    tuned = chain([24] * (n - 1), 14_000_000) + 12_400_000
    compare(n, size, "all-gather", "ring", tuned, ", tuning-latency: on")
    tuned = chain([24] * (n - 1), 42_000_000) + 37_200_000
    compare(n, size, "all-gather", "ring", tuned, ", tuning-latency: on, tuning-scale: 3")
    if n == 2:  # a processor posts the second slice of the only chunk 2 or 1 us after the first one
        words = "kind: all-gather, algorithm: ring, bytes: 128KiB, channels: 1, protocol: simple, tuning-latency: on, "
        words += "processor: "
        took = [run(2, words + maker)["apps"][0]["finish_us"]["max"] for maker in ["amd", "intel"]]
        check(words, took[0] - took[1], 980_000, 20_000)  # the copies take 10 ns of it
    latency = ", send-latency: 3us"  # before each message
    compare(n, size, "all-gather", "ring", chain([24] * (n - 1), 3_000_000), latency)

# NVLS in one host: a rank sends 7 shards to their owners; then its link brings it 7 results.
SCENARIO = """
topology: {star: {hosts: 1, nics-per-host: %d}}
traffic:
  - collective: {%s}
"""
for more, byte in [(", nvls-rate: 800Gbps", 10), (", local-rate: 800Gbps, nvls-rate: 400Gbps", 20)]:
    both = 7 * local(5000, 8e12 // byte // 8 * 7)
    nvls = 2 * (both + 1_000_000)
    compare(8, 8 * 5000, "all-reduce", "nvls", nvls, more + ", channels: 1")
    for half in ["reduce-scatter", "all-gather"]:
        compare(8, 8 * 5000, half, "nvls", 7 * 5000 * byte + 1_000_000, more + ", channels: 1")
    # Channels share the link, so that none hands in its shards before the others.
    nvls = 2 * (4 * both + 1_000_000)
    compare(8, 4 * 8 * 5000, "all-reduce", "nvls", nvls, more + ", channels: 4")
# With NCCL's latencies, a loop of chunks of 16 or 32 KiB waits 6 us for its step. Its time is that of the
# other 7 shards. A call takes 25 us, and the loops go up and down.
for size, loop in [(4 << 20, 2 << 20), (16 << 20, 4 << 20)]:
    words = f"kind: all-reduce, algorithm: nvls, bytes: {size}, protocol: simple, tuning-latency: on"
    loop_us = loop / (370800 * 5 / 6) + 6
    found = run(8, words)["apps"][0]["finish_us"]["max"] / (25 + (size // loop + 1) * loop_us)
    check(words, 1e6 * abs(found - 1) // 100, 0)
# All pairs: a rank sends 7 shards to their owners and, when it has its own sum, that to 7 ranks.
compare(8, 8 * 5000, "all-reduce", "all-pairs", 2 * (7 * local(5000, 3.6e12) + 1_000_000), ", channels: 1")
# RCCL takes them up to 16 MiB: its latency of a call, two steps, twice 7 shards on the links. A block copies
# its part of the shard and of the result, at twice 7.6 GB/s with LL and 33 GB/s with Simple.
words = "kind: all-reduce, ccl: rccl, local-rate: 3584Gbps, tuning-latency: on, bytes: "
for size, fixed_us, wire, block in [(64 << 10, 13.6, 2, 15.2e3), (4 << 20, 21.2, 1, 33e3)]:
    expected_us = fixed_us + 2 * 7 / 8 * size * wire / 336e3 + 2 * size / 64 / block
    found = run(8, words + str(size))["apps"][0]["finish_us"]["max"] / expected_us
    check(words + str(size), 1e6 * abs(found - 1) // 100, 0)
# With NCCL's latencies, a block moves a slice when the one before it has arrived: half of a step's 3.4 us and
# the time of its bytes at the block's 33 GB/s, or at 82.4 % of the link. The last slice is copied, too. Of
# two loops, the copies of the first one lengthen the messages of the second.
for more, gbytes in [("", 33), (", local-rate: 100Gbps", 12.5 * 18 * 20.6 / 450)]:
    words = "kind: all-gather, algorithm: ring, bytes: 4MiB, channels: 1, protocol: simple, tuning-latency: on"
    slice_us = 1.7 + (1 << 20) / (gbytes * 1e3)
    found = run(2, words + more)["apps"][0]["finish_us"]["max"] / (12.4 + 2 * slice_us + (1 << 20) / 33e3)
    check(words + more, 1e6 * abs(found - 1) // 10, 0)
words = words.replace("4MiB", "8MiB")
two_us = 12.4 + 4 * 1.7 + 7 * (1 << 20) / 33e3
check(words, 1e6 * abs(run(2, words)["apps"][0]["finish_us"]["max"] / two_us - 1) // 10, 0)
# NCCL's sends and receives within a node: with LL up to 512 KiB for a pair, then with Simple by 4 of 32 channels,
# each with 0.65 of a block's rate; the last chunk is copied at the whole rate.
for size, pair_us in [(4 << 20, 4 * 0.6 + (1 << 20) / (4 * 2 * 7.6e3 * 0.65)),
                      (8 << 20, 1.7 + (1 << 20) / 4 * (1 / 21.45e3 + 1 / 33e3))]:
    words = f"kind: all-to-all, bytes: {size}, local-rate: 7200Gbps, tuning-latency: on"
    base_us = 10.6 if size == 4 << 20 else 12.4
    found = run(8, words)["apps"][0]["finish_us"]["max"] / (base_us + pair_us)
    check(words, 1e6 * abs(found - 1) // 30, 0)
# NCCL's channels for few bytes: one for each 4 KiB x ranks with LL.
for size, channels in [(65536, 2), (262144, 8)]:
    words = f"kind: all-gather, bytes: {size}, tuning-latency: on, protocol: ll"
    check(words, run(8, words)["apps"][0]["messages"] / 1e6, 8 * 7 * channels)
# NCCL's chunks of NVLS get smaller with the buffer: so many loops of a channel's 8 shards.
for size, loops in [(67108864, 64), (33554432, 64), (2097152, 8), (262144, 2)]:
    words = f"kind: all-reduce, algorithm: nvls, bytes: {size}, channels: 1"
    check(words, run(8, words)["apps"][0]["messages"] / 1e6, 8 * 14 * loops)
# Of 64 GPUs 32 reduce, so that 1 MiB has 2 loops of 32 x 16 KiB.
words = "kind: all-reduce, algorithm: nvls, bytes: 1048576, channels: 1"
check(words, run(64, words)["apps"][0]["messages"] / 1e6, 64 * 126 * 2)
SCENARIO = """
topology: {star: {hosts: %d, nics-per-host: @, rate: 400Gbps, delay: 500ns}}
nic: {congestion-control: none, mtu: 4096}
traffic:
  - collective: {%s}
"""
GRIDS = [(2, 2), (4, 3), (8, 2), (3, 5), (8, 16)]
GRIDS += [(2, 1), (5, 1), (2, 7), (4, 4), (8, 4), (8, 7), (2, 64), (4, 32), (16, 8)] if LONG else []
RAILS = SCENARIO
for local_ranks, n in GRIDS:
    SCENARIO = RAILS.replace("@", str(local_ranks))
    for algorithm in ["hierarchical", "nvls", "nvls-tree"]:
        for unit, rest in [(24, 0), (24, 1), (1000, 1)] if LONG else [(24, 0), (24, 1)]:
            size = unit * local_ranks * n + rest
            if algorithm == "nvls-tree" and unit * n >= 4096:
                continue  # a shard is one packet here
            expected = two_levels(algorithm, local_ranks, n, size)
            more_ps = 1 if rest else 0  # shares of a link end within a ps
            compare(n, size, "all-reduce", algorithm, expected, ", channels: 1", more_ps=more_ps)
# A server's GPUs send 14 messages each to the others of their server, and one to the other server.
SCENARIO = RAILS.replace("@", "8")
for size, loops in [(4194304, 4), (2097152, 4), (262144, 1)]:
    words = f"kind: all-reduce, algorithm: nvls-tree, bytes: {size}, channels: 1"
    check(words, run(2, words)["apps"][0]["messages"] / 1e6, 16 * 15 * loops)
SCENARIO = STAR

# GPT-13B's data-parallel exchange of 16 ranks; its whole size in the long form. Data and ACKs share
# each link, so a packet takes the time of both.
for size, kind, whole in [(6497239040, "reduce-scatter", 126836800680),
                          (3248619520, "all-gather", 63426856680)]:
    scale = 1 if LONG else 991 if kind == "all-gather" else 1982
    part = size // 16 // scale // 4096 * 4096
    expected = 15 * (part // 4096 * 85280 + 1127512)
    if LONG and expected != whole:
        sys.exit(f"{kind}: the formula gives {expected} ps, expected {whole}")
    compare(16, 16 * part, kind, "ring", expected)

# An algorithm from a file: each of 4 ranks sends its chunk on to the next one.
with tempfile.NamedTemporaryFile("w", suffix=".xml", delete=False) as file:
    file.write('<algo name="ring" proto="Simple" nchannels="1" nchunksperloop="4" ngpus="4" '
               'coll="allreduce" inplace="1">\n')
    for rank in range(4):
        file.write(f'<gpu id="{rank}" i_chunks="4" o_chunks="0" s_chunks="0">\n'
                   f'<tb id="0" send="{(rank + 1) % 4}" recv="{(rank + 3) % 4}" chan="0">\n')
        for step in range(7):
            kind = ["s", "rrs", "rrs", "rrcs", "rcs", "rcs", "r"][step]
            chunk = (rank - step) % 4
            file.write(f'<step s="{step}" type="{kind}" srcbuf="i" srcoff="{chunk}" dstbuf="i" '
                       f'dstoff="{chunk}" cnt="1" depid="-1" deps="-1" hasdep="0"/>\n')
        file.write("</tb></gpu>\n")
    file.write("</algo>\n")
    RING = file.name

# Execution plans of MSCCL++. A signal goes out behind the data that it tells of, and its ACK is the
# last packet. A get is a request of 8 bytes and its answer; ACKs go out before what a packet set off.
SIGNAL = BYTE * (8 + 98)
with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    def compare_plan(ranks, size, kind, text, expected_ps):
        file.seek(0)
        file.truncate()
        file.write(text)
        file.flush()
        words = f"kind: {kind}, bytes: {size}, algorithm-file: {file.name}"
        check(f"{ranks} ranks, plan of {words}",
              run(ranks, words)["apps"][0]["finish_us"]["max"], expected_ps)

    for n in [2, 3, 8]:
        put = (n - 2) * (BYTE * (1000 + 98) + SIGNAL) + write(1000) + SIGNAL + ACK
        compare_plan(n, 1000 * n, "all-gather", mscclpp_plans.all_gather(n), put)
        size = 120 * n
        put = (n - 2) * (BYTE * (size + 98) + SIGNAL) + write(size) + SIGNAL + ACK
        compare_plan(n, size, "all-reduce", mscclpp_plans.all_reduce_once(n), put)
    read = 2 * (write(8) + ACK_SENT) + 2 * write(1000) + ACK_SENT + SIGNAL + ACK
    compare_plan(2, 2000, "all-reduce", mscclpp_plans.all_reduce_pair(), read)

    def counted(new, done):  # a plan that is read is counted, even if no run can hold it
        return new not in ('"glres"', '"nop"') or "blocks of" in done.stdout

    def refuse_plan(old, new, wanted, more=""):
        text = mscclpp_plans.all_gather(2).replace(old, new, 1)
        file.seek(0)
        file.truncate()
        file.write(text)
        file.flush()
        scenario = SCENARIO % (2, f"kind: all-gather, bytes: 2KB, algorithm-file: {file.name}{more}")
        done = subprocess.run([ROCESIM, "check", "-"], input=scenario, capture_output=True, text=True,
                              check=False)
        if done.returncode != 2 or wanted not in done.stderr:
            print(f"{new}: status {done.returncode}, expected {wanted} in {done.stderr}")
            return 1
        if more:
            return 0
        done = subprocess.run([ROCESIM, "check", file.name], capture_output=True, text=True, check=False)
        named = re.search(re.escape(file.name) + r":[1-9]\d*:\d", done.stderr)
        if done.returncode != 2 or not named or wanted not in done.stderr or not counted(new, done):
            print(f"{new}: check FILE: {done.returncode}, {done.stdout}{done.stderr}")
            return 1
        return 0

    failed |= refuse_plan('"put"', '"glres"', ":52:16: the operation cannot be run: 'glres'")
    failed |= refuse_plan('"put"', '"nop"', "gpu 1 has not the result in chunk 0")
    failed |= refuse_plan('"signal"', '"wait"', "waits for a signal that nobody sends")
    failed |= refuse_plan('"connected_to"', '"peers"', "the thread block has no such channel")
    failed |= refuse_plan('"index": 0', '"index": 2', ": the operation leaves the buffer")
    failed |= refuse_plan("", "", "protocol: ", ", protocol: ll")

# Servers of 4 GPUs in a leaf-spine: every algorithm ends, with losses too, and threads change nothing.
SCENARIO = """
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2, nics-per-host: %d}}
traffic:
  - collective: {%s}
"""
for words, *more in [
    ["kind: all-reduce, algorithm: ring, repeat: 3"],
    ["kind: all-reduce, algorithm: tree, reduce-rate: 1Tbps"],
    ["kind: all-reduce, algorithm: hierarchical, protocol: ll128"],
    ["kind: all-reduce, algorithm: nvls", "nic.model=detailed"],
    ["kind: all-reduce, algorithm: nvls-tree, protocol: ll"],
    ["kind: all-reduce, algorithm: halving-doubling, chunk: 64KiB, slice: 2KiB"],
    ["kind: all-gather, algorithm: ring, pxn: on, channels: 3", "links.*.loss-rate=1e-3"],
    ["kind: all-to-all, algorithm: pairwise, pxn: on", "nic.transport=irn"],
    ["kind: all-to-all, algorithm: direct, protocol: plain, queue-pairs: per-message, repeat: 40"],
    ["kind: all-reduce, algorithm: ring, queue-pairs: per-message, repeat: 5, per-node: 6"],
    ["kind: all-reduce, algorithm: ring, connection-pairs: 4", "links.*.loss-rate=1e-3"],
    ["kind: all-gather, algorithm: ring, connection-pairs: 3, protocol: plain", "nic.transport=irn"],
    ["kind: all-reduce, algorithm: nvls-tree, tuning-latency: on, slice: 4KiB"],
    ["kind: all-to-all, algorithm: pairwise, repeat: 6"],
    ["kind: all-reduce, algorithm: ring, queue-pairs: per-message, repeat: 2",
     "links.*.loss-rate=1e-2", "nic.transport=irn"],
    ["kind: all-reduce, algorithm: tree, protocol: ll", "links.*.loss-rate=1e-3",
     "nic.model=detailed"],
    ["kind: all-reduce, algorithm: hierarchical, protocol: plain", "links.*.loss-rate=1e-3",
     "nic.transport=sdr"],
    ["kind: all-gather, algorithm: pat", "nic.repath=reps", "nic.transport=irn"],
    ["kind: barrier, repeat: 3"],
    ["kind: broadcast, root: 3, arrival: acknowledged, protocol: plain"],
    ["kind: all-reduce, algorithm-file: RING, protocol: plain, chunk: 20000"],
]:
    words = words.replace("RING", RING)
    options = [word for option in more for word in ("--set", option)]
    gpus = 1 if "RING" in words or words.find(RING) >= 0 else 4
    runs = [run(gpus, f"{words}, bytes: 300001", *options, "--threads", str(n)) for n in [1, 2, 4]]
    app = runs[0]["apps"][0]
    if app["ranks_finished"] != app["ranks"] or app["collectives"][0]["mean_us"] <= 0:
        print(f"{words}, {more}: {app['ranks_finished']} of {app['ranks']} ranks finished")
        failed = 1
    if len({one["digest"] for one in runs}) != 1:
        print(f"{words}, {more}: digests differ between threads")
        failed = 1
os.unlink(RING)
sys.exit(failed)
