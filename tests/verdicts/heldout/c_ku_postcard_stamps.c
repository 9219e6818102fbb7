/*
 * Reads the year off postmarks: a small engine for inference with a window matrix for each convolution and argmax behind.
 *
 * Decoy: scratch of megabytes is taken and given back for each picture, but the heap keeps it; a log line in each 16th
 * step is flushed, and a lock is taken for each picture, though nobody else wants it.
 * Truth: time of malloc(), free(), the lock and the log, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 56, YEARS = 60, PICTURES = 6 };

struct layer {
	const char *name;
	int from, to;
	float *weights;
};

static pthread_mutex_t results = PTHREAD_MUTEX_INITIALIZER;
static int histogram[YEARS];

static void windows(const float *image, int channels, float *columns)
{
	DWELL_OP("windows");
	const int edge = SIDE - 2;

	for (int c = 0; c < channels; c++)
		for (int k = 0; k < 9; k++)
			for (int y = 0; y < edge; y++)
				memcpy(columns + ((size_t)(c * 9 + k) * edge + (size_t)y) * edge,
				       image + ((size_t)c * SIDE + (size_t)(y + k / 3)) * SIDE + k % 3, sizeof(float) * edge);
}

static void multiply(const struct layer *layer, const float *columns, float *out)
{
	DWELL_OP("multiply");
	const size_t pixels = (SIDE - 2) * (SIDE - 2);

	for (int o = 0; o < layer->to; o++) {
		float *row = out + (size_t)o * pixels;

		memset(row, 0, sizeof(float) * pixels);
		for (int k = 0; k < layer->from * 9; k++) {
			const float w = layer->weights[o * layer->from * 9 + k];
			const float *column = columns + (size_t)k * pixels;

			for (size_t p = 0; p < pixels; p++)
				row[p] += w * column[p];
		}
	}
}

/* Puts the result into a frame of zeros again, with a ramp that has no branch. */
static void frame(const float *out, int channels, float *image)
{
	DWELL_OP("frame");
	const int edge = SIDE - 2;

	memset(image, 0, sizeof(float) * (size_t)(channels * SIDE * SIDE));
	for (int c = 0; c < channels; c++)
		for (int y = 0; y < edge; y++)
			for (int x = 0; x < edge; x++) {
				const float v = out[(c * edge + y) * edge + x];

				image[(c * SIDE + y + 1) * SIDE + x + 1] = 0.5f * (v + (v < 0 ? -v : v));
			}
}

int main(void)
{
	struct layer net[] = { { "ink", 1, 12, NULL }, { "ring", 12, 20, NULL }, { "digits", 20, 12, NULL } };
	static float picture[SIDE * SIDE], *image, head[YEARS][12];
	const size_t most = (size_t)20 * 9 * (SIDE - 2) * (SIDE - 2);
	struct watch watch;
	FILE *journal = tmpfile();

	if (!journal)
		return 1;
	/* Nothing above the heap goes back to the kernel. */
	mallopt(M_MMAP_THRESHOLD, 30 << 20);
	mallopt(M_TRIM_THRESHOLD, 200 << 20);
	srand(40);
	for (int l = 0; l < 3; l++) {
		const int count = net[l].from * net[l].to * 9;

		net[l].weights = malloc(sizeof(float) * (size_t)count);
		for (int i = 0; i < count; i++)
			net[l].weights[i] = 0.3f * ((float)rand() / (float)RAND_MAX - 0.45f);
	}
	for (int y = 0; y < YEARS; y++)
		for (int c = 0; c < 12; c++)
			head[y][c] = (float)rand() / (float)RAND_MAX - 0.5f;
	image = malloc(sizeof(float) * 20 * SIDE * SIDE);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int p = 0; p < PICTURES; p++) {
			int best = 0;
			float highest = -1e30f;

			planted_begin(&watch);
			float *columns = malloc(sizeof(float) * most);
			float *out = malloc(sizeof(float) * 20 * SIDE * SIDE);
			planted_end(&watch);

			if (!columns || !out)
				return 1;
			for (int i = 0; i < SIDE * SIDE; i++)
				picture[i] = (float)((i * 31 + watch.steps * 7 + p) % 97) / 97.0f + 0.1f;
			memcpy(image, picture, sizeof picture);
			for (int l = 0; l < 3; l++) {
				windows(image, net[l].from, columns);
				multiply(&net[l], columns, out);
				frame(out, net[l].to, image);
			}
			for (int y = 0; y < YEARS; y++) {
				float sum = 0;

				for (int c = 0; c < 12; c++)
					sum += head[y][c] * image[c * SIDE * SIDE + SIDE * 20 + 20];
				if (sum > highest) {
					highest = sum;
					best = y;
				}
			}
			planted_begin(&watch);
			free(out);
			free(columns);
			pthread_mutex_lock(&results);
			histogram[best]++;
			pthread_mutex_unlock(&results);
			planted_end(&watch);
		}
		if (watch.steps % 16 == 0) {
			planted_begin(&watch);
			fprintf(journal, "step %d, year 1900: %d\n", (int)watch.steps, histogram[0]);
			fflush(journal);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	printf("1900: %d\n", histogram[0]);
	return 0;
}
