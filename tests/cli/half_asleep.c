/*
 * A loop whose steps last as long as `dwell run` lets pass from one look at the main thread to the next,
 * and sleep for half of it.
 *
 *     half_asleep STEPS
 */
#include <stdlib.h>
#include <time.h>

#include "dwell/probe.h"

#define HALF_NS 12500000 /* of a step */

static struct timespec moment;

static void later(void)
{
	moment.tv_nsec += HALF_NS;
	if (moment.tv_nsec >= 1000000000) {
		moment.tv_nsec -= 1000000000;
		moment.tv_sec++;
	}
}

static void compute(void)
{
	struct timespec now;

	later();
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < moment.tv_sec || (now.tv_sec == moment.tv_sec && now.tv_nsec < moment.tv_nsec));
}

int main(int count, char **arguments)
{
	int steps = count > 1 ? atoi(arguments[1]) : 100;

	clock_gettime(CLOCK_MONOTONIC, &moment);
	for (int i = 0; i < steps; i++) {
		DWELL_STEP();
		{
			DWELL_ZONE("compute");
			compute();
		}
		later();
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
	}
	return 0;
}
