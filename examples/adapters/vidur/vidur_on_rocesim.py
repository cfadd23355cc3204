#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vidur on a network of rocesim (README.md).

    cd vidur; FABRIC=fabric.yaml python .../vidur_on_rocesim.py OPTIONS OF vidur.main

The activations between stages of a pipeline cross the network of the scenario FABRIC, in place of Vidur's
table `send_recv`. Stage s of replica r is host r * stages + s. Vidur itself is imported and not changed.
"""

import heapq
import os
import sys

sys.path.insert(0, os.getcwd())  # the folder of Vidur
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from vidur import main as vidur_main
from vidur import simulator
from vidur.events.batch_stage_arrival_event import BatchStageArrivalEvent
from vidur.execution_time_predictor.sklearn_execution_time_predictor import SklearnExecutionTimePredictor

from network import Network

BYTES = 2  # of an activation: fp16


class Events(list):
    """Vidur's queue of events. Before it is asked for the next one, the network runs up to it."""

    def __bool__(self):
        while network.open and network.run_before(self[0][1].time if len(self) else float("inf")):
            pass
        return len(self) > 0


class Simulator(simulator.Simulator):
    """Vidur's simulator, whose stages wait for the network."""

    def __init__(self, config):
        super().__init__(config)
        replica = config.cluster_config.replica_config
        self.stages = replica.num_pipeline_stages
        self.token_bytes = replica.model_config.embedding_dim * BYTES
        needed = config.cluster_config.num_replicas * self.stages
        if needed > network.hosts:
            sys.exit(f"the fabric has {network.hosts} hosts for {needed} stages")
        replicas = sorted(self._cluster.replicas)
        self.places = {replica: number for number, replica in enumerate(replicas)}
        self._event_queue = Events(self._event_queue)

    def _add_events(self, events):
        """Adds events, except the arrivals at a next stage: those come when the network says so."""
        for event in events:
            if isinstance(event, BatchStageArrivalEvent) and event._stage_id > 0:
                self._transfer(event)
            else:
                self._add_event(event)

    def _transfer(self, event):
        def then(end_s):
            event._time = end_s
            event._priority_number = event._get_priority_number()
            heapq.heappush(self._event_queue, (event._priority_number, event))

        host = self.places[event._replica_id] * self.stages + event._stage_id
        size = event._batch._total_num_tokens_rounded * self.token_bytes
        network.send(host - 1, host, size, event.time, then)

    def run(self):
        super().run()
        print(network.close(), file=sys.stderr)


if __name__ == "__main__":
    network = Network.from_environment()
    SklearnExecutionTimePredictor._get_pipeline_parallel_communication_time = lambda self, batch: 0
    vidur_main.Simulator = Simulator
    vidur_main.main()
