#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where does the choice of the network change TTFT? (docs/adapters.md)

One trace of requests on prefill and decode hosts: a request waits for its prefill host, computes, and its
KV cache crosses the network to a decode host, where the first token follows. The network is bytes over
rate, a fair share of the NICs at both ends, or packets: on rails, by ECMP, or sprayed by MRC.
"""

import argparse
import heapq
import os
import random

from network import Network

HERE = os.path.dirname(os.path.abspath(__file__))
TOKEN_BYTES = 327680  # of a KV cache: 80 layers, 8 heads of 128 in fp16, keys and values
TOKENS_PER_S = 20000  # of a prefill host
CASES = ((8, 8, 400), (12, 4, 400), (12, 4, 200), (8, 8, 100), (12, 4, 160))  # prefill, decode, Gbps


class Fluid:
    """Transfers that share the NICs of their ends; alone: each as if the others were not there."""

    def __init__(self, alone, gbps):
        self.alone = alone
        self.rate = gbps * 1e9 / 8
        self.flows = []  # [source, destination, bytes left, what to call]
        self.now_s = 0.0

    @property
    def open(self):
        return len(self.flows)

    def send(self, src, dst, size, at_s, then):
        self._pass(at_s)
        self.flows.append([src, dst, size, then])

    def _rates(self):
        if self.alone:
            return [self.rate] * len(self.flows)
        out, into = {}, {}
        for src, dst, _, _ in self.flows:
            out[src] = out.get(src, 0) + 1
            into[dst] = into.get(dst, 0) + 1
        return [self.rate / max(out[src], into[dst]) for src, dst, _, _ in self.flows]

    def _pass(self, until_s):
        for flow, rate in zip(self.flows, self._rates()):
            flow[2] -= rate * (until_s - self.now_s)
        self.now_s = until_s

    def run_before(self, time_s=float("inf")):
        ends = [flow[2] / rate for flow, rate in zip(self.flows, self._rates())]
        first = min(ends)
        if self.now_s + first >= time_s:
            self._pass(time_s)
            return False
        number = ends.index(first)
        self._pass(self.now_s + first)
        self.flows.pop(number)[3](self.now_s)
        return True


def trace(seed, count, per_s):
    """Returns the requests: arrival in seconds and tokens."""
    draw = random.Random(seed)
    at_s, requests = 0.0, []
    for _ in range(count):
        at_s += draw.expovariate(per_s)
        requests.append((at_s, min(8000, max(100, round(draw.lognormvariate(7.2, 0.8))))))
    return requests


def simulate(requests, network, prefills, decodes):
    """Returns TTFT of all requests, in seconds, in order."""
    events = [(at_s, number, False) for number, (at_s, _) in enumerate(requests)]
    heapq.heapify(events)
    free_s = [0.0] * prefills
    ttft_s = [0.0] * len(requests)
    while True:
        while network.open and network.run_before(events[0][0] if events else float("inf")):
            pass
        if not events:
            return ttft_s
        now_s, number, computed = heapq.heappop(events)
        at_s, tokens = requests[number]
        host = number % prefills
        if not computed:
            free_s[host] = max(now_s, free_s[host]) + tokens / TOKENS_PER_S
            heapq.heappush(events, (free_s[host], number, True))
            continue

        def then(end_s, number=number, at_s=at_s):
            ttft_s[number] = end_s - at_s

        network.send(host, prefills + number % decodes, tokens * TOKEN_BYTES, now_s, then)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=150)
    parser.add_argument("--load", type=float, default=0.6, help="share of the time in which prefill hosts compute")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    fabrics = {"rails": ["fabric=star"], "ECMP": ["fabric=ecmp"], "MRC": ["fabric=ecmp", "transport=mrc"]}
    mean_tokens = sum(tokens for _, tokens in trace(arguments.seed, arguments.requests, 1)) / arguments.requests
    print("prefill decode Gbps  load network      TTFT p50      p99   mean transfer")
    for prefills, decodes, gbps in CASES:
        per_s = arguments.load * prefills * TOKENS_PER_S / mean_tokens
        requests = trace(arguments.seed, arguments.requests, per_s)
        load = per_s * mean_tokens * TOKEN_BYTES * 8 / (decodes * gbps * 1e9)  # of the decode hosts' links
        networks = {"bytes/rate": Fluid(True, gbps), "fair share": Fluid(False, gbps)}
        for name, settings in fabrics.items():
            networks[name] = Network(f"{HERE}/fabric.yaml", [*settings, f"gbps={gbps}"], arguments.scale, gbps)
        alone_s = simulate(requests, Fluid(True, gbps), prefills, decodes)
        for name, network in networks.items():
            ttft_s = simulate(requests, network, prefills, decodes)
            later_s = sum(ttft - other for ttft, other in zip(ttft_s, alone_s)) / len(ttft_s)
            mean_s = later_s + mean_tokens * TOKEN_BYTES * 8 / gbps / 1e9
            ordered = sorted(ttft_s)
            p50, p99 = (1e3 * ordered[int(q * (len(ordered) - 1))] for q in (0.5, 0.99))
            print(f"{prefills:7} {decodes:6} {gbps:4} {load:5.0%} {name:10} {p50:8.1f} ms {p99:8.1f} "
                  f"{1e3 * mean_s:12.2f} ms", flush=True)
            if isinstance(network, Network):
                network.close()


if __name__ == "__main__":
    main()
