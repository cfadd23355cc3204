# SPDX-License-Identifier: Apache-2.0
"""tests/python/notebooks.py PACKAGE FOLDER - executes every notebook of the package, side by side."""

import os
import pathlib
import sys

import nbformat
from nbconvert.preprocessors import ExecutePreprocessor

os.environ["PYTHONPATH"] = sys.argv[1]
failures = 0
for path in sorted(pathlib.Path(sys.argv[1], "notebooks").glob("*.ipynb")):
    notebook = nbformat.read(path, as_version=4)
    if any(cell.get("outputs") for cell in notebook.cells):
        print(f"FAIL: {path.name}: outputs are stored; clear them")
        failures += 1
    try:
        ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(
            notebook, {"metadata": {"path": sys.argv[2]}}
        )
    except Exception as error:  # the kernel's own kinds of errors
        print(f"FAIL: {path.name}: {error}")
        failures += 1
    drawn = sum(
        "image/png" in output.get("data", {})
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    if drawn == 0:
        print(f"FAIL: {path.name}: no figure")
        failures += 1
sys.exit(failures > 0)
