# SPDX-License-Identifier: Apache-2.0
# wan_forms.py - closed forms of goodput over a lossy long link, for tests to run.
#
#     wan_forms.py PROGRAM FOLDER quick             some points, seconds
#     wan_forms.py PROGRAM FOLDER random SEED COUNT  points drawn at random
#
# Each point is a run of scenarios/wan/goodput.yaml. What it is held to is computed here from the
# losses that happened (events.csv), not from what the program says of its transport. Prints a line
# for each point that is off; exit status 1 when there is one.
import bisect
import csv
import json
import math
import random
import subprocess
import sys

HEADERS = 14 + 20 + 8 + 12 + 4 + 4 + 20  # Ethernet to BTH, ICRC, FCS, preamble and gap
ADDRESS = 16  # selective transports say in each packet where it belongs


class Point:
    """A run: its settings, its summary, and the numbers of its link."""

    def __init__(self, program, folder, transport, **sets):
        self.transport = transport
        self.sets = dict(transport=transport, **sets)
        self.mtu = sets.get("nic.mtu", 4096)
        self.rate = sets["rate"]
        self.rtt = sets["rtt"]
        self.qps = sets.get("qps", 1)
        self.packets = sets["packets"]
        self.frame = self.mtu + HEADERS + (0 if transport == "go-back-n" else ADDRESS)
        self.slot = self.frame * 8 / self.rate  # s
        # From the lost packet until its NAK is back: the next one is there and shows the gap.
        self.n = 1 + math.ceil((self.rtt + 2e-9 + 2 * self.slot) / self.slot)
        command = [program, "run", "scenarios/wan/goodput.yaml", "--quiet", "-o", folder]
        for name, value in self.sets.items():
            if name == "rate":
                value = "%dbps" % value
            elif name == "rtt":
                value = "%dns" % round(value * 1e9)
            elif name == "packets":
                name, value = "bytes", value // self.qps * self.mtu
            command += ["--set", "%s=%s" % (name, value)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        summary = json.load(open(folder + "/summary.json"))
        self.app = summary["apps"][0]
        self.told = self.app["transport"]
        self.share = self.app["goodput_gbps"] * 1e9 / self.rate * self.frame / self.mtu
        self.end = max(time or 0 for time in self.app["fct_ns"]) * 1e-9
        with open(folder + "/events.csv") as rows:
            self.lost = sorted(float(row["time_ns"]) * 1e-9
                               for row in csv.DictReader(rows) if row["event"] == "drop")
        self.drops = len(self.lost)
        self.faults = []
        self.done = self.app["completed"] == self.qps
        if not self.done or self.drops != self.app["lost"]:
            self.faults.append("completed %d, drops %d of %d" %
                               (self.app["completed"], self.drops, self.app["lost"]))

    def expect(self, what, told, want, share):
        if not abs(told / want - 1) <= share:
            self.faults.append("%s: %.6g, expected %.6g within %.3g %%" %
                               (what, told, want, 100 * share))

    def report(self):
        for fault in self.faults:
            print("FAIL:", " ".join("%s=%s" % item for item in self.sets.items()), "|", fault)
        return len(self.faults) != 0


def go_back_n(point, timeout=None):
    """Plays the sender back over the times at which the link lost a packet: events, time-outs, when
    the last new packet left, and whether its loss ended the run. From each time it goes back
    packets follow each other; the first that is lost stops the receiver, and the NAK is back when
    the next that is not lost has gone there and the NAK come. It goes back when the packet it is
    sending is out. With one NAK a gap (timeout, s) a packet that is lost again waits for the timer,
    which runs since the sender went back to it."""
    lost = point.lost
    slot = point.slot
    back = point.rtt + 2e-9 + 2 * slot + 2 * 86 * 8 / point.rate

    def is_lost(time):
        at = bisect.bisect_left(lost, time - slot / 2)
        return at < len(lost) and lost[at] < time + slot / 2

    begin = 0.0
    sent = events = timeouts = 0
    while True:
        left = point.packets - sent
        at = bisect.bisect_left(lost, begin - slot / 2)
        if at == len(lost) or lost[at] > begin + (left - 0.5) * slot:
            return events, timeouts, begin + left * slot, False
        first = round((lost[at] - begin) / slot)
        follow = first + 1
        while is_lost(begin + follow * slot):
            follow += 1
        if follow >= left:
            return events, timeouts, begin + left * slot, True
        sent += first
        events += 1
        due = begin + follow * slot + back
        end = begin + left * slot
        start = begin
        begin = due if due > end else start + math.ceil((due - start) / slot) * slot
        while timeout is not None and is_lost(begin):
            timeouts += 1
            due = begin + timeout
            end = begin + (point.packets - sent) * slot
            begin = due if due > end else begin + math.ceil((due - begin) / slot) * slot


def check_go_back_n(point, timeout=None):
    events, timeouts, end, tail = go_back_n(point, timeout)
    if tail:
        return timeouts  # the last packets were lost: no gap shows it
    if timeouts != point.told["timeouts"]:
        # A packet that is sent again as the one before it ends may be counted with its neighbour.
        if abs(timeouts - point.told["timeouts"]) > 1 + 0.1 * timeouts:
            point.faults.append("%d time-outs, expected %d" % (point.told["timeouts"], timeouts))
        events, timeouts = point.told["went_back"], point.told["timeouts"]
    else:
        point.expect("ms", point.end * 1e3, (end + point.rtt) * 1e3, 0.03)
        if abs(events - point.told["went_back"]) > 1 + 0.02 * events:
            point.faults.append("the expected packet was lost %d times, it went back %d times" %
                                (events, point.told["went_back"]))
    if events >= 20 and point.packets > 2 * point.n:
        slots = events * point.n + timeouts * (timeout or 0) / point.slot
        point.expect("share of the link", point.share, point.packets / (point.packets + slots), 0.03)
    return timeouts


def check_selective(point, margin=0.01):
    sent = point.packets + point.told["retransmitted"]
    point.expect("share of the link", point.share, 1 - point.drops / sent, margin)


def check_maps(point, loss, bits):
    packets = (point.rtt + 2e-9 + 2 * point.slot) / point.slot
    point.expect("maps in flight", point.told["nodes_steady"], packets / (1 / loss + bits), 0.05)


def check_window(point, window):
    rtt = point.rtt + 2e-9 + 2 * point.slot
    held = window // point.mtu * point.mtu
    point.expect("goodput", point.app["goodput_gbps"] * 1e9, held * 8 / rtt, 0.01)


def quick(make):
    bad = 0
    for rate, rtt, loss, packets in ((100e9, 10e-6, 1e-2, 40000), (400e9, 30e-6, 1e-3, 60000),
                                     (100e9, 1e-3, 1e-3, 60000), (100e9, 10e-3, 1e-4, 90000),
                                     (400e9, 30e-3, 1e-5, 700000)):
        point = make("go-back-n", rate=rate, rtt=rtt, loss=loss, packets=packets)
        check_go_back_n(point)
        bad += point.report()
    for rtt, loss, timeout in ((20e-6, 1e-2, 8), (1e-3, 2e-2, 10), (2e-4, 5e-3, 12)):
        sets = {"nak_interval": "0s", "nic.nak-once": "off", "nic.timeout": timeout}
        point = make("go-back-n", rate=100e9, rtt=rtt, loss=loss, packets=40000, **sets)
        if check_go_back_n(point, 4.096e-6 * 2**timeout) == 0:
            point.faults.append("no time-out in it")
        bad += point.report()
    for transport in ("adamap", "sdr"):
        for rate, rtt, loss, qps, packets in ((100e9, 20e-6, 1e-2, 1, 30000),
                                              (400e9, 1e-3, 1e-3, 1, 130000),
                                              (100e9, 3e-3, 1e-2, 100, 100000),
                                              (200e9, 1e-3, 1e-3, 5000, 200000)):
            point = make(transport, rate=rate, rtt=rtt, loss=loss, qps=qps, packets=packets)
            check_selective(point)
            bad += point.report()
    for loss, bits in ((1e-3, 16), (1e-2, 16), (1e-2, 256), (3e-2, 1)):
        point = make("adamap", rate=400e9, rtt=3e-3, loss=loss, bits=bits, packets=400000)
        check_selective(point)
        check_maps(point, loss, bits)
        bad += point.report()
    for rounds in (3, 8.1, 8.5, 10.9):  # whatever the last one leaves of a window
        point = make("irn", rate=100e9, rtt=7e-3, loss=0, window=1000000, packets=int(244 * rounds))
        check_window(point, 1000000)
        bad += point.report()
    for transport, window in (("irn", 500000), ("irn", 5000000), ("adamap", 2000000),
                              ("sdr", 1000000), ("go-back-n", 3000000)):
        point = make(transport, rate=100e9, rtt=1e-3, loss=0, window=window, packets=100000)
        check_window(point, window)
        bad += point.report()
    return bad


def draw(make, draws):
    """One random point."""
    transport = draws.choice(["go-back-n", "once", "adamap", "adamap", "sdr", "window"])
    back = transport in ("go-back-n", "once")
    sets = {
        "rate": draws.choice([100, 100, 200, 400, draws.randint(40, 800)]) * 1e9,
        "rtt": 10**draws.uniform(-5, math.log10(0.03)),
        "loss": float("%.3g" % 10**draws.uniform(-6, -2)),
        "loss_model": draws.choice(["independent"] * 5 + ["bursts", "high-frequency", "amazon",
                                                          "google", "microsoft", "gilbert-elliott"]),
        "bits": draws.choice([1, 8, 16, 16, 32, 64, 256, draws.randint(1, 256)]),
        "n": draws.choice([1, 2, 3, 8, 16]),
        "seed": draws.randint(1, 1000000),
        "nic.mtu": draws.choice([4096, 4096, 2048, 1024]),
        "qps": 1 if back else draws.choice([1, 1, 1, 3, 16, 128, 2000, 10000]),
    }
    sets["watermark"] = draws.randint(0, sets["n"])
    slot = (sets["nic.mtu"] + HEADERS) * 8 / sets["rate"]
    n = sets["rtt"] / slot
    loss = sets["loss"]
    if back:
        packets = int(min(700000 / (1 + loss * n), max(3000, 60 / loss)))
        timeout = draws.choice([8, 10, 13])
        while 4.096e-6 * 2**timeout < 1.5 * sets["rtt"]:
            timeout += 1
        if transport == "once":
            sets.update({"nak_interval": "0s", "nic.nak-once": "off", "nic.timeout": timeout})
        point = make("go-back-n", packets=packets, **sets)
        check_go_back_n(point, 4.096e-6 * 2**timeout if transport == "once" else None)
        return point
    if transport == "window":
        sets.update(loss=0, qps=1)
        window = int(draws.uniform(0.02, 0.9) * n) * sets["nic.mtu"]
        if window == 0 or 60 * window > 700000 * sets["nic.mtu"]:
            return None
        point = make(draws.choice(["irn", "adamap", "sdr", "go-back-n"]), window=window,
                     packets=min(700000, max(2000, 150 * window // sets["nic.mtu"])), **sets)
        check_window(point, window)
        return point
    if transport == "sdr":
        sets["nic.sdr.chunk"] = sets["nic.mtu"]
    packets = int(min(800000, max(12 * n, 300 / loss, 20 * sets["qps"])))
    packets -= packets % sets["qps"]
    if packets < 10 * n:
        return None
    point = make(transport, packets=packets, **sets)
    if sets["loss_model"] == "independent":
        check_selective(point)
        maps = n / (1 / loss + sets["bits"])
        if transport == "adamap" and sets["qps"] == 1 and maps > 20 and loss * packets > 2000:
            check_maps(point, loss, sets["bits"])
    else:
        check_selective(point, 0.015)  # an event near the edge counts as a whole
    return point


def main():
    program, folder, mode = sys.argv[1:4]

    def make(transport, **sets):
        return Point(program, folder, transport, **sets)

    if mode == "quick":
        bad = quick(make)
    else:
        draws = random.Random(int(sys.argv[4]))
        bad = count = 0
        for _ in range(int(sys.argv[5])):
            point = draw(make, draws)
            if point is not None:
                count += 1
                bad += point.report()
        print(count, "points,", bad, "off")
    sys.exit(bad != 0)


main()
