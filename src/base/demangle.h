/* Demangles C++ names. */
#pragma once

/* The caller frees the result. NULL: not a C++ name, or this machine has no C++ library. */
char *dw_demangle(const char *name);
