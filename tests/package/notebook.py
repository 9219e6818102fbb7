#!/usr/bin/env python3
"""dwell in a notebook: a real kernel runs real cells, and what they show is looked at.

usage: PYTHON notebook.py, a Python that has dwell, ipykernel and nbclient.
Last line: N passed, N failed
"""
import os
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

CELLS = [
    "%load_ext dwell",
    "import time\ndef work():\n    with dwell.record_function('work'):\n        time.sleep(0.02)",
    "import dwell",
    "%%dwell --view calls --sort total_ns\nwork(); work()\nanswer = 42",
    "answer",
    "_dwell",
    "_dwell.view('calls')",
    "_dwell.key_averages()[0].count",
    "%%dwell --vew calls\n1",
    "%%dwell\n1 / 0",
    "answer + 1",
]


def outputs(cell, kind):
    return [output for output in cell.outputs if output.output_type == kind]


def html(cell):
    shown = outputs(cell, "display_data") + outputs(cell, "execute_result")
    return "".join(output.data.get("text/html", "") for output in shown)


def errors(cell):
    return [f"{output.ename}: {output.evalue}" for output in outputs(cell, "error")]


def main():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTHONDIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = folder
        client = NotebookClient(book, allow_errors=True, timeout=120,
                                resources={"metadata": {"path": folder}})
        client.execute()
    cells = book.cells
    values = [output.data.get("text/plain") for cell in cells for output in outputs(cell, "execute_result")]
    results = {
        "the extension loads": not errors(cells[0]),
        "%%dwell shows a table": "<table>" in html(cells[3]) and ">work<" in html(cells[3]),
        "and runs its cell in the notebook": "42" in values,
        "a profile shows itself": not errors(cells[5]) and "dwell" in html(cells[5]),
        "a view shows itself": ">work<" in html(cells[6]),
        "the profile is at hand": "2" in values,
        "a wrong option is named": any("--vew" in said for said in errors(cells[8])),
        "an error comes out": any("ZeroDivisionError" in said for said in errors(cells[9])),
        "and the notebook goes on": "43" in values,
    }
    for what, good in results.items():
        print(("ok   " if good else "FAIL ") + what)
    failed = list(results.values()).count(False)
    if failed:
        for cell in cells:
            print(cell.source, "->", str(cell.outputs)[:400])
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
