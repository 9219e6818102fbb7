/*
 * Factorises who listened to what, and lets a reader recommend from a frozen copy of the table meanwhile.
 *
 * Planted: the copy is a fork() in each round. The reader ends soon, but after each fork all pages that the loop writes to
 * are copied, one fault each.
 * Truth: time that the kernel works for the loop's thread, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LISTENERS = 400000, TRACKS = 12000, DIM = 64, PAIRS = 40000, ASKED = 100, NEGATIVES = 5 };

static float (*listener)[DIM], (*track)[DIM];
static pid_t reader;
static int answers[2];

static float dot(const float *one, const float *other)
{
	float four[4] = { 0, 0, 0, 0 };
	for (int d = 0; d < DIM; d += 4)
		for (int k = 0; k < 4; k++)
			four[k] += one[d + k] * other[d + k];
	return four[0] + four[1] + four[2] + four[3];
}

static void recommend(int round)
{
	for (int asked = 0; asked < ASKED; asked++) {
		int who = (round * ASKED + asked) % LISTENERS, best = 0;
		float most = -1e9f;
		for (int t = 0; t < TRACKS; t++) {
			float score = dot(listener[who], track[t]);
			if (score > most)
				most = score, best = t;
		}
		if (write(answers[1], &best, sizeof best) < 0)
			_exit(1);
	}
	_exit(0);
}

static void freeze_for_reader(int round)
{
	int answer;
	DWELL_ZONE("freeze");
	if (reader) {
		waitpid(reader, NULL, 0);
		for (int i = 0; i < ASKED; i++)
			if (read(answers[0], &answer, sizeof answer) < 0)
				exit(1);
	}
	reader = fork();
	if (!reader)
		recommend(round);
}

static void learn(int round)
{
	DWELL_ZONE("learn");
	for (int i = 0; i < PAIRS; i++) {
		unsigned number = (unsigned)(round * PAIRS + i) * 2654435761u;
		float *who = listener[(number >> 8) % LISTENERS];
		for (int k = 0; k <= NEGATIVES; k++) {
			float *what = track[((number >> 5) % 997 + (unsigned)k * 3571) % TRACKS];
			float rate = 0.02f * ((float)(k == 0) - 1 / (1 + expf(-dot(who, what))));
			for (int d = 0; d < DIM; d++) {
				float before = who[d];
				who[d] += rate * what[d], what[d] += rate * before;
			}
		}
	}
}

int main(void)
{
	struct watch watch;
	double system_began;
	listener = malloc(LISTENERS * sizeof *listener);
	track = malloc(TRACKS * sizeof *track);
	for (int i = 0; i < LISTENERS * DIM; i++)
		listener[i / DIM][i % DIM] = 0.1f * sinf((float)i);
	for (int i = 0; i < TRACKS * DIM; i++)
		track[i / DIM][i % DIM] = 0.1f * cosf((float)i);
	if (pipe(answers))
		return 1;
	watch_begin(&watch);
	system_began = system_s();
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		freeze_for_reader(watch.steps);
		learn(watch.steps);
	}
	watch_tell_share(&watch, (system_s() - system_began) / watch_seconds(&watch));
	waitpid(reader, NULL, 0);
}
