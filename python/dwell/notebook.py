"""In a notebook: `%load_ext dwell`, then

    %%dwell
    loss = model(x).sum()
    loss.backward()

profiles the cell and shows where its time went. `--view calls --view tree` shows these views,
`--shapes` and its like record more; `%%dwell --help` lists all. The profile is then `_dwell`:
_dwell.view("tree").
"""
import argparse
import re
import shlex
import textwrap

from . import _native as native
from .profiler import profile

_ASKED_WRONGLY = {-7, -8}  # DWELL_E_ARGUMENT, DWELL_E_NAME
_OPTIONS = {"memory": "--memory", "flops": "--flops"}  # what a view needs


# A notebook's profile has no file to open: of what an overview proposes next, the views are left.
_NEXT = re.compile(r"\bdwell view [^;]*;\s+dwell\s+report\s+--format.*?(?=--view)", re.S)
_REPORT, _RUN = re.compile(r"\bdwell\s+report\s+(?=--)"), re.compile(r"\bdwell run (?=--(?:shapes|memory|stacks|flops)\b)")


def _limit(text):
    return None if text == "all" else int(text)


class _Shown:
    """A view whose hints are calls of the magic in place of the command."""

    def __init__(self, view):
        self._view = view

    def _said(self, form):
        return _RUN.sub("%%dwell ", _REPORT.sub("%%dwell ", _NEXT.sub("dwell report ", self._view.format(form))))

    def __repr__(self):
        text, label, after = self._said("text").rpartition("\nNext:")  # the last line, which is shorter now
        if not label:
            return after
        words = re.sub(r"(?<=\|)\s+", "", after)
        return f"{text}\n" + textwrap.fill("Next:  " + " ".join(words.split()), 80, subsequent_indent="       ")

    def _repr_html_(self):
        return self._said("html")


class _Parser(argparse.ArgumentParser):
    """Raises where the original would end the process, which is the notebook's."""

    def error(self, message):
        raise ValueError(f"%%dwell: {message}\n{self.format_usage()}")

    def exit(self, status=0, message=None):
        raise _Said(message or "")


class _Said(Exception):
    """--help was asked for, and has been printed."""


def _parser():
    parser = _Parser(prog="%%dwell", description="Profiles the cell and shows where its time went.")
    parser.add_argument("--view", action="append", metavar="NAME",
                        help="which view; may be given several times (overview; calls with --sort or --group-by)")
    parser.add_argument("--sort", metavar="COLUMN", help="a column of the view")
    parser.add_argument("--limit", metavar="N", type=_limit, default=20, help="rows, or all (20)")
    parser.add_argument("--group-by", metavar="WHAT", help="shape, overload, stack:N")
    parser.add_argument("--shapes", action="store_true", help="record shapes")
    parser.add_argument("--memory", action="store_true", help="record allocations")
    parser.add_argument("--stacks", action="store_true", help="record stacks")
    parser.add_argument("--flops", action="store_true", help="count floating-point operations")
    return parser


def _show(prof, asked, names):
    """Displays the views. One that the cell recorded nothing for is a sentence."""
    from IPython.core.error import UsageError  # there is a notebook, so there is IPython
    from IPython.display import display

    for name in names:
        try:
            display(_Shown(prof.view(name, sort=asked.sort, limit=asked.limit, group_by=asked.group_by)))
        except native.Error as error:
            if error.code in _ASKED_WRONGLY:
                raise UsageError(f"%%dwell: {error}") from None
            remedy = f"; %%dwell {_OPTIONS[name]} records it" if name in _OPTIONS else ""
            print(f"%%dwell --view {name}: the cell recorded nothing to show{remedy} ({error})")
        except AssertionError as error:  # nothing was recorded at all
            print(f"%%dwell: {error}")
            return


def _fail(error):
    """Ends the cell with an error whose traceback has been shown, so that the cells after it do
    not run."""
    from IPython.core.error import UsageError

    if isinstance(error, SyntaxError):  # IPython would show it once more
        raise UsageError("%%dwell: the cell did not run")
    error._render_traceback_ = lambda: []
    raise error


def run_cell(ipython, line, cell):
    """The magic: runs the cell as it would run without, and displays the views after it, also
    when it failed or was interrupted. UsageError for options that are wrong."""
    from IPython.core.error import UsageError

    try:
        asked = _parser().parse_args(shlex.split(line))
    except _Said:
        return
    except ValueError as error:
        raise UsageError(str(error)) from None
    prof = profile(name="cell", record_shapes=asked.shapes or (asked.group_by or "").startswith("shape"),
                   profile_memory=asked.memory, with_stack=asked.stacks, with_flops=asked.flops)
    with prof:
        result = ipython.run_cell(cell)
    ipython.push({"_dwell": prof})
    if result.error_before_exec is None:
        _show(prof, asked, asked.view or ["calls" if asked.sort or asked.group_by else "overview"])
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        _fail(error)


def load_ipython_extension(ipython):
    """What %load_ext dwell calls."""
    ipython.register_magic_function(lambda line, cell: run_cell(ipython, line, cell), "cell", "dwell")
