# SPDX-License-Identifier: Apache-2.0
"""tests/sessions/adapters.py PROGRAM SCENARIO FOLDER SEED: random workloads through adapters/network.py.

A small simulator with events of its own sends transfers, some of them when others end. They end when the
same transfers end in a run. FOLDER/workload gets the transfers that did not wait for others, for Go.
"""

import csv
import heapq
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, "examples/adapters")
from network import Network

PROGRAM, SCENARIO, FOLDER, SEED = sys.argv[1:5]
os.environ["ROCESIM"] = PROGRAM


def simulate(draw, answers, **options):
    """Runs random events; returns the transfers: source, destination, bytes, start and end in ps."""
    network = Network(SCENARIO, **options)
    events, sent = [], []

    def send(at_s):
        src, dst = draw.sample(range(16), 2)
        row = [src, dst, draw.randrange(1, 2000000), round(at_s * 1e12), None]
        sent.append(row)

        def then(end_s):
            row[4] = round(end_s * 1e12)
            if answers and draw.random() < 0.4:
                heapq.heappush(events, (end_s + draw.randrange(1, 50) * 1e-6, len(sent), draw.random()))

        network.send(src, dst, row[2], at_s, then)

    for number in range(30):
        heapq.heappush(events, (draw.randrange(3000) * 1e-6, number, 0.0))
    while True:
        while network.open and network.run_before(events[0][0] if events else float("inf")):
            pass
        if not events:
            break
        at_s = heapq.heappop(events)[0]
        for _ in range(draw.randrange(1, 4)):
            send(at_s)
    assert network.open == 0 and "transfers" in network.close()
    return sent


def run(sent):
    """Returns the ends of the same transfers in a run, in ps."""
    rows = "; ".join(f"host{src} host{dst} {size}B {at}ps" for src, dst, size, at, _ in sent)
    with open(SCENARIO, encoding="utf-8") as file:
        text = file.read()
    with open(f"{FOLDER}/list.yaml", "w", encoding="utf-8") as file:
        file.write(text + f'traffic:\n  - flows: {{list: "{rows}"}}\n')
    subprocess.run([PROGRAM, "run", f"{FOLDER}/list.yaml", "--quiet", "-o", f"{FOLDER}/list"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(f"{FOLDER}/list/flows.csv", encoding="utf-8") as file:
        ends = {int(row["flow_id"]): round(float(row["end_ns"]) * 1000) for row in csv.DictReader(file)}
    shutil.rmtree(f"{FOLDER}/list")
    return ends


for answers in (True, False):
    sent = simulate(random.Random(f"{SEED} {answers}"), answers)
    sent.sort(key=lambda row: row[3])  # as a run numbers them
    ends = run(sent)
    for number, row in enumerate(sent):
        assert abs(ends[number] - row[4]) <= 1, (number, row, ends[number])
with open(f"{FOLDER}/workload", "w", encoding="utf-8") as file:
    for src, dst, size, at_ps, end_ps in sent:
        file.write(f"{src} {dst} {size} {at_ps // 10**6} {-(-end_ps // 10**6)}\n")
# Nothing is asked of the session before the bytes can be there, and the answers stay the same.
same = simulate(random.Random(f"{SEED} {True}"), True)
bound = simulate(random.Random(f"{SEED} {True}"), True, gbps=100)
assert same == bound
