/*
 * Factorises a matrix of ratings and notes its loss after each step so that no power failure loses it.
 *
 * Planted: a line of the metrics file is flushed and synced to the disk in each step.
 * Truth: time of printing, flushing and syncing, as a share of the loop. The number of rating passes in a step is chosen
 * before the loop, so that a fast disk plants as much as a slow one.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 6, USERS = 1500, FILMS = 900, RANK = 24, RATINGS = 12000 };

static float users[USERS][RANK], films[FILMS][RANK];
static struct { int user, film; float stars; } ratings[RATINGS];

static float pass(void)
{
	float loss = 0;

	for (int at = 0; at < RATINGS; at++) {
		float *user = users[ratings[at].user], *film = films[ratings[at].film], off = -ratings[at].stars;

		for (int i = 0; i < RANK; i++)
			off += user[i] * film[i];
		for (int i = 0; i < RANK; i++) {
			float old = user[i];

			user[i] -= 0.002f * off * film[i];
			film[i] -= 0.002f * off * old;
		}
		loss += off * off;
	}
	return loss;
}

static void note(FILE *metrics, int step, float loss)
{
	fprintf(metrics, "step=%d loss=%.6f\n", step, (double)loss / RATINGS);
	fflush(metrics);
	fdatasync(fileno(metrics));
}

int main(void)
{
	struct watch watch;
	FILE *metrics = fopen("metrics.txt", "w");
	double sync, once;
	int passes;

	srand(5);
	for (int at = 0; at < USERS * RANK; at++)
		((float *)users)[at] = (float)(rand() % 100) / 200;
	for (int at = 0; at < FILMS * RANK; at++)
		((float *)films)[at] = (float)(rand() % 100) / 200;
	for (int at = 0; at < RATINGS; at++) {
		ratings[at].user = rand() % USERS;
		ratings[at].film = rand() % FILMS;
		ratings[at].stars = (float)(rand() % 5 + 1);
	}
	sync = now_s();
	for (int at = 0; at < 20; at++)
		note(metrics, -1, 0);
	sync = (now_s() - sync) / 20;
	once = now_s();
	for (int at = 0; at < 20; at++)
		pass();
	once = (now_s() - once) / 20;
	passes = (int)(1.2 * sync / once) + 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		float loss = 0;
		{
			DWELL_ZONE("fit ratings");
			for (int at = 0; at < passes; at++)
				loss = pass();
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("note loss");
			note(metrics, watch.steps, loss);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	fclose(metrics);
	unlink("metrics.txt");
	return 0;
}
