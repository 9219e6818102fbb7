#!/usr/bin/env python3
"""HPC Challenge as Debian has it, stripped, under mpirun. Steps: --step-on the search for a pivot, one a column of the matrix."""
import os

from engine import Engine, run

COLUMNS, SOLVED = 1200, 6  # columns of the matrix; how often it is solved. A solution calls the function once for each column and once more, by gdb
INPUT = f"""HPLinpack benchmark input file
A comment
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{COLUMNS}    Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
1            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""

engine = Engine("hpcc")
with open(os.path.join(engine.folder, "hpccinf.txt"), "w", encoding="ascii") as file:
    file.write(INPUT)
engine.count("libblas.so:cblas_idamax", "mpirun", "--oversubscribe", "-n", "1", "hpcc", calls=SOLVED * (COLUMNS + 1),
             OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
