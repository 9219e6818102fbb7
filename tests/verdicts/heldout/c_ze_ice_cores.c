/*
 * Sorts layers of ice cores into climates by their chemistry: a mixture of Gaussians, fitted by EM with OpenMP.
 *
 * Planted: the means and covariances are summed by the master alone while the team waits at the end of the region.
 * Truth: time of the master's block, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 6000, IONS = 14, CLIMATES = 8 };

static float core[LAYERS][IONS];
static float share_of[LAYERS][CLIMATES];

static struct climate {
	double weight, mean[IONS], covariance[IONS][IONS], inverse[IONS][IONS], log_root;
} climates[CLIMATES];

/* The inverse of the covariance and the logarithm of its determinant's root, by Gauss and Jordan. */
static void invert(struct climate *climate)
{
	double a[IONS][2 * IONS];

	climate->log_root = 0;
	for (int i = 0; i < IONS; i++)
		for (int k = 0; k < IONS; k++) {
			a[i][k] = climate->covariance[i][k];
			a[i][IONS + k] = i == k;
		}
	for (int p = 0; p < IONS; p++) {
		double pivot = a[p][p];

		climate->log_root += 0.5 * log(fabs(pivot));
		for (int k = 0; k < 2 * IONS; k++)
			a[p][k] /= pivot;
		for (int i = 0; i < IONS; i++) {
			double factor = a[i][p];

			if (i == p)
				continue;
			for (int k = 0; k < 2 * IONS; k++)
				a[i][k] -= factor * a[p][k];
		}
	}
	for (int i = 0; i < IONS; i++)
		memcpy(climate->inverse[i], a[i] + IONS, sizeof climate->inverse[i]);
}

static double density(const float *x, const struct climate *climate)
{
	double distance = 0, from[IONS];

	for (int i = 0; i < IONS; i++)
		from[i] = x[i] - climate->mean[i];
	for (int i = 0; i < IONS; i++) {
		double row = 0;

		for (int k = 0; k < IONS; k++)
			row += climate->inverse[i][k] * from[k];
		distance += row * from[i];
	}
	return log(climate->weight + 1e-12) - climate->log_root - 0.5 * distance;
}

static void share_out(int layer)
{
	double said[CLIMATES], most = -1e30, sum = 0;

	for (int c = 0; c < CLIMATES; c++) {
		said[c] = density(core[layer], &climates[c]);
		if (said[c] > most)
			most = said[c];
	}
	for (int c = 0; c < CLIMATES; c++)
		sum += said[c] = exp(said[c] - most);
	for (int c = 0; c < CLIMATES; c++)
		share_of[layer][c] = (float)(said[c] / sum);
}

static void summarise(struct climate *climate, int c)
{
	double all = 1e-9;

	memset(climate->mean, 0, sizeof climate->mean);
	memset(climate->covariance, 0, sizeof climate->covariance);
	for (int n = 0; n < LAYERS; n++) {
		all += share_of[n][c];
		for (int i = 0; i < IONS; i++)
			climate->mean[i] += share_of[n][c] * core[n][i];
	}
	for (int i = 0; i < IONS; i++)
		climate->mean[i] /= all;
	for (int n = 0; n < LAYERS; n++) {
		double from[IONS];

		for (int i = 0; i < IONS; i++)
			from[i] = core[n][i] - climate->mean[i];
		for (int i = 0; i < IONS; i++)
			for (int k = 0; k < IONS; k++)
				climate->covariance[i][k] += share_of[n][c] * from[i] * from[k];
	}
	for (int i = 0; i < IONS; i++) {
		for (int k = 0; k < IONS; k++)
			climate->covariance[i][k] /= all;
		climate->covariance[i][i] += 0.05;
	}
	climate->weight = all / LAYERS;
	invert(climate);
}

static void iterate(struct watch *watch)
{
	DWELL_STEP();

	#pragma omp parallel num_threads(2)
	{
		{
			DWELL_ZONE("expectation");
			#pragma omp for schedule(static)
			for (int n = 0; n < LAYERS; n++)
				share_out(n);
		}
		#pragma omp master
		{
			DWELL_ZONE("maximisation");
			double began = now_s();

			for (int c = 0; c < CLIMATES; c++)
				summarise(&climates[c], c);
			watch->planted_s += now_s() - began;
		}
	}
}

int main(void)
{
	struct watch watch;

	srand(5);
	for (int n = 0; n < LAYERS; n++)
		for (int i = 0; i < IONS; i++)
			core[n][i] = (float)((n / (LAYERS / CLIMATES) * (i + 3)) % 5) + (float)rand() / (float)RAND_MAX * 3;
	for (int c = 0; c < CLIMATES; c++) {
		climates[c].weight = 1.0 / CLIMATES;
		for (int i = 0; i < IONS; i++) {
			climates[c].mean[i] = core[rand() % LAYERS][i];
			climates[c].covariance[i][i] = 2;
		}
		invert(&climates[c]);
	}

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++)
		iterate(&watch);
	watch_tell(&watch);
	for (int c = 0; c < CLIMATES; c++)
		printf("climate %d: %.3f of all layers\n", c, climates[c].weight);
	return 0;
}
