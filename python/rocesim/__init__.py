# SPDX-License-Identifier: Apache-2.0
"""Runs rocesim, a packet-level simulator of RDMA networks, and reads its results.

    import rocesim
    result = rocesim.run("incast.yaml", folder="out/incast", set={"nic.mtu": 1024})
    print(result.value("flows.slowdown.p99"))
    print(result.flows[["src", "dst", "fct_ns"]].describe())
    result.figure("slowdown").savefig("slowdown.png")

The package needs nothing but Python. Frames need pandas, figures matplotlib; both are imported when
they are first asked for. The program `rocesim` is found by the environment variable ROCESIM, else
inside this package (a wheel holds it), else in the PATH.
"""

from .figures import figure
from .folder import Result, load
from .named_scenarios import LibraryScenario, scenario, scenarios
from .parameters import Parameter, parameters
from .program import (
    BadInput,
    Error,
    MissingPackage,
    MissingProgram,
    RunFailed,
    check,
    run,
    version,
)
from .session import Completion, Completions, Estimate, Session, SessionError
from .sweeps import Sweep, load_sweep, sweep
from .tables import Column, Table

__version__ = "0.3.0"

__all__ = [
    "BadInput",
    "Column",
    "Completion",
    "Completions",
    "Error",
    "Estimate",
    "MissingPackage",
    "MissingProgram",
    "Parameter",
    "Result",
    "RunFailed",
    "Session",
    "SessionError",
    "Sweep",
    "Table",
    "check",
    "figure",
    "load",
    "load_sweep",
    "parameters",
    "run",
    "scenario",
    "scenarios",
    "sweep",
    "version",
]
