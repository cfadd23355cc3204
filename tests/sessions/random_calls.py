# SPDX-License-Identifier: Apache-2.0
"""tests/sessions/random_calls.py PROGRAM SCENARIO SEED [CALLS]: a client that makes random calls, right and wrong.

Every call gets one answer, and wrong ones are refused with a sentence. At the end a second session submits the
same transfers before anything runs, each with the start that it had, and advances from cancel to cancel. The
completions of both must be equal, whatever the client did between: so they do not depend on when something was
submitted, estimated, marked or waited for.
"""

import copy
import random
import sys

from rocesim import Session, SessionError

PROGRAM, SCENARIO, SEED = sys.argv[1:4]
CALLS = int(sys.argv[4]) if len(sys.argv) > 4 else 150
MANY = {"src": 0, "dst": 1, "bytes": 5}
WRONG = [
    ("submit", {**MANY, "bytes": -1}),
    ("submit", {**MANY, "dst": 0}),
    ("submit", {**MANY, "src": "nobody"}),
    ("submit", {**MANY, "at": -1}),
    ("submit", {**MANY, "after": 10**6}),
    ("submit", {**MANY, "after": [0, None]}),
    ("submit", {**MANY, "verb": "push"}),
    ("submit", {**MANY, "priority": 8}),
    ("submit", {"transfers": [MANY, 7]}),
    ("submit", {"collective": {"kind": "all-redu"}}),
    ("submit", {"collective": {"ranks": 2, "bytes": 5}, "after": 0}),
    ("estimate", {**MANY, "bytes": 2**43}),
    ("estimate", {"transfers": [MANY, {**MANY, "dst": 0}]}),
    ("advance", {}),
    ("advance", {"until_ps": 1.5}),
    ("next_completion", {"until_ps": "later"}),
    ("cancel", {"transfer": 10**9}),
    ("cancel", {"transfer": None}),
    ("jump", {}),
]


class Client:
    """The state of the client, which a mark keeps and `back` brings back."""

    def __init__(self):
        self.transfers = []  # arguments by number; None: a program
        self.ends = {}  # number: start, end, outcome, status, delivered
        self.delivered = {}  # number: time, of those whose delivery is a completion
        self.cancels = []  # time, number
        self.now = 0


class Run:
    def __init__(self, session, draw):
        self.session, self.draw = session, draw
        self.client = Client()
        self.kept = []
        self.hosts = len(session.hosts)
        self.programs = draw is not None and draw.random() < 0.3

    def transfer(self):
        draw, made = self.draw, self.client.transfers
        src, dst = draw.sample(range(self.hosts), 2)
        at = {"src": src, "dst": dst, "bytes": draw.choice([0, 1, 100, 4096, 100000, 500000])}
        if draw.random() < 0.4:
            at["at"] = self.client.now + draw.choice([0, 1, draw.randrange(10**8)])
        if draw.random() < 0.3:
            at["verb"] = draw.choice(["write", "send", "read"])
        if draw.random() < 0.2:
            at["reuse"] = True
        if draw.random() < 0.3:
            at["delivery"] = True
        if draw.random() < 0.2:
            at["source_port"] = draw.randrange(1, 65536)
        if made and draw.random() < 0.4:
            at["after"] = [draw.randrange(max(0, len(made) - 8), len(made)) for _ in range(draw.randrange(1, 4))]
        return at

    def call(self, name, **arguments):
        """Makes a call that may be refused, with a sentence. Returns None then."""
        try:
            return self.session.call(name, **arguments)
        except SessionError as error:
            assert error.code in ("argument", "transfer", "past", "mark", "call"), (name, arguments, error)
            assert len(str(error)) > 5, error
            return None

    def note(self, number, transfer):
        assert number == len(self.client.transfers), (number, len(self.client.transfers))
        self.client.transfers.append(transfer and {**transfer, "at": transfer.get("at", self.client.now)})

    def submit(self):
        if self.programs and self.draw.random() < 0.1:
            program = {"kind": "all-reduce", "bytes": 30000, "ranks": self.draw.choice([2, 4])}
            answer = self.call("submit", collective=program, per_rank=self.draw.random() < 0.5)
            self.note(answer["transfer"], None)
        elif self.draw.random() < 0.3:
            transfers = [self.transfer() for _ in range(self.draw.randrange(4))]
            before = len(self.client.transfers)
            answer = self.call("submit", transfers=transfers)
            if answer is None:  # those before the wrong one are submitted: find out how many
                for number in range(before, before + len(transfers)):
                    if self.call("cancel", transfer=number) is None:
                        break
                    self.note(number, transfers[number - before])
                    self.client.cancels.append((self.client.now, number))
            for number in answer["transfers"] if answer else []:
                self.note(number, transfers[number - before])
        else:
            transfer = self.transfer()
            answer = self.call("submit", **transfer)
            if answer is not None:
                self.note(answer["transfer"], transfer)

    def take(self, answer):
        last = (0, 0)
        for at in answer["completions"]:
            assert last <= (at["end_ps"], at["transfer"]), "completions are not in order"
            last = at["end_ps"], at["transfer"]
            assert at["end_ps"] < answer["now_ps"] or at["outcome"] == "cancelled", (at, answer["now_ps"])
            if at["outcome"] == "delivered":
                assert at["transfer"] not in self.client.delivered, "a transfer is delivered twice"
                assert at["transfer"] not in self.client.ends, "a transfer is delivered after its end"
                assert at["end_ps"] == at["delivered_ps"] > at["start_ps"], at
                self.client.delivered[at["transfer"]] = at["end_ps"]
            elif "rank" not in at:
                assert at["transfer"] not in self.client.ends, "a transfer ends twice"
                delivered = at.get("delivered_ps")
                transfer = self.client.transfers[at["transfer"]]
                if at["outcome"] != "done" or transfer is None:
                    assert delivered is None, at
                elif transfer.get("verb") == "read":
                    assert delivered == at["end_ps"], at
                else:
                    assert at["start_ps"] < delivered <= at["end_ps"], at
                told = self.client.delivered.get(at["transfer"])
                if at["outcome"] == "done" and transfer is not None:
                    assert told == (delivered if transfer.get("delivery") else None), (at, told)
                ended = at["start_ps"], at["end_ps"], at["outcome"], at.get("status"), delivered
                self.client.ends[at["transfer"]] = ended
        assert answer["now_ps"] >= self.client.now, (self.client.now, answer)
        self.client.now = answer["now_ps"]
        assert answer["open"] == len(self.client.transfers) - len(self.client.ends), answer

    def estimate(self):
        transfers = [self.transfer() for _ in range(self.draw.randrange(4))]
        answer = self.call("estimate", transfers=transfers, alone=self.draw.random() < 0.5)
        assert answer is None or len(answer["estimates"]) == len(transfers), answer
        assert self.session.now() == self.client.now, "an estimate moves the time"

    def cancel(self):
        if self.client.transfers:
            number = self.draw.randrange(len(self.client.transfers))
            answer = self.call("cancel", transfer=number)
            assert answer is None or number not in self.client.ends, number
            if answer is not None:
                self.client.cancels.append((self.client.now, number))

    def cancel_programs(self):
        open_programs = [n for n, at in enumerate(self.client.transfers) if at is None and n not in self.client.ends]
        assert open_programs, "transfers do not come to an end"
        for number in open_programs:
            self.session.cancel(number)

    def marks(self):
        name = self.draw.choice(["mark", "back", "drop"])
        answer = self.call(name)
        assert (answer is None) == (name != "mark" and not self.kept), (name, answer)
        if name == "mark":
            self.kept.append(copy.deepcopy(self.client))
        elif answer is not None:
            kept = self.kept.pop()
            self.client = kept if name == "back" else self.client
        assert answer is None or answer["marks"] == len(self.kept), answer
        assert self.session.now() == self.client.now, name

    def step(self):
        kind = self.draw.randrange(20)
        if kind < 8:
            self.submit()
        elif kind < 10:
            self.take(self.session.call("advance", until_ps=self.client.now + self.draw.randrange(5 * 10**7)))
        elif kind < 13:
            limit = {"until_ps": self.client.now + 10**7} if self.draw.random() < 0.5 else {}
            self.take(self.session.call("next_completion", **limit))
        elif kind < 14:
            self.estimate()
        elif kind < 16:
            self.cancel()
        elif kind < 18:
            self.marks()
        else:
            name, arguments = self.draw.choice(WRONG)
            assert self.call(name, **arguments) is None, (name, arguments)

    def go(self):
        for _ in range(CALLS):
            self.step()
        while len(self.client.ends) < len(self.client.transfers):
            if self.draw.random() < 0.5:
                answer = self.session.call("next_completion")
            else:
                answer = self.session.call("advance", until_ps=self.client.now + 10**9)
            self.take(answer)
            if not answer["completions"] and "stalled" in answer:
                self.cancel_programs()  # a rank that has lost a message waits for ever
        self.session.finish()
        return self.client


def replay(session, client):
    """Makes the same in few calls. Returns the completions."""
    again = Client()
    numbers = {}
    run = Run(session, None)
    run.client = again
    for number, transfer in enumerate(client.transfers):
        start, end, outcome = client.ends[number][:3]
        if outcome == "cancelled" and start == end:
            continue  # it never began
        rest = {key: transfer[key] for key in transfer if key not in ("at", "after")}
        answer = session.call("submit", at=start, **rest)
        numbers[answer["transfer"]] = number
        again.transfers.append(transfer)
    for time, number in client.cancels:
        if number in numbers.values():
            run.take(session.call("advance", until_ps=time))
            session.call("cancel", transfer={n: at for at, n in numbers.items()}[number])
    run.take(session.call("advance", until_ps=max(client.now, again.now)))
    return {numbers[at]: end for at, end in again.ends.items()}


def main():
    draw = random.Random(int(SEED))
    with Session(SCENARIO, program=PROGRAM) as session:
        client = Run(session, draw).go()
    ended = sum(end[2] == "done" for end in client.ends.values())
    if None not in client.transfers:  # programs have numbers of queue pairs and flows of their own
        with Session(SCENARIO, program=PROGRAM) as session:
            again = replay(session, client)
        for number, end in again.items():
            assert client.ends[number] == end, (number, client.transfers[number], client.ends[number], end)
    print(f"{len(client.transfers)} transfers, {ended} of them done")


main()
