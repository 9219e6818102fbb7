#!/usr/bin/env python3
"""genann's example4: a network of 31 weights. A step is a pass over its 150 samples, because one sample takes 0.3 us."""
from engine import Engine, run

engine = Engine("genann", "https://github.com/codeplea/genann", "8dcd1db031c53176cffcbe4a7530ce040bb59b1d")
engine.change("example4.c", '#include "genann.h"\n', '#include "genann.h"\n#include <dwell/probe.h>\n', marks=True)
engine.change("example4.c", "    for (i = 0; i < loops; ++i) {\n", "    for (i = 0; i < loops; ++i) {\n        DWELL_STEP();\n",
              marks=True)
# A timer, which it has not: of each pass.
engine.change("example4.c", "    int i, j;\n    int loops = 5000;\n", """    int i, j;
    int loops = 5000;
    static double took[5000];
    struct timespec begun, ended;
""")
engine.change("example4.c", "        DWELL_STEP();\n", """        DWELL_STEP();
        clock_gettime(CLOCK_MONOTONIC, &begun);
""")
engine.change("example4.c", "class + j*3, .01);\n        }\n", """class + j*3, .01);
        }
        clock_gettime(CLOCK_MONOTONIC, &ended);
        took[i] = (ended.tv_sec - begun.tv_sec) * 1e3 + (ended.tv_nsec - begun.tv_nsec) / 1e6;
""")
engine.change("example4.c", "    int correct = 0;\n", """    for (i = 0; i < loops; ++i)
        printf("took %f ms\\n", took[i]);
    int correct = 0;
""")
run("cc", "-O2", "example4.c", "genann.c", "-o", "example4", *engine.flags(), "-lm", folder=engine.folder)
engine.check("./example4")
