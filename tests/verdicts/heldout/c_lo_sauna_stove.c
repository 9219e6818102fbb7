/*
 * Learns to heat a sauna with little wood: evolution strategies, a small controller, a simulated evening for each.
 *
 * Decoy: a look at stdin with poll(), a lock that a thread with a nap shares, a block that is allocated and freed, a
 * flushed line, a save without sync, and a list that grows; all of a moment.
 * Truth: time of all of these, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SENSES = 4, UNITS = 12, GENES = UNITS * (SENSES + 2) + 1, CHILDREN = 24, MINUTES = 240 };

static float parent[GENES], shift[CHILDREN][GENES], reward[CHILDREN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static float shown;
static volatile bool over;
static unsigned dice = 77;

static float normal(void)
{
	float sum = -2;

	for (int i = 0; i < 4; i++) {
		dice = dice * 1664525u + 1013904223u;
		sum += (float)(dice >> 8) / 16777216.0f;
	}
	return sum * 1.7f;
}

static float evening(const float *gene, float outside)
{
	float air = outside, stones = outside, steam = 0.1f, sum = 0;

	for (int minute = 0; minute < MINUTES; minute++) {
		const float sense[SENSES] = { air / 80, stones / 200, steam, (float)minute / MINUTES };
		float wood = gene[GENES - 1];

		for (int u = 0; u < UNITS; u++) {
			const float *g = gene + u * (SENSES + 2);
			float a = g[SENSES];

			for (int s = 0; s < SENSES; s++)
				a += g[s] * sense[s];
			wood += g[SENSES + 1] * tanhf(a);
		}
		wood = 1 / (1 + expf(-wood));
		stones += 9 * wood - 0.03f * (stones - air);
		air += 0.05f * (stones - air) - 0.04f * (air - outside);
		steam = 0.1f + 0.9f * steam * (minute % 30 ? 0.98f : 0.2f);
		sum -= fabsf(air - 85) / 85 + 0.2f * wood;
	}
	return sum / MINUTES;
}

/* Shows the temperature at the door. */
static void *door(void *unused)
{
	while (!over) {
		usleep(20000);
		pthread_mutex_lock(&lock);
		shown = shown * 0.5f;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	struct pollfd keys = { .fd = 0, .events = 0 };
	float *history = NULL;
	size_t kept = 0;
	char path[64];
	FILE *diary = tmpfile();
	struct watch watch;
	pthread_t thread;

	snprintf(path, sizeof path, "/tmp/lo_sauna_%d", (int)getpid());
	if (!diary || pthread_create(&thread, NULL, door, NULL))
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		float mean = 0;

		{
			DWELL_ZONE("children");
			for (int c = 0; c < CHILDREN; c++) {
				float gene[GENES];

				for (int g = 0; g < GENES; g++)
					gene[g] = parent[g] + 0.1f * (shift[c][g] = normal());
				reward[c] = (evening(gene, -10) + evening(gene, 5)) / 2;
				mean += reward[c] / CHILDREN;
			}
		}
		{
			DWELL_ZONE("select");
			for (int c = 0; c < CHILDREN; c++)
				for (int g = 0; g < GENES; g++)
					parent[g] = 0.9999f * parent[g] + 0.02f * (reward[c] - mean) * shift[c][g];
		}
		DWELL_ZONE("house");
		planted_begin(&watch);
		poll(&keys, 1, 0);
		pthread_mutex_lock(&lock);
		shown = mean;
		pthread_mutex_unlock(&lock);
		float *sorted = malloc(64 * 1024);
		memcpy(sorted, reward, sizeof reward);
		if (watch.steps % 256 == 0)
			history = realloc(history, (kept + 256) * sizeof *history);
		history[kept++] = sorted[0];
		free(sorted);
		if (watch.steps % 10 == 0) {
			fprintf(diary, "generation %d %.4f\n", watch.steps, (double)mean);
			fflush(diary);
		}
		if (watch.steps % 100 == 50) {
			FILE *file = fopen(path, "wb");

			fwrite(parent, sizeof parent, 1, file);
			fclose(file);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	over = true;
	pthread_join(thread, NULL);
	remove(path);
	fprintf(stderr, "reward %g, %g\n", (double)reward[0], (double)history[kept - 1]);
	return 0;
}
