/*
 * Learns scores of loans. The regulator wants the hash of each version of the model, so each update is followed by one.
 *
 * Planted: the weights go to a file after each update, and sha256sum is started for it with popen().
 * Truth: time of writing, of the command and of its answer, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOANS = 640, FIELDS = 96, WIDE = 160 };

static struct { float in[WIDE][FIELDS], out[WIDE]; } model, gradient;
static float loan[LOANS][FIELDS], repaid[LOANS], unit[LOANS][WIDE], score[LOANS];
static char file[64], ledger[65];

static void draw_loans(unsigned month)
{
	unsigned state = month * 2654435761u + 1;

	DWELL_ZONE("loans of a month");
	for (int l = 0; l < LOANS; l++) {
		for (int f = 0; f < FIELDS; f++) {
			state = state * 1664525u + 1013904223u;
			loan[l][f] = (float)(state >> 16) / 65536 - 0.5f;
		}
		repaid[l] = loan[l][1] + loan[l][7] > 0;
	}
}

static void rate_loans(void)
{
	DWELL_ZONE("rate");
	for (int l = 0; l < LOANS; l++) {
		float sum = 0;

		for (int w = 0; w < WIDE; w++) {
			float z = 0;

			for (int f = 0; f < FIELDS; f++)
				z += model.in[w][f] * loan[l][f];
			unit[l][w] = z > 0 ? z : 0;
			sum += model.out[w] * unit[l][w];
		}
		score[l] = 1 / (1 + expf(-sum));
	}
}

static void correct(void)
{
	DWELL_ZONE("correct");
	memset(&gradient, 0, sizeof gradient);
	for (int l = 0; l < LOANS; l++) {
		const float miss = (score[l] - repaid[l]) / LOANS;

		for (int w = 0; w < WIDE; w++) {
			const float back = unit[l][w] > 0 ? miss * model.out[w] : 0;

			gradient.out[w] += miss * unit[l][w];
			for (int f = 0; f < FIELDS; f++)
				gradient.in[w][f] += back * loan[l][f];
		}
	}
	for (int w = 0; w < WIDE; w++) {
		model.out[w] -= 0.2f * gradient.out[w];
		for (int f = 0; f < FIELDS; f++)
			model.in[w][f] -= 0.2f * gradient.in[w][f];
	}
}

static void notarise(void)
{
	char command[128];
	FILE *out = fopen(file, "wb"), *answer;

	DWELL_ZONE("notarise");
	if (!out || fwrite(&model, sizeof model, 1, out) != 1)
		exit(1);
	fclose(out);
	snprintf(command, sizeof command, "sha256sum %s", file);
	answer = popen(command, "r");
	if (!answer || fscanf(answer, "%64s", ledger) != 1)
		exit(1);
	pclose(answer);
}

int main(void)
{
	struct watch watch;

	snprintf(file, sizeof file, "/tmp/credit-%d.weights", (int)getpid());
	for (int w = 0; w < WIDE; w++) {
		model.out[w] = (w % 2 ? 1 : -1) * 0.1f;
		for (int f = 0; f < FIELDS; f++)
			model.in[w][f] = cosf((float)(w * 31 + f * 17)) / 8;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		draw_loans((unsigned)watch.steps);
		rate_loans();
		correct();
		planted_begin(&watch);
		notarise();
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("last version %.12s\n", ledger);
	unlink(file);
	return 0;
}
