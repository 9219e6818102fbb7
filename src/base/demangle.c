/*
 * C++ names in plain words, by the C++ library of this machine if there is one.
 *
 * It is loaded when the first such name comes: what reads traces of C programs needs
 * no C++. Called by the reader, from any thread.
 */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef char *demangler(const char *, char *, size_t *, int *);

char *dw_demangle(const char *name)
{
	void *library;
	demangler *demangle;
	int status;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	/* Loaded again it is the same one; it stays. */
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	demangle = library ? (demangler *)dlsym(library, "__cxa_demangle") : NULL;
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}
