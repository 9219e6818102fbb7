/*
 * Judges slopes for the danger of avalanches: a recurrent network goes through the layers of a snow profile from the ground
 * up. Profiles come from a thread that reads the stations; each round over the slopes is a step.
 *
 * Decoy: a thread that waits most of its life, a lock for each profile, a buffer for each, a flushed line: all of a moment.
 * Truth: time of fetching the profiles, their buffers and the bulletin's line, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOPES = 16, LAYERS = 40, PROPERTIES = 7, STATE = 64, AHEAD = 400 };

struct profile { float layer[LAYERS][PROPERTIES]; };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, space;
	struct profile *waiting[AHEAD];
	int begin, count, over;
} desk = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .space = PTHREAD_COND_INITIALIZER };

static float in[3][PROPERTIES][STATE], again[3][STATE][STATE], danger[STATE];

static void *stations(void *unused)
{
	unsigned seed = 77;

	(void)unused;
	for (;;) {
		struct profile *profile = malloc(sizeof *profile);

		for (int l = 0; l < LAYERS; l++)
			for (int p = 0; p < PROPERTIES; p++) {
				seed = seed * 1664525u + 1013904223u;
				profile->layer[l][p] = (float)(seed >> 16) / 65536.0f;
			}
		pthread_mutex_lock(&desk.lock);
		while (desk.count == AHEAD && !desk.over)
			pthread_cond_wait(&desk.space, &desk.lock);
		if (desk.over) {
			pthread_mutex_unlock(&desk.lock);
			free(profile);
			return NULL;
		}
		desk.waiting[(desk.begin + desk.count++) % AHEAD] = profile;
		pthread_cond_signal(&desk.more);
		pthread_mutex_unlock(&desk.lock);
	}
}

static struct profile *fetch(void)
{
	struct profile *profile;

	pthread_mutex_lock(&desk.lock);
	while (!desk.count)
		pthread_cond_wait(&desk.more, &desk.lock);
	profile = desk.waiting[desk.begin];
	desk.begin = (desk.begin + 1) % AHEAD;
	if (desk.count-- == AHEAD / 2)
		pthread_cond_signal(&desk.space);
	pthread_mutex_unlock(&desk.lock);
	return profile;
}

static void gate(float *to, int which, const float *layer, const float *state)
{
	memset(to, 0, sizeof *to * STATE);
	for (int p = 0; p < PROPERTIES; p++)
		for (int h = 0; h < STATE; h++)
			to[h] += layer[p] * in[which][p][h];
	for (int g = 0; g < STATE; g++)
		for (int h = 0; h < STATE; h++)
			to[h] += state[g] * again[which][g][h];
}

static float judge(const struct profile *profile)
{
	float state[STATE] = { 0 }, keep[STATE], fresh[STATE], masked[STATE], sum = 0;

	DWELL_LAYER("snowpack.gru");
	for (int l = 0; l < LAYERS; l++) {
		gate(keep, 0, profile->layer[l], state);
		gate(fresh, 1, profile->layer[l], state);
		for (int h = 0; h < STATE; h++) {
			keep[h] = 1 / (1 + expf(-keep[h]));
			masked[h] = state[h] / (1 + expf(-fresh[h]));
		}
		gate(fresh, 2, profile->layer[l], masked);
		for (int h = 0; h < STATE; h++)
			state[h] = keep[h] * state[h] + (1 - keep[h]) * tanhf(fresh[h]);
	}
	for (int h = 0; h < STATE; h++)
		sum += danger[h] * state[h];
	return sum;
}

int main(void)
{
	static struct watch watch;
	float *weight = &in[0][0][0], *other = &again[0][0][0], worst = -100;
	FILE *bulletin = tmpfile();
	pthread_t thread;

	srand(2);
	for (int i = 0; i < 3 * PROPERTIES * STATE; i++)
		weight[i] = 0.4f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int i = 0; i < 3 * STATE * STATE; i++)
		other[i] = 0.4f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int h = 0; h < STATE; h++)
		danger[h] = (float)rand() / (float)RAND_MAX - 0.5f;
	pthread_create(&thread, NULL, stations, NULL);
	usleep(50000);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		float highest = -100;

		for (int slope = 0; slope < SLOPES; slope++) {
			planted_begin(&watch);
			struct profile *profile = fetch();
			planted_end(&watch);
			const float score = judge(profile);

			highest = score > highest ? score : highest;
			planted_begin(&watch);
			free(profile);
			planted_end(&watch);
		}
		worst = highest > worst ? highest : worst;
		planted_begin(&watch);
		fprintf(bulletin, "%d %.4f\n", watch.steps, (double)highest);
		fflush(bulletin);
		planted_end(&watch);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&desk.lock);
	desk.over = 1;
	pthread_cond_signal(&desk.space);
	pthread_mutex_unlock(&desk.lock);
	pthread_join(thread, NULL);
	printf("worst slope %.4f\n", (double)worst);
	return 0;
}
