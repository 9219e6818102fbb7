/* Demangles names of C++ and Rust. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The caller frees the result. NULL: not such a name, or this machine has no C++ library. */
char *dw_demangle(const char *name);
/* The length without the compiler's suffix: "train.constprop.0" is a copy of train, "train._omp_fn.0" a loop in it. */
size_t dw_plain_length(const char *name);
/* Cuts from a name of C++ what a table has no space for: arguments of templates, parameters, what a function returns, and
 * namespaces without a name or of a library's version. Other names, also those of Python, stay as they are. */
void dw_name_shorten(char *name);
/* The same of a copy, which is cut to `size` bytes afterwards: arguments of templates can be longer than that. Returns `to`. */
char *dw_name_short(char *to, size_t size, const char *name);
/* Cuts from a name of Python what it has of a comprehension or lambda: these are parts of the function that they stand in. */
void dw_name_take_outer(char *name);
/* Whether the name is that of a constructor, a destructor or operator= of C++: "Image::Image(int)", "Image::~Image()". */
bool dw_name_is_of_object(const char *name);
