/*
 * Sharpens wind fields of a coarse forecast. The forecasts lie in one file of packed messages, as GRIB has them.
 *
 * Planted: the reader fetches each packed value by a system call of its own.
 * Truth: time of reading a message, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIDE 96
#define FILTERS 20
#define MESSAGES 40
#define HEADER 16
#define MESSAGE_OCTETS (HEADER + 2 * SIDE * SIDE)

static int archive;
static float field[SIDE][SIDE], fine[FILTERS][SIDE][SIDE];
static float kernel[FILTERS][3][3], d_kernel[FILTERS][3][3];

/* An unsigned number of `count` octets, the most significant first. */
static unsigned get_octets(off_t at, int count)
{
	uint8_t octets[4];
	unsigned value = 0;

	if (pread(archive, octets, (size_t)count, at) != count)
		abort();
	for (int i = 0; i < count; i++)
		value = value << 8 | octets[i];
	return value;
}

static void read_message(int number)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "grib");
	off_t at = (off_t)number * MESSAGE_OCTETS;
	float reference = (float)get_octets(at, 2), scale = 1.0f / (float)(1 << get_octets(at + 2, 1));

	at += HEADER;
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++, at += 2)
			field[y][x] = reference + scale * (float)get_octets(at, 2);
}

static void forward(void)
{
	DWELL_PHASE("forward");
	for (int f = 0; f < FILTERS; f++)
		for (int y = 1; y < SIDE - 1; y++)
			for (int x = 1; x < SIDE - 1; x++) {
				float sum = 0;

				for (int i = 0; i < 9; i++)
					sum += kernel[f][i / 3][i % 3] * field[y + i / 3 - 1][x + i % 3 - 1];
				fine[f][y][x] = sum > 0 ? sum : 0.01f * sum;
			}
}

static void backward(void)
{
	DWELL_PHASE("backward");
	for (int f = 0; f < FILTERS; f++)
		for (int y = 1; y < SIDE - 1; y++)
			for (int x = 1; x < SIDE - 1; x++) {
				float error = fine[f][y][x] - field[y][x];

				for (int i = 0; i < 9; i++)
					d_kernel[f][i / 3][i % 3] += error * field[y + i / 3 - 1][x + i % 3 - 1];
			}
}

static void update(void)
{
	DWELL_PHASE("optimizer");
	for (int f = 0; f < FILTERS; f++)
		for (int i = 0; i < 9; i++)
			kernel[f][i / 3][i % 3] -= 1e-9f * d_kernel[f][i / 3][i % 3];
	memset(d_kernel, 0, sizeof d_kernel);
}

static void make_archive(void)
{
	char name[] = "forecast-XXXXXX";
	static uint8_t message[MESSAGE_OCTETS];

	archive = mkstemp(name);
	unlink(name);
	for (int m = 0; m < MESSAGES; m++) {
		for (int i = 0; i < MESSAGE_OCTETS; i++)
			message[i] = (uint8_t)rand();
		message[0] = 0, message[2] = 12;
		if (write(archive, message, sizeof message) != (ssize_t)sizeof message)
			abort();
	}
}

int main(void)
{
	struct watch watch;

	make_archive();
	for (int f = 0; f < FILTERS; f++)
		for (int i = 0; i < 9; i++)
			kernel[f][i / 3][i % 3] = (float)(rand() % 200 - 100) / 900;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		read_message(watch.steps % MESSAGES);
		planted_end(&watch);
		forward();
		backward();
		update();
	}
	watch_tell(&watch);
	return 0;
}
