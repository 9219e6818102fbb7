/*
 * Trains a small neural recommender of films. It keeps a diary on disk and saves itself often.
 *
 * Planted: nothing. Each step flushes a line of its log, and each 50th saves all factors, which takes a moment.
 * Truth: time of the log and of the snapshots, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USERS = 1500, FILMS = 900, DIM = 24, UNITS = 96, BATCH = 1024, SAVE_EVERY = 50 };

static float user[USERS][DIM], film[FILMS][DIM], w1[UNITS][2 * DIM], w2[UNITS];
static float g1[UNITS][2 * DIM], g2[UNITS], input[BATCH][2 * DIM], hidden[BATCH][UNITS], error[BATCH], g_input[BATCH][2 * DIM];
static int who[BATCH], what[BATCH];
static float stars[BATCH];
static struct watch watch;

static void fill(float *weights, int count, float scale)
{
	for (int i = 0; i < count; i++)
		weights[i] = scale * sinf((float)(i * 3 + 1));
}

static void draw_batch(int step)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "ratings");
	for (int i = 0; i < BATCH; i++) {
		unsigned mixed = (unsigned)(step * BATCH + i) * 2654435761u;
		who[i] = (int)(mixed >> 7) % USERS;
		what[i] = (int)(mixed >> 11) % FILMS;
		stars[i] = (float)((who[i] * 7 + what[i] * 3) % 9) / 8;
	}
}

static double forward(void)
{
	double loss = 0;
	DWELL_PHASE("forward");
	for (int i = 0; i < BATCH; i++) {
		float score = 0;
		memcpy(input[i], user[who[i]], sizeof(user[0]));
		memcpy(input[i] + DIM, film[what[i]], sizeof(film[0]));
		for (int u = 0; u < UNITS; u++) {
			float sum = 0;
			for (int d = 0; d < 2 * DIM; d++)
				sum += w1[u][d] * input[i][d];
			hidden[i][u] = tanhf(sum);
			score += w2[u] * hidden[i][u];
		}
		error[i] = score - stars[i];
		loss += (double)(error[i] * error[i]);
	}
	return loss / BATCH;
}

static void backward(void)
{
	DWELL_PHASE("backward");
	memset(g1, 0, sizeof(g1)), memset(g2, 0, sizeof(g2)), memset(g_input, 0, sizeof(g_input));
	for (int i = 0; i < BATCH; i++)
		for (int u = 0; u < UNITS; u++) {
			float back = error[i] * w2[u] * (1 - hidden[i][u] * hidden[i][u]);
			g2[u] += error[i] * hidden[i][u];
			for (int d = 0; d < 2 * DIM; d++) {
				g1[u][d] += back * input[i][d];
				g_input[i][d] += back * w1[u][d];
			}
		}
}

static void optimizer(void)
{
	DWELL_PHASE("optimizer");
	for (int u = 0; u < UNITS; u++) {
		w2[u] -= 0.05f / BATCH * g2[u];
		for (int d = 0; d < 2 * DIM; d++)
			w1[u][d] -= 0.05f / BATCH * g1[u][d];
	}
	for (int i = 0; i < BATCH; i++)
		for (int d = 0; d < DIM; d++) {
			user[who[i]][d] -= 0.01f * g_input[i][d];
			film[what[i]][d] -= 0.01f * g_input[i][DIM + d];
		}
}

static void save(const char *path)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
	FILE *file = fopen(path, "wb");
	if (!file)
		return;
	fwrite(user, sizeof(user), 1, file);
	fwrite(film, sizeof(film), 1, file);
	fwrite(w1, sizeof(w1), 1, file);
	fclose(file);
}

int main(void)
{
	char path[] = "/tmp/ratings-XXXXXX";
	int fd = mkstemp(path);
	FILE *log = tmpfile();
	if (fd < 0 || !log)
		return 1;
	fill(user[0], USERS * DIM, 1), fill(film[0], FILMS * DIM, 1);
	fill(w1[0], UNITS * 2 * DIM, 0.15f), fill(w2, UNITS, 0.1f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		draw_batch(watch.steps);
		double loss = forward();
		backward();
		optimizer();
		planted_begin(&watch);
		fprintf(log, "step %d loss %.5f\n", watch.steps, loss);
		fflush(log);
		if (watch.steps % SAVE_EVERY == SAVE_EVERY - 1)
			save(path);
		planted_end(&watch);
	}
	watch_tell(&watch);
	close(fd);
	unlink(path);
}
