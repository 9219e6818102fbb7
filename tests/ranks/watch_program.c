/*
 * A rank for watch_test.py: steps of 20 ms until the folder has a file that asks for something else.
 *
 *     watch_program NAME      "hang": it waits in a collective; "NAME.slow": 30 ms of work more a step; "end": it ends;
 *                             "evaluate": it records evaluation after the step; "save": rank 0 is in a checkpoint after
 *                             it, and others wait in a collective
 */
#include <dwell/probe.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void rest(long ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

static void rest_while(const char *file)
{
	while (access(file, F_OK) == 0)
		rest(100);
}

static void run_step(const char *slow)
{
	DWELL_STEP();
	{
		DWELL_PHASE("forward");
		rest(access(slow, F_OK) == 0 ? 45 : 15);
	}
	{
		DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "all_reduce");
		rest(5);
		rest_while("hang");
	}
}

int main(int count, char **words)
{
	bool saves = count > 1 && strcmp(words[1], "0") == 0;
	char slow[256];

	snprintf(slow, sizeof slow, "%s.slow", count > 1 ? words[1] : "");
	while (access("end", F_OK) != 0) {
		run_step(slow);
		while (access("evaluate", F_OK) == 0) {
			DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "evaluation");
			rest(50);
		}
		if (access("save", F_OK) != 0)
			continue;
		if (saves) {
			DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "checkpoint");
			rest_while("save");
		} else {
			DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "barrier");
			rest_while("save");
		}
	}
	return 0;
}
