/* Simulates the growth of a coral reef (reaction and diffusion), with rates that are fitted to a survey.
 *
 * Planted: each 24th step archives the reef as text and waits for gzip, which packs the file.
 * Truth: time of archiving, of the loop. */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EDGE 192
#define SUBSTEPS 24
#define ARCHIVE_EVERY 24

typedef struct {
	float plankton[EDGE][EDGE], coral[EDGE][EDGE];
} Reef;

static Reef reef, next;
static float feed = 0.037f, decay = 0.06f;

static float around(float field[EDGE][EDGE], int y, int x)
{
	return field[y - 1][x] + field[y + 1][x] + field[y][x - 1] + field[y][x + 1] - 4 * field[y][x];
}

static void grow(void)
{
	DWELL_PHASE("grow");
	for (int s = 0; s < SUBSTEPS; s++) {
		for (int y = 1; y < EDGE - 1; y++)
			for (int x = 1; x < EDGE - 1; x++) {
				float p = reef.plankton[y][x], c = reef.coral[y][x], eaten = p * c * c;

				next.plankton[y][x] = p + 0.16f * around(reef.plankton, y, x) - eaten + feed * (1 - p);
				next.coral[y][x] = c + 0.08f * around(reef.coral, y, x) + eaten - (feed + decay) * c;
			}
		memcpy(&reef, &next, sizeof reef);
	}
}

/* Compares the cover with the survey's and corrects the rates. */
static float fit(const float *survey)
{
	DWELL_PHASE("fit");
	float error = 0, slope = 0;

	for (int y = 1; y < EDGE - 1; y++)
		for (int x = 1; x < EDGE - 1; x++) {
			float d = reef.coral[y][x] - survey[y];

			error += d * d;
			slope += d * reef.plankton[y][x];
		}
	feed -= 1e-10f * slope;
	decay += 1e-11f * slope;
	return error;
}

static void archive(const char *folder, int step)
{
	DWELL_PHASE("archive");
	char path[256], command[300];
	snprintf(path, sizeof path, "%s/reef-%03d.csv", folder, step % 1000);
	FILE *file = fopen(path, "w");

	if (!file)
		exit(1);
	for (int y = 0; y < EDGE; y++)
		for (int x = 0; x < EDGE; x++)
			fprintf(file, "%.5f%c", (double)reef.coral[y][x], x == EDGE - 1 ? '\n' : ',');
	fclose(file);
	snprintf(command, sizeof command, "gzip -9 -f %s", path);
	if (system(command) != 0)
		exit(1);
	strcat(path, ".gz");
	unlink(path); /* a mover takes it to the archive */
}

int main(void)
{
	char folder[] = "/tmp/reef-XXXXXX";
	float survey[EDGE], error = 0;
	struct watch watch;

	if (!mkdtemp(folder))
		return 1;
	for (int y = 0; y < EDGE; y++) {
		survey[y] = 0.2f + 0.1f * sinf((float)y / 9);
		for (int x = 0; x < EDGE; x++) {
			reef.plankton[y][x] = 1;
			reef.coral[y][x] = rand() % 10 < 4 ? 0.5f : 0;
		}
	}
	next = reef;
	watch_begin(&watch);
	while (watch_seconds(&watch) < 7) {
		DWELL_STEP();
		grow();
		error = fit(survey);
		if (++watch.steps % ARCHIVE_EVERY == 0) {
			planted_begin(&watch);
			archive(folder, watch.steps);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	rmdir(folder);
	fprintf(stderr, "error %g\n", (double)error);
	return 0;
}
