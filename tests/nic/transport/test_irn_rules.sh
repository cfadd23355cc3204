#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_irn_rules.sh - the rules of IRN (SIGCOMM 2018) under loss, against a model of its own.
#
# Goal: flows over a long link that loses given packets take the time, and send as much again, as the
# rules say: at most a window from the oldest packet to the newest; recovery begins with the first NAK
# and with the packet it expects, sends each packet once that a later one has overtaken, then new ones,
# and ends when all that was sent before it is acknowledged; a packet lost again waits for RTO low
# while few packets are under way and for RTO high otherwise. Single cases have closed forms.
# Method: scenarios/wan/omnidma.yaml with lists of losses; the model is a program of these rules alone,
# in packet times. FCTs within 1 %, retransmissions within 2 % or 2.
# Not pinned: queues on the way, several flows (there are none); READs (test_selective_reads).
. tests/script.sh

command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
cat >"$work/irn.py" <<'PY'
import collections, json, random, subprocess, sys
program, work = sys.argv[1:3]
SLOT, ACK, NEAR = 84, 8, 1000  # ns: a packet, an ACK, the second link


class Irn:
    """One flow of n packets; lost: which transmissions, from 1, do not arrive."""

    def __init__(self, n, window, delay, lost, low, high, few):
        self.n, self.window, self.lost = n, window, lost
        self.low, self.high, self.few = low, high, few
        self.forth, self.back = 2 * SLOT + delay + NEAR, 2 * ACK + delay + NEAR
        self.came, self.expected = set(), 0
        self.una = self.next = self.sends = self.again = self.timeouts = 0
        self.held, self.queue, self.queued = set(), collections.deque(), set()
        self.recovering, self.recover, self.looked, self.since = False, 0, 0, 0
        self.acks = collections.deque()  # (time, expected, which came or None)

    def send(self, psn, now):
        self.sends += 1
        if psn == self.una:
            self.since = now
        if self.sends in self.lost:
            return
        if psn == self.expected:
            self.came.add(psn)
            while self.expected in self.came:
                self.expected += 1
            answer = None
        elif psn > self.expected:
            self.came.add(psn)
            answer = psn
        else:
            answer = None
        self.acks.append((now + self.forth + self.back, self.expected, answer))

    def want(self, psn):
        if self.una <= psn < self.next and psn not in self.held and psn not in self.queued:
            self.queue.append(psn)
            self.queued.add(psn)

    def answered(self, now, expected, came):
        if expected > self.una:
            self.una, self.since = expected, now
        if self.recovering and self.una >= self.recover:
            self.recovering = False
        if came is None or came < self.una:
            return
        self.held.add(came)
        if not self.recovering:
            self.recovering, self.recover, self.looked = True, self.next, self.una
        for psn in range(max(self.looked, self.una), came):
            self.want(psn)
        self.looked = max(self.looked, came)

    def rto(self):
        return self.low if self.next - self.una <= self.few else self.high

    def timed_out(self, now):
        self.timeouts += 1
        self.recovering, self.recover, self.looked = True, self.next, self.una + 1
        self.want(self.una)
        self.held.discard(self.next - 1)
        self.want(self.next - 1)
        self.since = now

    def run(self):
        now = 0
        while True:
            while self.acks and self.acks[0][0] <= now:
                self.answered(*self.acks.popleft())
            if self.una == self.n:
                return now
            if self.next > self.una and now >= self.since + self.rto():
                self.timed_out(now)
            while self.queue and (self.queue[0] < self.una or self.queue[0] in self.held):
                self.queued.discard(self.queue.popleft())
            if self.queue:
                psn = self.queue.popleft()
                self.queued.discard(psn)
                self.again += 1
            elif self.next < self.n and self.next - self.una < self.window:
                psn, self.next = self.next, self.next + 1
            else:
                ends = [self.since + self.rto()] + ([self.acks[0][0]] if self.acks else [])
                now = max(now + 1, min(ends))
                continue
            self.send(psn, now)
            now += SLOT


def simulate(n, window, delay, lost, low, high):
    with open(work + "/lost", "w") as out:
        out.writelines("%d\n" % i for i in sorted(lost))
    command = [program, "run", "scenarios/wan/omnidma.yaml", "--quiet", "-o", work + "/out"]
    for one in ("scheme=irn", "bytes=%d" % (n * 1000), "delay=%dns" % delay,
                "loss_file=%s/lost" % work, "nic.irn.window=%d" % ((window - 1) * 1000),
                "nic.irn.rto-low=%dns" % low, "nic.irn.rto-high=%dns" % high):
        command += ["--set", one]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    app = json.load(open(work + "/out/summary.json"))["apps"][0]
    return app["fct_ns"][0], app["transport"]["retransmitted"], app["transport"]["timeouts"]


bad = 0


def check(what, ours, want, within):
    global bad
    if abs(ours - want) > within:
        bad += 1
        print("FAIL: %s: %s, the rules say %s" % (what, ours, want))


# Closed forms. A packet in the middle is lost once: the window stands still from when it is full until
# the repair is acknowledged. Lost twice: until RTO high after it was sent again. The last one: RTO low,
# which counts from the last progress, one packet before.
DELAY, N = 50000, 4000
RTT = 2 * (DELAY + NEAR + SLOT + ACK)
W, LOW, HIGH = RTT // SLOT + 1, 300000, 700000
base, again, timeouts = simulate(N, W, DELAY, [], LOW, HIGH)
check("no loss", base, N * SLOT + RTT - SLOT, 3 * SLOT)
once, again, timeouts = simulate(N, W, DELAY, [2000], LOW, HIGH)
check("one loss: sent again", again, 1, 0)
check("one loss: time", once, base + RTT + SLOT, 6 * SLOT)
wide, again, timeouts = simulate(N, 3 * W, DELAY, [2000], LOW, HIGH)
check("one loss, a window for it", wide, base + SLOT, 6 * SLOT)
# The repair is the packet that leaves when the NAK of the 2001st comes.
repair = 2000 + W + 1
for place in (repair - 1, repair, repair + 1, repair + 2):
    twice, again, timeouts = simulate(N, W, DELAY, [2000, place], LOW, HIGH)
    if timeouts:
        break
check("lost again: time-outs", timeouts, 1, 0)
check("lost again: RTO high", twice, once + HIGH, 0.02 * once)
last, again, timeouts = simulate(N, W, DELAY, [N], LOW, HIGH)
check("the last one: RTO low", last, base - SLOT + LOW + RTT, 0.01 * base)
check("the last one: sent again", again, 1, 0)
tail, again, timeouts = simulate(N, W, DELAY, range(N - 9, N + 1), LOW, HIGH)
# Two packets, the oldest and the newest, whose NAK begins a recovery.
check("the last ten: RTO high", tail, base - 10 * SLOT + HIGH + 2 * RTT, 0.01 * base)
# Random losses.
runs = 0
for delay in (20000, 100000, 500000):
    rtt = 2 * (delay + NEAR + SLOT + ACK)
    for p in (0.0005, 0.003, 0.01):
        for share in (0.5, 1, 3):
            random.seed(runs)
            window, n = int(share * rtt / SLOT) + 2, 12000
            lost = {i for i in range(1, 6 * n) if random.random() < p}
            low, high = rtt + 100000, 2 * rtt + 320000
            model = Irn(n, window, delay, lost, low, high, 3)
            want = model.run()
            time, again, timeouts = simulate(n, window, delay, lost, low, high)
            what = "delay %d us, loss %g, window %.1f" % (delay // 1000, p, share)
            check(what + ": time", time, want, 0.01 * want)
            check(what + ": sent again", again, model.again, max(2, 0.02 * model.again))
            runs += 1
print(runs, "runs,", bad, "bad")
sys.exit(bad != 0)
PY
python3 "$work/irn.py" "$ROCESIM" "$work" || fail "IRN does not keep to its rules"
((failures == 0))
