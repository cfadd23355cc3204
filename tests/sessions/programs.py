# SPDX-License-Identifier: Apache-2.0
"""tests/sessions/programs.py PROGRAM SCENARIO GOAL FOLDER SEED: collectives and workloads of a session.

A random client submits them, with marks, estimates, refusals and cancels between. The run of a
scenario that lists what remains must have the same digest and the same times.
"""

import csv
import json
import random
import subprocess
import sys

from rocesim import Session, SessionError

PROGRAM, SCENARIO, GOAL, FOLDER, SEED = sys.argv[1:6]
draw = random.Random(int(SEED))
SETTINGS = ["outputs.operations-max=1000000"]
kept = {}
ends = {}


def describe():
    """Returns a program: its kind and attributes."""
    if draw.randrange(4) == 0:
        return "workload", {"file": GOAL, "hosts": "host[%d-%d]" % draw.choice([(0, 7), (4, 11)])}
    first = draw.randrange(8)
    return "collective", {
        "kind": draw.choice(["all-reduce", "all-gather", "all-to-all", "broadcast", "send-recv"]),
        "bytes": draw.choice(["64KiB", 100000, "1MiB"]),
        "ranks": draw.choice([2, 4, 8]),
        "hosts": f"host[{first}-{first + 7}]",
        "protocol": draw.choice(["auto", "plain", "simple"]),
    }


def submit(session, now):
    kind, attributes = describe()
    at = now + draw.choice([0, draw.randrange(10**8)])
    per_rank = draw.random() < 0.5
    number = session.submit_program(kind, attributes, at=at, per_rank=per_rank, tag=[kind, at])
    return number, (kind, attributes, at, per_rank)


def take(completions):
    for at in completions:
        kind, attributes, start, per_rank = kept[at["transfer"]]
        assert at["outcome"] == "done" and at["tag"] == [kind, start] and at["start_ps"] == start, at
        if "rank" in at:
            assert per_rank and (at["transfer"], at["rank"]) not in ends, at
            ends[at["transfer"], at["rank"]] = at["end_ps"]
        else:
            assert at["transfer"] not in ends, "a program ends twice"
            ends[at["transfer"]] = at["end_ps"]


def go(session):
    now = 0
    for _ in range(8):
        for _ in range(draw.randrange(3)):
            number, program = submit(session, now)
            kept[number] = program
        kind = draw.randrange(5)
        if kind == 0:
            session.mark()
            submit(session, now)
            session.advance(now + 10**8)
            session.back()
        elif kind == 1:
            took = session.estimate_program("collective", {"bytes": "64KiB", "ranks": 4})
            assert took > 10**7, took
            try:
                session.submit_program("collective", {"algorithm-file": "none"}, at=now)
                raise AssertionError("a program that cannot run is not refused")
            except SessionError as error:
                assert "none: cannot open" in str(error), error
        elif kind == 2:
            session.mark()
            number, _ = submit(session, now + 1)
            session.cancel(number)
            outcomes = {at["transfer"]: at["outcome"] for at in session.advance(now + 10**9)}
            assert outcomes[number] == "cancelled", outcomes
            session.back()
        elif kind == 3:
            take(session.next_completion())
            now = session.now()
        else:
            now += draw.randrange(10**8)
            take(session.advance(now))
    take(session.advance(now + 10**11))


def cancel_while_it_runs():
    """What runs stops at once, and the session goes on."""
    with Session(SCENARIO, program=PROGRAM) as session:
        one = session.submit_program("collective", {"bytes": "100MB", "ranks": 8})
        two = session.submit_program("workload", {"file": GOAL, "hosts": "host[8-15]"})
        session.advance(10**7)
        session.cancel(one)
        session.cancel(two)
        outcomes = {at["transfer"]: at["outcome"] for at in session.advance(10**9)}
        assert outcomes == {one: "cancelled", two: "cancelled"}, outcomes
        three = session.submit_program("collective", {"ranks": 8})
        answer = session.call("next_completion")
        assert [at["transfer"] for at in answer["completions"]] == [three], answer
        assert session.finish()["ended"] == "done"


def queue_pairs_end():
    """A session of many collectives keeps the queue pairs of the last ones only."""
    with open(f"{FOLDER}/many.yaml", "w", encoding="utf-8") as file:
        file.write("topology: {star: {hosts: 2}}\nobserve: [{series: 'nic[host0].qps_live', every: 1ms}]\n")
    calls = []
    for number in range(300):
        calls.append({"call": "submit", "collective": {"bytes": 1000, "channels": 1}})
        calls.append({"call": "advance", "until_ps": (number + 1) * 10**9})
    calls.append({"call": "finish"})
    said = subprocess.run(
        [PROGRAM, "serve", f"{FOLDER}/many.yaml", "-o", f"{FOLDER}/many"],
        input="\n".join(json.dumps(at) for at in calls).encode(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.splitlines()
    took = set()
    for line in said[1:600:2]:
        (at,) = json.loads(line)["completions"]
        took.add(at["end_ps"] - at["start_ps"])
    assert len(took) == 1, took
    with open(f"{FOLDER}/many/series.csv", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file)]
    live = [int(row[-1]) for row in rows[1:]]
    assert max(live) == live[-1] and 256 <= live[-1] // 2 < 270, (max(live), live[-1])


with Session(SCENARIO, program=PROGRAM, folder=f"{FOLDER}/session", settings=SETTINGS) as session:
    go(session)
    assert sum(1 for key in ends if isinstance(key, int)) == len(kept), (ends, kept)
    summary = session.finish()
cancel_while_it_runs()
if SEED == "1":
    queue_pairs_end()

with open(SCENARIO, encoding="utf-8") as file:
    text = file.read() + "traffic:\n"
numbers = list(kept)
for kind, attributes, at, _ in kept.values():
    text += "- " + json.dumps({kind: {**attributes, "start": f"{at}ps"}}) + "\n"
with open(f"{FOLDER}/list.yaml", "w", encoding="utf-8") as file:
    file.write(text)
command = [PROGRAM, "run", f"{FOLDER}/list.yaml", "--quiet", "-o", f"{FOLDER}/list", "--set", SETTINGS[0]]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
with open(f"{FOLDER}/list/summary.json", encoding="utf-8") as file:
    listed = json.load(file)
with open(f"{FOLDER}/list/operations.csv", encoding="utf-8") as file:
    last = {}
    for row in csv.DictReader(file):
        if row["kind"] == "send":
            continue  # it has finished when the NIC has it, and ends when it is acknowledged
        key = (numbers[int(row["app"])], int(row["rank"]))
        last[key] = max(last.get(key, 0), round(float(row["end_ns"]) * 1000))
for key, end_ps in ends.items():
    if isinstance(key, tuple):
        assert last[key] == end_ps, (key, last[key], end_ps, kept[key[0]])
    else:
        assert max(v for k, v in last.items() if k[0] == key) == end_ps, (key, end_ps)
assert summary["digest"] == listed["digest"], (summary["digest"], listed["digest"])
print(len(kept), "programs are equal")
