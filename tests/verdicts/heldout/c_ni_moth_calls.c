/*
 * Calls of bats that hunt moths: two convolutions over echoes, a mean over time, five species; one thread.
 *
 * Clean: each step computes 12 echoes of one length forward and backward and updates the kernels.
 * Truth: nothing is planted; the clock is around the copy of the batch.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ECHOES = 12, LENGTH = 1024, ONE = 12, TWO = 16, WIDE = 9, SPECIES = 5, L1 = LENGTH - WIDE + 1, L2 = L1 - WIDE + 1, STORE = 64 };

static float store[STORE][LENGTH], batch[ECHOES][LENGTH];
static float k1[ONE][WIDE], g1[ONE][WIDE], k2[TWO][ONE][WIDE], g2[TWO][ONE][WIDE], out[SPECIES][TWO], gout[SPECIES][TWO];
static float h1[ONE][L1], d1[ONE][L1], h2[TWO][L2], d2[TWO][L2], pooled[TWO], chance[SPECIES];

static float noise(void)
{
	return (float)(rand() % 2001) / 1000 - 1;
}

static void forward(const float *echo)
{
	DWELL_ZONE("forward");
	for (int c = 0; c < ONE; c++) {
		memset(h1[c], 0, sizeof h1[c]);
		for (int k = 0; k < WIDE; k++)
			for (int t = 0; t < L1; t++)
				h1[c][t] += k1[c][k] * echo[t + k];
		for (int t = 0; t < L1; t++)
			h1[c][t] = h1[c][t] > 0 ? h1[c][t] : 0.1f * h1[c][t];
	}
	for (int c = 0; c < TWO; c++) {
		float sum = 0;

		memset(h2[c], 0, sizeof h2[c]);
		for (int i = 0; i < ONE; i++)
			for (int k = 0; k < WIDE; k++)
				for (int t = 0; t < L2; t++)
					h2[c][t] += k2[c][i][k] * h1[i][t + k];
		for (int t = 0; t < L2; t++) {
			h2[c][t] = h2[c][t] > 0 ? h2[c][t] : 0.1f * h2[c][t];
			sum += h2[c][t];
		}
		pooled[c] = sum / L2;
	}
}

static void judge(int species)
{
	float most = 0, sum = 0;

	for (int s = 0; s < SPECIES; s++) {
		chance[s] = 0;
		for (int c = 0; c < TWO; c++)
			chance[s] += out[s][c] * pooled[c];
		most = chance[s] > most ? chance[s] : most;
	}
	for (int s = 0; s < SPECIES; s++)
		sum += chance[s] = expf(chance[s] - most);
	for (int s = 0; s < SPECIES; s++)
		chance[s] = chance[s] / sum - (s == species ? 0.9f : 0.025f);
}

static void backward(const float *echo)
{
	DWELL_ZONE("backward");
	memset(d1, 0, sizeof d1);
	for (int c = 0; c < TWO; c++) {
		float slope = 0;

		for (int s = 0; s < SPECIES; s++) {
			slope += chance[s] * out[s][c];
			gout[s][c] += chance[s] * pooled[c];
		}
		for (int t = 0; t < L2; t++)
			d2[c][t] = slope / L2 * (h2[c][t] > 0 ? 1 : 0.1f);
		for (int i = 0; i < ONE; i++)
			for (int k = 0; k < WIDE; k++) {
				float sum = 0;

				for (int t = 0; t < L2; t++) {
					sum += d2[c][t] * h1[i][t + k];
					d1[i][t + k] += d2[c][t] * k2[c][i][k];
				}
				g2[c][i][k] += sum;
			}
	}
	for (int c = 0; c < ONE; c++)
		for (int k = 0; k < WIDE; k++)
			for (int t = 0; t < L1; t++)
				g1[c][k] += d1[c][t] * (h1[c][t] > 0 ? 1 : 0.1f) * echo[t + k];
}

static void descend(float *weights, float *gradient, int count)
{
	for (int i = 0; i < count; i++) {
		weights[i] -= 1e-4f * gradient[i] / ECHOES;
		gradient[i] = 0;
	}
}

static void begin(float *weights, int count, float scale)
{
	for (int i = 0; i < count; i++)
		weights[i] = scale * noise();
}

int main(void)
{
	struct watch watch;

	for (int e = 0; e < STORE; e++)
		for (int t = 0; t < LENGTH; t++)
			store[e][t] = sinf((float)t * 0.02f * (float)(1 + e % SPECIES)) + 0.3f * noise();
	begin(&k1[0][0], ONE * WIDE, 0.3f);
	begin(&k2[0][0][0], TWO * ONE * WIDE, 0.15f);
	begin(&out[0][0], SPECIES * TWO, 1);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		for (int e = 0; e < ECHOES; e++)
			memcpy(batch[e], store[(watch.steps * ECHOES + e) % STORE], sizeof batch[e]);
		planted_end(&watch);
		for (int e = 0; e < ECHOES; e++) {
			forward(batch[e]);
			judge((int)((watch.steps * ECHOES + e) % STORE) % SPECIES);
			backward(batch[e]);
		}
		DWELL_ZONE("update");
		descend(&k1[0][0], &g1[0][0], ONE * WIDE);
		descend(&k2[0][0][0], &g2[0][0][0], TWO * ONE * WIDE);
		descend(&out[0][0], &gout[0][0], SPECIES * TWO);
	}
	watch_tell(&watch);
	return 0;
}
