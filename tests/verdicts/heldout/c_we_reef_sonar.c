/*
 * Tells sand from coral in the echo of a sonar: two dilated convolutions over time and a score for each instant.
 * Forward and backward by hand; pings of a batch are shared by two threads of OpenMP in equal parts.
 *
 * Clean: each step is the same arithmetic on as many pings.
 * Truth: 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME = 512, WIDE = 16, TAPS = 5, PINGS = 8, KEPT = 40 };

static float ping[KEPT][TIME], coral[KEPT][TIME];
static float w1[WIDE][TAPS], w2[WIDE][WIDE][TAPS], w3[WIDE];
static float g1[PINGS][WIDE][TAPS], g2[PINGS][WIDE][WIDE][TAPS], g3[PINGS][WIDE], wrong[PINGS];
static float first[PINGS][WIDE][TIME], second[PINGS][WIDE][TIME], back[PINGS][WIDE][TIME], slope[PINGS][TIME];

static float any(void)
{
	return (float)rand() / (float)RAND_MAX - 0.5f;
}

static void forward(int b, const float *in)
{
	for (int c = 0; c < WIDE; c++)
		for (int t = 4; t < TIME - 4; t++) {
			float sum = 0;
			for (int k = 0; k < TAPS; k++)
				sum += w1[c][k] * in[t + k - 2];
			first[b][c][t] = sum > 0 ? sum : 0.1f * sum;
		}
	memset(second[b], 0, sizeof second[b]);
	for (int c = 0; c < WIDE; c++)
		for (int d = 0; d < WIDE; d++)
			for (int k = 0; k < TAPS; k++) {
				const float w = w2[c][d][k], *from = &first[b][d][2 * k - 4];
				for (int t = 4; t < TIME - 4; t++)
					second[b][c][t] += w * from[t];
			}
}

static void backward(int b, const float *in, const float *wanted)
{
	float error = 0;

	for (int t = 4; t < TIME - 4; t++) {
		float out = 0;
		for (int c = 0; c < WIDE; c++)
			out += w3[c] * (second[b][c][t] > 0 ? second[b][c][t] : 0.1f * second[b][c][t]);
		slope[b][t] = out - wanted[t];
		error += slope[b][t] * slope[b][t];
	}
	wrong[b] = error / TIME;
	memset(back[b], 0, sizeof back[b]);
	for (int c = 0; c < WIDE; c++) {
		for (int t = 4; t < TIME - 4; t++) {
			const float leak = second[b][c][t] > 0 ? 1 : 0.1f;
			g3[b][c] += slope[b][t] * leak * second[b][c][t];
			second[b][c][t] = slope[b][t] * w3[c] * leak;
		}
		for (int d = 0; d < WIDE; d++)
			for (int k = 0; k < TAPS; k++) {
				const float *from = &first[b][d][2 * k - 4], w = w2[c][d][k];
				float *to = &back[b][d][2 * k - 4], sum = 0;
				for (int t = 4; t < TIME - 4; t++) {
					sum += second[b][c][t] * from[t];
					to[t] += second[b][c][t] * w;
				}
				g2[b][c][d][k] += sum;
			}
	}
	for (int c = 0; c < WIDE; c++)
		for (int k = 0; k < TAPS; k++) {
			float sum = 0;
			for (int t = 4; t < TIME - 4; t++)
				sum += back[b][c][t] * (first[b][c][t] > 0 ? 1 : 0.1f) * in[t + k - 2];
			g1[b][c][k] += sum;
		}
}

static void update(float *w, float *g, size_t n)
{
	for (int b = 0; b < PINGS; b++)
		for (size_t i = 0; i < n; i++) {
			w[i] -= 1e-6f * g[(size_t)b * n + i];
			g[(size_t)b * n + i] = 0;
		}
}

int main(void)
{
	struct watch watch;

	srand(3);
	for (int k = 0; k < KEPT; k++)
		for (int t = 0; t < TIME; t++) {
			ping[k][t] = any() + sinf((float)t * 0.05f * (float)(k % 7 + 1));
			coral[k][t] = sinf((float)t * 0.05f) > 0 ? 1 : 0;
		}
	for (size_t i = 0; i < sizeof w1 / sizeof(float); i++)
		((float *)w1)[i] = any();
	for (size_t i = 0; i < sizeof w2 / sizeof(float); i++)
		((float *)w2)[i] = 0.3f * any();
	for (int c = 0; c < WIDE; c++)
		w3[c] = any();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const int at = (int)(watch.steps % 5) * PINGS;
		{
			DWELL_OP("echoes");
			const uint64_t team = DWELL_TEAM();

			#pragma omp parallel num_threads(2)
			{
				DWELL_WORKER(team);
				#pragma omp for schedule(static)
				for (int b = 0; b < PINGS; b++) {
					forward(b, ping[at + b]);
					backward(b, ping[at + b], coral[at + b]);
				}
			}
		}
		DWELL_OP("update");
		update((float *)w1, (float *)g1, sizeof w1 / sizeof(float));
		update((float *)w2, (float *)g2, sizeof w2 / sizeof(float));
		update(w3, (float *)g3, WIDE);
	}
	watch_tell_share(&watch, 0);
	printf("error %.4f\n", (double)wrong[0]);
	return 0;
}
