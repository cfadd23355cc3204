# SPDX-License-Identifier: Apache-2.0
"""tests/sessions/client.py PROGRAM SCENARIO FOLDER SEED [STEPS]: a random client of a session.

It submits, advances, waits for completions, estimates, cancels, marks and comes back. Then it runs
the transfers that remain as a list in a scenario, and compares the times of all of them.
"""

import csv
import os
import random
import subprocess
import sys

if os.environ.get("BINDING") == "library":
    from rocesim.native import Session, SessionError
else:
    from rocesim import Session, SessionError

PROGRAM, SCENARIO, FOLDER, SEED = sys.argv[1:5]
STEPS = int(sys.argv[5]) if len(sys.argv) > 5 else 40
HOSTS = 16
draw = random.Random(int(SEED))


class Client:
    def __init__(self, session):
        self.session = session
        self.now = 0
        self.flows = {}
        self.ends = {}
        self.cancelled = set()

    def submit(self, keeps=True):
        src, dst = draw.sample(range(HOSTS), 2)
        at = self.now + draw.choice([0, 0, draw.randrange(10**8)])
        size = draw.choice([1, 100, 4096, 100000, 500000])
        number = self.session.submit(src, dst, size, at=at, tag=src * 100 + dst + 1)
        if keeps:
            self.flows[number] = (src, dst, size, at)

    def take(self, completions, keeps=True):
        last = 0
        for at in completions:
            assert at["end_ps"] >= last, "completions are not in order"
            last = at["end_ps"]
            assert at["outcome"] in ("done", "cancelled"), at
            if keeps and at["outcome"] == "done":
                src, dst = self.flows[at["transfer"]][:2]
                assert at["tag"] == src * 100 + dst + 1, at
                assert at["transfer"] not in self.ends, "a transfer ends twice"
                self.ends[at["transfer"]] = (at["start_ps"], at["end_ps"])

    def advance(self, keeps=True):
        until = self.now + draw.randrange(5 * 10**7)
        self.take(self.session.advance(until), keeps)
        self.now = until

    def excursion(self):
        """Does what must leave no trace."""
        before = self.now
        self.session.mark()
        for _ in range(3):
            for _ in range(draw.randrange(5)):
                self.submit(False)
            self.advance(False)
        self.session.back()
        self.now = before
        assert self.session.now() == before

    def cancel_one(self):
        """Cancels a transfer that has not begun."""
        later = [n for n in self.flows if self.flows[n][3] > self.now]
        if later:
            number = draw.choice(later)
            self.session.cancel(number)
            del self.flows[number]

    def go(self):
        for _ in range(STEPS):
            for _ in range(draw.randrange(8)):
                self.submit()
            kind = draw.randrange(6)
            if kind == 0:
                self.excursion()
            elif kind == 1:
                slack = draw.choice([0, 0, 10**3, 10**6])
                self.take(self.session.next_completion(slack_ps=slack))
                self.now = self.session.now()
                for _ in range(draw.randrange(4)):  # answers that the session knows already
                    self.take(self.session.next_completion(self.now + 10**7))
                    self.now = self.session.now()
            elif kind == 2:
                took = self.session.estimate(0, 5, 100000)
                assert took > 8000000, took
            elif kind == 3:
                self.cancel_one()
            else:
                self.advance()
        self.take(self.session.advance(self.now + 10**12))


with Session(SCENARIO, program=PROGRAM, folder=f"{FOLDER}/session") as session:
    client = Client(session)
    client.go()
    assert len(client.ends) == len(client.flows), (len(client.ends), len(client.flows))
    summary = session.finish()
    kinds = [warning["kind"] for warning in summary["warnings"]]
    assert "no-transfer" not in kinds, "transfers of a session are not planned, and none is missed"
    try:
        session.mark()
        raise AssertionError("a session goes on after its end")
    except SessionError:
        pass

order = sorted(client.flows, key=lambda number: (client.flows[number][3], number))
rows = []
for number in order:
    src, dst, size, at = client.flows[number]
    rows.append(f"host{src} host{dst} {size}B {at}ps")
with open(SCENARIO, encoding="utf-8") as file:
    text = file.read()
with open(f"{FOLDER}/list.yaml", "w", encoding="utf-8") as file:
    file.write(text + 'traffic:\n  - flows: {list: "' + "; ".join(rows) + '"}\n')
subprocess.run(
    [PROGRAM, "run", f"{FOLDER}/list.yaml", "--quiet", "-o", f"{FOLDER}/list"],
    check=True,
    stdout=subprocess.DEVNULL,
)


# A session and a list of flows number their flows and queue pairs each in their own way.
OWN = ("app", "flow_id", "src_qp", "dst_qp")


def read(name):
    with open(f"{FOLDER}/{name}/flows.csv", encoding="utf-8") as file:
        return [{k: v for k, v in row.items() if k not in OWN} for row in csv.DictReader(file)]


listed = read("list")
in_session = [row for row in read("session") if row["status"] == "success"]
assert len(listed) == len(order)
for number, row, own in zip(order, listed, in_session):
    start_ps, end_ps = client.ends[number]
    assert round(float(row["start_ns"]) * 1000) == start_ps, (number, row, start_ps)
    assert round(float(row["end_ns"]) * 1000) == end_ps, (number, row, end_ps)
    assert row == own, (row, own)
assert summary["apps"][0]["completed"] == len(order)
print(len(order), "transfers are equal")
