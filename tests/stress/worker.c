/*
 * A small instrumented program for tests that execute one.
 *
 *     stress_worker NAME RANGES [exec|fork|posix|steps N]
 *
 * Records RANGES zones of NAME. On request it then executes itself once more as "NAME.next", in the
 * same process (exec) or in a child process (fork, posix).
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "dwell/probe.h"

extern char **environ;

int main(int count, char **arguments)
{
	uint32_t id;
	char next[128];
	int status = 0;
	pid_t pid;

	if (count < 3)
		return 2;
	id = dwell_intern(DWELL_CATEGORY_ZONE, arguments[1], NULL);
	if (count == 5 && strcmp(arguments[3], "steps") == 0) {
		for (int step = 0; step < atoi(arguments[4]); step++) {
			DWELL_STEP();
			for (int i = 0; i < atoi(arguments[2]); i++) {
				DWELL_SCOPE_ID(DWELL_CATEGORY_ZONE, id);
			}
		}
		return 0;
	}
	for (int i = 0; i < atoi(arguments[2]); i++) {
		DWELL_SCOPE_ID(DWELL_CATEGORY_ZONE, id);
	}
	if (count < 4)
		return 0;
	snprintf(next, sizeof next, "%s.next", arguments[1]);
	char *command[] = { arguments[0], next, arguments[2], NULL };
	if (strcmp(arguments[3], "exec") == 0) {
		execv("/proc/self/exe", command);
		return 127;
	}
	if (strcmp(arguments[3], "posix") == 0) {
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, command, environ) != 0)
			return 127;
	} else if ((pid = fork()) == 0) {
		execv("/proc/self/exe", command);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
