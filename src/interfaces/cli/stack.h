/* A stack for the command where the limit of stacks (ulimit -s) is too low for it, as a program may be started with. The
 * limit itself stays: the program of `dwell run` inherits it. */
#pragma once

/* Calls `work` and returns its result, on another stack if the process's may not grow enough. */
int dw_on_large_stack(int (*work)(int count, char **arguments), int count, char **arguments);
