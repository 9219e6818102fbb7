/*
 * Learns to tell the bearing noise of turbines from sound that a digitizer delivers over a socket.
 *
 * Planted: the digitizer has one buffer and samples only when it was asked, and the loop asks when it needs the next block.
 * Truth: time from the question to the block, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <dwell/dwell.h>

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { BLOCK = 192, CHANNELS = 4, BINS = 96, HIDDEN = 256, PASSES = 12 };

static int line[2];
static int16_t block[CHANNELS][BLOCK];
static float table[BINS][BLOCK], power[CHANNELS][BINS];
static float into[HIDDEN][BINS * CHANNELS], hidden[HIDDEN], out[HIDDEN];

static void *digitizer(void *unused)
{
	const struct timespec sampling = { 0, 1000000000L / 48000 * BLOCK }; /* 4 ms */
	static int16_t samples[CHANNELS][BLOCK];
	unsigned noise = 5;
	char order;

	dwell_thread_name("digitizer");
	while (recv(line[1], &order, 1, 0) == 1 && order == 'a') {
		nanosleep(&sampling, NULL);
		for (int c = 0; c < CHANNELS; c++)
			for (int s = 0; s < BLOCK; s++)
				samples[c][s] = (int16_t)((noise = noise * 69069 + 1) >> 18);
		send(line[1], samples, sizeof samples, 0);
	}
	return unused;
}

static void capture(void)
{
	DWELL_ZONE("capture");
	send(line[0], "a", 1, 0);
	if (recv(line[0], block, sizeof block, MSG_WAITALL) != (ssize_t)sizeof block)
		abort();
}

static void spectrum(void)
{
	DWELL_ZONE("spectrum");
	for (int c = 0; c < CHANNELS; c++)
		for (int b = 0; b < BINS; b++) {
			float real = 0, imaginary = 0;

			for (int s = 0; s < BLOCK; s++) {
				real += table[b][s] * block[c][s];
				imaginary += table[b][(s + BLOCK / 4) % BLOCK] * block[c][s];
			}
			power[c][b] = logf(1 + real * real + imaginary * imaginary) / 30;
		}
}

static void learn(float label)
{
	DWELL_ZONE("learn");
	for (int pass = 0; pass < PASSES; pass++) {
		float score = 0, error;

		for (int h = 0; h < HIDDEN; h++) {
			float sum = 0;

			for (int i = 0; i < BINS * CHANNELS; i++)
				sum += into[h][i] * power[i / BINS][i % BINS];
			hidden[h] = tanhf(sum);
			score += out[h] * hidden[h];
		}
		error = 1 / (1 + expf(-score)) - label;
		for (int h = 0; h < HIDDEN; h++) {
			float back = error * out[h] * (1 - hidden[h] * hidden[h]);

			out[h] -= 0.001f * error * hidden[h];
			for (int i = 0; i < BINS * CHANNELS; i++)
				into[h][i] -= 0.001f * back * power[i / BINS][i % BINS];
		}
	}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, line))
		return 1;
	for (int b = 0; b < BINS; b++)
		for (int s = 0; s < BLOCK; s++)
			table[b][s] = cosf(6.2831853f * (float)(b * s % BLOCK) / BLOCK);
	for (int h = 0; h < HIDDEN; h++)
		for (int i = 0; i < BINS * CHANNELS; i++)
			into[h][i] = out[h] = (float)(rand() % 100 - 50) / 2000;
	pthread_create(&thread, NULL, digitizer, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		capture();
		planted_end(&watch);
		for (int shift = 0; shift < 2; shift++) {
			spectrum();
			learn((float)(watch.steps & 1));
		}
	}
	watch_tell(&watch);
	send(line[0], "q", 1, 0);
	pthread_join(thread, NULL);
	return 0;
}
