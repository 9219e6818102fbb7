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

CELLS = {
    "load": "%load_ext dwell",
    "define": "import time\ndef work():\n    with dwell.record_function('work'):\n        time.sleep(0.02)",
    "import": "import dwell",
    "calls": "%%dwell --view calls --sort total_ns\nwork(); work()\nanswer = 42",
    "answer": "answer",
    "profile": "_dwell",
    "view": "_dwell.view('calls')",
    "count": "_dwell.key_averages()[0].count",
    "wrong option": "%%dwell --vew calls\n1",
    "wrong quotes": "%%dwell --view 'calls\n1",
    "wrong view": "%%dwell --view cals\nwork()",
    "overview": "%%dwell\nwork()",
    "sorted": "%%dwell --sort calls\nwork()",
    "many": "%%dwell --view calls --limit 2\nfor i in range(5):\n    with dwell.record_function(f'part {i}'): pass",
    "all of them": "%%dwell --view calls --limit all\nfor i in range(30):\n    with dwell.record_function(f'part {i}'): pass",
    "two views": "%%dwell --view calls --view tree\nwork()",
    "nothing": "%%dwell --view calls\n1 + 1",
    "nothing at all": "%%dwell\npass",
    "failure": "%%dwell --view calls\nwork()\n1 / 0",
    "syntax": "%%dwell\n1 +",
    "interrupt": "%%dwell --view calls\nwork()\nraise KeyboardInterrupt",
    "help": "%%dwell --help\n1",
    "after": "answer + 1",
}
NAMES = list(CELLS)


def outputs(cell, kind):
    return [output for output in cell.outputs if output.output_type == kind]


def html(cell):
    shown = outputs(cell, "display_data") + outputs(cell, "execute_result")
    return "".join(output.data.get("text/html", "") for output in shown)


def plain(cell):
    return "".join(output.data.get("text/plain", "") for output in outputs(cell, "display_data"))


def errors(cell):
    return [f"{output.ename}: {output.evalue}" for output in outputs(cell, "error")]


def tracebacks(cell):
    """Tracebacks that a reader sees, and what stands in them of dwell's own files."""
    shown = ["\n".join(output.traceback) for output in outputs(cell, "error") if output.traceback]
    return len(shown), any("notebook.py" in text or "views.py" in text for text in shown)


def streams(cell):
    return "".join(output.text for output in outputs(cell, "stream"))


def main():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTHONDIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = folder
        client = NotebookClient(book, allow_errors=True, timeout=600,
                                resources={"metadata": {"path": folder}})
        client.execute()
    cells = dict(zip(NAMES, book.cells))
    values = [output.data.get("text/plain") for cell in book.cells for output in outputs(cell, "execute_result")]
    results = {
        "the extension loads": not errors(cells["load"]),
        "%%dwell shows a table": "<table>" in html(cells["calls"]) and ">work<" in html(cells["calls"]),
        "of the cell, by its name": "Only profile cell." in html(cells["calls"]),
        "and runs its cell in the notebook": "42" in values,
        "hints are calls of the magic": "dwell report" not in "".join(map(html, cells.values()))
                                        and "%%dwell --view" in html(cells["overview"]),
        "which no line of text breaks": "|\n" not in plain(cells["overview"]) and "\nNext:  %%dwell --view " in plain(cells["overview"]),
        "--limit all, as a hint says": "--limit all" in html(cells["many"]) and ">part 29<" in html(cells["all of them"]),
        "a profile shows itself": not errors(cells["profile"]) and "dwell" in html(cells["profile"]),
        "a view shows itself": ">work<" in html(cells["view"]),
        "the profile is at hand": "2" in values,
        "a wrong option is named": "--vew" in streams(cells["wrong option"]),
        "wrong quotes are named": "closing quotation" in streams(cells["wrong quotes"]),
        "a wrong view is named": "cals" in streams(cells["wrong view"]),
        "without --view the overview": "work" in html(cells["overview"]) and not errors(cells["overview"]),
        "what can be sorted": ">work<" in html(cells["sorted"]) and not streams(cells["sorted"]),
        "two views": html(cells["two views"]).count("Only profile cell.") == 2,
        "a cell that has nothing of a view": "nothing to show" in streams(cells["nothing"]),
        "nor of the overview": not errors(cells["nothing at all"]),
        "an error comes out": any("ZeroDivisionError" in said for said in errors(cells["failure"])),
        "once": tracebacks(cells["failure"])[0] == 1,
        "and what was recorded before it": ">work<" in html(cells["failure"]),
        "a cell that does not compile": tracebacks(cells["syntax"])[0] == 1 and not html(cells["syntax"]),
        "an interrupted cell": ">work<" in html(cells["interrupt"]) and any(
            "KeyboardInterrupt" in said for said in errors(cells["interrupt"])),
        "help": "--view" in streams(cells["help"]) and not errors(cells["help"]),
        "no traceback goes through dwell": not any(tracebacks(cell)[0] > 1 or tracebacks(cell)[1] for cell in book.cells),
        "and the notebook goes on": "43" in values,
    }
    for what, good in results.items():
        print(("ok   " if good else "FAIL ") + what)
    failed = list(results.values()).count(False)
    if failed:
        for cell in book.cells:
            print(cell.source, "->", str(cell.outputs)[:1500])
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
