#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SplitwiseSim on a network of rocesim (README.md).

    cd splitwise-sim; FABRIC=fabric.yaml python .../splitwise_on_rocesim.py OPTIONS OF run.py

KV caches cross the network of the scenario FABRIC, from the server of the prompt to that of the tokens.
Server n is host n, in the order of their numbers. SplitwiseSim itself is imported and not changed.
"""

import heapq
import os
import runpy
import sys

sys.path.insert(0, os.getcwd())  # the folder of SplitwiseSim
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import interconnect
import simulator

from network import Network

network = None
hosts = {}  # by server_id: number of its host


def host_of(instance):
    """Returns the host of the server on which an instance has its first processor."""
    server = instance.processors[0].server.server_id
    return hosts.setdefault(server, len(hosts))


def bytes_of(flow):
    """Returns the bytes that are left when the prompt has ended: schedulers that overlap say 10 %."""
    overlaps = type(flow.executor.scheduler).__name__.startswith("Overlap")
    return flow.size * (0.1 if overlaps else 1)


def run_flow(link, flow):
    """In place of Link.run_flow of the KV cache's link: the flow ends when the network says so."""
    flow.run()
    link.pending_queue.remove(flow)
    link.executing_queue.append(flow)
    begin = simulator.clock()

    def then(end_s):
        flow.duration = end_s - begin
        event = simulator.Event(end_s, lambda: link.flow_completion(flow))
        heapq.heappush(simulator.sim.events, event)

    source, destination = host_of(flow.src), host_of(flow.dest)
    if source == destination:
        then(begin + flow.size / link.bandwidth)
    else:
        network.send(source, destination, bytes_of(flow), begin, then)


class Events(list):
    """SplitwiseSim's queue of events. Before it is asked for the next one, the network runs up to it."""

    def __bool__(self):
        while network.open and network.run_before(self[0].time if len(self) else float("inf")):
            pass
        return len(self) > 0


def main():
    global network
    network = Network.from_environment()
    interconnect.DummyLink.run_flow = run_flow
    begin = simulator.Simulator.run

    def run(self):
        servers = [server for kind in self.cluster.servers.values() for server in kind]
        for server in sorted(servers, key=lambda at: at.server_id):
            hosts.setdefault(server.server_id, len(hosts))
        if len(hosts) > network.hosts:
            sys.exit(f"the fabric has {network.hosts} hosts for {len(hosts)} servers")
        self.events = Events(self.events)
        begin(self)
        print(network.close(), file=sys.stderr)

    simulator.Simulator.run = run
    sys.argv[0] = "run.py"
    runpy.run_path("run.py", run_name="__main__")


if __name__ == "__main__":
    main()
