/*
 * Actor and critic of a pendulum. Actors are threads; each spins until there is a new policy for it to try.
 *
 * Planted: there is an actor for each processor of the machine, and none of them ever sleeps, so the learner waits
 * for a processor.
 * Truth: the loop's time less the processor time of its thread, as a share of the loop; the loop waits for nothing else.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 6, MOST_ACTORS = 64, LENGTH = 200, UNITS = 64, OLD = 6 };

struct visit {
	float angle, speed, torque, reward;
};

static struct actor {
	pthread_t thread;
	float gain[2];
	struct visit path[2][LENGTH];
	_Atomic long wanted, done;
} actors[MOST_ACTORS];
static atomic_bool ended;

static float in[UNITS][3], middle[UNITS][UNITS], out[UNITS];

static void *act(void *argument)
{
	struct actor *actor = argument;

	for (long number = 1; !ended; number++) {
		float angle = 3, speed = (float)(number % 7) / 7;

		while (atomic_load_explicit(&actor->wanted, memory_order_acquire) < number)
			if (ended)
				return NULL;
		for (int at = 0; at < LENGTH; at++) {
			float torque = fminf(fmaxf(actor->gain[0] * angle + actor->gain[1] * speed, -2), 2);

			actor->path[number % 2][at] = (struct visit){ angle, speed, torque, -angle * angle - 0.1f * speed * speed };
			speed += 0.05f * (15 * sinf(angle) + 3 * torque);
			angle = remainderf(angle + 0.05f * speed, 6.2831853f);
		}
		atomic_store_explicit(&actor->done, number, memory_order_release);
	}
	return NULL;
}

/* One step of the critic by a visit; returns by how much it was wrong. */
static float learn(const struct visit *visit, float value)
{
	float input[3] = { cosf(visit->angle), sinf(visit->angle), visit->speed / 8 }, one[UNITS], two[UNITS], error = -value;

	for (int unit = 0; unit < UNITS; unit++)
		one[unit] = fmaxf(in[unit][0] * input[0] + in[unit][1] * input[1] + in[unit][2] * input[2], 0);
	for (int unit = 0; unit < UNITS; unit++) {
		float sum = 0;

		for (int at = 0; at < UNITS; at++)
			sum += middle[unit][at] * one[at];
		two[unit] = tanhf(sum);
		error += out[unit] * two[unit];
	}
	for (int unit = 0; unit < UNITS; unit++) {
		float back = 1e-4f * error * out[unit] * (1 - two[unit] * two[unit]);

		out[unit] -= 1e-4f * error * two[unit];
		for (int at = 0; at < UNITS; at++)
			middle[unit][at] -= back * one[at];
	}
	return error;
}

static double processor_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(void)
{
	int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
	struct watch watch;
	double used;

	count = count < MOST_ACTORS ? count : MOST_ACTORS;
	for (int unit = 0; unit < UNITS; unit++) {
		for (int at = 0; at < UNITS; at++)
			middle[unit][at] = sinf((float)(unit * UNITS + at)) / 8;
		for (int at = 0; at < 3; at++)
			in[unit][at] = cosf((float)(unit * 3 + at));
	}
	for (int at = 0; at < count; at++) {
		actors[at].wanted = 1;
		pthread_create(&actors[at].thread, NULL, act, &actors[at]);
	}
	used = -processor_s();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		struct actor *actor = &actors[watch.steps % count];
		long done = atomic_load_explicit(&actor->done, memory_order_acquire);
		float wrong = 0;

		if (done && done == atomic_load(&actor->wanted)) { /* what it did becomes a batch, and it may go on */
			actor->gain[0] = -0.5f + 0.1f * (float)(done % 3);
			actor->gain[1] = -0.1f;
			atomic_store_explicit(&actor->wanted, done + 1, memory_order_release);
		}
		for (int turn = 0; turn < OLD; turn++) {
			float value = 0;

			for (int at = LENGTH - 1; at >= 0; at--) {
				const struct visit *visit = &actor->path[done % 2][at];

				value = visit->reward + 0.9f * value;
				wrong += fabsf(learn(visit, value));
			}
		}
		DWELL_COUNTER("critic error", wrong / (OLD * LENGTH));
	}
	used += processor_s();
	watch.planted_s = watch_seconds(&watch) - used;
	watch_tell(&watch);
	ended = true;
	for (int at = 0; at < count; at++)
		pthread_join(actors[at].thread, NULL);
	return 0;
}
