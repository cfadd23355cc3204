# SPDX-License-Identifier: Apache-2.0
"""Drives a simulation of rocesim from Python (docs/sessions.md).

    from rocesim import Session
    with Session("fabric.yaml") as session:
        session.submit("host0", "host5", 1_000_000)
        for completion in session.advance(1_000_000_000):
            print(completion["transfer"], completion["end_ps"])

Times are whole picoseconds, sizes bytes. The module needs nothing but Python.
"""

import json
import os
import socket
import subprocess

from .program import Error


class SessionError(Error):
    """A call was refused, or the session has ended. `code` is the kind of error."""

    def __init__(self, message, code=""):
        super().__init__(message)
        self.code = code


class Session:
    """A session: a network in memory, to which transfers are submitted."""

    def __init__(
        self, scenario=None, *, server=None, program=None, folder=None, settings=(), token=None
    ):
        """Starts `rocesim serve SCENARIO`, or connects to a server.

        server: "unix:PATH" or "127.0.0.1:PORT" of a running `rocesim serve`.
        program: the program rocesim; without it, $ROCESIM or "rocesim" in the PATH.
        folder: where finish() writes the results. settings: "PATH=VALUE", as for --set.
        token: that the server asks for.
        """
        self._process = None
        if server is not None:
            self._socket = _connect(server)
        else:
            own, theirs = socket.socketpair()
            command = [program or os.environ.get("ROCESIM") or "rocesim", "serve"]
            command += ["-o", folder] if folder else []
            for setting in settings:
                command += ["--set", setting]
            self._process = subprocess.Popen(
                command + ["--", os.fspath(scenario)], stdin=theirs, stdout=theirs
            )
            theirs.close()
            self._socket = own
        self._file = self._socket.makefile("rb")
        self.hosts = self.call("hello", **({"token": token} if token else {}))["hosts"]

    def call(self, name, **arguments):
        """Makes any call of the protocol and returns its answer as a dictionary."""
        arguments["call"] = name
        try:
            try:
                self._socket.sendall(json.dumps(arguments).encode() + b"\n")
            except BrokenPipeError:
                pass  # the other side has said why
            line = self._file.readline()
        except OSError as error:
            raise SessionError(f"the session has ended: {error}") from error
        if not line:
            raise SessionError("the session has ended without an answer")
        answer = json.loads(line)
        if not answer["ok"]:
            raise SessionError(answer["message"], answer["error"])
        return answer

    def submit(self, src, dst, size, **options):
        """Submits a transfer and returns its number.

        src, dst: names or numbers of hosts. options: at, verb, priority, source_port, reuse, tag.
        """
        return self.call("submit", src=src, dst=dst, bytes=size, **options)["transfer"]

    def submit_many(self, transfers):
        """Submits a list of dictionaries (src, dst, bytes...) and returns their numbers."""
        return self.call("submit", transfers=list(transfers))["transfers"]

    def submit_program(self, kind, attributes, **options):
        """Submits a program of ranks and returns its number.

        kind: "collective", "workload" or "training". attributes: a dictionary with attributes of
        `rocesim params traffic.KIND`, such as {"kind": "all-reduce", "bytes": "1MiB", "ranks": 8}
        or {"file": "ring8.goal"}. options: at, per_rank, tag.
        """
        return self.call("submit", **{kind: attributes}, **options)["transfer"]

    def estimate_program(self, kind, attributes, **options):
        """Returns how many picoseconds a program would take, without changing anything.

        Raises SessionError if it would fail.
        """
        return self._took(**{kind: attributes}, **options)

    def advance(self, until_ps):
        """Runs everything before until_ps and returns the completions since the last call."""
        return self.call("advance", until_ps=until_ps)["completions"]

    def next_completion(self, until_ps=None, slack_ps=0):
        """Runs until a transfer ends (or until_ps) and returns the completions.

        slack_ps: the time may then be so long after the completion, which is faster to find.
        """
        limits = {} if until_ps is None else {"until_ps": until_ps}
        if slack_ps:
            limits["slack_ps"] = slack_ps
        return self.call("next_completion", **limits)["completions"]

    def now(self):
        """Returns the time in picoseconds up to which everything has happened."""
        return self.call("now")["now_ps"]

    def cancel(self, transfer):
        """Cancels a transfer."""
        self.call("cancel", transfer=transfer)

    def estimate(self, src, dst, size, **options):
        """Returns how many picoseconds a transfer would take, without changing anything.

        Raises SessionError if it would fail.
        """
        return self._took(src=src, dst=dst, bytes=size, **options)

    def _took(self, **arguments):
        answer = self.call("estimate", **arguments)
        if answer["outcome"] != "done":
            raise SessionError("transfer", "it would fail: " + answer.get("status", answer["outcome"]))
        return answer["took_ps"]

    def mark(self):
        """Keeps the present state."""
        self.call("mark")

    def back(self):
        """Comes back to the state that was kept last."""
        self.call("back")

    def finish(self):
        """Lets everything end, writes the results and returns summary.json as a dictionary."""
        return self.call("finish")["summary"]

    def close(self):
        """Ends the session."""
        try:
            self._file.close()
        except OSError:
            pass
        self._socket.close()
        if self._process is not None:
            self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def _connect(server):
    if server.startswith("unix:"):
        made = socket.socket(socket.AF_UNIX)
        made.connect(server[len("unix:") :])
        return made
    host, _, port = server.rpartition(":")
    return socket.create_connection((host, int(port)))
