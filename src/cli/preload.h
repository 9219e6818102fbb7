/* The libraries that `dwell run` loads into programs that do not link dwell. */
#ifndef DW_CLI_PRELOAD_H
#define DW_CLI_PRELOAD_H

#include <stdbool.h>

/* Sets LD_PRELOAD, for the program that is executed next, to those libraries that exist. With
 * `functions` C functions are recorded too. */
void dw_preload(const char *program, bool functions);
/* Finds the file that execvp() will run. Returns false if there is none. */
bool dw_find_program(const char *program, char path[4096]);

#endif
