/*
 * A program that runs out of memory, for out_of_memory_test.py: it keeps blocks of 4 MiB, of which every fourth is made in "cache",
 * until there are no more.
 *
 * usage: out_of_memory HOW MIB      under a limit of that many MiB more than it has (0: none)
 *   on    frees all, and goes on
 *   end   ends, as a program of C++ does
 *   new   the same by malloc() alone, without records of its own
 */
#include <dwell/probe.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define BLOCK ((size_t)4 << 20)
#define MOST 4096

static char *blocks[MOST];

static void limit(size_t more)
{
	struct rlimit space = { RLIM_INFINITY, RLIM_INFINITY };
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		exit(3);
	fclose(file);
	space.rlim_cur = pages * 4096 + more;
	setrlimit(RLIMIT_AS, &space);
}

/* A step writes to what it has, so that the kernel must give it. */
static char *make(int records, const char *how)
{
	char *block = malloc(BLOCK);

	if (records)
		DWELL_ALLOC("activation", "cpu", block, BLOCK);
	if (block)
		memset(block, 1, BLOCK);
	else if (strcmp(how, "on") != 0)
		abort();
	return block;
}

int main(int count, char **arguments)
{
	const char *how = count > 2 ? arguments[1] : "";
	int records = strcmp(how, "new") != 0, made = 0;

	if (count < 3)
		return 2;
	for (int step = 0; step < 4; step++) {
		DWELL_STEP();
		DWELL_OP("warm");
	}
	if (atoi(arguments[2]))
		limit((size_t)atoi(arguments[2]) << 20);
	for (; made < MOST; made++) {
		DWELL_STEP();
		DWELL_SCOPE(DWELL_CATEGORY_LAYER, "block");
		if (made % 4) {
			DWELL_OP("grow");
			blocks[made] = make(records, how);
		} else {
			DWELL_OP("cache");
			blocks[made] = make(records, how);
		}
		if (!blocks[made])
			break;
	}
	while (made-- > 0) {
		if (records)
			DWELL_FREE(blocks[made]);
		free(blocks[made]);
	}
	return 0;
}
