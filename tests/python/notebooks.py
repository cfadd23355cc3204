# SPDX-License-Identifier: Apache-2.0
"""tests/python/notebooks.py PACKAGE FOLDER - executes every notebook of the package.

One kernel executes all of them, and forgets all names after each: starting it and importing pandas takes longer
than the cells."""

import os
import pathlib
import sys

import nbformat
from nbconvert.preprocessors import ExecutePreprocessor

os.environ["PYTHONPATH"] = sys.argv[1]
failures = 0
notebooks = {}
for path in sorted(pathlib.Path(sys.argv[1], "notebooks").glob("*.ipynb")):
    notebook = nbformat.read(path, as_version=4)
    if any(cell.get("outputs") for cell in notebook.cells):
        print(f"FAIL: {path.name}: outputs are stored; clear them")
        failures += 1
    forget = nbformat.v4.new_code_cell("%reset -f")
    notebooks[path.name] = notebook.cells + [forget]
whole = nbformat.v4.new_notebook(cells=[cell for cells in notebooks.values() for cell in cells])
try:
    ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(
        whole, {"metadata": {"path": sys.argv[2]}}
    )
except Exception as error:  # the kernel's own kinds of errors
    print(f"FAIL: {error}")
    failures += 1
first = 0
for name, cells in notebooks.items():
    executed = whole.cells[first : first + len(cells)]
    first += len(cells)
    drawn = sum("image/png" in output.get("data", {}) for cell in executed for output in cell.get("outputs", []))
    if drawn == 0:
        print(f"FAIL: {name}: no figure")
        failures += 1
sys.exit(failures > 0)
