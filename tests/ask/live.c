/*
 * A training loop that runs until it is killed, for tests of dwell top.
 *
 *     live TRACE FORWARD-MS BACKWARD-MS [STOP-AFTER]
 *     live TRACE FORWARD-MS BACKWARD-MS late
 *
 * Each step sleeps for so long in forward and in backward. After STOP-AFTER steps it hangs inside the
 * range all_reduce of its backward pass. With "late" the recorder is told of a step after its forward, as
 * probes tell that find steps by what happens in them.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dwell/probe.h"

static void live_sleep(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* A thread that recorded something at the start and nothing since. */
static void *live_help(void *argument)
{
	{
		DWELL_OP("start_up");
	}
	while (pause() < 0)
		continue;
	return argument;
}

static void live_step(long forward_ms, long backward_ms, int hangs)
{
	DWELL_STEP();
	{
		DWELL_ZONE("forward");
		DWELL_OP("convolution");
		live_sleep(forward_ms);
	}
	{
		DWELL_ZONE("backward");

		for (int i = 0; i < 3; i++) {
			DWELL_OP("matmul_backward");
		}
		{
			DWELL_OP("convolution_backward");
			live_sleep(backward_ms);
		}
		if (hangs) {
			DWELL_ZONE("all_reduce");
			for (;;)
				pause();
		}
	}
}

static void live_late_step(long forward_ms, long backward_ms)
{
	uint64_t moment = dwell_step_now();

	live_sleep(forward_ms);
	dwell_step_begin_at(moment);
	live_sleep(backward_ms);
	dwell_step_end();
}

int main(int count, char **arguments)
{
	struct dwell_options options = { .size = sizeof options, .steps_to = UINT64_MAX };
	struct dwell_error error;
	pthread_t helper;
	bool late = count > 4 && strcmp(arguments[4], "late") == 0;
	long stop_after = count > 4 && !late ? atol(arguments[4]) : -1;

	if (count < 4)
		return 2;
	options.path = arguments[1];
	if (dwell_start(&options, &error) != 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	pthread_create(&helper, NULL, live_help, NULL);
	for (long step = 0;; step++) {
		if (late)
			live_late_step(atol(arguments[2]), atol(arguments[3]));
		else
			live_step(atol(arguments[2]), atol(arguments[3]), step == stop_after);
	}
}
