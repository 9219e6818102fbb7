/*
 * A script in the place of a program: `dwell train.py`, as if `dwell python train.py` had been typed.
 *
 * A file that the system runs by itself is a program, and stays one.
 */
#pragma once

#include <stdbool.h>

/* Whether execvp() would find no program of this name, or none that may run, while a script of it is there: a file that ends in
 * ".py", or begins with "#!". */
bool dw_script_is(const char *name);
/* The command that runs it: by the interpreter of its first line, or by python. Says so. Another command is returned as it is.
 * What is returned lives until the process ends. */
char **dw_script_command(char **command);
