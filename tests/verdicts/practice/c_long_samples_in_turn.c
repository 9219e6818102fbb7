/*
 * Two processes train a model of sentences; each step ends when both have added their gradients.
 *
 * Planted: in each step one of the two has a long sentence, now this one, now that one, and the other waits.
 * Truth: time that the first process waits at the barrier, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 420, UNITS = 192, SHORT = 40, LONG = 200 };

static struct shared {
	pthread_barrier_t barrier;
	float sums[2][UNITS];
} *shared;

static float weights[UNITS][UNITS], state[UNITS], next[UNITS];

static void recur(int words)
{
	DWELL_ZONE("sentence");
	for (int word = 0; word < words; word++) {
		for (int unit = 0; unit < UNITS; unit++) {
			float sum = (float)(word % 5) * 0.1f;

			for (int from = 0; from < UNITS; from++)
				sum += weights[unit][from] * state[from];
			next[unit] = sum / (1 + (sum > 0 ? sum : -sum));
		}
		for (int unit = 0; unit < UNITS; unit++)
			state[unit] = next[unit];
	}
}

static void work(int rank, struct watch *watch)
{
	dwell_rank(rank, rank, 2);
	watch_begin(watch);
	for (; watch->steps < STEPS; watch->steps++) {
		DWELL_STEP();
		recur(((unsigned)watch->steps * 2654435761u >> 9 & 1) == (unsigned)rank ? LONG : SHORT);
		recur(SHORT);
		for (int unit = 0; unit < UNITS; unit++)
			shared->sums[rank][unit] = state[unit];
		planted_begin(watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "all reduce");
			pthread_barrier_wait(&shared->barrier);
			for (int unit = 0; unit < UNITS; unit++)
				weights[unit][unit] -= 1e-6f * (shared->sums[0][unit] + shared->sums[1][unit]);
		}
		planted_end(watch);
		pthread_barrier_wait(&shared->barrier);
	}
}

int main(void)
{
	struct watch watch;
	pthread_barrierattr_t both;
	pid_t child;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_init(&both);
	pthread_barrierattr_setpshared(&both, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &both, 2);
	for (int unit = 0; unit < UNITS; unit++)
		for (int from = 0; from < UNITS; from++)
			weights[unit][from] = (float)((unit * 3 + from) % 11 - 5) / 900;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work(1, &watch);
		_exit(0);
	}
	work(0, &watch);
	watch_tell(&watch);
	waitpid(child, NULL, 0);
	return 0;
}
