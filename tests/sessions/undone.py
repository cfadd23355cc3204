# SPDX-License-Identifier: Apache-2.0
"""tests/sessions/undone.py PROGRAM SCENARIO FOLDER: `back` undoes what files got after `mark`.

Two sessions make the same calls, one of them with marks, and with much that is undone. All files of
their results must be equal, byte for byte: captures, series, events and tables.
"""

import os
import re
import sys

from rocesim import Session

PROGRAM, SCENARIO, FOLDER = sys.argv[1:4]


def excursion(session, until):
    """Does what must leave no trace, with a mark within a mark."""
    session.mark()
    for i in range(4):
        session.submit(i, 7 - i, 200000)
    session.submit_program("collective", {"bytes": "256KiB", "ranks": 4})
    session.advance(until)
    session.mark()
    session.submit(1, 6, 300000)
    session.advance(until + 50_000_000)
    session.back()
    session.advance(until + 10_000_000)
    session.back()


def run(name, marks):
    with Session(SCENARIO, program=PROGRAM, folder=f"{FOLDER}/{name}") as session:
        for until in (60_000_000, 200_000_000):
            if marks:
                excursion(session, until + 40_000_000)
            session.submit(0, 5, 100000)
            session.submit(3, 0, 500000)
            session.advance(until)
        if marks:
            session.estimate(0, 4, 1000000)
            session.next_completion()
            excursion(session, 1_000_000_000)
        else:
            session.next_completion()
        session.finish()


def read(name):
    """Returns the files of a folder by their names, without what tells of this computer."""
    files = {}
    for folder, _, names in os.walk(f"{FOLDER}/{name}"):
        for at in names:
            with open(os.path.join(folder, at), "rb") as file:
                text = file.read()
            if at == "summary.json":
                text = re.sub(rb'.*"(wall|peak|max_rss|events_per)[^\n]*\n', b"", text)
            files[os.path.relpath(os.path.join(folder, at), f"{FOLDER}/{name}")] = text
    del files["manifest.json"]
    return files


run("straight", False)
run("marked", True)
straight, marked = read("straight"), read("marked")
assert sorted(straight) == sorted(marked), (sorted(straight), sorted(marked))
for at, text in straight.items():
    assert marked[at] == text, f"{at} differs: {len(text)} and {len(marked[at])} bytes"
for at in ("captures/a.pcap.gz", "captures/b.pcap", "captures/c.pcapng", "series.csv", "events.csv"):
    assert len(straight[at]) > 200, f"{at} is empty"
