#!/usr/bin/env python3
"""LULESH, a proxy of a hydrodynamics code, unchanged and without MPI. Steps: --step-on its time step."""
import re

from engine import Engine, run

engine = Engine("LULESH", "https://github.com/LLNL/LULESH", "3e01c40b3281aadb7f996525cdd4a3354f6d3801")
run("c++", "-O2", "-g", "-DUSE_MPI=0", "lulesh.cc", "lulesh-comm.cc", "lulesh-init.cc", "lulesh-util.cc", "lulesh-viz.cc", "-o", "lulesh",
    folder=engine.folder)
engine.count("CalcKinematicsForElems", "./lulesh", "-s", "20", "-i", "400", calls=400,
             own_ms=lambda said: 1e3 * float(re.search(r"Elapsed time += +([\d.]+)", said).group(1)))
