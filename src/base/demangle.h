/* C++ names in plain words. */
#ifndef DW_BASE_DEMANGLE_H
#define DW_BASE_DEMANGLE_H

/* To be freed; NULL: it is none, or this machine has no C++ library. */
char *dw_demangle(const char *name);

#endif
