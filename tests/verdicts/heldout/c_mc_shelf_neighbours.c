/*
 * Which article is missing in a shopping basket? The mean of the articles' vectors goes through two dense layers, and a
 * softmax over the articles of one shelf is trained. The vectors of the articles come from another team, as a file.
 *
 * Planted: each vector is fetched with fopen(), fseek(), fread() and fclose(), article by article, in each step.
 * Truth: time of these four calls, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARTICLES 50000
#define VECTOR 32
#define BASKETS 128
#define IN_BASKET 8
#define HIDDEN 128
#define SHELF 420

typedef struct {
	float w1[HIDDEN][VECTOR], w2[SHELF][HIDDEN];
	float mean[BASKETS][VECTOR], hidden[BASKETS][HIDDEN], said[BASKETS][SHELF];
	float to_hidden[HIDDEN];
} Shelf;

static char table_path[] = "/tmp/articles-XXXXXX";
static struct watch watch;

static double uniform(void)
{
	return rand() / (RAND_MAX + 1.0);
}

static int write_table(void)
{
	const int fd = mkstemp(table_path);
	FILE *table = fd < 0 ? NULL : fdopen(fd, "wb");
	float row[VECTOR];

	if (!table)
		return -1;
	for (int a = 0; a < ARTICLES; a++) {
		for (int v = 0; v < VECTOR; v++)
			row[v] = (float)uniform() - 0.5f;
		fwrite(row, sizeof row, 1, table);
	}
	return fclose(table);
}

static void article_vector(long article, float *vector)
{
	planted_begin(&watch);
	FILE *table = fopen(table_path, "rb");

	if (!table || fseek(table, article * (long)(VECTOR * sizeof(float)), SEEK_SET) ||
	    fread(vector, sizeof(float), VECTOR, table) != VECTOR) {
		perror(table_path);
		exit(1);
	}
	fclose(table);
	planted_end(&watch);
}

static void fill_baskets(Shelf *shelf)
{
	DWELL_ZONE("baskets");
	float vector[VECTOR];

	memset(shelf->mean, 0, sizeof shelf->mean);
	for (int b = 0; b < BASKETS; b++)
		for (int i = 0; i < IN_BASKET; i++) {
			article_vector((long)(uniform() * ARTICLES), vector);
			for (int v = 0; v < VECTOR; v++)
				shelf->mean[b][v] += vector[v] / IN_BASKET;
		}
}

static double train(Shelf *shelf)
{
	DWELL_ZONE("train");
	double loss = 0;

	for (int b = 0; b < BASKETS; b++) {
		const int missing = (int)(uniform() * SHELF);
		float most = -1e30f, sum = 0;

		for (int h = 0; h < HIDDEN; h++) {
			float x = 0;
			for (int v = 0; v < VECTOR; v++)
				x += shelf->w1[h][v] * shelf->mean[b][v];
			shelf->hidden[b][h] = tanhf(x);
		}
		for (int s = 0; s < SHELF; s++) {
			float x = 0;
			for (int h = 0; h < HIDDEN; h++)
				x += shelf->w2[s][h] * shelf->hidden[b][h];
			shelf->said[b][s] = x;
			most = x > most ? x : most;
		}
		for (int s = 0; s < SHELF; s++)
			sum += shelf->said[b][s] = expf(shelf->said[b][s] - most);
		memset(shelf->to_hidden, 0, sizeof shelf->to_hidden);
		loss -= logf(shelf->said[b][missing] / sum);
		for (int s = 0; s < SHELF; s++) {
			const float g = 1e-3f * (shelf->said[b][s] / sum - (s == missing));

			for (int h = 0; h < HIDDEN; h++) {
				shelf->to_hidden[h] += g * shelf->w2[s][h];
				shelf->w2[s][h] -= g * shelf->hidden[b][h];
			}
		}
		for (int h = 0; h < HIDDEN; h++) {
			const float g = shelf->to_hidden[h] * (1 - shelf->hidden[b][h] * shelf->hidden[b][h]);
			for (int v = 0; v < VECTOR; v++)
				shelf->w1[h][v] -= g * shelf->mean[b][v];
		}
	}
	return loss / BASKETS;
}

int main(void)
{
	Shelf *shelf = calloc(1, sizeof *shelf);
	double loss = 0;

	if (!shelf || write_table())
		return 1;
	for (int h = 0; h < HIDDEN; h++) {
		for (int v = 0; v < VECTOR; v++)
			shelf->w1[h][v] = (float)uniform() - 0.5f;
		for (int s = 0; s < SHELF; s++)
			shelf->w2[s][h] = 0.2f * ((float)uniform() - 0.5f);
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		fill_baskets(shelf);
		loss = train(shelf);
		watch.steps++;
	}
	watch_tell(&watch);
	unlink(table_path);
	printf("loss %.4f\n", loss);
	free(shelf);
	return 0;
}
