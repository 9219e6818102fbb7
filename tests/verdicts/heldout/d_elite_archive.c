/*
 * Neuroevolution of a walker's gait. A generation is a step: each genome walks, the best are bred, and after each
 * tenth generation the elite is added to an archive.
 *
 * Planted: nothing. "evaluate" is the work of evolution and no test beside it, and an elite is little to
 * write, and nobody syncs it.
 * Truth: time of saving, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 6, GENOMES = 48, ELITE = 8, LEGS = 6, UNITS = 24, GENES = UNITS * LEGS * 2, TICKS = 150, EVERY = 10 };

struct genome {
	float genes[GENES], fitness;
};

static struct genome genomes[GENOMES];
static unsigned long seed = 3;

static float uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (float)(seed >> 40) / (float)(1 << 24);
}

static float walk(const float *genes)
{
	float phase[LEGS] = { 0 }, way = 0;

	for (int tick = 0; tick < TICKS; tick++) {
		float next[LEGS] = { 0 };

		for (int unit = 0; unit < UNITS; unit++) {
			float sum = 0;

			for (int leg = 0; leg < LEGS; leg++)
				sum += genes[unit * LEGS + leg] * phase[leg];
			sum = tanhf(sum + 0.1f * (float)(tick % 8));
			for (int leg = 0; leg < LEGS; leg++)
				next[leg] += genes[(UNITS + unit) * LEGS + leg] * sum;
		}
		for (int leg = 0; leg < LEGS; leg++) {
			float before = sinf(phase[leg]);

			phase[leg] = remainderf(phase[leg] + 0.2f * next[leg], 6.2831853f);
			way += fabsf(sinf(phase[leg]) - before) - 0.1f * fabsf(next[leg]);
		}
	}
	return way;
}

static int by_fitness(const void *a, const void *b)
{
	float left = ((const struct genome *)a)->fitness, right = ((const struct genome *)b)->fitness;

	return (left < right) - (left > right);
}

static void save(const char *path)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save elite");
	FILE *file = fopen(path, "ab");

	if (!file || fwrite(genomes, sizeof(genomes[0]), ELITE, file) != ELITE || fclose(file))
		exit(1);
}

int main(void)
{
	char path[48];
	struct watch watch;

	snprintf(path, sizeof(path), "elite-%d.bin", (int)getpid());
	for (int at = 0; at < GENOMES; at++)
		for (int gene = 0; gene < GENES; gene++)
			genomes[at].genes[gene] = uniform() * 2 - 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("evaluate");
			for (int at = 0; at < GENOMES; at++)
				genomes[at].fitness = walk(genomes[at].genes);
		}
		{
			DWELL_ZONE("select");
			qsort(genomes, GENOMES, sizeof(genomes[0]), by_fitness);
		}
		if (watch.steps % EVERY == EVERY - 1) {
			planted_begin(&watch);
			save(path);
			planted_end(&watch);
		}
		DWELL_ZONE("breed");
		for (int at = ELITE; at < GENOMES; at++) {
			const float *one = genomes[at % ELITE].genes, *other = genomes[(at * 5 + 3) % ELITE].genes;

			for (int gene = 0; gene < GENES; gene++)
				genomes[at].genes[gene] = (gene % 2 ? one : other)[gene] + 0.02f * (uniform() - 0.5f);
		}
	}
	watch_tell(&watch);
	printf("best way: %.2f\n", (double)genomes[0].fitness);
	unlink(path);
	return 0;
}
