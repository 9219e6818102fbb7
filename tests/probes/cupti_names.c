/*
 * Prints what dwell takes each call of CUDA for: a class, a domain, a number, CUPTI's name.
 *
 * usage: cupti_names LIBRARY      all names that this libcupti knows
 *        cupti_names - <NAMES     the classes of these names
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../../probes/cuda/cuda.h"

#define MOST_CALLS 4096u

static const char *names_class(const char *name)
{
	static const char *const classes[] = { "", "other", "submits", "waits", "asks", "captures", "captured" };

	return classes[dwc_call_of(name)];
}

int main(int count, char **arguments)
{
	int (*name_of)(int, uint32_t, const char **), (*version)(uint32_t *);
	void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	uint32_t number;
	char line[512];

	if (count > 1 && strcmp(arguments[1], "-") == 0) {
		while (fgets(line, sizeof line, stdin)) {
			line[strcspn(line, "\n")] = '\0';
			printf("%s 0 0 %s\n", names_class(line), line);
		}
		return 0;
	}
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&name_of = dlsym(library, "cuptiGetCallbackName");
	*(void **)&version = dlsym(library, "cuptiGetVersion");
	if (!name_of || !version || version(&number) != CUPTI_OK)
		return 77; /* since 13.2 it answers nothing without a driver */
	for (int domain = DOMAIN_DRIVER; domain <= DOMAIN_RUNTIME; domain++)
		for (uint32_t call = 1; call < MOST_CALLS; call++) {
			const char *name = NULL;

			if (name_of(domain, call, &name) == CUPTI_OK && name)
				printf("%s %d %u %s\n", names_class(name), domain, call, name);
		}
	return 0;
}
