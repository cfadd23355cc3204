# SPDX-License-Identifier: Apache-2.0
"""Starts the program rocesim: finds it, hands scenarios over, turns exit statuses into errors."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, Union

if TYPE_CHECKING:
    from .folder import Result

WATCH_EVERY_S = 0.2
Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class Error(Exception):
    """The base of all errors of this package."""


class MissingProgram(Error):
    """The program rocesim was not found, or it is too old."""


class MissingPackage(Error):
    """A Python package that a call needs is not installed."""


class BadInput(Error):
    """The program refused its input; the text says where and what was expected."""


class RunFailed(Error):
    """A run stalled, was interrupted, or could not write. `result` holds what was written, or None."""

    def __init__(self, message: str, result: "Result | None" = None):
        super().__init__(message)
        self.result = result


INSIDE = Path(__file__).parent / "bin" / "rocesim"  # the program of a wheel


def find() -> str:
    """Returns the path of the program: $ROCESIM, that of this package, or the first in the PATH."""
    named = os.environ.get("ROCESIM")
    if named is None and INSIDE.is_file():
        return os.fspath(INSIDE)
    found = shutil.which(named or "rocesim")
    if found is None:
        where = f"ROCESIM is {named}" if named else "no rocesim is in the PATH"
        raise MissingProgram(
            f"The program rocesim was not found: {where}. Install the package rocesim, "
            "or set the environment variable ROCESIM to the path of the program."
        )
    return found


def main() -> None:
    """Becomes the program: the command `rocesim` of a wheel."""
    os.execv(INSIDE, ["rocesim", *sys.argv[1:]])


def call(
    arguments: Sequence[str],
    *,
    input: str | None = None,
    folder: str | None = None,
    watch: "Callable[[subprocess.Popen[str]], None] | None" = None,
) -> "subprocess.CompletedProcess[str]":
    """Runs the program in `folder` and returns what it said. Raises BadInput if it refuses the input.

    watch: is called every 0.2 s while the program runs, and may send it signals.
    """
    command = [find(), *arguments]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if input is None else pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
            cwd=folder,
        )
    except OSError as error:
        raise MissingProgram(f"The program {command[0]} cannot be started: {error}") from error
    with process:
        try:
            output, errors = _talk(process, input, watch)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, output, errors)
    if done.returncode == 2:
        raise BadInput(done.stderr.strip())
    return done


def _talk(
    process: "subprocess.Popen[str]",
    input: str | None,
    watch: "Callable[[subprocess.Popen[str]], None] | None",
) -> tuple[str, str]:
    """Waits for a program and returns what it said."""
    while True:
        try:
            return process.communicate(input, timeout=None if watch is None else WATCH_EVERY_S)
        except subprocess.TimeoutExpired:
            assert watch is not None
            watch(process)
            input = None  # what is left of it is sent on


class _Watch:
    """Shows the progress of a run, and interrupts it when it is asked to."""

    def __init__(self, show: "Callable[[dict[str, Any]], Any]"):
        self.show = show
        self.interrupted = False
        descriptor, self.path = tempfile.mkstemp(prefix="rocesim-progress-")
        os.close(descriptor)

    def __call__(self, process: "subprocess.Popen[str]") -> None:
        with open(self.path, encoding="utf-8") as file:
            line = file.readline()
        try:
            state = json.loads(line)
        except ValueError:
            return  # it has not begun
        if not self.interrupted and self.show(state) is False:
            self.interrupted = True
            process.send_signal(signal.SIGINT)

    def close(self) -> None:
        os.unlink(self.path)


def call_json(arguments: Sequence[str]) -> Any:
    """Runs the program and returns the JSON that it printed."""
    done = call(arguments)
    if done.returncode != 0:
        raise Error(done.stderr.strip())
    return json.loads(done.stdout)


def version() -> dict[str, Any]:
    """Returns the version of the program, of its MPI, and of its file formats."""
    told: dict[str, Any] = call_json(["--version", "--json"])
    return told


def scenario_arguments(scenario: Scenario) -> tuple[str, str | None]:
    """Returns the operand that names the scenario, and the text for the standard input.

    A scenario is the path of a file, the text of one (it holds a line feed), or a mapping.
    """
    if isinstance(scenario, Mapping):
        return "-", json.dumps(scenario)
    if isinstance(scenario, str) and "\n" in scenario:
        return "-", scenario
    return os.fspath(scenario), None


def value_text(value: Any) -> str:
    """Returns a value as --set takes it: true, 4096, [3, 4], {name: value}, text."""
    if isinstance(value, (bool, list, tuple, Mapping)) or value is None:
        return json.dumps(value)
    return str(value)


def setting_arguments(settings: Mapping[str, Any] | None) -> list[str]:
    """Returns --set PATH=VALUE for each setting."""
    arguments = []
    for path, value in (settings or {}).items():
        arguments += ["--set", f"{path}={value_text(value)}"]
    return arguments


def plugin_arguments(plugins: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Returns --plugin FILE for each plug-in."""
    arguments = []
    for plugin in plugins:
        arguments += ["--plugin", os.fspath(plugin)]
    return arguments


def run(
    scenario: Scenario,
    *,
    folder: str | os.PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - the name of the program's option
    seed: int | None = None,
    until: str | None = None,
    threads: int | None = None,
    ranks: int | None = None,
    yes: bool = False,
    plugins: Sequence[str | os.PathLike[str]] = (),
    plugin_limits: bool = False,
    programs: bool = False,
    progress: "Callable[[dict[str, Any]], Any] | None" = None,
) -> "Result":
    """Simulates a scenario and returns its results.

    scenario: the path of a file, the text of a scenario, or a mapping with its keys.
    folder: where the results are written; without it, a temporary folder that lives as long as the
        result. set: paths of attributes, or names under `parameters`, and their values.
    seed, until, threads, ranks, yes, plugin_limits, programs: the options of `rocesim run`.
    plugins: files of C or objects whose parts the scenario may choose by name.
    progress: is called about five times a second with a mapping (sim_ns, done, planned, share from 0
        to 1, left_s, events_per_s...). If it returns False, the run is interrupted.

    Raises BadInput if the scenario is refused, and RunFailed if the run stalled or could not write.
    """
    from .folder import Result

    operand, text = scenario_arguments(scenario)
    temporary = None
    if folder is None:
        temporary = tempfile.TemporaryDirectory(prefix="rocesim-")
        folder = Path(temporary.name) / "results"
    arguments = ["run", "-o", os.fspath(folder), "--quiet", *setting_arguments(set)]
    for name, value in (("seed", seed), ("until", until), ("threads", threads), ("ranks", ranks)):
        if value is not None:
            arguments += [f"--{name}", str(value)]
    arguments += ["--yes"] if yes else []
    arguments += plugin_arguments(plugins)
    arguments += ["--plugin-limits"] if plugin_limits else []
    arguments += ["--programs"] if programs else []
    watch = _Watch(progress) if progress is not None else None
    try:
        arguments += ["--progress", watch.path] if watch is not None else []
        done = call([*arguments, "--", operand], input=text, watch=watch)
    finally:
        if watch is not None:
            watch.close()
    written = (Path(folder) / "summary.json").exists()
    if done.returncode != 0:
        raise RunFailed(
            done.stderr.strip() or f"rocesim ended with status {done.returncode}",
            Result(folder, temporary) if written else None,
        )
    return Result(folder, temporary)


def check(
    scenario: Scenario,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - the name of the program's option
    plugins: Sequence[str | os.PathLike[str]] = (),
) -> str:
    """Checks a scenario without simulating, and returns the report of `rocesim check`."""
    operand, text = scenario_arguments(scenario)
    arguments = ["check", *setting_arguments(set), *plugin_arguments(plugins)]
    return call([*arguments, "--", operand], input=text).stdout
