"""The build that a test looks at, whose libraries the package dwell is to load."""
import os
import sys


def enter(build, *folders, **environment):
    """Starts the test again where the loader, which reads it when a program starts, does not
    look into the build yet. `folders` are below it; `environment` is set besides."""
    known = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    if build in known:
        return
    libraries = [build, *(os.path.join(build, folder) for folder in folders)]
    os.environ.update(environment, LD_LIBRARY_PATH=":".join(filter(None, libraries + known)))
    os.execv(sys.executable, [sys.executable, *sys.argv])
