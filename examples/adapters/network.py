# SPDX-License-Identifier: Apache-2.0
"""The network of a simulator that has a queue of events and times in seconds (docs/adapters.md).

    network = Network("fabric.yaml")
    network.send(0, 5, 6_000_000_000, now_s, then)   # calls then(end in seconds) when it has ended
    while network.run_before(time of the next event): ...  # True: `then` was called, look again

Transfers that a simulator sends before it lets time pass are submitted in one call. Nothing is asked
of the session while no transfer can have ended: while none is open, and, where `gbps` says how fast a
transfer is at most, before its bytes have had that time. With a scale, bytes are divided by it, and so
are the rates of a scenario that has the parameter `scale`: each packet then stands for so many.
"""

import os
import sys

try:
    from rocesim import Session
except ImportError:  # in the source tree
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))
    from rocesim import Session


class Network:
    """Transfers between the hosts of a scenario, beside the events of another simulator."""

    def __init__(self, scenario, settings=(), scale=1, gbps=float("inf"), **options):
        scaled = [f"scale={scale}"] if scale != 1 else []
        self.session = Session(scenario, settings=[*settings, *scaled], **options)
        self.scale = scale
        self.bytes_per_s = gbps * 1e9 / 8
        self.hosts = len(self.session.hosts)
        self.now_ps = 0
        self.bytes = 0
        self.transfers = 0
        self.took_s = 0.0  # sum over all transfers
        self._waiting = []  # submitted with the next call
        self._open = {}  # by number: its start, its earliest end, and what to call

    def send(self, src, dst, size, at_s, then):
        """Sends bytes between two hosts (numbers or names), at once or later, and calls then(end_s)."""
        self._waiting.append((src, dst, max(1, round(size / self.scale)), at_s, then))

    @property
    def open(self):
        """The number of transfers that have not ended."""
        return len(self._waiting) + len(self._open)

    def run_before(self, time_s=float("inf")):
        """Runs until transfers end, at most up to a time; returns whether some have ended before it."""
        if time_s <= min(self._earliest(), default=float("inf")):
            return False
        limit = {} if time_s == float("inf") else {"until_ps": round(time_s * 1e12)}
        if limit.get("until_ps", self.now_ps + 1) <= self.now_ps:
            return False
        ended = self.session.calls([*self._submissions(), ("next_completion", limit)])[-1]
        if ended.get("stalled"):
            raise RuntimeError("the network stands still although transfers are under way")
        self.now_ps = ended["now_ps"]
        for done in ended["completions"]:
            if done["outcome"] != "done":
                raise RuntimeError(f"a transfer has {done['outcome']}: {done.get('status', '')}")
            at_s, _, then = self._open.pop(done["transfer"])
            self.took_s += done["end_ps"] / 1e12 - at_s
            then(done["end_ps"] / 1e12)
        return len(ended["completions"]) > 0

    def _earliest(self):
        """Yields the earliest end that each transfer can have."""
        for _, _, size, at_s, _ in self._waiting:
            yield at_s + size * self.scale / self.bytes_per_s
        for _, earliest, _ in self._open.values():
            yield earliest

    def _submissions(self):
        """Returns the call that submits the transfers that wait, if there are any."""
        if not self._waiting:
            return []
        waiting, self._waiting = self._waiting, []
        for _, _, size, at_s, then in waiting:
            earliest = at_s + size * self.scale / self.bytes_per_s
            self._open[self.transfers] = (at_s, earliest, then)  # a session counts from 0
            self.transfers += 1
            self.bytes += size * self.scale
        rows = [
            {"src": src, "dst": dst, "bytes": size, "at": max(self.now_ps, round(at_s * 1e12))}
            for src, dst, size, at_s, _ in waiting
        ]
        return [("submit", {"transfers": rows})]

    @classmethod
    def from_environment(cls):
        """Opens the scenario FABRIC of the environment, with its SETTINGS ("PATH=VALUE PATH=VALUE"),
        SCALE and GBPS."""
        given = os.environ
        return cls(given["FABRIC"], given.get("SETTINGS", "").split(), int(given.get("SCALE", "1")),
                   float(given.get("GBPS", "inf")))

    def close(self):
        """Ends the session, and returns a sentence about it."""
        self.session.close()
        mean_ms = 1e3 * self.took_s / max(1, self.transfers)
        return f"rocesim: {self.transfers} transfers, {self.bytes} bytes, {mean_ms:.3f} ms in the mean"
