/*
 * Replaces CUPTI's functions in a real libcupti, which needs no device for that: prints those that dlsym() still finds.
 *
 * usage: cupti_redirect LIBRARY FUNCTION ...      with probes/cuda/redirect.c
 */
#include <dlfcn.h>
#include <stdio.h>

#include "../../probes/cuda/cuda.h"

static int own(void)
{
	return 0;
}

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_LAZY), *address = (void *)(uintptr_t)own;

	if (!library)
		puts(dlerror());
	for (int i = 2; library && i < argc; i++) {
		struct dwc_replacement replacement = { argv[i], dlsym(library, argv[i]), address };

		dwc_redirect(&replacement, 1);
		if (!replacement.real || dlsym(library, argv[i]) != address)
			puts(argv[i]);
	}
	return 0;
}
