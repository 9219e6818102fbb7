/*
 * Listens to whales with 16 hydrophones: beams are formed in 24 directions, and an autoencoder learns the spectrum of each.
 *
 * Planted: nothing; filters and network are the work, and each part has a name of the author's own.
 * Truth: time of windowing the hydrophones' samples, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>

enum { PHONES = 16, BEAMS = 24, SAMPLES = 1024, BANDS = 64, CODE = 24, LENGTH = 128 };

static float sea[PHONES][8192], block[PHONES][SAMPLES + 64], taper[SAMPLES];
static float beam[BEAMS][SAMPLES], spectrum[BEAMS][BANDS], sine[BANDS][LENGTH], cosine[BANDS][LENGTH];
static float encoder[BANDS][CODE], decoder[CODE][BANDS];
static int delay[BEAMS][PHONES];

static void listen_in(int step)
{
	DWELL_ZONE("hydrophones");
	for (int p = 0; p < PHONES; p++)
		for (int i = 0; i < SAMPLES; i++)
			block[p][i] = sea[p][(step * 160 + i) & 8191] * taper[i];
}

static void form_beams(void)
{
	DWELL_ZONE("beamformer");
	for (int b = 0; b < BEAMS; b++) {
		for (int i = 0; i < SAMPLES; i++)
			beam[b][i] = 0;
		for (int p = 0; p < PHONES; p++)
			for (int i = 0; i < SAMPLES; i++)
				beam[b][i] += block[p][i + delay[b][p]];
	}
}

static void analyse(void)
{
	DWELL_ZONE("goertzel bank");
	for (int b = 0; b < BEAMS; b++)
		for (int k = 0; k < BANDS; k++) {
			float energy = 0;
			for (int from = 0; from < SAMPLES; from += LENGTH) {
				float re[4] = { 0 }, im[4] = { 0 };
				for (int i = 0; i < LENGTH; i += 4)
					for (int v = 0; v < 4; v++) {
						re[v] += beam[b][from + i + v] * cosine[k][i + v];
						im[v] += beam[b][from + i + v] * sine[k][i + v];
					}
				re[0] += re[1] + re[2] + re[3], im[0] += im[1] + im[2] + im[3];
				energy += re[0] * re[0] + im[0] * im[0];
			}
			spectrum[b][k] = logf(1 + energy);
		}
}

static float learn(void)
{
	float loss = 0;
	DWELL_ZONE("autoencoder");
	for (int pass = 0; pass < 10; pass++)
		for (int b = 0; b < BEAMS; b++) {
			float code[CODE] = { 0 }, again[BANDS] = { 0 }, back[CODE] = { 0 };
			for (int k = 0; k < BANDS; k++)
				for (int c = 0; c < CODE; c++)
					code[c] += spectrum[b][k] * encoder[k][c];
			for (int c = 0; c < CODE; c++) {
				code[c] = tanhf(code[c]);
				for (int k = 0; k < BANDS; k++)
					again[k] += code[c] * decoder[c][k];
			}
			for (int k = 0; k < BANDS; k++) {
				again[k] -= spectrum[b][k];
				loss += again[k] * again[k];
			}
			for (int c = 0; c < CODE; c++)
				for (int k = 0; k < BANDS; k++) {
					back[c] += again[k] * decoder[c][k];
					decoder[c][k] -= 1e-4f * again[k] * code[c];
				}
			for (int k = 0; k < BANDS; k++)
				for (int c = 0; c < CODE; c++)
					encoder[k][c] -= 1e-4f * back[c] * (1 - code[c] * code[c]) * spectrum[b][k];
		}
	return loss;
}

int main(void)
{
	struct watch watch;
	float loss = 0;
	for (int p = 0; p < PHONES; p++)
		for (int i = 0; i < 8192; i++)
			sea[p][i] = sinf(0.11f * (float)(i + 2 * p)) + 0.3f * sinf((float)((i * 7919 + p * 31) % 1009));
	for (int i = 0; i < SAMPLES; i++)
		taper[i] = 0.5f - 0.5f * cosf(2 * (float)M_PI * (float)i / SAMPLES);
	for (int b = 0; b < BEAMS; b++)
		for (int p = 0; p < PHONES; p++)
			delay[b][p] = (b * p) / 6 % 64;
	for (int k = 0; k < BANDS; k++)
		for (int i = 0; i < LENGTH; i++) {
			sine[k][i] = sinf((float)M_PI * (float)(k * i) / LENGTH), cosine[k][i] = cosf((float)M_PI * (float)(k * i) / LENGTH);
			if (i < CODE)
				encoder[k][i] = 0.02f * sinf((float)(k * 17 + i)), decoder[i][k] = 0.2f * cosf((float)(k + i * 29));
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		listen_in(watch.steps);
		planted_end(&watch);
		form_beams();
		analyse();
		loss = learn();
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %.3f\n", (double)loss);
}
