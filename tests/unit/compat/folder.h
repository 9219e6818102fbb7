/* A folder for a test program, in which programs that start no session write their traces. It is
 * created and entered before main() and removed at the end. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/dwell-profiler-XXXXXX";

__attribute__((constructor)) static void enter_folder(void)
{
	if (!mkdtemp(folder) || chdir(folder) != 0)
		abort();
}

__attribute__((destructor)) static void remove_folder(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf %s", folder);
	if (chdir("/") != 0 || system(command) != 0)
		fprintf(stderr, "%s is left\n", folder);
}
