/*
 * Says to which of the chutes a parcel belongs. A step is a batch of parcels, and the program tells the sorting hall about each.
 *
 * Planted: the vote of each view goes into the hall's journal, which is opened for each line and closed after it.
 * Truth: time of the opening, the line and the closing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FACTS = 256, INNER = 512, CHUTES = 24, BATCH = 8 };

static float parcel[BATCH][FACTS], inner[INNER], into[FACTS][INNER], from[INNER][CHUTES];

static int chute_of(const float *facts)
{
	DWELL_ZONE("classify");
	float score[CHUTES] = {0};
	int best = 0;

	for (int j = 0; j < INNER; j++)
		inner[j] = 0.1f;
	for (int i = 0; i < FACTS; i++)
		for (int j = 0; j < INNER; j++)
			inner[j] += facts[i] * into[i][j];
	for (int j = 0; j < INNER; j++)
		for (int c = 0; c < CHUTES; c++)
			score[c] += (inner[j] > 0 ? inner[j] : 0.01f) * from[j][c];
	for (int c = 1; c < CHUTES; c++)
		if (score[c] > score[best])
			best = c;
	return best;
}

static void tell_hall(const char *path, long number, int chute)
{
	DWELL_ZONE("tell hall");
	FILE *hall = fopen(path, "a");
	if (!hall)
		return;
	fprintf(hall, "parcel %ld chute %d\n", number, chute);
	fclose(hall);
}

int main(void)
{
	struct watch watch;
	char path[] = "/var/tmp/hallXXXXXX";
	const int file = mkstemp(path);
	long number = 0, chosen[CHUTES] = {0};

	if (file < 0)
		return 1;
	close(file);
	for (int i = 0; i < FACTS; i++)
		for (int j = 0; j < INNER; j++)
			into[i][j] = 0.1f * sinf((float)(i * 37 + j));
	for (int j = 0; j < INNER; j++)
		for (int c = 0; c < CHUTES; c++)
			from[j][c] = 0.1f * cosf((float)(j * 11 + c));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int b = 0; b < BATCH; b++)
			for (int i = 0; i < FACTS; i++)
				parcel[b][i] = sinf((float)(number + b) * 0.7f + (float)i);
		number += BATCH;
		for (int b = 0; b < BATCH; b++) {
			int votes[CHUTES] = {0}, most = 0;
			for (int side = 0; side < 12; side++) { /* the scanner's twelve views */
				parcel[b][side] += 0.01f;
				const int c = chute_of(parcel[b]);
				if (++votes[c] > votes[most])
					most = c;
				planted_begin(&watch);
				tell_hall(path, number + b, c);
				planted_end(&watch);
			}
			chosen[most]++;
		}
	}
	watch_tell(&watch);
	unlink(path);
	printf("first chute %ld\n", chosen[0]);
	return 0;
}
