#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/python/test_python_types.sh - the types of the Python package hold.
#
# Goal: mypy finds no error in the package, nor in a program that uses its sessions, and finds the error of a
# program that passes a wrong type. Method: mypy (Debian: mypy); without it the test is skipped.
# Not pinned: types of pandas, matplotlib and pyarrow, which have none in Debian.
set -u
. tests/script.sh
command -v mypy >/dev/null || { echo "skip: there is no mypy" && exit 77; }

types() { MYPYPATH=python mypy --ignore-missing-imports --cache-dir "$work/cache" "$@" >"$work/said" 2>&1; }
types --disallow-untyped-defs python/rocesim || fail "the package: $(cat "$work/said")"
cat >"$work/good.py" <<'END'
from rocesim import Session

with Session("scenario.yaml") as session:
    session.close()
END
types "$work/good.py" || fail "a program: $(cat "$work/said")"
sed 's/Session("scenario.yaml")/Session(7)/' "$work/good.py" >"$work/bad.py"
if types "$work/bad.py"; then fail "a number in the place of a scenario has no error"; fi
exit $((failures > 0))
