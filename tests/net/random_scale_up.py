# SPDX-License-Identifier: Apache-2.0
"""tests/net/random_scale_up.py PROGRAM FOLDER FIRST COUNT: runs random scale-up networks, and checks them.

Scenario number N follows from N alone. It is run on 1 and on 3 threads, and each fourth one in 2 ranks. A line
on standard output names each scenario that is wrong, and why; its file stays in FOLDER.
"""

import csv
import json
import pathlib
import random
import shutil
import subprocess
import sys

PROGRAM, FOLDER, FIRST, COUNT = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
RANKS = shutil.which("mpirun") and "with Open MPI" in subprocess.run(
    [PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
GBPS = {"nvlink": 3600, "ualink": 3200, "sue": 6400}
SCATTERS = "auto ring pat"
ALGORITHMS = {
    "all-reduce": "auto ring tree halving-doubling hierarchical nvls nvls-tree", "reduce-scatter": SCATTERS,
    "all-gather": SCATTERS, "broadcast": "auto chain", "reduce": "auto chain", "all-to-all": "auto pairwise direct",
    "barrier": "auto", "send-recv": "auto",
}


class Scenario:
    """The text of a scenario, and what is known about its result."""

    def __init__(self, number):
        draw = self.draw = random.Random(number)
        self.packets = draw.random() < 0.85
        self.gpus, self.hosts = draw.randrange(2, 15), draw.choice([1, 1, 1, 2, 3])
        protocol = draw.choice(list(GBPS))
        packet = draw.choice([16, 64, 100, 128, 256, 256] + ([1024, 4096] if protocol == "sue" else []))
        train = draw.choice([packet, 2 * packet, 4 * packet, "auto", "auto"])
        credits = 512 + draw.choice([16, 32, 512]) * packet + draw.choice([0, 1, 1024 * draw.randrange(64)])
        self.gbps = draw.choice([GBPS[protocol]] * 3 + [100, 800])
        self.delay_ns, self.memory_ns = draw.choice([1, 50, 200, 700]), draw.choice([1, 300, 300])
        up = {
            "model": "packets" if self.packets else "formula", "protocol": protocol, "rate": f"{self.gbps}Gbps",
            "switches": draw.choice([1, 2, 3, 4, 8, 18]), "packet": packet, "train": train, "credits": credits,
            "accelerators": self.gpus, "delay": f"{self.delay_ns}ns", "memory-delay": f"{self.memory_ns}ns",
            "error-rate": draw.choice([0, 0, 0.001, 0.02, 0.2]), "retry-delay": draw.choice(["auto", "0s", "1us"]),
            "loads": draw.choice(["1MiB", "4KiB"]), "reduce-rate": draw.choice(["auto", "auto", "200Gbps"]),
        }
        rows = [self.accelerators() if draw.random() < 0.5 else self.collective() for _ in range(draw.randrange(1, 3))]
        self.text = (
            f"name: random\nseed: {number}\nties: {draw.choice(['hash', 'hash', 'rotor'])}\n"
            f"topology: {{star: {{hosts: {self.hosts}, nics-per-host: {self.gpus}, rate: 400Gbps}}}}\n"
            f"scale-up: {mapping(up)}\ntraffic:\n" + "".join(f"  - {row}\n" for row in rows))
        if self.packets and draw.random() < 0.3:
            link = f"host0-gpu{draw.randrange(self.gpus)}--host0-switch{draw.randrange(up['switches'])}"
            self.text += f"faults: [{{part: {link}, kind: down, at: 1us, until: {draw.choice([2, 30])}us}}]\n"

    def accelerators(self):
        draw = self.draw
        return "accelerators: " + mapping({
            "pattern": draw.choice(["pair", "ring", "incast", "scatter", "all-to-all", "permutation"]),
            "operation": draw.choice(["store", "store", "load"]), "bytes": int(2 ** (draw.random() * 17)),
            "messages": draw.randrange(1, 7), "outstanding": draw.choice([1, 2, 1024])})

    def collective(self):
        draw = self.draw
        kind = draw.choice(list(ALGORITHMS))
        return "collective: " + mapping({
            "kind": kind, "algorithm": draw.choice(ALGORITHMS[kind].split()), "bytes": int(2 ** (draw.random() * 20)),
            "channels": draw.choice(["auto", 1, 3]), "repeat": draw.choice([1, 1, 2]),
            "protocol": draw.choice(["auto", "plain", "simple", "ll"])})


def mapping(values):
    return "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"


def link_errors(folder):
    """Yields what the two ends of a link between accelerators and switches count differently."""
    sums = {}
    with open(folder / "ports.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if "-gpu" not in row["port"]:
                continue
            name, _, number = row["port"].partition("#")
            one, other = name.split("->")
            for what, key in (("tx", (one, other, number)), ("rx", (other, one, number))):
                sums.setdefault(key, {})[what] = row[what + "_packets"], row[what + "_bytes"]
            if row["discards"] != "0":
                yield row["port"] + " discards packets"
    if not sums:
        yield "no port of an accelerator"
    for key, both in sums.items():
        if both.get("tx") != both.get("rx"):
            yield f"{key}: {both}"


def least_share(kind, ranks):
    """Returns which share of its buffer the busiest accelerator of a collective sends or receives at least."""
    if kind in ("all-gather", "reduce-scatter", "all-to-all"):
        return (ranks - 1) / ranks
    return 0 if kind == "barrier" else 1


def app_errors(app, scenario):
    """Yields how the result of an application is wrong: not all of it, or faster than its bytes can be."""
    if app["transfers_done"] != app["transfers_planned"]:
        yield f"{app['transfers_done']} of {app['transfers_planned']} transfers"
    bytes_per_us = scenario.gbps * 125 if scenario.packets else 3600 * 125
    if app["kind"] == "accelerators":
        sent, received = ([row[name] for row in app["shares"]] for name in ("sent_bytes", "received_bytes"))
        if sum(sent) != app["bytes"] or sum(received) != app["bytes"]:
            yield f"{app['bytes']} bytes, {sum(sent)} sent, {sum(received)} received"
        latency_us = 2 * (scenario.delay_ns + scenario.memory_ns) / 1000 if scenario.packets else 0
        # By formula a message takes one link: the sender's of a store, and of a load that of whom it asks.
        most = max(sent + received) if scenario.packets else min(max(sent), max(received))
        least_us = most / bytes_per_us + latency_us
        if app["time_us"] < least_us * (1 - 1e-9):
            yield f"{app['time_us']} us, in less than {least_us} us"
    for done in app.get("collectives", []):
        least_us = done["bytes"] * least_share(done["kind"], done["ranks"]) / bytes_per_us if scenario.hosts == 1 else 0
        if done["mean_us"] < max(least_us, done["bound_us"] or 0) * (1 - 1e-9):
            yield f"{done['kind']} in {done['mean_us']} us, bound {done['bound_us']} us, own bound {least_us} us"
        if app["messages_failed"] or app["operations_finished"] != app["operations"]:
            yield f"{app['operations_finished']} of {app['operations']} operations"


def errors(number, scenario, file):
    digests = set()
    ranks = [["--ranks", "2"]] if RANKS and number % 4 == 0 else []
    for options in [["--threads", "1"], ["--threads", "3"]] + ranks:
        out = FOLDER / "out"
        command = [PROGRAM, "run", file, "-o", out, "--quiet"] + options
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            yield f"no end in 60 s with {options}"
            return
        if done.returncode != 0:
            yield f"status {done.returncode}: {done.stderr[-300:]}"
            return
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        digests.add(summary["digest"])
        if summary["ended"] != "done":
            yield "ended: " + summary["ended"]
        if scenario.packets:
            yield from link_errors(out)
        for app in summary["apps"]:
            yield from app_errors(app, scenario)
    if len(digests) != 1:
        yield f"digests {digests}"


def main():
    failed = 0
    for number in range(FIRST, FIRST + COUNT):
        scenario = Scenario(number)
        file = FOLDER / f"scale-up-{number}.yaml"
        file.write_text(scenario.text, encoding="utf-8")
        wrong = list(errors(number, scenario, file))
        if wrong:
            failed += 1
            print(f"scenario {number}: {'; '.join(wrong[:3])}\n{scenario.text}", flush=True)
        else:
            file.unlink()
    sys.exit(failed > 0)


main()
