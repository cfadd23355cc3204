#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mooncake_hits.py - which blocks of a trace are hits, counted by another program.

Usage: mooncake_hits.py make FOLDER KIND...
       mooncake_hits.py count

Writes traces FOLDER/KIND.jsonl with prompts of some families. Or counts: each line of standard input is a
trace's path and then settings NAME=VALUE of scenarios/mooncake/trace.yaml, and is answered by a line: token
hits, block hits, tokens, blocks and evictions. The settings are requests, capacity_tokens, store, policy,
scheduler, prefill; others are passed over.

Written from docs/models/mooncake.md alone, with lists and dictionaries: a store is a dictionary, who
leaves is found by looking at all of it (lru: by order of use). With stores of their own, and where the
scheduler looks at queues, it keeps the conductor's book of when each node will be done.
"""
import json
import sys

BLOCK = 512
FIXED_PS, TOKEN_PS, SQUARE_PS = 80 * 10**9, 116_200_000, 714


class Store:
    def __init__(self, policy, room):
        self.policy, self.room = policy, room
        self.held = {}  # id: [uses, last use, depth]; in order of last use
        self.clock = self.evictions = 0

    def leading(self, ids):
        count = 0
        while count < len(ids) and ids[count] in self.held:
            count += 1
        return count

    def leaves(self):
        if self.policy == "lru":
            return next(iter(self.held))
        if self.policy == "lfu":
            return min(self.held, key=lambda i: (self.held[i][0], self.held[i][1]))
        return min(self.held, key=lambda i: (self.held[i][0], -self.held[i][2], self.held[i][1]))

    def insert(self, ids):
        for depth, block in enumerate(ids):
            self.clock += 1
            entry = self.held.pop(block, None)
            if entry is None:
                if self.room == 0:
                    continue
                if self.room is not None and len(self.held) == self.room:
                    del self.held[self.leaves()]
                    self.evictions += 1
                entry = [0, 0, 0]
            self.held[block] = [entry[0] + 1, self.clock, depth]


def compute_ps(tokens, cached):
    return FIXED_PS + (tokens - cached) * TOKEN_PS + (tokens * tokens - cached * cached) * SQUARE_PS


def choose(kind, stores, prompt, until, now):
    """The node of a prompt, by the rule of its scheduler; of equal ones who is idle for longest."""
    best = None
    for node in range(len(until)):
        time = max(0, until[node] - now)
        if kind != "load":
            cached = min(stores[node].leading(prompt["ids"]) * BLOCK, prompt["input"])
            time += compute_ps(prompt["input"], cached)
        best = min(best or (time, until[node], node), (time, until[node], node))
    return best[2]


def make(kind, file):
    """Writes a trace with something unusual in it."""
    import random  # slow to come in, and only needed here

    draw = random.Random(kind)
    now, size = 0, {"one": 1}.get(kind, 120)
    base = 2**64 - 10**7 if kind == "huge" else 0
    for i in range(size):
        now += draw.randrange(400) if kind != "equal" else draw.choice([0] * 9 + [3000])
        family, shared, own = draw.randrange(20), draw.randrange(20), draw.randrange(8)
        ids = [base + family * 1000 + b for b in range(shared)]
        ids += [base + 10**6 + i * 10 + b for b in range(own)]
        tokens = max(0, len(ids) * BLOCK - draw.randrange(BLOCK))
        if kind == "repeated" and ids:
            ids.insert(draw.randrange(len(ids)), draw.choice(ids))
        if kind == "short":
            tokens = max(0, tokens - draw.choice([0, 512, 5000, 100000]))
        if kind == "long":
            tokens += draw.choice([0, 513, 20000])
        if kind == "empty":
            ids = draw.choice([ids, []])
        row = {
            "timestamp": max(0, now - draw.choice([0, 0, 7000])) if kind == "falling" else now,
            "input_length": tokens,
            "output_length": 0 if kind == "silent" else draw.randrange(500),
            "hash_ids": ids,
        }
        if kind == "apart":
            row["timestamp"] = i * 3600000
        print(json.dumps(row), file=file)


def count(path, settings):
    """Returns the counts of a trace."""
    prompts, latest = [], 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                row = json.loads(line, parse_float=str)
                latest = max(latest, round(float(row["timestamp"]) * 10**9))
                prompts.append({"at": latest, "input": row["input_length"], "ids": row["hash_ids"]})
    prompts = prompts[: int(settings.get("requests", len(prompts)))]
    nodes = int(settings.get("prefill", 8))
    local = settings.get("store", "global") == "local"
    kind = settings.get("scheduler", "cache-aware")
    if kind == "random" and local and nodes > 1:
        sys.exit("a random schedule cannot be counted")
    room = settings.get("capacity_tokens", "unlimited")
    room = None if room == "unlimited" else int(room) // BLOCK // (nodes if local else 1)
    stores = [Store(settings.get("policy", "lru"), room) for _ in range(nodes if local else 1)]
    until = [0] * nodes
    token_hits = block_hits = tokens = blocks = 0
    for prompt in prompts:
        node = 0
        if local:
            node = choose(kind, stores, prompt, until, prompt["at"])
        store = stores[node % len(stores)]
        hits = store.leading(prompt["ids"])
        cached = min(hits * BLOCK, prompt["input"])
        until[node] = max(until[node], prompt["at"]) + compute_ps(prompt["input"], cached)
        token_hits += cached
        block_hits += hits
        tokens += prompt["input"]
        blocks += len(prompt["ids"])
        store.insert(prompt["ids"])
    return token_hits, block_hits, tokens, blocks, sum(s.evictions for s in stores)


def main():
    if sys.argv[1] == "make":
        for kind in sys.argv[3:]:
            with open(f"{sys.argv[2]}/{kind}.jsonl", "w", encoding="utf-8") as file:
                make(kind, file)
        return
    for line in sys.stdin:
        path, *settings = line.split()
        print(*count(path, dict(s.split("=", 1) for s in settings)), flush=True)


main()
