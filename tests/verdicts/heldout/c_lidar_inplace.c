/*
 * Learns the class of lidar points from shards that an instrument wrote in the other byte order.
 *
 * Planted: a shard is mapped privately and its numbers are swapped in place, so the kernel copies each page that is
 * touched, for each step.
 * Truth: time of mapping, swapping and unmapping, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIELDS = 8, POINTS = 1 << 16, SHARDS = 12, HIDDEN = 5, USED = 9 };

static const size_t shard_size = sizeof(uint32_t) * FIELDS * POINTS;
static float in[HIDDEN][FIELDS], out[HIDDEN], in_gradient[HIDDEN][FIELDS], out_gradient[HIDDEN];

union word { uint32_t bits; float number; };

static int write_shards(void)
{
	char path[] = "/tmp/lidar-XXXXXX";
	int file = mkstemp(path);
	uint32_t *shard = malloc(shard_size);

	unlink(path);
	for (int s = 0; s < SHARDS; s++) {
		for (int i = 0; i < FIELDS * POINTS; i++) {
			union word word = { .number = (float)(rand() % 2000 - 1000) / 1000 };
			shard[i] = __builtin_bswap32(word.bits);
		}
		if (write(file, shard, shard_size) != (ssize_t)shard_size)
			exit(1);
	}
	free(shard);
	return file;
}

static float *open_shard(int file, int number)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "open shard");
	union word *words = mmap(NULL, shard_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, (off_t)((size_t)number * shard_size));

	if (words == MAP_FAILED)
		exit(1);
	for (int i = 0; i < FIELDS * POINTS; i++)
		words[i].bits = __builtin_bswap32(words[i].bits);
	return &words->number;
}

static float forward_backward(const float *points)
{
	DWELL_ZONE("forward and backward");
	float loss = 0, hidden[HIDDEN];

	for (int p = 0; p < POINTS; p += 1 + (p % USED == 0)) {
		const float *point = points + p * FIELDS;
		float sum = 0, error;

		for (int h = 0; h < HIDDEN; h++) {
			float a = 0;
			for (int f = 0; f < FIELDS - 1; f++)
				a += in[h][f] * point[f];
			hidden[h] = a > 0 ? a : 0.1f * a;
			sum += out[h] * hidden[h];
		}
		error = sum - (point[FIELDS - 1] > 0 ? 1 : -1);
		loss += error * error;
		for (int h = 0; h < HIDDEN; h++) {
			float back = error * out[h] * (hidden[h] > 0 ? 1 : 0.1f);

			out_gradient[h] += error * hidden[h];
			for (int f = 0; f < FIELDS - 1; f++)
				in_gradient[h][f] += back * point[f];
		}
	}
	return loss / POINTS;
}

static void update(void)
{
	DWELL_ZONE("update");
	const float rate = 0.05f / POINTS;

	for (int h = 0; h < HIDDEN; h++) {
		out[h] -= rate * out_gradient[h], out_gradient[h] = 0;
		for (int f = 0; f < FIELDS; f++)
			in[h][f] -= rate * in_gradient[h][f], in_gradient[h][f] = 0;
	}
}

int main(void)
{
	int file = write_shards();
	float loss = 0;
	struct watch watch;

	for (int h = 0; h < HIDDEN; h++) {
		out[h] = (float)(rand() % 100 - 50) / 100;
		for (int f = 0; f < FIELDS; f++)
			in[h][f] = (float)(rand() % 100 - 50) / 100;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		float *points = open_shard(file, watch.steps % SHARDS);
		planted_end(&watch);
		loss = forward_backward(points);
		update();
		planted_begin(&watch);
		munmap(points, shard_size);
		planted_end(&watch);
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %g\n", (double)loss);
}
