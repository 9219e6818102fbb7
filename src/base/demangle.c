/*
 * Demangles C++ names with the C++ library of this machine, if there is one.
 *
 * The library is loaded at the first such name, so that traces of C programs can be read without
 * it. Called by the reader, from any thread.
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
	/* Loading it twice gives the same library; it is never unloaded. */
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	demangle = library ? (demangler *)dlsym(library, "__cxa_demangle") : NULL;
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

size_t dw_plain_length(const char *name)
{
	static const char *const marks[] = { " [clone ", ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", "._omp_fn." };
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *mark = strstr(name, marks[i]);

		if (mark && mark != name && (size_t)(mark - name) < length)
			length = (size_t)(mark - name);
	}
	return length;
}
