# SPDX-License-Identifier: Apache-2.0
"""Types at the prompt of `rocesim shell`: Ctrl-C, Ctrl-D, signals and, with Readline, completion.

Usage: python3 tests/programs/shell_at_terminal.py ROCESIM
"""
import os
import pty
import select
import signal
import subprocess
import sys
import time

PROMPT = b"rocesim> "


class Terminal:
    def __init__(self, rocesim):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb"
            os.environ["INPUTRC"] = "/dev/null"
            os.execv(rocesim, [rocesim, "shell", "--topology", "star:2"])
        self.seen = b""
        self.expect(PROMPT)

    def expect(self, text):
        """Waits for a text behind what was seen before."""
        end = time.time() + 30
        while text not in self.seen and time.time() < end:
            ready, _, _ = select.select([self.file], [], [], 0.2)
            if ready:
                try:
                    self.seen += os.read(self.file, 65536)
                except OSError:
                    break
        if text not in self.seen:
            os.kill(self.pid, signal.SIGKILL)
            sys.exit(f"no {text!r} at the end of {self.seen[-1000:]!r}")
        self.seen = self.seen.split(text, 1)[1]

    def type(self, text, *expected):
        os.write(self.file, text)
        for each in expected:
            self.expect(each)

    def status(self):
        self.expect(b"digest")
        for _ in range(100):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.1)
        os.kill(self.pid, signal.SIGKILL)
        sys.exit("the shell does not end")


rocesim = sys.argv[1]
has_readline = b"libreadline" in subprocess.run(["ldd", rocesim], capture_output=True).stdout

shell = Terminal(rocesim)
shell.type(b"wrong\n", b"neither a command nor a host", PROMPT)  # a terminal goes on
if has_readline:
    shell.type(b"ti\t\n", b"time", b"0 ps", PROMPT)
shell.type(b"half a line\x03", PROMPT)
shell.type(b"time\n", b"0 ps", PROMPT)
shell.type(b"host0 sleep 1\n", PROMPT)
shell.type(b"time\n", b"1.00", PROMPT)
# Ctrl-C: a program that computes, one that waits while others keep the clock going, and `run`.
shell.type(b"host0 awk 'BEGIN { while (1) i++ }'\n")
time.sleep(1)
shell.type(b"\x03", b"interrupted while it was computing", PROMPT)
shell.type(b"host0 yes\n")
time.sleep(0.3)
shell.type(b"\x03", b"host0-2: the program was ", PROMPT)
shell.type(b"host1 sh -c 'while sleep 0.000001; do :; done'\n")
time.sleep(1)
shell.type(b"\x03", b"the program was ", PROMPT)
shell.type(b"\x04")
if shell.status() != 1:
    sys.exit("Ctrl-D after failed programs: the status is not 1")

shell = Terminal(rocesim)
shell.type(b"host0 sleep 1\n", PROMPT)
shell.type(b"\x04")
if shell.status() != 0:
    sys.exit("Ctrl-D: the status is not 0")

shell = Terminal(rocesim)
os.kill(shell.pid, signal.SIGTERM)
if shell.status() != 1:
    sys.exit("SIGTERM: the status is not 1")
