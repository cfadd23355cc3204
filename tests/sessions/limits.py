# SPDX-License-Identifier: Apache-2.0
"""tests/sessions/limits.py PROGRAM SCENARIO FOLDER CASE: a server whose clients pass its limits."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

PROGRAM, SCENARIO, FOLDER, CASE = sys.argv[1:5]
LONG = b'{"call":"advance","until_ps":9000000000000000}\n'  # hours of processor time
BUSY = {"call": "submit", "transfers": [{"src": i, "dst": 5, "bytes": 2**42} for i in range(5)]}


class Server:
    """A server on a Unix socket, as a context."""

    def __init__(self, *options):
        self.path = f"{FOLDER}/socket"
        command = [PROGRAM, "serve", SCENARIO, "--listen", f"unix:{self.path}", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout.readline().startswith(b"listening"), "it does not listen"

    def connect(self):
        made = socket.socket(socket.AF_UNIX)
        made.connect(self.path)
        return made, made.makefile("rwb")

    def ask(self, file, call):
        line = call if isinstance(call, bytes) else json.dumps(call).encode() + b"\n"
        file.write(line)
        file.flush()
        return json.loads(file.readline())

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        assert self.process.wait() == 0


def family(pid):
    """Returns the processes below a process."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], stdout=subprocess.PIPE, check=True).stdout
    parents = dict(map(int, row.split()) for row in listed.splitlines()[1:])
    found = {pid}
    while True:
        more = {at for at in parents if parents[at] in found} - found
        if not more:
            return found - {pid}
        found |= more


def wait_until(condition, what):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"not within 30 s: {what}")


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def limit(options, calls, text):
    """One of the calls, the last at the latest, ends the session with a text."""
    with Server(*options) as server:
        _, file = server.connect()
        answer = {"ok": True}
        for call in calls:
            answer = server.ask(file, call) if answer["ok"] else answer
        assert answer["error"] == "limit" and text in answer["message"], answer
        assert file.readline() == b"", "the session goes on"
        _, other = server.connect()
        assert server.ask(other, {"call": "now"})["ok"], "the server does not go on"


def case_time():
    limit(["--call-time", "50ms"], [BUSY, LONG], "more than 0.05 s (--call-time)")
    limit(["--call-time", "50ms"], [BUSY, {"call": "mark"}, LONG], "--call-time")
    estimate = {"call": "estimate", "src": 0, "dst": 1, "bytes": 2**42}
    limit(["--call-time", "50ms"], [estimate], "--call-time")
    limit(["--call-time", "50ms"], [BUSY, {"call": "finish"}], "--call-time")


def case_memory():
    many = {"call": "submit", "transfers": [{"src": 0, "dst": 1, "bytes": 1, "tag": "t" * 300}] * 30000}
    limit(["--client-memory", "20MB"], [many, {"call": "now"}], "more than 20 MB (--client-memory)")


def case_idle():
    with Server("--idle-time", "100ms") as server:
        _, file = server.connect()
        assert server.ask(file, {"call": "now"})["ok"]
        answer = json.loads(file.readline())
        assert answer["error"] == "limit" and "no call came for 0.1 s" in answer["message"], answer
        assert file.readline() == b""


def case_clients():
    with Server("--clients", "1") as server:
        _, first = server.connect()
        assert server.ask(first, {"call": "now"})["ok"]
        _, second = server.connect()
        answer = json.loads(second.readline())
        assert answer["error"] == "busy" and "no room" in answer["message"], answer


def case_token():
    with open(f"{FOLDER}/token", "w", encoding="utf-8") as file:
        file.write("s3cret\nsecond line\n")
    with Server("--token", f"{FOLDER}/token") as server:
        for wrong in ({"call": "now"}, {"call": "hello"}, {"call": "hello", "token": "s3cre"}, b"x\n"):
            _, file = server.connect()
            answer = server.ask(file, wrong)
            assert answer["error"] == "token", answer
            assert file.readline() == b""
        _, file = server.connect()
        assert len(server.ask(file, {"call": "hello", "token": "s3cret"})["hosts"]) > 1
        assert server.ask(file, {"call": "now"})["ok"]


def case_gone():
    """A client that goes in the middle of a call leaves no process, nor does a server that ends."""
    with Server() as server:
        clients = []
        for marks in range(3):
            connection, file = server.connect()
            assert server.ask(file, BUSY)["ok"]
            for _ in range(marks):
                assert server.ask(file, {"call": "mark"})["ok"]
            file.write(LONG)
            file.flush()
            clients.append((connection, file))
        processes = family(server.process.pid)
        assert len(processes) == 1 + 2 + 3, processes
        connection, file = clients.pop()
        file.close()
        connection.close()
        wait_until(lambda: len(family(server.process.pid)) == 1 + 2, "the client's processes end")
        processes = family(server.process.pid)
    wait_until(lambda: all(map(gone, processes)), "the clients' processes end with the server")
    with Server() as server:
        _, file = server.connect()
        assert server.ask(file, {"call": "mark"})["ok"]
        file.write(LONG)
        file.flush()
        processes = family(server.process.pid)
        os.kill(server.process.pid, signal.SIGKILL)
        wait_until(lambda: all(map(gone, processes)), "the clients' processes end with a killed server")
        server.process.wait()
        server.process = subprocess.Popen(["sleep", "0"])
        server.process.terminate = lambda: None


def case_signals():
    """Signals that come while a session frees its memory find nothing to touch."""
    begins = b'{"call":"submit","src":0,"dst":5,"bytes":100000}\n{"call":"finish"}\n'
    for number in range(4):
        pipe = subprocess.PIPE
        with subprocess.Popen([PROGRAM, "serve", SCENARIO], stdin=pipe, stdout=pipe, stderr=pipe) as process:
            process.stdin.write(begins)
            process.stdin.flush()
            for _ in range(number % 2 + 2):
                process.stdout.readline()
            for _ in range(200):
                if process.poll() is not None:
                    break
                process.send_signal(signal.SIGTERM)
                time.sleep(0.0002)
            said = process.stderr.read()
            assert process.wait() == 0 and said == b"", (process.returncode, said)


def case_stopped():
    """SIGTERM and SIGINT end a session in the middle of any call, whatever marks were kept and dropped."""
    pipe = subprocess.PIPE
    call = json.dumps
    mark, drop, back = (call({"call": name}) + "\n" for name in ("mark", "drop", "back"))
    shapes = ["", mark, mark + mark, mark + drop, mark + mark + drop, mark + drop + mark, mark + mark + back + drop]
    # No transfer of 4 TB ends soon.
    calls = [LONG.decode(), call({"call": "next_completion"}), call({"call": "finish"})]
    calls.append(call({"call": "estimate", "transfers": [{"src": 5, "dst": 6, "bytes": 2**42}] * 3, "alone": True}))
    begins = call(BUSY) + "\n"
    for number, (shape, last) in enumerate((shape, last) for shape in shapes for last in calls):
        with subprocess.Popen([PROGRAM, "serve", SCENARIO], stdin=pipe, stdout=pipe, stderr=pipe) as process:
            process.stdin.write((begins + shape + last + "\n").encode())
            process.stdin.flush()
            for _ in range(1 + shape.count("\n")):
                assert json.loads(process.stdout.readline())["ok"], shape
            time.sleep(number % 3 * 0.005)
            processes = family(process.pid)
            process.send_signal((signal.SIGTERM, signal.SIGINT)[number % 2])
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f"a signal does not end it: {shape!r} {last}") from None
            wait_until(lambda: all(map(gone, processes)), f"its processes end: {shape!r} {last}")
            assert process.stderr.read() == b"", "it said something"


def case_answered():
    """A signal that comes with the answer, before the session waits for the next call, ends it."""
    for number in range(80):
        pipe = subprocess.PIPE
        with subprocess.Popen([PROGRAM, "serve", SCENARIO], stdin=pipe, stdout=pipe) as process:
            process.stdin.write(b'{"call":"now"}\n')
            process.stdin.flush()
            process.stdout.readline()
            process.send_signal((signal.SIGTERM, signal.SIGINT)[number % 2])
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f"signal {number} does not end it") from None
    for _ in range(20):
        with Server():
            pass  # it has just said that it listens


globals()[f"case_{CASE}"]()
