# SPDX-License-Identifier: Apache-2.0
"""Drives a simulation of rocesim from Python (docs/sessions.md).

    from rocesim import Session
    with Session("fabric.yaml") as session:
        session.submit("host0", "host5", 1_000_000)
        for completion in session.advance(1_000_000_000):
            print(completion["transfer"], completion["end_ps"])

Times are whole picoseconds, sizes bytes. The module needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from types import TracebackType
from typing import Any, Iterable, List, Mapping, Sequence, TypedDict

from .program import Error, MissingProgram, find


class SessionError(Error):
    """A call was refused, or the session has ended. `code` is the kind of error."""

    def __init__(self, message: str, code: str = ""):
        super().__init__(message)
        self.code = code


class Completion(TypedDict, total=False):
    """How a transfer, or a rank of a collective or workload, ended."""

    transfer: int
    rank: int
    start_ps: int
    end_ps: int  # of a transfer: the requester has the last acknowledgement, or delivered_ps
    delivered_ps: int  # of a transfer that is done or delivered: its last byte has arrived
    outcome: str  # "delivered" (another completion follows), "done", "failed" or "cancelled"
    status: str
    tag: Any


class Estimate(TypedDict, total=False):
    """How a transfer would end."""

    start_ps: int
    end_ps: int
    took_ps: int
    delivered_ps: int
    outcome: str
    status: str


class Completions(List[Completion]):
    """The completions of a call, and how the session stands after it.

    now_ps: everything before it has happened. open: how many transfers wait or run. stalled: nothing
    useful happens any more although transfers are open.
    """

    def __init__(self, listed: Iterable[Completion], now_ps: int, open: int, stalled: bool):
        super().__init__(listed)
        self.now_ps = now_ps
        self.open = open
        self.stalled = stalled


class Session:
    """A session: a network in memory, to which transfers are submitted."""

    def __init__(
        self,
        scenario: str | os.PathLike[str] | None = None,
        *,
        server: str | None = None,
        program: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        settings: Sequence[str] = (),
        token: str | None = None,
    ):
        """Starts `rocesim serve SCENARIO`, or connects to a server.

        server: "unix:PATH" or "127.0.0.1:PORT" of a running `rocesim serve`.
        program: the program rocesim; without it, $ROCESIM or "rocesim" in the PATH.
        folder: where finish() writes the results. settings: "PATH=VALUE", as for --set.
        token: that the server asks for.
        """
        self._process: subprocess.Popen[bytes] | None = None
        if server is not None:
            self._socket = _connect(server)
        elif scenario is not None:
            self._socket = self._start(program or find(), os.fspath(scenario), folder, settings)
        else:
            raise SessionError("expected a scenario or a server")
        self._file = self._socket.makefile("rb")
        try:
            answer = self.call("hello", **({"token": token} if token else {}))
        except BaseException:
            self.close()
            raise
        self.hosts: list[str] = answer["hosts"]

    def _start(
        self,
        program: str,
        scenario: str,
        folder: str | os.PathLike[str] | None,
        settings: Sequence[str],
    ) -> socket.socket:
        own, theirs = socket.socketpair()
        command = [program, "serve", *(["-o", os.fspath(folder)] if folder else [])]
        for setting in settings:
            command += ["--set", setting]
        try:
            self._process = subprocess.Popen(
                [*command, "--", scenario], stdin=theirs.fileno(), stdout=theirs.fileno()
            )
        except OSError as error:
            own.close()
            raise MissingProgram(f"The program {program} cannot be started: {error}") from error
        finally:
            theirs.close()
        return own

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Makes any call of the protocol and returns its answer as a dictionary."""
        return self.calls([(name, arguments)])[0]

    def calls(self, made: Sequence[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
        """Makes several calls, each a name and its arguments, before it reads their answers.

        Raises SessionError for the first that was refused; the others have been carried out.
        """
        lines = [json.dumps({**arguments, "call": name}) for name, arguments in made]
        answers: list[dict[str, Any]] = []
        try:
            try:
                self._socket.sendall(("\n".join(lines) + "\n").encode())
            except BrokenPipeError:
                pass  # the other side has said why
            while len(answers) < len(lines):
                line = self._file.readline()
                if not line:
                    raise SessionError("the session has ended without an answer")
                answers.append(json.loads(line))
        except (OSError, ValueError) as error:  # ValueError: it was closed, or no line of JSON
            raise SessionError(f"the session has ended: {error}") from error
        for answer in answers:
            if not answer["ok"]:
                raise SessionError(answer["message"], answer["error"])
        return answers

    def submit(self, src: str | int, dst: str | int, size: int, **options: Any) -> int:
        """Submits a transfer and returns its number.

        src, dst: names or numbers of hosts. options: at, after (numbers of transfers that have to end
        before), verb, priority, source_port, reuse, tag, delivery (its delivery is a completion, too).
        """
        number: int = self.call("submit", src=src, dst=dst, bytes=size, **options)["transfer"]
        return number

    def submit_many(self, transfers: Iterable[Mapping[str, Any]]) -> list[int]:
        """Submits a list of dictionaries (src, dst, bytes...) and returns their numbers."""
        numbers: list[int] = self.call("submit", transfers=list(transfers))["transfers"]
        return numbers

    def submit_program(self, kind: str, attributes: Mapping[str, Any], **options: Any) -> int:
        """Submits a program of ranks and returns its number.

        kind: "collective", "workload" or "training". attributes: a dictionary with attributes of
        `rocesim params traffic.KIND`, such as {"kind": "all-reduce", "bytes": "1MiB", "ranks": 8}
        or {"file": "ring8.goal"}. options: at, per_rank, tag.
        """
        number: int = self.call("submit", **{kind: attributes}, **options)["transfer"]
        return number

    def estimate_program(self, kind: str, attributes: Mapping[str, Any], **options: Any) -> int:
        """Returns how many picoseconds a program would take, without changing anything.

        Raises SessionError if it would fail.
        """
        return self._took(**{kind: attributes}, **options)

    def advance(self, until_ps: int) -> Completions:
        """Runs everything before until_ps and returns the completions since the last call."""
        return _completions(self.call("advance", until_ps=until_ps))

    def next_completion(self, until_ps: int | None = None, slack_ps: int = 0) -> Completions:
        """Runs until a transfer ends (or until_ps) and returns the completions.

        The time is then 1 ps after the completion. slack_ps has no effect; older programs give it.
        """
        limits = {} if until_ps is None else {"until_ps": until_ps}
        return _completions(self.call("next_completion", **limits))

    def now(self) -> int:
        """Returns the time in picoseconds up to which everything has happened."""
        now_ps: int = self.call("now")["now_ps"]
        return now_ps

    def cancel(self, transfer: int) -> None:
        """Cancels a transfer."""
        self.call("cancel", transfer=transfer)

    def estimate(self, src: str | int, dst: str | int, size: int, **options: Any) -> int:
        """Returns how many picoseconds a transfer would take, without changing anything.

        Raises SessionError if it would fail.
        """
        return self._took(src=src, dst=dst, bytes=size, **options)

    def estimate_many(
        self, transfers: Iterable[Mapping[str, Any]], alone: bool = False
    ) -> list[Estimate]:
        """Estimates a list of transfers together or, with `alone`, each as if the others were not there."""
        options = {"alone": True} if alone else {}
        answer = self.call("estimate", transfers=list(transfers), **options)
        estimates: list[Estimate] = answer["estimates"]
        return estimates

    def _took(self, **arguments: Any) -> int:
        answer = self.call("estimate", **arguments)
        if answer["outcome"] != "done":
            raise SessionError("it would fail: " + answer.get("status", answer["outcome"]), "transfer")
        took_ps: int = answer["took_ps"]
        return took_ps

    def mark(self) -> None:
        """Keeps the present state."""
        self.call("mark")

    def back(self) -> None:
        """Comes back to the state that was kept last."""
        self.call("back")

    def drop(self) -> None:
        """Drops the state that was kept last; the session goes on."""
        self.call("drop")

    def finish(self) -> dict[str, Any]:
        """Lets everything end, writes the results and returns summary.json as a dictionary."""
        summary: dict[str, Any] = self.call("finish")["summary"]
        return summary

    def close(self) -> None:
        """Ends the session."""
        try:
            self._file.close()
        except OSError:
            pass
        self._socket.close()
        if self._process is not None:
            self._process.wait()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _completions(answer: Mapping[str, Any]) -> Completions:
    return Completions(
        answer["completions"], answer["now_ps"], answer["open"], answer.get("stalled", False)
    )


def _connect(server: str) -> socket.socket:
    try:
        if server.startswith("unix:"):
            made = socket.socket(socket.AF_UNIX)
            made.connect(server[len("unix:") :])
            return made
        host, _, port = server.rpartition(":")
        return socket.create_connection((host, int(port)))
    except (OSError, ValueError) as error:
        raise SessionError(f"{server} cannot be reached: {error}") from error
