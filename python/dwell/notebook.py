"""In a notebook: `%load_ext dwell`, then

    %%dwell --shapes --sort total_ns
    loss = model(x).sum()
    loss.backward()

profiles the cell and shows its operators and named ranges. The profile is then `_dwell`: _dwell.view("tree").
"""
import argparse
import shlex

from .profiler import profile


class _Parser(argparse.ArgumentParser):
    """Raises where the original would end the process, which is the notebook's."""

    def error(self, message):
        raise ValueError(f"%%dwell: {message}\n{self.format_usage()}")

    def exit(self, status=0, message=None):
        raise _Said(message or "")


class _Said(Exception):
    """--help was asked for, and has been printed."""


def _parser():
    parser = _Parser(prog="%%dwell", description="Profiles the cell and shows a view of it.")
    parser.add_argument("--view", default="calls", help="which view (calls)")
    parser.add_argument("--sort", help="a column of the view")
    parser.add_argument("--limit", type=int, default=20, help="rows (20)")
    parser.add_argument("--group-by", help="shape, overload, stack:N")
    parser.add_argument("--shapes", action="store_true", help="record shapes")
    parser.add_argument("--memory", action="store_true", help="record allocations")
    parser.add_argument("--stacks", action="store_true", help="record stacks")
    parser.add_argument("--flops", action="store_true", help="count floating-point operations")
    return parser


def run_cell(ipython, line, cell):
    """The magic: runs the cell as it would run without, and displays the view after it."""
    from IPython.display import display  # there is a notebook, so there is IPython

    try:
        asked = _parser().parse_args(shlex.split(line))
    except _Said:
        return
    prof = profile(name="cell", record_shapes=asked.shapes or (asked.group_by or "").startswith("shape"),
                   profile_memory=asked.memory, with_stack=asked.stacks, with_flops=asked.flops)
    with prof:
        result = ipython.run_cell(cell)
    ipython.push({"_dwell": prof})
    # An error's traceback has been shown; what comes after the cell must not run.
    result.raise_error()
    display(prof.view(asked.view, sort=asked.sort, limit=asked.limit, group_by=asked.group_by))


def load_ipython_extension(ipython):
    """What %load_ext dwell calls."""
    ipython.register_magic_function(lambda line, cell: run_cell(ipython, line, cell), "cell", "dwell")
