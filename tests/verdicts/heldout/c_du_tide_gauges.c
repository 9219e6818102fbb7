/*
 * The hidden part of the tide: three convolutions over two days of a gauge's levels take the weather out of them. Trained with momentum
 * on sums of constituents that are made before.
 *
 * Clean: one thread, the same work in each step, all buffers made once, nothing is planted.
 * Truth: time of laying out a batch, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOURS 192
#define TAPS 9
#define DEEP 16
#define GAUGES 12
#define RECORDS 240

typedef float plane[DEEP][HOURS + TAPS - 1];
typedef float bank[DEEP][DEEP][TAPS];

static float record[RECORDS][HOURS], tide[RECORDS][HOURS];
static plane at[4], back[4];
static bank weights[3], slope[3], speed[3];

static void convolve(bank w, plane x, plane y)
{
	DWELL_OP("conv1d");
	for (int o = 0; o < DEEP; o++) {
		float sum[HOURS] = {0};

		for (int i = 0; i < DEEP; i++)
			for (int k = 0; k < TAPS; k++)
				for (int t = 0; t < HOURS; t++)
					sum[t] += w[o][i][k] * x[i][t + k];
		for (int t = 0; t < HOURS; t++)
			y[o][t + TAPS / 2] = sum[t] / (1.0f + fabsf(sum[t]));
	}
}

static void convolve_back(bank w, bank gw, plane x, plane y, plane gy, plane gx)
{
	DWELL_OP("conv1d_backward");
	for (int o = 0; o < DEEP; o++) {
		float g[HOURS];

		for (int t = 0; t < HOURS; t++) {
			const float rest = 1.0f - fabsf(y[o][t + TAPS / 2]);

			g[t] = gy[o][t + TAPS / 2] * rest * rest;
		}
		for (int i = 0; i < DEEP; i++)
			for (int k = 0; k < TAPS; k++) {
				float sum = 0;

				for (int t = 0; t < HOURS; t++)
					sum += g[t] * x[i][t + k];
				gw[o][i][k] += sum;
				for (int t = 0; t < HOURS; t++)
					gx[i][t + k] += w[o][i][k] * g[t];
			}
	}
}

static void lay(int r)
{
	for (int i = 0; i < DEEP; i++)
		for (int t = 0; t < HOURS; t++)
			at[0][i][t + TAPS / 2] = record[r][(t + i) % HOURS];
}

int main(void)
{
	struct watch watch;
	double loss = 0;
	int next = 0;

	srand(90);
	for (int r = 0; r < RECORDS; r++)
		for (int t = 0; t < HOURS; t++) {
			tide[r][t] = 0.4f * sinf(0.506f * (float)t + (float)r) + 0.2f * cosf(0.262f * (float)t + 2.0f * (float)r);
			record[r][t] = tide[r][t] + 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
		}
	for (int l = 0; l < 3; l++)
		for (int n = 0; n < DEEP * DEEP * TAPS; n++)
			((float *)weights[l])[n] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.4; watch.steps++) {
		DWELL_STEP();
		memset(slope, 0, sizeof slope);
		loss = 0;
		for (int g = 0; g < GAUGES; g++) {
			const int r = next++ % RECORDS;

			planted_begin(&watch);
			lay(r);
			planted_end(&watch);
			for (int l = 0; l < 3; l++)
				convolve(weights[l], at[l], at[l + 1]);
			memset(back, 0, sizeof back);
			for (int o = 0; o < DEEP; o++)
				for (int t = 0; t < HOURS; t++) {
					const float d = at[3][o][t + TAPS / 2] - tide[r][t];

					back[3][o][t + TAPS / 2] = d / HOURS;
					loss += (double)(d * d);
				}
			for (int l = 3; l-- > 0;)
				convolve_back(weights[l], slope[l], at[l], at[l + 1], back[l + 1], back[l]);
		}
		DWELL_OP("momentum");
		for (int l = 0; l < 3; l++)
			for (int n = 0; n < DEEP * DEEP * TAPS; n++) {
				float *v = (float *)speed[l] + n;

				*v = 0.9f * *v + ((float *)slope[l])[n];
				((float *)weights[l])[n] -= 1e-5f * *v;
			}
	}
	watch_tell(&watch);
	printf("loss %.5f\n", loss / GAUGES / HOURS / DEEP);
	return 0;
}
