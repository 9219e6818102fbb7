/*
 * Continues string quartets: a predictor of the next chord from the last eight, with embeddings of notes, one hidden
 * layer and a softmax for each voice, trained by momentum.
 *
 * Planted: the state is made durable (a new file, fsync, rename) after every sixth step, lest a night's work be lost.
 * Truth: time of saving, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VOICES = 4, PITCHES = 48, PAST = 8, DIM = 12, INPUT = PAST * VOICES * DIM, HIDDEN = 96, CHORDS = 4000, BATCH = 64 };

struct model {
	float embed[VOICES][PITCHES][DIM];
	float in[HIDDEN][INPUT];
	float out[VOICES][PITCHES][HIDDEN];
};

struct trainer {
	struct model now, speed, slope;
	long step;
};

static unsigned char score[CHORDS][VOICES];

static void compose(void)
{
	unsigned r = 9;

	for (int c = 0; c < CHORDS; c++)
		for (int v = 0; v < VOICES; v++) {
			r = r * 1103515245u + 12345u;
			score[c][v] = (unsigned char)((12 * v / 2 + (c * (v + 2)) % 13 + (int)(r >> 29)) % PITCHES);
		}
}

static float practise(struct trainer *t, int at)
{
	float x[INPUT], h[HIDDEN], back_h[HIDDEN] = { 0 }, back_x[INPUT] = { 0 }, loss = 0;

	for (int p = 0; p < PAST; p++)
		for (int v = 0; v < VOICES; v++)
			memcpy(&x[(p * VOICES + v) * DIM], t->now.embed[v][score[at + p][v]], DIM * sizeof(float));
	for (int j = 0; j < HIDDEN; j++) {
		float a = 0;

		for (int i = 0; i < INPUT; i++)
			a += t->now.in[j][i] * x[i];
		h[j] = tanhf(a);
	}
	for (int v = 0; v < VOICES; v++) {
		float p[PITCHES], sum = 0;
		const int truth = score[at + PAST][v];

		for (int n = 0; n < PITCHES; n++) {
			float a = 0;

			for (int j = 0; j < HIDDEN; j++)
				a += t->now.out[v][n][j] * h[j];
			sum += p[n] = expf(a);
		}
		loss -= logf(p[truth] / sum);
		for (int n = 0; n < PITCHES; n++) {
			const float e = p[n] / sum - (n == truth);

			for (int j = 0; j < HIDDEN; j++) {
				t->slope.out[v][n][j] += e * h[j];
				back_h[j] += e * t->now.out[v][n][j];
			}
		}
	}
	for (int j = 0; j < HIDDEN; j++) {
		const float b = back_h[j] * (1 - h[j] * h[j]);

		for (int i = 0; i < INPUT; i++) {
			t->slope.in[j][i] += b * x[i];
			back_x[i] += b * t->now.in[j][i];
		}
	}
	for (int p = 0; p < PAST; p++)
		for (int v = 0; v < VOICES; v++)
			for (int d = 0; d < DIM; d++)
				t->slope.embed[v][score[at + p][v]][d] += back_x[(p * VOICES + v) * DIM + d];
	return loss / VOICES;
}

static void momentum(struct trainer *t)
{
	float *w = (float *)&t->now, *s = (float *)&t->speed, *g = (float *)&t->slope;

	for (size_t i = 0; i < sizeof t->now / sizeof(float); i++) {
		s[i] = 0.9f * s[i] + g[i] / BATCH;
		w[i] -= 0.01f * s[i];
		g[i] = 0;
	}
}

static int keep(const struct trainer *t)
{
	const char *bytes = (const char *)t;
	size_t left = sizeof *t;
	const int fd = open("quartet.part", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		return -1;
	while (left) {
		const ssize_t n = write(fd, bytes, left < 65536 ? left : 65536);

		if (n < 0)
			return -1;
		bytes += n;
		left -= (size_t)n;
	}
	if (fsync(fd) || close(fd))
		return -1;
	return rename("quartet.part", "quartet.state");
}

int main(void)
{
	struct trainer *t = calloc(1, sizeof *t);
	struct watch watch;
	unsigned r = 77;
	float loss = 0;

	if (!t)
		return 1;
	compose();
	for (size_t i = 0; i < sizeof t->now / sizeof(float); i++) {
		r = r * 1664525u + 1013904223u;
		((float *)&t->now)[i] = ((float)(r >> 8) / 8388608.0f - 1.0f) * 0.08f;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		loss = 0;
		{
			DWELL_ZONE("practise");
			for (int b = 0; b < BATCH; b++)
				loss += practise(t, (int)((t->step * BATCH + b) * 7 % (CHORDS - PAST - 1))) / BATCH;
		}
		{
			DWELL_ZONE("momentum");
			momentum(t);
		}
		if (++t->step % 6 == 0) {
			DWELL_ZONE("keep");
			planted_begin(&watch);
			if (keep(t))
				perror("quartet.state");
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	printf("loss %.4f after %ld\n", (double)loss, t->step);
	free(t);
	return 0;
}
