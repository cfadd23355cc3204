# SPDX-License-Identifier: Apache-2.0
"""Drives a simulation of rocesim from Python by the library librocesim.so (docs/sessions.md).

    from rocesim.native import Session
    with Session("fabric.yaml") as session:
        session.submit(0, 5, 1_000_000)
        for completion in session.advance(1_000_000_000):
            print(completion["transfer"], completion["end_ps"])

The methods are those of rocesim.Session, which needs no library. Here hosts are numbers, a
tag is a number, and an answer becomes objects without a detour by JSON of Python.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
from types import TracebackType
from typing import Any, Iterable, Mapping, Sequence

from .program import MissingProgram
from .session import Completion, Completions, Estimate, SessionError

_NOW = 2**64 - 1
_NEVER = 2**64 - 2
_WHOLE = 2**32 - 1
_VERBS = {"write": 0, "send": 1, "read": 2}
_OUTCOMES = ("done", "failed", "cancelled", "delivered")


class _Options(ctypes.Structure):
    _fields_ = [
        ("program", ctypes.c_char_p),
        ("server", ctypes.c_char_p),
        ("token", ctypes.c_char_p),
        ("folder", ctypes.c_char_p),
        ("settings", ctypes.POINTER(ctypes.c_char_p)),
        ("setting_count", ctypes.c_size_t),
    ]


class _Transfer(ctypes.Structure):
    _fields_ = [
        ("source", ctypes.c_uint32),
        ("destination", ctypes.c_uint32),
        ("bytes", ctypes.c_uint64),
        ("at_ps", ctypes.c_uint64),
        ("verb", ctypes.c_int),
        ("priority", ctypes.c_int),
        ("source_port", ctypes.c_uint16),
        ("reuse", ctypes.c_int),
        ("tag", ctypes.c_uint64),
        ("after", ctypes.POINTER(ctypes.c_uint64)),
        ("after_count", ctypes.c_size_t),
        ("delivery", ctypes.c_int),
    ]


class _Estimate(ctypes.Structure):
    _fields_ = [
        ("start_ps", ctypes.c_uint64),
        ("end_ps", ctypes.c_uint64),
        ("outcome", ctypes.c_int),
        ("delivered_ps", ctypes.c_uint64),
    ]


class _Program(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_char_p),
        ("attributes", ctypes.c_char_p),
        ("at_ps", ctypes.c_uint64),
        ("per_rank", ctypes.c_int),
        ("tag", ctypes.c_uint64),
    ]


class _Completion(ctypes.Structure):
    _fields_ = [
        ("transfer", ctypes.c_uint64),
        ("tag", ctypes.c_uint64),
        ("rank", ctypes.c_uint32),
        ("start_ps", ctypes.c_uint64),
        ("end_ps", ctypes.c_uint64),
        ("outcome", ctypes.c_int),
        ("delivered_ps", ctypes.c_uint64),
    ]


def _load(name: str | os.PathLike[str] | None) -> ctypes.CDLL:
    """Loads the library: a file, $ROCESIM_LIBRARY, or the one that the system finds."""
    name = name or os.environ.get("ROCESIM_LIBRARY") or ctypes.util.find_library("rocesim")
    try:
        library = ctypes.CDLL(os.fspath(name or "librocesim.so.0"))
    except OSError as error:
        raise MissingProgram(f"The library librocesim.so cannot be loaded: {error}") from error
    for function in ("open", "error", "host_name"):
        getattr(library, f"rocesim_session_{function}").restype = ctypes.c_void_p
    library.rocesim_session_error.restype = ctypes.c_char_p
    library.rocesim_session_host_name.restype = ctypes.c_char_p
    library.rocesim_session_host_count.restype = ctypes.c_size_t
    library.rocesim_session_now_ps.restype = ctypes.c_uint64
    library.rocesim_session_open_transfers.restype = ctypes.c_uint64
    return library


def _at(value: int | str | None) -> Any:
    return _NOW if value in (None, "now") else value


def _transfer(
    src: int,
    dst: int,
    size: int,
    at: int | str | None = None,
    after: int | Sequence[int] = (),
    verb: str = "write",
    priority: int = -1,
    source_port: int = 0,
    reuse: bool = False,
    tag: int = 0,
    delivery: bool = False,
) -> _Transfer:
    if verb not in _VERBS:
        raise SessionError(f"verb: expected {', '.join(_VERBS)}, not {verb}", "argument")
    numbers = [after] if isinstance(after, int) else list(after)
    made = _Transfer(src, dst, size, _at(at), _VERBS[verb], priority, source_port, reuse, tag)
    made.after = (ctypes.c_uint64 * len(numbers))(*numbers)
    made.after_count = len(numbers)
    made.delivery = delivery
    return made


def _transfers(listed: Iterable[Mapping[str, Any]]) -> Any:
    """Returns an array of transfers, which keeps those that it was made of."""
    made = []
    for at in listed:
        rest = {key: at[key] for key in at if key not in ("src", "dst", "bytes")}
        made.append(_transfer(at["src"], at["dst"], at["bytes"], **rest))
    array = (_Transfer * len(made))(*made)
    array.kept = made  # type: ignore[attr-defined]  # the lists of `after`
    return array


def _program(
    kind: str,
    attributes: Mapping[str, Any],
    at: int | str | None = None,
    per_rank: bool = False,
    tag: int = 0,
) -> _Program:
    return _Program(kind.encode(), json.dumps(attributes).encode(), _at(at), per_rank, tag)


class Session:
    """A session: a network in memory, to which transfers are submitted."""

    def __init__(
        self,
        scenario: str | os.PathLike[str] = "",
        *,
        server: str | None = None,
        program: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        settings: Sequence[str] = (),
        token: str | None = None,
        library: str | os.PathLike[str] | None = None,
    ):
        """Starts `rocesim serve SCENARIO`, or connects to a server, as rocesim.Session does.

        library: the file librocesim.so; without it, $ROCESIM_LIBRARY or what the system finds.
        """
        self._library = _load(library)
        texts = (ctypes.c_char_p * len(settings))(*[at.encode() for at in settings])
        options = _Options(
            *(None if at is None else os.fspath(at).encode() for at in (program, server, token, folder)),
            ctypes.cast(texts, ctypes.POINTER(ctypes.c_char_p)),
            len(settings),
        )
        made = self._library.rocesim_session_open(os.fspath(scenario).encode(), ctypes.byref(options))
        self._handle: ctypes.c_void_p | None = ctypes.c_void_p(made)
        error = self._library.rocesim_session_error(self._handle)
        if error:
            self.close()
            raise SessionError(error.decode())
        count = self._library.rocesim_session_host_count(self._handle)
        name = self._library.rocesim_session_host_name
        self.hosts = [name(self._handle, ctypes.c_size_t(i)).decode() for i in range(count)]

    def _call(self, name: str, *arguments: Any) -> None:
        if self._handle is None:
            raise SessionError("the session has been closed")
        function = getattr(self._library, f"rocesim_session_{name}")
        if function(self._handle, *arguments) != 0:
            raise SessionError(self._library.rocesim_session_error(self._handle).decode())

    def _completions(self, name: str, until_ps: int) -> Completions:
        listed = ctypes.POINTER(_Completion)()
        count = ctypes.c_size_t()
        self._call(name, ctypes.c_uint64(until_ps), ctypes.byref(listed), ctypes.byref(count))
        made = []
        for at in listed[: count.value]:
            completion: Completion = {
                "transfer": at.transfer,
                "start_ps": at.start_ps,
                "end_ps": at.end_ps,
                "outcome": _OUTCOMES[at.outcome],
            }
            if at.delivered_ps != _NEVER:
                completion["delivered_ps"] = at.delivered_ps
            if at.tag:
                completion["tag"] = at.tag
            if at.rank != _WHOLE:
                completion["rank"] = at.rank
            made.append(completion)
        open_count = self._library.rocesim_session_open_transfers(self._handle)
        stalled = bool(self._library.rocesim_session_stalled(self._handle))
        return Completions(made, self.now(), open_count, stalled)

    def _number(self, name: str, described: Any) -> int:
        number = ctypes.c_uint64()
        self._call(name, ctypes.byref(described), ctypes.byref(number))
        return number.value

    def submit(self, src: int, dst: int, size: int, **options: Any) -> int:
        """Submits a transfer and returns its number.

        src, dst: numbers of hosts. options: at, after, verb, priority, source_port, reuse, tag, delivery.
        """
        return self._number("submit", _transfer(src, dst, size, **options))

    def submit_many(self, transfers: Iterable[Mapping[str, Any]]) -> list[int]:
        """Submits a list of dictionaries (src, dst, bytes...) and returns their numbers."""
        array = _transfers(transfers)
        numbers = (ctypes.c_uint64 * len(array))()
        self._call("submit_many", array, ctypes.c_size_t(len(array)), numbers)
        return list(numbers)

    def estimate_many(
        self, transfers: Iterable[Mapping[str, Any]], alone: bool = False
    ) -> list[Estimate]:
        """Estimates a list of transfers together or, with `alone`, each as if the others were not there."""
        array = _transfers(transfers)
        found = (_Estimate * len(array))()
        self._call(
            "estimate_many", array, ctypes.c_size_t(len(array)), ctypes.c_int(alone), found
        )
        return [
            {
                "start_ps": at.start_ps,
                "end_ps": at.end_ps,
                "took_ps": at.end_ps - at.start_ps,
                "outcome": _OUTCOMES[at.outcome],
            }
            for at in found
        ]

    def submit_program(self, kind: str, attributes: Mapping[str, Any], **options: Any) -> int:
        """Submits a collective, workload or training; options: at, per_rank, tag."""
        return self._number("submit_program", _program(kind, attributes, **options))

    def advance(self, until_ps: int) -> Completions:
        """Runs everything before until_ps and returns the completions since the last call."""
        return self._completions("advance", until_ps)

    def next_completion(self, until_ps: int | None = None, slack_ps: int = 0) -> Completions:
        """Runs until a transfer ends (or until_ps) and returns the completions. slack_ps has no effect."""
        return self._completions("next_completion", _NEVER if until_ps is None else until_ps)

    def now(self) -> int:
        """Returns the time in picoseconds up to which everything has happened."""
        return int(self._library.rocesim_session_now_ps(self._handle))

    def cancel(self, transfer: int) -> None:
        """Cancels a transfer."""
        self._call("cancel", ctypes.c_uint64(transfer))

    def estimate(self, src: int, dst: int, size: int, **options: Any) -> int:
        """Returns how many picoseconds a transfer would take, without changing anything."""
        return self._number("estimate", _transfer(src, dst, size, **options))

    def estimate_program(self, kind: str, attributes: Mapping[str, Any], **options: Any) -> int:
        """Returns how many picoseconds a program would take, without changing anything."""
        return self._number("estimate_program", _program(kind, attributes, **options))

    def mark(self) -> None:
        """Keeps the present state."""
        self._call("mark")

    def back(self) -> None:
        """Comes back to the state that was kept last."""
        self._call("back")

    def drop(self) -> None:
        """Drops the state that was kept last; the session goes on."""
        self._call("drop")

    def finish(self) -> dict[str, Any]:
        """Lets everything end, writes the results and returns summary.json as a dictionary."""
        text = ctypes.c_void_p()
        self._call("finish", ctypes.byref(text))
        summary: dict[str, Any] = json.loads(ctypes.string_at(text.value or 0))
        ctypes.CDLL(None).free(text)
        return summary

    def close(self) -> None:
        """Ends the session."""
        if self._handle is not None:
            self._library.rocesim_session_close(self._handle)
        self._handle = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
