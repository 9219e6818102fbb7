"""Names what of a build is missing, and the command that builds it: for tools and tests that need a build.

usage: python3 tools/need_build.py BUILD PART...      a PART is a file below the folder BUILD; exit status 1 if one is not there
"""
import os
import re
import shlex
import sys


def missing(build, *parts):
    """What to print if a part is not built; "" if all are."""
    absent = [part for part in parts if not os.path.exists(os.path.join(build, part))]
    if not absent:
        return ""
    plan, setup = os.path.join(build, "build.ninja"), ""
    folder = shlex.quote(os.path.relpath(build) if os.path.abspath(build).startswith(os.getcwd() + os.sep) else build)
    if os.path.exists(plan):
        with open(plan, encoding="utf-8") as file:
            targets = set(re.findall(r"^build ([^:\n]*):", file.read(), re.M))
        outside = [part for part in absent if not any(part in target.split() for target in targets)]
        if outside:
            return f"not in this build: {', '.join(outside)}\nmeson setup --reconfigure {folder} lists the optional parts that it leaves out"
    else:
        setup = f"meson setup {folder} && "
    return f"not built: {', '.join(absent)}\nbuild with: {setup}ninja -C {folder} {shlex.join(absent)}"


def need(build, *parts):
    """Ends the program if a part is not built."""
    said = missing(build, *parts)
    if said:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {said}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(missing(*sys.argv[1:]) or 0)
