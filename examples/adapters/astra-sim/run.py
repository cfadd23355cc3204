#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of an ASTRA-sim that is built on rocesim, beside its analytical back end.

    run.py ASTRA_SIM [FOLDER...]

ASTRA_SIM is its source, in which its own build.sh for the analytical back end has run. The program
compiles astra_sim.cc, links it with ASTRA-sim's library, and takes every shell script below
ASTRA_SIM/examples/run_scripts (and below each FOLDER, such as tutorials) that runs ASTRA-sim with an
analytical network, and every workload of ASTRA_SIM/examples. It prints a row for each. README.md
"""

import argparse
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NEEDED = ("workload", "system", "network", "remote-memory")


def compile_front_end(astra, folder, archive):
    """Compiles astra_sim.cc against ASTRA-sim's headers and library, and returns the program."""
    chakra = astra / "extern/graph_frontend/chakra"
    helper = astra / "extern/helper"
    headers = [astra, astra / "extern", chakra, chakra / "schema/protobuf", chakra / "src/third_party/utils"]
    headers += [helper, helper / "fmt/include", helper / "spdlog/include", HERE.parent.parent]
    own = HERE.parent.parent.parent / "sessions"
    if own.is_dir():  # in the source tree; else by pkg-config
        headers.append(own)
        flags = os.environ.get("ROCESIM_LIBRARIES", "build/release")
        flags = [f"-L{flags}", f"-Wl,-rpath,{os.path.abspath(flags)}", "-lrocesim"]
    else:
        found = subprocess.run(["pkg-config", "--cflags", "--libs", "rocesim-session"], check=True,
                               capture_output=True, text=True)
        flags = found.stdout.split()
    beside = [at for name in ("spdlog", "fmt", "yaml-cpp")
              for at in sorted(archive.parent.parent.rglob(f"lib{name}.a"))[:1] or [f"-l{name}"]]
    program = folder / "astra_sim"
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-DSPDLOG_FMT_EXTERNAL",
               *(f"-I{at}" for at in headers), *shlex.split(os.environ.get("CXXFLAGS", "")),
               HERE / "astra_sim.cc", "-o", program, archive, *beside, "-lprotobuf", "-lpthread", *flags,
               *shlex.split(os.environ.get("LDLIBS", ""))]
    subprocess.run([str(word) for word in command], check=True)
    return program


def options_of(script):
    """Returns the options of ASTRA-sim in a shell script, with its variables filled in."""
    values = {"SCRIPT_DIR": str(script.parent)}
    fill = lambda text: re.sub(r"\$\{?(\w+)(?::\?)?\}?", lambda at: values.get(at[1], at[0]), text).replace('"', "")
    options = {}
    for line in script.read_text(errors="replace").splitlines():
        assigned = re.match(r"\s*(\w+)=(.*)", line)
        if assigned and assigned[1] != "SCRIPT_DIR":
            values[assigned[1]] = fill(assigned[2].strip())
        for name, value in re.findall(r"--([a-z-]+)[= ](\S+)", line):
            options[name] = os.path.normpath(fill(value)) if "/" in fill(value) else fill(value)
    return options


def cases(astra, folders):
    """Yields a name and the options of each example that has an analytical network and its workload."""
    for root in [astra / "examples/run_scripts", *folders]:
        for script in sorted(root.rglob("*.sh")):
            options = options_of(script)
            files = [options.get(f"{name}-configuration", "") for name in NEEDED]
            if files[2].endswith(".yml") and all(map(os.path.exists, [files[0] + ".0.et", *files[1:]])):
                yield str(script.relative_to(root)), options
    examples = astra / "examples"
    for first in sorted(examples.glob("workload/**/*.0.et")):
        prefix = str(first)[: -len(".0.et")]
        ranks = len(list(first.parent.glob(first.name[: -len("0.et")] + "*.et")))
        network = examples / f"network/analytical/Ring_{ranks}npus.yml"
        if network.exists():
            files = (prefix, examples / "system/native_collectives/Ring_4chunks.json", network,
                     examples / "remote_memory/analytical/no_memory_expansion.json")
            name = str(first.parent.relative_to(examples / "workload"))
            yield name, {f"{kind}-configuration": str(file) for kind, file in zip(NEEDED, files)}


def measure(program, options, astra, folder):
    """Runs a program; returns the last end of a rank in ns, seconds of processor time, MB, the output."""
    words = [str(program), *(f"--{name}={value}" for name, value in options.items())]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([*words, f"--logging-folder={folder}/log"], cwd=astra,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ends = [int(at) for at in re.findall(r"sys\[\d+\].*?(?:Wall time: |finished, )(\d+)", output)]
    if process.returncode != 0 or not ends:
        return None, 0, 0, output
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return max(ends), seconds, usage.ru_maxrss / 1024, output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("astra_sim", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, nargs="*")
    parser.add_argument("--build", type=pathlib.Path, help="where libAstraSim.a and the programs are")
    parser.add_argument("--keep", type=pathlib.Path, help="folder in which the program astra_sim stays")
    arguments = parser.parse_args()
    astra = arguments.astra_sim.resolve()
    build = (arguments.build or astra / "build").resolve()
    archives = sorted(build.rglob("libAstraSim.a"))
    if not archives:
        sys.exit(f"{build}: no libAstraSim.a; run build/astra_analytical/build.sh of ASTRA-sim first")
    others = [at for pattern in ("*[Cc]ongestion_[Aa]ware", "*[Cc]ongestion_[Uu]naware", "analytical_*")
              for at in sorted(build.rglob(pattern)) if at.is_file() and os.access(at, os.X_OK)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = compile_front_end(astra, arguments.keep or folder, archives[0])
        failed = 0
        print(f"{'example':44} {'messages':>8} {'analytical ns':>13} {'s':>6} {'MB':>4} "
              f"{'rocesim ns':>11} {'s':>6} {'MB':>4} {'ratio':>6}")
        for case, options in cases(astra, [at.resolve() for at in arguments.folder]):
            theirs = (None, 0, 0, "")
            for other in others:  # the one that knows congestion takes networks of one dimension only
                theirs = measure(other, options, astra, folder)
                if theirs[0]:
                    break
            ours = measure(program, options, astra, folder)
            if not ours[0]:
                failed += 1
                print(f"{case:44} FAILED: {ours[3].strip().splitlines()[-1:]}")
                continue
            messages = re.search(r"rocesim: (\d+) messages", ours[3])[1]
            told = f"{theirs[0]:13} {theirs[1]:6.2f} {theirs[2]:4.0f}" if theirs[0] else f"{'-':>25}"
            ratio = f"{ours[0] / theirs[0]:6.3f}" if theirs[0] else "     -"
            print(f"{case:44} {messages:>8} {told} {ours[0]:11} {ours[1]:6.2f} {ours[2]:4.0f} {ratio}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
