"""The MPI implementations of this machine: their compilers and launchers, and programs compiled with them."""
import os
import shutil
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
# Debian gives each of its implementations a name of its own, so that several can be installed.
IMPLEMENTATIONS = {"Open MPI": ("openmpi", ["--allow-run-as-root", "--oversubscribe"]), "MPICH": ("mpich", [])}


def launcher(name):
    """The command that starts ranks, without "-n RANKS", or None."""
    short, options = IMPLEMENTATIONS[name]
    found = shutil.which(f"mpirun.{short}")
    return [found, *options] if found else None


def compiler(name):
    return shutil.which(f"mpicc.{IMPLEMENTATIONS[name][0]}")


def missing(name):
    """Why programs of this implementation cannot be tested, or None."""
    if launcher(name) and compiler(name):
        return None
    return f"{name} is missing: Debian's package " + ("libopenmpi-dev" if name == "Open MPI" else "libmpich-dev, mpich")


def compile_program(name, source, build, to, *options):
    """Compiles a program of this implementation that is linked to the libdwell of the build folder."""
    subprocess.run([compiler(name), "-O1", "-D_GNU_SOURCE", "-I", os.path.join(ROOT, "include"), source, "-o", to, *options,
                    "-L", build, "-Xlinker", f"-rpath={build}", "-ldwell"], check=True, timeout=120)
