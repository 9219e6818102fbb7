/*
 * Phones of an utterance: two convolutions over frames, a projection to phones, and the sum over all alignments with the transcript
 * (connectionist temporal classification, forwards and backwards), whose gradient trains the projection. One thread.
 *
 * Clean: nothing is planted; each utterance has 240 frames and a transcript of 30 phones.
 * Truth: nothing comes near a cause, 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 240
#define BANDS 32
#define CHANNELS 56
#define TAPS 5
#define PHONES 41 /* the last is the blank */
#define SAID 30
#define STATES (2 * SAID + 1)
#define UTTERANCES 6

static float sound[UTTERANCES][FRAMES + TAPS][BANDS];
static int said[UTTERANCES][SAID];
static float conv1[CHANNELS][TAPS * BANDS], conv2[CHANNELS][TAPS * CHANNELS], project[PHONES][CHANNELS];
static float low[FRAMES + TAPS][CHANNELS], high[FRAMES][CHANNELS];
static float logit[FRAMES][PHONES], gradient[FRAMES][PHONES];
static float ahead[FRAMES][STATES], behind[FRAMES][STATES];

static float spread(float by)
{
	return by * (2.0f * (float)rand() / (float)RAND_MAX - 1.0f);
}

static float add_logs(float a, float b)
{
	const float high_one = a > b ? a : b, low_one = a > b ? b : a;

	return high_one + log1pf(expf(low_one - high_one));
}

static void listen(int u)
{
	DWELL_ZONE("acoustic");
	for (int t = 0; t < FRAMES; t++)
		for (int c = 0; c < CHANNELS; c++) {
			float sum = 0;
			const float *in = &sound[u][0][0] + t * BANDS, *w = conv1[c];

			for (int k = 0; k < TAPS * BANDS; k++)
				sum += w[k] * in[k];
			low[t + TAPS / 2][c] = sum > 0 ? sum : 0.1f * sum;
		}
	for (int t = 0; t < FRAMES; t++)
		for (int c = 0; c < CHANNELS; c++) {
			float sum = 0;
			const float *in = &low[0][0] + t * CHANNELS, *w = conv2[c];

			for (int k = 0; k < TAPS * CHANNELS; k++)
				sum += w[k] * in[k];
			high[t][c] = tanhf(sum);
		}
}

static void name_phones(void)
{
	DWELL_ZONE("phones");
	for (int t = 0; t < FRAMES; t++) {
		float total = 0;

		for (int p = 0; p < PHONES; p++) {
			logit[t][p] = 0;
			for (int c = 0; c < CHANNELS; c++)
				logit[t][p] += project[p][c] * high[t][c];
			total += expf(logit[t][p]);
		}
		total = logf(total);
		for (int p = 0; p < PHONES; p++)
			logit[t][p] -= total;
	}
}

static int phone_of(int u, int state)
{
	return state % 2 ? said[u][state / 2] : PHONES - 1;
}

static float align(int u)
{
	DWELL_ZONE("alignments");
	for (int s = 0; s < STATES; s++) {
		ahead[0][s] = -60.0f - (float)s + logit[0][phone_of(u, s)];
		behind[FRAMES - 1][s] = -60.0f - (float)(STATES - s);
	}
	ahead[0][0] = logit[0][PHONES - 1];
	ahead[0][1] = logit[0][phone_of(u, 1)];
	behind[FRAMES - 1][STATES - 1] = behind[FRAMES - 1][STATES - 2] = 0;
	for (int t = 1; t < FRAMES; t++)
		for (int s = 0; s < STATES; s++) {
			float sum = ahead[t - 1][s];

			if (s > 0)
				sum = add_logs(sum, ahead[t - 1][s - 1]);
			if (s > 1 && s % 2)
				sum = add_logs(sum, ahead[t - 1][s - 2]);
			ahead[t][s] = sum + logit[t][phone_of(u, s)];
		}
	for (int t = FRAMES - 2; t >= 0; t--)
		for (int s = 0; s < STATES; s++) {
			float sum = behind[t + 1][s] + logit[t + 1][phone_of(u, s)];

			if (s + 1 < STATES)
				sum = add_logs(sum, behind[t + 1][s + 1] + logit[t + 1][phone_of(u, s + 1)]);
			if (s + 2 < STATES && s % 2)
				sum = add_logs(sum, behind[t + 1][s + 2] + logit[t + 1][phone_of(u, s + 2)]);
			behind[t][s] = sum;
		}
	return add_logs(ahead[FRAMES - 1][STATES - 1], ahead[FRAMES - 1][STATES - 2]);
}

static void learn(int u, float all)
{
	DWELL_ZONE("learn");
	for (int t = 0; t < FRAMES; t++) {
		for (int p = 0; p < PHONES; p++)
			gradient[t][p] = expf(logit[t][p]);
		for (int s = 0; s < STATES; s++)
			gradient[t][phone_of(u, s)] -= expf(ahead[t][s] + behind[t][s] - all);
	}
	for (int t = 0; t < FRAMES; t++)
		for (int p = 0; p < PHONES; p++)
			for (int c = 0; c < CHANNELS; c++)
				project[p][c] -= 1e-6f * gradient[t][p] * high[t][c];
}

int main(void)
{
	struct watch watch;
	float all = 0;

	srand(37);
	for (int u = 0; u < UTTERANCES; u++) {
		for (int t = 0; t < FRAMES + TAPS; t++)
			for (int b = 0; b < BANDS; b++)
				sound[u][t][b] = spread(1);
		for (int s = 0; s < SAID; s++)
			said[u][s] = (s * 7 + u * 3) % (PHONES - 1);
	}
	for (int c = 0; c < CHANNELS; c++) {
		for (int k = 0; k < TAPS * BANDS; k++)
			conv1[c][k] = spread(0.14f);
		for (int k = 0; k < TAPS * CHANNELS; k++)
			conv2[c][k] = spread(0.1f);
		for (int p = 0; p < PHONES; p++)
			project[p][c] = spread(0.2f);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const int u = watch.steps % UTTERANCES;

		listen(u);
		name_phones();
		all = align(u);
		learn(u, all);
	}
	watch_tell(&watch);
	printf("log likelihood %.3f\n", (double)all);
	return 0;
}
