/* Demangles names of Rust. */
#pragma once

/* Of the scheme that begins with "_R". The caller frees the result. NULL: it is none. */
char *dw_demangle_rust(const char *name);
/* Of the older scheme, demangled as C++. Other names stay as they are. */
void dw_demangle_rust_older(char *name);
