# SPDX-License-Identifier: Apache-2.0
"""tests/sessions/protocol.py PROGRAM SCENARIO SCHEMA: requests and answers fit the shipped schema.

Right requests fit it and are carried out; wrong ones do not fit it and are refused, with an answer
that fits.
"""

import json
import subprocess
import sys

import jsonschema

PROGRAM, SCENARIO, SCHEMA = sys.argv[1:4]
with open(SCHEMA, encoding="utf-8") as file:
    schema = json.load(file)


def validator(name):
    made = jsonschema.Draft7Validator({**schema, "oneOf": [{"$ref": f"#/definitions/{name}"}]})
    made.check_schema(schema)
    return made


REQUEST, ANSWER = validator("request"), validator("answer")
MANY = {"src": 0, "dst": 1, "bytes": 5}
RIGHT = [
    {"call": "hello", "id": 1},
    {"call": "submit", "src": "host0", "dst": 5, "bytes": 1000, "at": "now", "verb": "read", "id": "a"},
    {"call": "submit", **MANY, "priority": 7, "source_port": 50000, "reuse": True, "tag": [1]},
    {"call": "submit", "transfers": [MANY, {"collective": {"ranks": 4, "bytes": 5000}}], "id": None},
    {"call": "submit", "collective": {"bytes": "1KiB"}, "at": 5, "per_rank": True, "tag": {"a": 1}},
    {"call": "estimate", **MANY},
    {"call": "estimate", "transfers": [MANY, {**MANY, "src": 3}], "alone": True},
    {"call": "submit", **MANY, "after": 2},
    {"call": "estimate", "transfers": [MANY, {**MANY, "after": [5, 6]}]},
    {"call": "estimate", "collective": {}},
    {"call": "mark"},
    {"call": "next_completion", "slack_ps": 1000000},
    {"call": "back"},
    {"call": "mark"},
    {"call": "drop"},
    {"call": "next_completion", "until_ps": 10**9},
    {"call": "now"},
    {"call": "submit", **MANY, "at": 10**12, "delivery": True},
    {"call": "cancel", "transfer": 5},
    {"call": "advance", "until_ps": 2 * 10**12},
    {"call": "next_completion"},
    {"call": "finish", "id": {"last": True}},
]
WRONG = [
    {"call": "jump"},
    {"call": "submit"},
    {"call": "submit", **MANY, "size": 1},
    {"call": "submit", **MANY, "bytes": -1},
    {"call": "submit", **MANY, "bytes": 2**42 + 1},
    {"call": "submit", **MANY, "bytes": 1.5},
    {"call": "submit", **MANY, "priority": 8},
    {"call": "submit", **MANY, "verb": "push"},
    {"call": "submit", **MANY, "reuse": 1},
    {"call": "submit", **MANY, "delivery": "yes"},
    {"call": "submit", "collective": {}, "delivery": True},
    {"call": "submit", **MANY, "at": "later"},
    {"call": "submit", **MANY, "source_port": 65536},
    {"call": "submit", **MANY, "collective": {}},
    {"call": "submit", "collective": {}, "workload": {}},
    {"call": "submit", "collective": []},
    {"call": "submit", "collective": {}, "per_rank": "yes"},
    {"call": "submit", "transfers": {}},
    {"call": "submit", "transfers": [1]},
    {"call": "submit", "transfers": [], "tag": 1},
    {"call": "submit", "src": None, "dst": 1, "bytes": 1},
    {"call": "estimate", "transfers": 1},
    {"call": "estimate", "transfers": [], "alone": 1},
    {"call": "submit", "transfers": [], "alone": True},
    {"call": "submit", **MANY, "after": -1},
    {"call": "submit", **MANY, "after": ["x"]},
    {"call": "submit", "collective": {}, "after": 0},
    {"call": "advance"},
    {"call": "advance", "until_ps": -1},
    {"call": "next_completion", "slack_ps": 10**13},
    {"call": "cancel", "transfer": "x"},
    {"call": "cancel"},
    {"no": "call"},
    [],
    5,
]


def talk(requests):
    lines = "".join(json.dumps(at) + "\n" for at in requests)
    command = [PROGRAM, "serve", SCENARIO]
    said = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout
    answers = [json.loads(line) for line in said.splitlines()]
    assert len(answers) == len(requests), (len(answers), len(requests))
    for answer in answers:
        ANSWER.validate(answer)
    return answers


for request, answer in zip(RIGHT, talk(RIGHT)):
    REQUEST.validate(request)
    assert answer["ok"], (request, answer)
    assert answer.get("id") == request.get("id") and ("id" in answer) == ("id" in request), answer
for request, answer in zip(WRONG, talk(WRONG)):
    assert not REQUEST.is_valid(request), f"the schema takes {request}"
    assert not answer["ok"] and len(answer["message"]) > 5, (request, answer)
# Values that only the session can judge.
JUDGED = [
    {"call": "submit", **MANY, "src": "host99"},
    {"call": "submit", **MANY, "dst": 0},
    {"call": "submit", **MANY, "dst": 10**15},
    {"call": "submit", "collective": {"kind": "all-redu"}},
    {"call": "submit", "collective": {"ranks": 17}},
    {"call": "submit", "workload": {"file": "/nonexistent"}},
    {"call": "submit", "workload": {}},
    {"call": "submit", "training": {"tp": 3}},
    {"call": "cancel", "transfer": 2**62},
    {"call": "back"},
    {"call": "drop"},
    {"call": "submit", **MANY, "after": 99},
]
for request, answer in zip(JUDGED, talk(JUDGED)):
    REQUEST.validate(request)
    assert not answer["ok"] and len(answer["message"]) > 5, (request, answer)
print(len(RIGHT), "right and", len(WRONG) + len(JUDGED), "wrong requests")
