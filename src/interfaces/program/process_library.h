/* The functions that read processes from outside: in libdwell-process.so, or linked into the command (pip's wheel). */
#pragma once

#include <dlfcn.h>

/* Opens the library, in which dw_process_function() finds functions. NULL: there is none; if `what`
 * is not NULL, an error message says that `what` needs it. */
void *dw_process_library(const char *what);

#ifdef DW_PROCESS_LINKED
#define dw_process_function(library, function) ((void *)(function))
#else
#define dw_process_function(library, function) dlsym(library, #function)
#endif
