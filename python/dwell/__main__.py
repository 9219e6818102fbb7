"""`python -m dwell`, and the command that pip installs: dwell itself, in this process's place."""
import os
import sys


def main():
    """Becomes the command that lies in the package, or the one on the PATH."""
    package = sys.modules.get("dwell")
    if not hasattr(package, "DISTRIBUTION"):
        print(f"dwell: the Python package 'dwell' here ({getattr(package, '__file__', None)}) is another project's: "
              "python -m pip uninstall dwell dwell-profiler, then install dwell-profiler again", file=sys.stderr)
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "dwell")
    try:
        if os.path.exists(command):
            os.execv(command, ["dwell", *sys.argv[1:]])
        os.execvp("dwell", ["dwell", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"dwell: the command {command} cannot be run ({error.strerror}); "
                 "install dwell again")


if __name__ == "__main__":
    main()
