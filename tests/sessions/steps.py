# SPDX-License-Identifier: Apache-2.0
"""tests/sessions/steps.py PROGRAM SCENARIO SEED: where steps end changes nothing.

Six sessions submit the same transfers and step through them in different ways, one of them by deliveries,
too. Their digests, which cover the numbers of queue pairs, and all times must be equal.
"""

import random
import sys

from rocesim import Session

PROGRAM, SCENARIO, SEED = sys.argv[1:4]
END_PS = 2 * 10**9
draw = random.Random(int(SEED))
TRANSFERS = [
    (source, (source + draw.randrange(1, 16)) % 16, draw.choice([64, 5000, 300000]), draw.randrange(5 * 10**7))
    for source in list(range(16)) * 2
]
STRIDE_PS = draw.randrange(10**6, 3 * 10**7)


def completions(session, steps):
    ends = {}
    if steps in ("completions", "deliveries"):
        while len(ends) < len(TRANSFERS):
            ends.update((at["transfer"], at["end_ps"]) for at in session.next_completion())
    elif steps == "strides":
        for until in range(STRIDE_PS, END_PS, STRIDE_PS):
            ends.update((at["transfer"], at["end_ps"]) for at in session.advance(until))
    elif steps == "one completion":
        ends.update((at["transfer"], at["end_ps"]) for at in session.next_completion())
    if steps != "none":
        ends.update((at["transfer"], at["end_ps"]) for at in session.advance(END_PS))
    return ends


def run(steps):
    with Session(SCENARIO, program=PROGRAM) as session:
        for source, destination, size, at in TRANSFERS:
            session.submit(source, destination, size, at=at, delivery=steps == "deliveries")
        ends = completions(session, steps)
        return ends, session.finish()["digest"]


expected, digest = run("one step")
assert len(expected) == len(TRANSFERS)
for way in ("none", "one completion", "completions", "deliveries", "strides"):
    ends, other = run(way)
    assert not ends or ends == expected, (way, ends, expected)
    assert other == digest, f"{way}: digest {other}, in one step {digest}"
