/* The library that `dwell run` loads into programs that do not link dwell. */
#ifndef DW_CLI_PRELOAD_H
#define DW_CLI_PRELOAD_H

/* Sets LD_PRELOAD for the program that is about to be executed, if the library is there. */
void dw_preload(const char *program);

#endif
