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

import ctypes
import ctypes.util
import json
import os

from .session import SessionError

_NOW = 2**64 - 1
_NEVER = 2**64 - 2
_WHOLE = 2**32 - 1
_VERBS = {"write": 0, "send": 1, "read": 2}
_OUTCOMES = ("done", "failed", "cancelled")


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
    ]


def _load(name):
    """Loads the library: a file, $ROCESIM_LIBRARY, or the one that the system finds."""
    name = name or os.environ.get("ROCESIM_LIBRARY") or ctypes.util.find_library("rocesim")
    library = ctypes.CDLL(name or "librocesim.so.0")
    for function in ("open", "error", "host_name"):
        getattr(library, f"rocesim_session_{function}").restype = ctypes.c_void_p
    library.rocesim_session_error.restype = ctypes.c_char_p
    library.rocesim_session_host_name.restype = ctypes.c_char_p
    library.rocesim_session_host_count.restype = ctypes.c_size_t
    library.rocesim_session_now_ps.restype = ctypes.c_uint64
    return library


def _at(value):
    return _NOW if value in (None, "now") else value


def _transfer(src, dst, size, at=None, verb="write", priority=-1, source_port=0, reuse=False, tag=0):
    return _Transfer(src, dst, size, _at(at), _VERBS[verb], priority, source_port, reuse, tag)


def _program(kind, attributes, at=None, per_rank=False, tag=0):
    return _Program(kind.encode(), json.dumps(attributes).encode(), _at(at), per_rank, tag)


class Session:
    """A session: a network in memory, to which transfers are submitted."""

    def __init__(
        self,
        scenario="",
        *,
        server=None,
        program=None,
        folder=None,
        settings=(),
        token=None,
        library=None,
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
        self._handle = ctypes.c_void_p(made)
        error = self._library.rocesim_session_error(self._handle)
        if error:
            self.close()
            raise SessionError(error.decode())
        count = self._library.rocesim_session_host_count(self._handle)
        name = self._library.rocesim_session_host_name
        self.hosts = [name(self._handle, ctypes.c_size_t(i)).decode() for i in range(count)]

    def _call(self, name, *arguments):
        if self._handle is None:
            raise SessionError("the session has been closed")
        function = getattr(self._library, f"rocesim_session_{name}")
        if function(self._handle, *arguments) != 0:
            raise SessionError(self._library.rocesim_session_error(self._handle).decode())

    def _completions(self, name, until_ps):
        listed = ctypes.POINTER(_Completion)()
        count = ctypes.c_size_t()
        self._call(name, ctypes.c_uint64(until_ps), ctypes.byref(listed), ctypes.byref(count))
        made = []
        for at in listed[: count.value]:
            completion = {
                "transfer": at.transfer,
                "start_ps": at.start_ps,
                "end_ps": at.end_ps,
                "outcome": _OUTCOMES[at.outcome],
            }
            if at.tag:
                completion["tag"] = at.tag
            if at.rank != _WHOLE:
                completion["rank"] = at.rank
            made.append(completion)
        return made

    def _number(self, name, described):
        number = ctypes.c_uint64()
        self._call(name, ctypes.byref(described), ctypes.byref(number))
        return number.value

    def submit(self, src, dst, size, **options):
        """Submits a transfer and returns its number.

        src, dst: numbers of hosts. options: at, verb, priority, source_port, reuse, tag.
        """
        return self._number("submit", _transfer(src, dst, size, **options))

    def submit_many(self, transfers):
        """Submits a list of dictionaries (src, dst, bytes...) and returns their numbers."""
        made = []
        for at in transfers:
            rest = {key: at[key] for key in at if key not in ("src", "dst", "bytes")}
            made.append(_transfer(at["src"], at["dst"], at["bytes"], **rest))
        array = (_Transfer * len(made))(*made)
        numbers = (ctypes.c_uint64 * len(made))()
        self._call("submit_many", array, ctypes.c_size_t(len(made)), numbers)
        return list(numbers)

    def submit_program(self, kind, attributes, **options):
        """Submits a collective, workload or training; options: at, per_rank, tag."""
        return self._number("submit_program", _program(kind, attributes, **options))

    def advance(self, until_ps):
        """Runs everything before until_ps and returns the completions since the last call."""
        return self._completions("advance", until_ps)

    def next_completion(self, until_ps=None, slack_ps=0):
        """Runs until a transfer ends (or until_ps) and returns the completions."""
        self._library.rocesim_session_set_slack(self._handle, ctypes.c_uint64(slack_ps))
        return self._completions("next_completion", _NEVER if until_ps is None else until_ps)

    def now(self):
        """Returns the time in picoseconds up to which everything has happened."""
        return self._library.rocesim_session_now_ps(self._handle)

    def cancel(self, transfer):
        """Cancels a transfer."""
        self._call("cancel", ctypes.c_uint64(transfer))

    def estimate(self, src, dst, size, **options):
        """Returns how many picoseconds a transfer would take, without changing anything."""
        return self._number("estimate", _transfer(src, dst, size, **options))

    def estimate_program(self, kind, attributes, **options):
        """Returns how many picoseconds a program would take, without changing anything."""
        return self._number("estimate_program", _program(kind, attributes, **options))

    def mark(self):
        """Keeps the present state."""
        self._call("mark")

    def back(self):
        """Comes back to the state that was kept last."""
        self._call("back")

    def finish(self):
        """Lets everything end, writes the results and returns summary.json as a dictionary."""
        text = ctypes.c_void_p()
        self._call("finish", ctypes.byref(text))
        summary = json.loads(ctypes.string_at(text.value))
        ctypes.CDLL(None).free(text)
        return summary

    def close(self):
        """Ends the session."""
        if self._handle is not None:
            self._library.rocesim_session_close(self._handle)
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
