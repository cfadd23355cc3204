# SPDX-License-Identifier: Apache-2.0
# sdr_times.py - completion times of messages with the transport sdr, against SDR-RDMA's
# formula and a Monte Carlo of the protocol.
#
#     sdr_times.py PROGRAM FOLDER point CHUNKS PACKETS LOSS RTO RATE RTT MESSAGES
#     sdr_times.py PROGRAM FOLDER random SEED COUNT
#
# CHUNKS of PACKETS packets each, LOSS of a packet, RTO in round trips, bit/s, s. Each message is on
# a queue pair of its own, one after another. Exit status 1: a mean or percentile is off.
import csv
import heapq
import math
import random
import subprocess
import sys

SCENARIO = """name: messages
until: 100000s
parameters:
  loss: links.host0--border1.loss-rate
  rtt: topology.wan.rtt
  rate: [topology.wan.rate, topology.wan.host-rate]
  bytes: traffic[0].incast.bytes
  every: traffic[0].incast.every
  stop: traffic[0].incast.stop
topology: {wan: {direct: on, rate: 400Gbps, rtt: 100us, host-rate: 400Gbps, host-delay: 1ns}}
links: {host0--border1: {loss-rate: 0.001, loss-packets: data, loss-direction: forward}}
switch: {pfc: {enabled: false}, ecn: {enabled: false}}
nic: {transport: sdr, congestion-control: none, mtu: 4096, timeout: 15}
traffic: [{incast: {from: host0, to: host1, bytes: 1MB, every: 10ms, stop: 1s}}]
"""
FRAME = 4096 + 58 + 16 + 24  # each says where it belongs


class Point:
    def __init__(self, chunks, packets, loss, rto, rate, rtt, messages):
        self.chunks, self.packets, self.loss, self.rto = chunks, packets, loss, rto
        self.rate, self.rtt, self.messages = rate, rtt, messages
        self.packet_s = FRAME * 8 / rate
        self.chunk_s = packets * self.packet_s
        self.round_s = rtt + 2e-9 + 2 * self.packet_s  # until the ACK is back
        self.wait_s = rto * self.round_s + 2 * self.packet_s + self.chunk_s  # O
        self.inject_s = chunks * self.chunk_s

    def name(self):
        return ("%d chunks of %d, loss %g, RTO %g, %g Gbps, %.0f us" %
                (self.chunks, self.packets, self.loss, self.rto, self.rate / 1e9, self.rtt * 1e6))

    def run(self, program, folder, seed):
        """Completion times, in order."""
        with open(folder + "/messages.yaml", "w") as out:
            out.write(SCENARIO)
        every_ns = round((max(20 * self.wait_s, 3 * self.inject_s) + self.round_s) * 1e9)
        sets = {"loss": self.loss, "rtt": "%dns" % round(self.rtt * 1e9), "rate": "%dbps" % self.rate,
                "bytes": self.chunks * self.packets * 4096, "every": "%dns" % every_ns,
                "stop": "%dns" % (every_ns * self.messages - 1), "seed": seed,
                "nic.sdr.chunk": self.packets * 4096, "nic.sdr.rto": self.rto}
        command = [program, "run", folder + "/messages.yaml", "--quiet", "-o", folder + "/out"]
        for item in sets.items():
            command += ["--set", "%s=%s" % item]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(folder + "/out/flows.csv") as rows:
            return sorted(float(row["fct_ns"]) * 1e-9 for row in csv.DictReader(rows))

    def sure(self, time):
        """The chance that all chunks are there by then, of the bound: chunk i is sent at i T, and
        again every O until none of its packets is missing. With one packet a chunk this is the
        paper's formula; with several, those that came need not come again."""
        if time < self.inject_s:
            return 0.0
        log, high, tries = 0.0, self.chunks, 0
        while high > 0 and tries < 60:
            tries += 1
            low = max(0, math.ceil((time - tries * self.wait_s) / self.chunk_s - 1e-9))
            if high > low:
                log += (high - low) * self.packets * math.log1p(-self.loss**tries)
                high = low
        return math.exp(log)

    def tail_s(self):
        return self.round_s - self.packet_s  # the last packet's own time is in its chunk's

    def mean(self):
        steps = 5000
        step = 12 * self.wait_s / steps
        return (self.inject_s + self.tail_s() +
                sum((1 - self.sure(self.inject_s + (i + 0.5) * step)) * step for i in range(steps)))

    def percentile(self, share):
        low, high = self.inject_s, self.inject_s + 12 * self.wait_s
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.sure(middle) >= share else (middle, high)
        return high + self.tail_s()

    def play(self, draw):
        """One message: what is due goes before new chunks, a packet at a time."""
        due, missing = [], {}
        time = end = 0.0
        begun = 0
        while begun < self.chunks or due:
            if due and (due[0][0] <= time or begun == self.chunks):
                at, chunk = heapq.heappop(due)
                time = max(time, at)
            else:
                chunk, begun = begun, begun + 1
                missing[chunk] = set(range(self.packets))
            came = time
            for packet in range(self.packets):
                time += self.packet_s
                if packet in missing[chunk] and draw.random() >= self.loss:
                    missing[chunk].discard(packet)
                    came = time
            if missing[chunk]:
                heapq.heappush(due, (time + self.wait_s - self.chunk_s, chunk))
            else:
                end = max(end, came)
        return end + self.tail_s()

    def check(self, told):
        """What is off, and a line about it."""
        mean = sum(told) / len(told)
        noise = 3 * math.sqrt(sum((x - mean)**2 for x in told)) / len(told) / mean
        bound = self.mean()
        want, tail, share, kind = bound, 0.0, 0.999, "formula"
        if self.inject_s <= self.rto * self.rtt:
            tail = self.percentile(share)
        else:
            draw = random.Random(7)
            count = max(20, min(200, 1000000 // (self.chunks * self.packets)))
            taken = sorted(self.play(draw) for _ in range(count))
            want, kind = sum(taken) / count, "Monte Carlo"
            tail, share = taken[int(0.9 * count)], 0.9
            noise += 3 * math.sqrt(sum((x - want)**2 for x in taken)) / count / want
        # The distribution has steps: shares of messages beyond the percentile, with their noise.
        above = sum(x > 1.05 * tail for x in told) / len(told)
        below = sum(x > 0.95 * tail for x in told) / len(told)
        slack = 4 * math.sqrt(share * (1 - share) / len(told)) + (0.1 if share < 0.99 else 0)
        faults = []
        if abs(mean / want - 1) > 0.05 + noise:
            faults.append("mean")
        if mean < bound * (0.99 - noise):
            faults.append("below the bound")
        if above > 1 - share + slack or below < 1 - share - slack:
            faults.append("percentile %g" % (100 * share))
        line = ("%s: mean %.1f us, %s %.1f, bound %.1f; %.2f %% beyond 1.05 of p%g, %.2f %% beyond "
                "0.95" % (self.name(), mean * 1e6, kind, want * 1e6, bound * 1e6, 100 * above,
                          100 * share, 100 * below))
        return faults, line


def draw_point(draws):
    while True:
        rto = draws.choice([1, 1, 2, 3, 3, 5])
        packets = draws.choice([1, 1, 1, 4, 16])
        rate = draws.choice([100, 200, 400]) * 1e9
        rtt = 10**draws.uniform(-4, -1.6)
        loss = float("%.3g" % 10**draws.uniform(-5, -2))
        limit = rto * rtt / (packets * FRAME * 8 / rate)
        if draws.random() < 0.7:
            chunks = int(min(limit, draws.choice([10, 100, 500, 2000])))
        else:
            chunks = int(limit * draws.uniform(1.5, 6))
        messages = min(3000, 2000000 // max(1, chunks * packets))
        if chunks >= 2 and messages >= 30:
            return Point(chunks, packets, loss, rto, rate, rtt, messages)


def main():
    program, folder, mode = sys.argv[1:4]
    if mode == "point":
        chunks, packets, loss, rto, rate, rtt, messages = map(float, sys.argv[4:11])
        points = [Point(int(chunks), int(packets), loss, rto, rate, rtt, int(messages))]
    else:
        draws = random.Random(int(sys.argv[4]))
        points = [draw_point(draws) for _ in range(int(sys.argv[5]))]
    bad = 0
    for number, point in enumerate(points):
        faults, line = point.check(point.run(program, folder, 1 + number))
        if faults or mode == "point":
            print("FAIL: " + ", ".join(faults) + ":" if faults else "ok:", line)
        bad += len(faults) != 0
    print(len(points), "points,", bad, "off")
    sys.exit(bad != 0)


main()
