#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# tests/python/test_python.sh - the Python package: runs, results, parameters, sweeps, figures, notebooks.
#
# Goal: import rocesim and everything but frames and figures need Python alone; frames, figures and sweeps
# hold what the files hold; errors say what is missing; the notebooks run to their last cell.
# Method: Python without its packages (-S), then the Python that has pandas; nbconvert executes the notebooks.
set -u
. tests/script.sh
export PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=agg
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
python3 -S -I tests/python/package.py bare "$PWD/python" "$work" || fail "without packages"

with=
for python in python3 /usr/bin/python3; do
    "$python" -c 'import pandas, matplotlib' 2>/dev/null && with=$python && break
done
[ -n "$with" ] || { echo "skip: no python3-pandas, python3-matplotlib"; exit $((failures > 0 ? 1 : 77)); }
"$with" tests/python/package.py frames "$PWD/python" "$work" || fail "with pandas and matplotlib"

if ! "$with" -c 'import nbconvert, ipykernel' 2>/dev/null; then
    echo "skip: no jupyter-nbconvert"
    exit $((failures > 0 ? 1 : 77))
fi
"$with" tests/python/notebooks.py "$PWD/python" "$work" || fail "notebooks"
exit $((failures > 0))
