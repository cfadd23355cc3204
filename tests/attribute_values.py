#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/attribute_values.py PROGRAM [SHARE] - runs each attribute at its ends, 0 and values in between.

Every attribute of `rocesim params --json` gets its minimum, maximum, 0 and two values drawn at random on a
logarithmic scale, on a small scenario where it acts. Each run has a limit of memory and of processor time.
It must give results or a message: no abort, no lack of memory, no hang, no NaN. SHARE n takes every n-th
attribute. ATTRIBUTE=path takes those that begin with it; VERBOSE=1 prints every run."""
import json
import math
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

MEMORY = 6 << 30  # address space of a run, which may reserve more than it uses
CPU_S = 60
UNITS = {
    "time": (1e-12, [("ps", 1), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)]),
    "bytes": (1, [("KiB", 1024), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("KB", 1e3),
                  ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1)]),
    "rate": (1, [("Kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12), ("bps", 1)]),
}
SUFFIX = {"time": "ps", "bytes": "", "rate": "bps", "count": ""}

STAR = "topology: {star: {hosts: 4, rate: 100Gbps, delay: 300ns}}\nuntil: 100us\n"
INCAST = "traffic: [{incast: {to: host0, senders: 3, bytes: 30KB}}]\n"
MACHINES = 'clients-on: "host[1-3]", server: host0, warm-up: 5us, measure: 20us'
RATE = 'from: "host[1-2]", to: host0, warm-up: 5us, measure: 20us'
CONTEXTS = "traffic: [{contexts: {tokens: 300, operations: 1000, warm-up: 100}}]\n"
TRACE = "traffic: [{mooncake-trace: {trace: %s/scenarios/mooncake/small.jsonl, kv-bytes-per-token: 64," \
        " requests: 20, prefill: 2, decode: 1}}]\n" % os.getcwd()
TRAFFIC = {
    "flows": "flows: {list: [host1 host0 20KB 0us, host2 host0 9KB 1us]}",
    "poisson": "poisson: {load: 0.5, sizes: websearch, stop: 20us}",
    "incast": "incast: {to: host0, senders: 3, bytes: 30KB}",
    "bulk": "bulk: {from: host0, to: host1}",
    "permutation": "permutation: {bytes: 30KB}",
    "all-to-all": "all-to-all: {bytes: 10KB}",
    "perftest": "perftest: {test: ib_write_bw, size: 9000, iterations: 30}",
    "verbs-rate": "verbs-rate: {verb: write, %s, window: 8}" % RATE,
    "all-to-all-reads": 'all-to-all-reads: {hosts: "*", threads-per-machine: 2, warm-up: 5us, measure: 20us}',
    "sequencer": "sequencer: {%s}" % MACHINES,
    "herd": "herd: {system: herd, workers: 2, clients: 4, keys: 1000, %s}" % MACHINES,
    "drtm-kv": "drtm-kv: {clients: 4, items: 1000, %s}" % MACHINES,
    "collective": "collective: {ranks: 4, bytes: 20KB}",
    "training": "training: {model: gpt-7b, layers: 1, tp: 2, dp: 2, microbatches: 1, sequence: 64}",
    "kv-matrix": "kv-matrix: {requests: 1, node-gpus: 2, prefill-tp: 2, decode-tp: 2, input-mean: 1,"
                 " input-scale: 0, input-min: 1, model: llama-8b, tflops: 1000000}",
    "serving": "serving: {requests: 3, rate: 1000, prompt-tokens: 20, output-tokens: 3, start: 1us}",
    "session": "session: {}",
    "accelerators": "accelerators: {bytes: 20KB, messages: 3}",
    "contexts": "contexts: {tokens: 300, operations: 1000, warm-up: 100}",
    "mooncake-bench": "mooncake-bench: {from: host0, to: host1, metadata: {host: host2}, threads: 2,"
                      " batch: 4, duration: 100us}",
}
OTHERS = ("programs", "simbricks")  # they start other programs, and have tests of their own
HOSTS8 = "topology: {star: {hosts: 8, rate: 100Gbps, delay: 300ns}}\nuntil: 100us\n"
WORKLOAD = "traffic: [{workload: {file: %s/scenarios/training/ring8.goal}}]\n" % os.getcwd()
TOPOLOGY = {
    "wan": "wan: {}",
    "fat-tree": "fat-tree: {k: 4}",
    "file": "file: {path: %s/tests/golden/hpcc/topology.txt}" % os.getcwd(),
}
CC = ("dcqcn", "timely", "timely-patched", "dctcp", "hpcc", "hpcc-pint", "dcqcn-hpcc", "dctcp-hpcc",
      "timely-hpcc")


def scenario(path):
    """Returns a scenario in which the attribute acts, and what --set calls it."""
    word = path.split(".")
    loss = "link: {loss-rate: 0.01}\n"
    if word[0] == "traffic":
        if word[1] == "mooncake-trace":
            return STAR + TRACE, "traffic[0]" + path[len("traffic"):]
        if word[1] == "workload":
            more = {"latency": "network-model: ideal", "byte-gap": "network-model: ideal",
                    "ties": "network-model: ideal", "send-window": "send-order: in-order"}.get(word[2])
            text = WORKLOAD.replace("}}]", ", %s}}]" % more) if more else WORKLOAD
            return HOSTS8 + text, "traffic[0]" + path[len("traffic"):]
        if word[1] not in TRAFFIC:
            return None, path
        detailed = {"contexts": "nic: {model: detailed}\n",
                    "accelerators": "scale-up: {model: packets, accelerators: 4}\n"}.get(word[1], "")
        traffic = "traffic: [{%s}]\n" % TRAFFIC[word[1]]
        return STAR + detailed + traffic, "traffic[0]" + path[len("traffic"):]
    if word[0] == "topology":
        text = TOPOLOGY.get(word[1], word[1] + ": {}")
        return "topology: {%s}\nuntil: 20us\ntraffic: [{permutation: {bytes: 5KB}}]\n" % text, path
    if word[0] == "nic" and len(word) > 2:
        if word[1] in ("adamap", "irn", "sdr"):
            return STAR + loss + "nic: {transport: %s}\n" % word[1] + INCAST, path
        if word[1] == "mrc":
            mrc = "nic: {transport: mrc, priority: 1, ack-priority: 6}\n"
            return STAR + "switch: {mmu: trimming}\n" + loss + mrc + INCAST, path
        if word[1] in ("uec", "nscc"):
            uec = "nic: {transport: uec-rud, priority: 1, ack-priority: 6}\n"
            return STAR + "switch: {mmu: trimming}\n" + loss + uec + INCAST, path
        if word[1] in CC:
            return STAR + "nic: {congestion-control: %s}\n" % word[1] + INCAST, path
        if word[1] == "scan":
            return STAR + "nic: {scheduler: scan}\n" + INCAST, path
        if word[1] == "bare":
            return STAR + "nic: {frames: bare}\n" + INCAST, path
        if word[1] == "cache":
            return STAR + "nic: {model: detailed, cache: {policy: hybrid}}\n" + CONTEXTS, path
        return STAR + "nic: {model: detailed}\n" + INCAST, path
    if word[0] == "faults":
        kind = {"rate": "degraded", "bit-error-rate": "bit-errors", "loss-rate": "bit-errors",
                "priorities": "pause-storm", "every": "down, until: 10us, every: 20us, times: 3",
                "times": "down, until: 10us, every: 20us"}.get(word[1], "down")
        return STAR + INCAST + "faults: [{part: host1, kind: %s}]\n" % kind, "faults[0]." + word[1]
    if word[0] == "observe":
        series = 'observe: [{series: "port[*->*].queue_bytes", every: 1us}]\n'
        return STAR + INCAST + series, "observe[0]." + word[1]
    if word[0] == "captures":
        return STAR + INCAST + 'captures: [{ports: "*->*"}]\n', "captures[0]." + word[1]
    if word[0] == "links":
        times = {"at": "5us", "until": "10us"}
        return STAR + INCAST, ("links", word[2], times)
    if word[0] == "link" and word[1] not in ("rate", "delay"):
        return STAR + loss + INCAST, path
    if word[0] == "hpcc":
        rules = "switch: {mmu: hpcc}\nties: insertion\nnetwork: {load-balancer: hpcc}\n"
        return STAR + rules + INCAST, path
    return STAR + INCAST, path


def number(text, kind):
    """Returns a value of an attribute as a number of ps, bytes, bps or ones."""
    if kind == "ratio":
        if "/" in text:
            top, bottom = text.split("/")
            return float(top) / float(bottom)
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    for suffix, one in UNITS.get(kind, (1, []))[1]:
        if text.endswith(suffix) and re.fullmatch(r"[0-9.e+]+", text[:-len(suffix)]):
            return int(round(float(text[:-len(suffix)]) * one))
    return int(float(text))


def values(row):
    """Returns the texts to try for an attribute."""
    kind = row["type"]
    if kind == "bool":
        return ["true", "false"]
    if "choices" in row:
        return row["choices"]
    if kind not in ("count", "time", "bytes", "rate", "ratio"):
        return ["x", "0", "[0]"]
    draw = random.Random(row["path"])
    least = row.get("min", "0" if kind != "rate" else "1bps")
    most = row.get("max", {"count": "18446744073709551615", "ratio": "1", "time": "9223372s",
                           "bytes": "18446744073709551615", "rate": "18446744073709551615bps"}[kind])
    texts = [least, most, "0" + SUFFIX.get(kind, "")]
    try:
        low, high = number(least, kind), number(most, kind)
    except ValueError:
        return texts
    if kind == "ratio":
        low = max(low, 1e-9)
        ends = math.log(low), math.log(max(high, low))
        return texts + ["%.9f" % math.exp(draw.uniform(*ends)) for _ in range(2)]
    low, high = max(low, 1), max(high, 1)
    for _ in range(2):
        drawn = int(math.exp(draw.uniform(math.log(low), math.log(high))))
        texts.append("%d%s" % (min(max(drawn, low), high), SUFFIX[kind]))
    return texts


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, work, text, options):
    """Runs a scenario under the limits."""
    with open(work + "/s.yaml", "w", encoding="utf-8") as file:
        file.write(text)
    return subprocess.run([program, "run", "s.yaml", "--quiet"] + options, cwd=work, text=True, check=False,
                          errors="replace", capture_output=True, preexec_fn=limit)


NOT_A_NUMBER = re.compile(r"(?<![A-Za-z0-9_.\-/])[-+]?(nan|inf)(?![A-Za-z0-9_.\-/])", re.I)


def judge(status, out, err):
    """Returns what is wrong with a run; None: nothing."""
    if status < 0:
        return "ended by signal %d" % -status
    if "check failed" in err or "assert" in err.lower() and status == 134:
        return "aborted"
    if "out of memory" in err or "cannot allocate" in err.lower():
        return "out of memory"
    if status == 2 and not re.search(r"expected|did you mean|unknown|cannot|needs", err):
        return "refused without saying what is expected"
    if status not in (0, 1, 2) or (status == 1 and not re.search("stalled|memory-max", err + out)):
        return "exit status %d" % status
    found = NOT_A_NUMBER.search(out)
    return "prints " + found.group(0) if found and status != 2 else None


class Tally:
    """Runs and counts."""

    def __init__(self, program):
        self.program = program
        self.runs = self.failed = self.results = 0
        self.tried = set()

    def attribute(self, work, row, text, name):
        """Tries all values of an attribute on a scenario, which must itself give results."""
        if text not in self.tried:
            self.tried.add(text)
            done = run(self.program, work, text, [])
            if done.returncode != 0:
                self.failed += 1
                print("FAIL: the scenario for %s: %s" % (row["path"], done.stderr[:300]), flush=True)
        for value in dict.fromkeys(values(row)):
            body = text
            options = ["--set", "memory-max=1GB", "--set", "time-max=60s"]
            if isinstance(name, tuple):
                at = dict(name[2], **{name[1]: value})
                body += "links: {switch0--host1: {down: [{at: %s, until: %s}]}}\n" % (at["at"], at["until"])
            else:
                options += ["--set", "%s=%s" % (name, value)]
            self.judge(row["path"], value, run(self.program, work, body, options))

    def judge(self, path, value, done):
        """Counts a run, and tells what is wrong with it."""
        self.runs += 1
        self.results += done.returncode == 0
        wrong = judge(done.returncode, done.stdout, done.stderr)
        if os.environ.get("VERBOSE"):
            print(path, value, done.returncode, done.stderr[:150].replace("\n", " | "))
        if wrong:
            self.failed += 1
            last = done.stderr.strip().splitlines()
            about = ": " + last[0][:200] if last else ""
            print("FAIL: %s=%s: %s%s" % (path, value, wrong, about), flush=True)
            print("rerun: ATTRIBUTE=%s tests/attribute_values.py %s" % (path, self.program))


def main():
    program = os.path.abspath(sys.argv[1])
    share = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    wanted = os.environ.get("ATTRIBUTE", "")
    rows = json.loads(subprocess.check_output([program, "params", "--json"]))
    tally = Tally(program)
    with tempfile.TemporaryDirectory() as work:
        for index, row in enumerate(rows):
            if index % share != 0 or not row["path"].startswith(wanted):
                continue
            if row["path"].startswith("traffic.") and row["path"].split(".")[1] in OTHERS:
                continue
            text, name = scenario(row["path"])
            if text is None:
                print("FAIL: no scenario for %s, expected one in TRAFFIC" % row["path"])
                tally.failed += share == 1  # a new application does not end a short run
                continue
            texts = [text]
            if share == 1 and row["path"].startswith("traffic.") and "nic:" not in text:
                texts.append(text + "nic: {model: detailed}\n")
            for text in texts:
                tally.attribute(work, row, text, name)
    print("%d runs, %d with results, %d failed" % (tally.runs, tally.results, tally.failed))
    return tally.failed != 0 or tally.results * 3 < tally.runs


sys.exit(main())
