/* Demangles C++ names. */
#ifndef DW_BASE_DEMANGLE_H
#define DW_BASE_DEMANGLE_H

/* The caller frees the result. NULL: not a C++ name, or this machine has no C++ library. */
char *dw_demangle(const char *name);

#endif
