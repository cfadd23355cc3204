# SPDX-License-Identifier: Apache-2.0
"""tests/python/package.py bare|frames PACKAGE FOLDER - checks of the Python package.

bare: with Python's own modules alone. frames: with pandas and matplotlib.
"""

import os
import sys

mode, package, folder = sys.argv[1:4]
sys.path.insert(0, package)
before = set(sys.modules)

import rocesim  # noqa: E402

SCENARIO = """
name: package
topology:
  star: {hosts: 24, rate: 100Gbps, delay: 1us}
traffic:
  - incast: {to: host0, from: "host[1-23]", bytes: 100KB}
  - permutation: {bytes: 10KB, start: 100us}
observe:
  - {series: "port[switch0->host0].queue_bytes", every: 5us}
parameters:
  size: {default: 100KB, path: "traffic[0].incast.bytes", help: bytes of each sender}
"""


def refused(kind, call, words):
    """Checks that a call raises an error of this kind whose text holds the words."""
    try:
        call()
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error}"
        return error
    raise AssertionError(f"nothing was raised, expected {kind.__name__}: {words}")


def library():
    known = rocesim.scenario("training/ring")
    assert known.question.endswith("?") and known.seconds >= 0 and "topology" in known.text, known
    assert rocesim.run(known).value("ended") == rocesim.run("training/ring").value("ended") == "done"
    copies = known.copy(os.path.join(folder, "copy.yaml"))
    assert [os.path.basename(copy) for copy in copies] == ["copy.yaml", "ring8.goal"], copies
    assert "gpus" in rocesim.scenario("collective").parameters
    assert list(rocesim.scenarios("storm")) == ["pfc-storm"], rocesim.scenarios("storm")
    try:
        rocesim.scenario("training/gtp")
        raise AssertionError("a scenario that does not exist was found")
    except rocesim.BadInput as error:
        assert "training/gpt" in str(error), error


def bare():
    heavy = {"pandas", "numpy", "matplotlib", "polars", "pyarrow"}
    assert not heavy & (set(sys.modules) - before), "import rocesim imports packages"
    library()
    result = rocesim.run(SCENARIO, folder=os.path.join(folder, "bare"), seed=2)
    rows = list(result.flows.rows())
    assert len(rows) == len(result.flows) == result.value("flows.completed"), len(rows)
    assert rows[0]["src"].startswith("host") and rows[0]["fct_ns"] > 0, rows[0]
    assert result.flows.units["fct_ns"] == "ns" and result.unit("sim_time_ps") == "ps"
    assert result.value("apps[incast].kind") == "incast", result.summary["apps"]
    assert rocesim.load(result.path).value("digest") == result.value("digest")
    same = rocesim.run(result.path / "scenario.yaml")
    assert same.value("digest") == result.value("digest"), "scenario.yaml is another run"
    kept, flows = same.path, same.flows
    del same
    assert len(list(flows.rows())) == len(rows), "a table does not outlive its run"
    del flows
    assert not kept.exists(), "a temporary folder stays behind"
    check_values()
    check_progress()
    check_sessions()
    refused(rocesim.MissingPackage, lambda: result.flows.frame, "python3-pandas")
    refused(rocesim.MissingPackage, lambda: result.figure("queue"), "python3-matplotlib")
    refused(rocesim.MissingPackage, result.flows.polars, "polars")
    refused(rocesim.BadInput, lambda: rocesim.run(SCENARIO, set={"nic.mtuu": 1}), "did you mean 'mtu'")
    refused(rocesim.Error, lambda: rocesim.load(folder), "summary.json is missing")
    refused(rocesim.Error, lambda: result.value("flows.nothing"), "has no flows.nothing")
    refused(AttributeError, lambda: result.nothing, "it has:")
    stalled = refused(
        rocesim.RunFailed,
        lambda: rocesim.run("scenarios/pfc-deadlock.yaml"),
        "stalled",
    )
    assert stalled.result.value("ended") == "stalled", stalled.result
    assert rocesim.version()["formats"]["results"] == 1
    assert rocesim.__version__ == rocesim.version()["version"], "the versions differ"
    check_parameters()
    check_programs()
    newer(result)


def check_values():
    """Numbers are int or float, empty values None, whatever else the column holds."""
    path = os.path.join(folder, "values.csv")
    texts = ["", "1", "-5", "2.5", "1e5", "inf", "host1", "n1", "5x", "0x1", "-", "a.b"]
    wanted = [None, 1, -5, 2.5, 1e5, float("inf"), "host1", "n1", "5x", "0x1", "-", "a.b"]
    for first in range(len(texts)):
        for many in (1, 300):
            with open(path, "w", encoding="utf-8") as file:
                file.write("a,b\n" + "".join(f"{at},0\n" for at in texts[first:] * many))
            rows = list(rocesim.Table(path).rows())
            assert [row["a"] for row in rows] == wanted[first:] * many, (first, many)


def check_progress():
    states = []

    def show(state):
        states.append(state)
        return False

    long = SCENARIO.replace("10KB", "1GB")
    stopped = refused(rocesim.RunFailed, lambda: rocesim.run(long, progress=show), "interrupted")
    assert states[0]["planned"] > 0 and len(states) == 1, states
    assert stopped.result.value("ended") == "interrupted", stopped.result


def check_sessions():
    path = os.path.join(folder, "session.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("topology: {pair: {}}\n")
    with rocesim.Session(path) as session:
        first = session.submit(0, 1, 1000)
        session.submit(0, 1, 1000, after=first)
        alone, behind = session.estimate_many([{"src": 0, "dst": 1, "bytes": 5}] * 2, alone=True)
        assert alone == behind and alone["outcome"] == "done", (alone, behind)
        ended = session.next_completion()
        assert (ended.open, ended.stalled, ended.now_ps) == (1, False, ended[0]["end_ps"] + 1), ended
        session.mark()
        session.drop()
        assert session.next_completion()[0]["start_ps"] == ended.now_ps and session.now() > ended.now_ps
        refused(rocesim.SessionError, lambda: session.submit(0, 0, 5), "dst")
    refused(rocesim.SessionError, session.now, "has ended")
    refused(rocesim.SessionError, lambda: rocesim.Session(server="unix:/nobody/there"), "cannot be reached")
    refused(rocesim.MissingProgram, lambda: rocesim.Session(path, program="/nobody/there"), "started")
    refused(rocesim.Error, lambda: rocesim.Table("/nobody/there.csv"), "cannot be read")


def check_parameters():
    known = rocesim.parameters()
    mtu = known["nic.mtu"]
    assert mtu.type == "bytes" and mtu.default == "4096" and mtu.help, mtu
    assert mtu.problem(1024) is None and "at most 9216" in mtu.problem("1MB"), mtu.problem("1MB")
    assert known["memory-max"].problem("auto") is None
    assert "expected one of" in known["ties"].problem("random")
    assert known["switch.ecn.pmax"].problem("20%") is None
    path = os.path.join(folder, "own.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCENARIO)
    own = rocesim.parameters(path)["size"]
    assert own.sets == ("traffic[0].incast.bytes",) and own.default == "100KB", own


def check_programs():
    scenario = """
parameters: {word: {default: one, help: what the program prints}}
topology: {star: {hosts: 2}}
traffic:
  - programs:
      - {host: host1, command: "echo $(word)"}
"""
    refused(rocesim.BadInput, lambda: rocesim.run(scenario), "needs `--programs`")
    if not os.path.exists(os.path.join(os.environ["BUILD_DIRECTORY"], "programs-ibverbs")):
        return
    run = rocesim.run(scenario, programs=True)
    assert run.programs == {"host1-0": "one\n"}, run.programs
    path = os.path.join(folder, "programs.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(scenario)
    swept = rocesim.sweep(path, grid={"word": ["two", "three"]}, programs=True)
    printed = [r.programs["host1-0"] for _, r in swept.results()]
    assert printed == ["two\n", "three\n"], printed


def newer(result):
    """A folder of a later format is refused, one without a manifest is read."""
    manifest = result.path / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"format": 1', '"format": 2'))
    refused(rocesim.Error, lambda: rocesim.load(result.path), "format 2 of result folders")
    manifest.unlink()
    assert len(rocesim.load(result.path).flows) == len(result.flows)


def frames():
    result = rocesim.run(SCENARIO, folder=os.path.join(folder, "frames"))
    flows = result.flows
    assert flows["fct_ns"].attrs["unit"] == "ns", flows["fct_ns"].attrs
    assert flows.head(2).shape[0] == 2 and flows._frame is None, "head reads everything"
    assert flows[["src", "bytes"]].attrs["units"] == {"bytes": "bytes"}
    assert flows._frame is None, "two columns read everything"
    total = sum(row["bytes"] for row in flows.rows())
    assert flows.bytes.sum() == total == sum(frame.bytes.sum() for frame in flows.chunks(7))
    assert flows.groupby("app").size().to_dict()["incast"] == 23
    refused(rocesim.Error, lambda: flows["fct"], "it has: flow_id")
    queue = result.series.of("port[switch0->host0].queue_bytes")
    assert queue.max() == max(r["value"] for r in result.series.rows()), queue.max()
    assert result.series.wide().shape == (len(queue), 1)
    refused(rocesim.Error, lambda: result.series.of("port[x]"), "it has: port[switch0->host0]")
    for kind in ("slowdown", "queue", "load"):
        result.figure(kind).savefig(os.path.join(folder, f"{kind}.png"))
        assert os.path.getsize(os.path.join(folder, f"{kind}.png")) > 5000, kind
    refused(rocesim.BadInput, lambda: result.figure("clouds"), "clouds")
    path = os.path.join(folder, "base.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCENARIO)
    swept = rocesim.sweep(
        path,
        grid={"size": ["50KB", "100KB"]},
        seeds=3,
        columns=["flows.fct_us.mean"],
        folder=os.path.join(folder, "sweep"),
        jobs=2,
    )
    assert swept.parameters == ["size"] and len(swept.runs) == 6, swept
    for values, mean, low, high in swept.intervals("flows.fct_us.mean"):
        seen = [
            r.value("flows.fct_us.mean") for row, r in swept.results() if row["size"] == values["size"]
        ]
        assert abs(sum(seen) / 3 - mean) < 1e-3 and low <= mean <= high, (seen, low, mean, high)
    assert rocesim.load_sweep(swept.path).points.frame.shape[0] == 2
    swept.figure().savefig(os.path.join(folder, "sweep.png"))


{"bare": bare, "frames": frames}[mode]()
