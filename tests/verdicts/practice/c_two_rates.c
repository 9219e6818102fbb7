/*
 * Removes noise from speech. Most recordings are of 16 kHz, each 15th is a telephone's.
 *
 * Planted: the bank of filters is kept for the last rate only. So a telephone's recording computes its bank, and the
 * one after it computes the other bank again.
 * Truth: time of computing banks, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

#define FRAME  1024 /* samples */
#define BANDS  500
#define FRAMES 5    /* of a recording */
#define GATE   128

struct bank {
	int rate;
	float cosine[BANDS][FRAME], sine[BANDS][FRAME];
};

static struct bank bank;
static float sound[FRAMES][FRAME], energy[FRAMES][BANDS];
static float down[GATE][BANDS], up[BANDS][GATE], narrow[FRAMES][GATE], gain[FRAMES][BANDS];
static struct watch watch;

static void make_bank(int rate)
{
	planted_begin(&watch);
	for (int b = 0; b < BANDS; b++) {
		const double mel = 2595 * log10(1 + rate / 1400.0) * (b + 1) / BANDS;
		const double turn = 2 * M_PI * 700 * (pow(10, mel / 2595) - 1) / rate;

		for (int t = 0; t < FRAME; t++) {
			const double window = 0.5 - 0.5 * cos(2 * M_PI * t / FRAME);

			bank.cosine[b][t] = (float)(window * cos(turn * t));
			bank.sine[b][t] = (float)(window * sin(turn * t));
		}
	}
	bank.rate = rate;
	planted_end(&watch);
}

static void analyse(int rate)
{
	if (bank.rate != rate)
		make_bank(rate);
	for (int f = 0; f < FRAMES; f++)
		for (int b = 0; b < BANDS; b++) {
			float re = 0, im = 0;

			for (int t = 0; t < FRAME; t++) {
				re += bank.cosine[b][t] * sound[f][t];
				im += bank.sine[b][t] * sound[f][t];
			}
			energy[f][b] = logf(1e-3f + re * re + im * im);
		}
}

static void listen_to(int number)
{
	unsigned seed = (unsigned)number * 747796405u + 1;

	for (int f = 0; f < FRAMES; f++)
		for (int t = 0; t < FRAME; t++) {
			seed = seed * 1664525u + 1013904223u;
			sound[f][t] = (float)((t * (number % 13 + 2)) % 200 - 100) / 100 + (float)(seed >> 16) / 65536 - 0.5f;
		}
}

static float train(void)
{
	float loss = 0;

	for (int f = 0; f < FRAMES; f++) {
		for (int g = 0; g < GATE; g++) {
			float z = 0;

			for (int b = 0; b < BANDS; b++)
				z += down[g][b] * energy[f][b];
			narrow[f][g] = tanhf(z);
		}
		for (int b = 0; b < BANDS; b++) {
			float z = 0;

			for (int g = 0; g < GATE; g++)
				z += up[b][g] * narrow[f][g];
			gain[f][b] = z - (energy[f][b] > 1);
			loss += gain[f][b] * gain[f][b];
			for (int g = 0; g < GATE; g++)
				up[b][g] -= 1e-4f * gain[f][b] * narrow[f][g];
		}
	}
	return loss;
}

int main(void)
{
	float loss = 0;

	for (int g = 0; g < GATE; g++)
		for (int b = 0; b < BANDS; b++) {
			down[g][b] = (float)((g * 3 + b * 7) % 19 - 9) / 600;
			up[b][g] = (float)((g + b * 5) % 23 - 11) / 300;
		}
	make_bank(16000);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 7; watch.steps++) {
		DWELL_STEP();
		listen_to(watch.steps);
		analyse(watch.steps % 15 == 14 ? 8000 : 16000);
		loss += train();
	}
	watch_tell(&watch);
	return isnan(loss);
}
