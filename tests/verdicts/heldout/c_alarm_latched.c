/*
 * Watches the vibration of a press with an autoencoder that keeps learning.
 *
 * Planted: an alarm after 2.4 seconds makes the program write out each window in full, and nobody resets it.
 * Truth: time of writing windows, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define WINDOW 4096
#define PIECE 128
#define CODE 16

static float signal_[WINDOW], again[WINDOW];
static float encode[CODE][PIECE], decode[PIECE][CODE];
static bool alarmed;

static void acquire(double time_s, int step)
{
	for (int s = 0; s < WINDOW; s++)
		signal_[s] = (float)((s * 37 + step * 11) % 256) / 256 + (time_s > 2.4 ? 0.8f * (float)(s % 97 == 0) : 0);
}

static float train_window(void)
{
	float loss = 0;

	for (int piece = 0; piece < WINDOW; piece += PIECE) {
		float code[CODE] = { 0 }, back[CODE] = { 0 };

		for (int c = 0; c < CODE; c++)
			for (int i = 0; i < PIECE; i++)
				code[c] += encode[c][i] * signal_[piece + i];
		for (int i = 0; i < PIECE; i++) {
			float error, sum = 0;

			for (int c = 0; c < CODE; c++)
				sum += decode[i][c] * code[c];
			again[piece + i] = sum;
			error = sum - signal_[piece + i];
			loss += error * error;
			for (int c = 0; c < CODE; c++) {
				back[c] += error * decode[i][c];
				decode[i][c] -= 1e-5f * error * code[c];
			}
		}
		for (int c = 0; c < CODE; c++)
			for (int i = 0; i < PIECE; i++)
				encode[c][i] -= 1e-5f * back[c] * signal_[piece + i];
	}
	return loss / WINDOW;
}

/* For the maintenance people's spreadsheet: the newest window replaces the one before. */
static void write_window(FILE *file, int step)
{
	rewind(file);
	fprintf(file, "window;%d\n", step);
	for (int s = 0; s < WINDOW; s++)
		fprintf(file, "%d;%.6f;%.6f\n", s, (double)signal_[s], (double)again[s]);
	fflush(file);
}

int main(void)
{
	char name[] = "press-XXXXXX";
	FILE *file = fdopen(mkstemp(name), "w+");
	struct watch watch;

	unlink(name);
	for (int c = 0; c < CODE; c++)
		for (int i = 0; i < PIECE; i++) {
			encode[c][i] = (float)(rand() % 100 - 50) / 600;
			decode[i][c] = (float)(rand() % 100 - 50) / 600;
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.4; watch.steps++) {
		DWELL_STEP();
		acquire(watch_seconds(&watch), watch.steps);
		{
			DWELL_ZONE("autoencoder");
			for (int pass = 0; pass < 10; pass++)
				train_window();
		}
		for (int s = 0; s < WINDOW; s++)
			alarmed |= signal_[s] > 1.7f;
		if (alarmed) {
			DWELL_ZONE("capture window");
			planted_begin(&watch);
			write_window(file, watch.steps);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	return 0;
}
