/*
 * A program whose child outlives it.
 *
 *     outlive MILLISECONDS
 *
 * The child records, says so, and lives so much longer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "dwell/probe.h"

int main(int count, char **arguments)
{
	long ms = count > 1 ? atol(arguments[1]) : 0;
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
	int said[2];
	char word;

	{
		DWELL_ZONE("parent");
	}
	if (pipe(said) != 0)
		return 1;
	if (fork() == 0) {
		close(STDOUT_FILENO); /* so that a reader of our output need not wait for this process */
		close(STDERR_FILENO);
		{
			DWELL_ZONE("child");
		}
		(void)!write(said[1], "!", 1);
		nanosleep(&time, NULL);
		_exit(0);
	}
	return read(said[0], &word, 1) != 1;
}
