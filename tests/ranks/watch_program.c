/*
 * A rank for watch_test.py: steps of 20 ms until the folder has a file that asks for something else.
 *
 *     watch_program NAME      "hang": it waits in a collective; "NAME.slow": 30 ms of work more a step; "end": it ends
 */
#include <dwell/probe.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void rest(long ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

int main(int count, char **words)
{
	char slow[256];

	snprintf(slow, sizeof slow, "%s.slow", count > 1 ? words[1] : "");
	while (access("end", F_OK) != 0) {
		DWELL_STEP();
		{
			DWELL_PHASE("forward");
			rest(access(slow, F_OK) == 0 ? 45 : 15);
		}
		{
			DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "all_reduce");
			rest(5);
			while (access("hang", F_OK) == 0)
				rest(100);
		}
	}
	return 0;
}
