/*
 * Forecasts moisture in a grain silo from a column of probes; a thread of its own cuts the windows, a queue hands them over.
 *
 * Decoy: a mutex and a condition for each batch, a pause in each 64th step, a flushed line of log and a save of the weights,
 * but windows are always ready and the rest takes a moment.
 * Truth: time in the queue, the pauses, the log and the saves, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBES = 16, LAGS = 12, INPUTS = PROBES * LAGS, UNITS = 40, BATCH = 128, SLOTS = 24, HOURS = 20000 };

struct windows { float x[BATCH][INPUTS], y[BATCH]; };

static float silo[HOURS][PROBES];
static float in[UNITS][INPUTS], out[UNITS], g_in[UNITS][INPUTS], g_out[UNITS], act[BATCH][UNITS];
static struct windows slots[SLOTS];
static int filled, taken, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;

static void *cut_windows(void *unused)
{
	unsigned seed = 5;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (filled - taken == SLOTS - 1 && !done)
			pthread_cond_wait(&room, &lock);
		int end = done, slot = filled % SLOTS;
		pthread_mutex_unlock(&lock);
		if (end)
			return unused;
		for (int b = 0; b < BATCH; b++) {
			int at = rand_r(&seed) % (HOURS - LAGS - 1);
			memcpy(slots[slot].x[b], silo[at], sizeof slots[slot].x[b]);
			slots[slot].y[b] = silo[at + LAGS][3];
		}
		pthread_mutex_lock(&lock);
		filled++;
		pthread_cond_signal(&more);
		pthread_mutex_unlock(&lock);
	}
}

static struct windows *next_windows(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "windows");
	pthread_mutex_lock(&lock);
	while (filled == taken)
		pthread_cond_wait(&more, &lock);
	struct windows *w = &slots[taken % SLOTS];
	pthread_mutex_unlock(&lock);
	return w;
}

static void give_back(void)
{
	pthread_mutex_lock(&lock);
	taken++;
	if (filled - taken < SLOTS / 2)
		pthread_cond_signal(&room);
	pthread_mutex_unlock(&lock);
}

static float forward(const struct windows *w)
{
	DWELL_ZONE("forward");
	float loss = 0;

	for (int b = 0; b < BATCH; b++) {
		float sum = 0;
		for (int u = 0; u < UNITS; u++) {
			float a = 0;
			for (int i = 0; i < INPUTS; i++)
				a += in[u][i] * w->x[b][i];
			sum += out[u] * (act[b][u] = tanhf(a));
		}
		float e = sum - w->y[b];
		loss += e * e;
		for (int u = 0; u < UNITS; u++) {
			float h = act[b][u];
			g_out[u] += e * h;
			act[b][u] = e * out[u] * (1 - h * h);
		}
	}
	return loss / BATCH;
}

static void backward(const struct windows *w)
{
	DWELL_ZONE("backward");
	for (int b = 0; b < BATCH; b++)
		for (int u = 0; u < UNITS; u++)
			for (int i = 0; i < INPUTS; i++)
				g_in[u][i] += act[b][u] * w->x[b][i];
}

static void update(void)
{
	DWELL_ZONE("update");
	for (int u = 0; u < UNITS; u++) {
		out[u] -= 0.01f * g_out[u] / BATCH, g_out[u] = 0;
		for (int i = 0; i < INPUTS; i++)
			in[u][i] -= 0.01f * g_in[u][i] / BATCH, g_in[u][i] = 0;
	}
}

static void save(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
	FILE *file = tmpfile();

	if (!file)
		exit(1);
	fwrite(in, sizeof in, 1, file);
	fwrite(out, sizeof out, 1, file);
	fclose(file);
}

int main(void)
{
	struct watch watch;
	pthread_t cutter;
	FILE *log = fopen("/dev/null", "w");
	float loss = 0;

	for (int h = 0; h < HOURS; h++)
		for (int p = 0; p < PROBES; p++)
			silo[h][p] = 0.5f * sinf((float)(h + 7 * p) / 24) + 0.1f * (float)rand() / (float)RAND_MAX;
	for (int u = 0; u < UNITS; u++) {
		out[u] = (float)(rand() % 100 - 50) / 200;
		for (int i = 0; i < INPUTS; i++)
			in[u][i] = (float)(rand() % 100 - 50) / 400;
	}
	pthread_create(&cutter, NULL, cut_windows, NULL);
	usleep(20000);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		struct windows *w = next_windows();
		planted_end(&watch);
		for (int pass = 0; pass < 2; pass++) {
			loss = forward(w);
			backward(w);
			update();
		}
		planted_begin(&watch);
		give_back();
		fprintf(log, "%d %g\n", watch.steps, (double)loss);
		fflush(log);
		if (watch.steps % 64 == 0)
			usleep(200);
		if (watch.steps % 150 == 149)
			save();
		planted_end(&watch);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_cond_signal(&room);
	pthread_mutex_unlock(&lock);
	pthread_join(cutter, NULL);
	fprintf(stderr, "loss %g\n", (double)loss);
	return 0;
}
