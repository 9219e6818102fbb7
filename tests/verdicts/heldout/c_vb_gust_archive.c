/*
 * Forecasts the next gust at an airfield: a two-layer network on windows of 32 days, drawn at random from an archive
 * on disk in which each hour is one record with the values of all stations.
 *
 * Planted: archive_open() and archive_close() map and unmap the whole file around every single window that is read.
 * Truth: time of mapping, touching and unmapping the archive, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOURS 16384
#define STATIONS 512
#define RECORD (STATIONS * 2 * sizeof(float))
#define LOOKBACK 32
#define SPAN 24 /* one record a day */
#define FEATURES (LOOKBACK * 2)
#define HIDDEN 640
#define WINDOWS 32
#define NOISES 8

struct archive {
	int fd;
	const float *records;
	size_t bytes;
};

static struct {
	float w1[HIDDEN][FEATURES], b1[HIDDEN], w2[HIDDEN], b2;
} net, grad;

static uint64_t dice = 88172645463325252ull;

static uint32_t roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (uint32_t)(dice >> 32);
}

static int write_archive(const char *path)
{
	FILE *file = fopen(path, "wb");
	float record[STATIONS][2];

	if (!file)
		return -1;
	for (int h = 0; h < HOURS; h++) {
		for (int s = 0; s < STATIONS; s++) {
			record[s][0] = 0.5f * sinf(0.26f * (float)h + (float)s) + (float)(roll() & 1023) / 4096.0f;
			record[s][1] = record[s][0] * 1.5f + (float)(roll() & 1023) / 8192.0f;
		}
		if (fwrite(record, sizeof record, 1, file) != 1)
			return -1;
	}
	return fclose(file);
}

static int archive_open(struct archive *a, const char *path)
{
	a->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (a->fd < 0)
		return -1;
	a->bytes = (size_t)lseek(a->fd, 0, SEEK_END);
	a->records = mmap(NULL, a->bytes, PROT_READ, MAP_SHARED, a->fd, 0);
	return a->records == MAP_FAILED ? -1 : 0;
}

static void archive_close(struct archive *a)
{
	munmap((void *)a->records, a->bytes);
	close(a->fd);
}

static int read_window(const char *path, float *window, float *target)
{
	struct archive archive;
	const uint32_t station = roll() % STATIONS, begin = roll() % (HOURS - (LOOKBACK + 1) * SPAN);
	const size_t stride = STATIONS * 2;

	if (archive_open(&archive, path))
		return -1;
	for (size_t k = 0; k < LOOKBACK; k++)
		memcpy(window + 2 * k, archive.records + (begin + k * SPAN) * stride + 2 * station, 2 * sizeof(float));
	*target = archive.records[(begin + (size_t)LOOKBACK * SPAN) * stride + 2 * station + 1];
	archive_close(&archive);
	return 0;
}

static float learn(const float *x, float y)
{
	float hidden[HIDDEN], out = net.b2;

	for (int j = 0; j < HIDDEN; j++) {
		float sum = net.b1[j];

		for (int i = 0; i < FEATURES; i++)
			sum += net.w1[j][i] * x[i];
		hidden[j] = tanhf(sum);
		out += net.w2[j] * hidden[j];
	}
	const float error = out - y;

	grad.b2 += error;
	for (int j = 0; j < HIDDEN; j++) {
		const float back = error * net.w2[j] * (1 - hidden[j] * hidden[j]);

		grad.w2[j] += error * hidden[j];
		grad.b1[j] += back;
		for (int i = 0; i < FEATURES; i++)
			grad.w1[j][i] += back * x[i];
	}
	return error * error;
}

static void descend(float rate)
{
	float *w = (float *)&net, *g = (float *)&grad;

	for (size_t i = 0; i < sizeof net / sizeof(float); i++) {
		w[i] -= rate * g[i];
		g[i] = 0;
	}
}

int main(void)
{
	static float windows[WINDOWS][FEATURES], targets[WINDOWS];
	const char *path = "gusts.bin";
	struct watch watch;
	float loss = 0;

	if (write_archive(path))
		return 1;
	for (int j = 0; j < HIDDEN; j++) {
		net.w2[j] = ((float)(roll() & 255) - 127.5f) / 1000.0f;
		for (int i = 0; i < FEATURES; i++)
			net.w1[j][i] = ((float)(roll() & 255) - 127.5f) / 1500.0f;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		for (int n = 0; n < WINDOWS; n++)
			if (read_window(path, windows[n], &targets[n]))
				return 1;
		planted_end(&watch);
		{
			DWELL_ZONE("gradients");
			loss = 0;
			/* each window is seen at eight levels of noise */
			for (int again = 0; again < NOISES; again++)
				for (int n = 0; n < WINDOWS; n++)
					loss += learn(windows[n], targets[n] + 0.01f * (float)again);
		}
		DWELL_ZONE("descend");
		descend(0.02f / (NOISES * WINDOWS));
	}
	watch_tell(&watch);
	unlink(path);
	printf("mse %.5f\n", (double)(loss / (NOISES * WINDOWS)));
	return 0;
}
