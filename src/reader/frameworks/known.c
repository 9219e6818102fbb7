/* The table of frameworks, and the functions that search all of them. */

#include <string.h>

#include "frameworks/singa.h"
#include "frameworks/torch.h"

static const struct dw_framework *const frameworks[] = {
	&dw_framework_torch,
	&dw_framework_singa,
};
#define FRAMEWORKS (sizeof frameworks / sizeof *frameworks)

bool dw_framework_is_collective(const char *name)
{
	for (size_t i = 0; i < FRAMEWORKS; i++)
		for (const char *const *at = frameworks[i]->collectives; at && *at; at++)
			if (strncmp(name, *at, strlen(*at)) == 0)
				return true;
	return false;
}

bool dw_framework_is_wait(const char *name)
{
	for (size_t i = 0; i < FRAMEWORKS; i++)
		for (const char *const *at = frameworks[i]->waits; at && *at; at++)
			if (strcmp(name, *at) == 0)
				return true;
	return false;
}
