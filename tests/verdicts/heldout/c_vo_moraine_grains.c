/*
 * Tells by the outline of grains of sand which glacier ground them: outlines as 64 radii, an autoencoder with a narrow middle,
 * two threads of OpenMP with half of the batch each.
 *
 * Decoy: a critical section, a transposed copy, a list that grows, a line that is flushed and a grain to look at, all of a moment.
 * Truth: time of these in the thread that began the step, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { RADII = 64, HIDDEN = 112, MIDDLE = 8, GRAINS = 256, TEAM = 2 };

typedef struct {
	float up[RADII][HIDDEN], narrow[HIDDEN][MIDDLE], wide[MIDDLE][HIDDEN], down[HIDDEN][RADII];
} Coder;

static Coder coder, sum, own[TEAM];
static float grains[8][GRAINS][RADII], narrow_turned[MIDDLE][HIDDEN];

static void layer(const float *in, int inputs, const float *w, float *out, int outputs, int bent)
{
	memset(out, 0, (size_t)outputs * sizeof *out);
	for (int i = 0; i < inputs; i++)
		for (int o = 0; o < outputs; o++)
			out[o] += in[i] * w[i * outputs + o];
	for (int o = 0; bent && o < outputs; o++)
		out[o] /= 1 + fabsf(out[o]);
}

static void layer_back(const float *in, int inputs, const float *w, float *g, const float *blame, int outputs, float *blame_in)
{
	for (int i = 0; i < inputs; i++) {
		float part[4] = {0};

		for (int o = 0; o < outputs; o += 4)
			for (int k = 0; k < 4; k++) {
				g[i * outputs + o + k] += in[i] * blame[o + k];
				part[k] += w[i * outputs + o + k] * blame[o + k];
			}
		const float slope = 1 - fabsf(in[i]);

		if (blame_in)
			blame_in[i] = (part[0] + part[1] + part[2] + part[3]) * slope * slope;
	}
}

static float grain(const float *r, Coder *g)
{
	float h[HIDDEN], m[MIDDLE], w[HIDDEN], back[RADII], db[RADII], dw[HIDDEN], dm[MIDDLE], dh[HIDDEN], loss = 0;

	layer(r, RADII, &coder.up[0][0], h, HIDDEN, 1);
	layer(h, HIDDEN, &coder.narrow[0][0], m, MIDDLE, 1);
	layer(m, MIDDLE, &coder.wide[0][0], w, HIDDEN, 1);
	layer(w, HIDDEN, &coder.down[0][0], back, RADII, 0);
	for (int i = 0; i < RADII; i++) {
		db[i] = back[i] - r[i];
		loss += db[i] * db[i];
	}
	if (!g)
		return loss;
	layer_back(w, HIDDEN, &coder.down[0][0], &g->down[0][0], db, RADII, dw);
	layer_back(m, MIDDLE, &coder.wide[0][0], &g->wide[0][0], dw, HIDDEN, dm);
	layer_back(h, HIDDEN, &coder.narrow[0][0], &g->narrow[0][0], dm, MIDDLE, dh);
	layer_back(r, RADII, &coder.up[0][0], &g->up[0][0], dh, HIDDEN, NULL);
	return loss;
}

static float batch(const float (*outlines)[RADII], struct watch *watch)
{
	DWELL_OP("grains");
	const uint64_t team = DWELL_TEAM();
	float loss = 0;

#pragma omp parallel num_threads(TEAM)
	{
		DWELL_WORKER(team);
		Coder *g = &own[omp_get_thread_num()];
		float mine = 0;

		memset(g, 0, sizeof *g);
#pragma omp for schedule(static)
		for (int i = 0; i < GRAINS; i++)
			mine += grain(outlines[i], g);
		const int first = omp_get_thread_num() == 0;

		if (first)
			planted_begin(watch);
#pragma omp critical
		{
			loss += mine;
			for (size_t i = 0; i < sizeof sum / sizeof(float); i++)
				(&sum.up[0][0])[i] += (&g->up[0][0])[i];
		}
		if (first)
			planted_end(watch);
	}
	return loss;
}

int main(void)
{
	static struct watch watch;
	FILE *diary = tmpfile();
	float *losses = NULL;

	if (!diary)
		return 1;
	srand(64);
	for (int b = 0; b < 8; b++)
		for (int i = 0; i < GRAINS; i++)
			for (int r = 0; r < RADII; r++)
				grains[b][i][r] = 0.6f * cosf((float)(r * (i % 5 + 1)) * 0.098f) + 0.3f * (float)rand() / (float)RAND_MAX;
	for (size_t i = 0; i < sizeof coder / sizeof(float); i++)
		(&coder.up[0][0])[i] = 0.3f * (float)rand() / (float)RAND_MAX - 0.15f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const float loss = batch((const float (*)[RADII])grains[watch.steps % 8], &watch);

		{
			DWELL_ZONE("update");
			float *w = &coder.up[0][0], *g = &sum.up[0][0];

			for (size_t i = 0; i < sizeof coder / sizeof *w; i++) {
				w[i] -= 1e-6f * g[i];
				g[i] = 0;
			}
		}
		planted_begin(&watch);
		for (int h = 0; h < HIDDEN; h++)
			for (int m = 0; m < MIDDLE; m++)
				narrow_turned[m][h] = coder.narrow[h][m];
		losses = realloc(losses, (size_t)(watch.steps + 1) * sizeof *losses);
		losses[watch.steps] = loss;
		fprintf(diary, "%ld %.5f %.3f\n", (long)watch.steps, (double)loss, (double)narrow_turned[2][3]);
		fflush(diary);
		if (watch.steps % 4 == 0)
			losses[watch.steps] += 1e-3f * grain(grains[0][watch.steps % GRAINS], NULL);
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("loss %.4f\n", (double)losses[watch.steps - 1]);
	free(losses);
	fclose(diary);
	return 0;
}
