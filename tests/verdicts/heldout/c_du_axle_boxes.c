/*
 * Hot axle boxes before they are hot: an Elman network reads temperatures of eight boxes a wagon as trackside detectors see them, and
 * foretells the next ones. Truncated backpropagation through 24 detectors.
 *
 * Planted: the journal has the process's resident memory in each line, and a shell with cut, started for each line, reads it.
 * Truth: time from popen() to pclose(), as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOXES 8
#define UNITS 96
#define SIGHTS 24
#define WAGONS 34

static struct {
	float in[UNITS][BOXES], again[UNITS][UNITS], out[BOXES][UNITS];
} net, grad;

static float seen[WAGONS][SIGHTS + 1][BOXES], state[WAGONS][SIGHTS + 1][UNITS];

struct journal {
	FILE *file;
	long pages;
	struct watch *watch;
};

static long resident(void)
{
	char command[80], answer[40] = "0";

	snprintf(command, sizeof command, "cut -d ' ' -f 2 /proc/%d/statm", (int)getpid());
	FILE *pipe = popen(command, "r");

	if (!pipe)
		return 0;
	if (!fgets(answer, sizeof answer, pipe))
		answer[0] = '0';
	pclose(pipe);
	return atol(answer);
}

static void note(struct journal *j, int train, double loss)
{
	planted_begin(j->watch);
	j->pages = resident();
	planted_end(j->watch);
	fprintf(j->file, "%d %.5f %ld\n", train, loss, j->pages);
}

static void pass_by(int train)
{
	for (int w = 0; w < WAGONS; w++)
		for (int t = 0; t <= SIGHTS; t++)
			for (int b = 0; b < BOXES; b++)
				seen[w][t][b] = 0.5f + 0.3f * sinf(0.3f * (float)t + (float)b) + 0.02f * (float)((train * 31 + w * 7 + t) % 9);
}

static double forward(void)
{
	double loss = 0;

	for (int w = 0; w < WAGONS; w++)
		for (int t = 0; t < SIGHTS; t++) {
			for (int u = 0; u < UNITS; u++) {
				float x = 0;

				for (int b = 0; b < BOXES; b++)
					x += net.in[u][b] * seen[w][t][b];
				for (int v = 0; v < UNITS; v++)
					x += net.again[u][v] * state[w][t][v];
				state[w][t + 1][u] = x / (1.0f + fabsf(x));
			}
			for (int b = 0; b < BOXES; b++) {
				float y = 0;

				for (int u = 0; u < UNITS; u++)
					y += net.out[b][u] * state[w][t + 1][u];
				loss += (double)(y - seen[w][t + 1][b]) * (y - seen[w][t + 1][b]);
			}
		}
	return loss;
}

static void backward(void)
{
	memset(&grad, 0, sizeof grad);
	for (int w = 0; w < WAGONS; w++) {
		float carried[UNITS] = {0};

		for (int t = SIGHTS; t-- > 0;) {
			float g[UNITS], before[UNITS] = {0};

			memcpy(g, carried, sizeof g);
			for (int b = 0; b < BOXES; b++) {
				float y = -seen[w][t + 1][b];

				for (int u = 0; u < UNITS; u++)
					y += net.out[b][u] * state[w][t + 1][u];
				for (int u = 0; u < UNITS; u++) {
					grad.out[b][u] += y * state[w][t + 1][u];
					g[u] += y * net.out[b][u];
				}
			}
			for (int u = 0; u < UNITS; u++) {
				const float rest = 1.0f - fabsf(state[w][t + 1][u]), s = g[u] * rest * rest;

				for (int b = 0; b < BOXES; b++)
					grad.in[u][b] += s * seen[w][t][b];
				for (int v = 0; v < UNITS; v++) {
					grad.again[u][v] += s * state[w][t][v];
					before[v] += s * net.again[u][v];
				}
			}
			memcpy(carried, before, sizeof carried);
		}
	}
}

static void update(void)
{
	float *w = (float *)&net;
	const float *g = (const float *)&grad;

	for (size_t i = 0; i < sizeof net / sizeof(float); i++)
		w[i] -= 1e-5f * g[i];
}

int main(void)
{
	struct watch watch;
	struct journal journal = { tmpfile(), 0, &watch };
	float *w = (float *)&net;

	if (!journal.file)
		return 1;
	srand(8);
	for (size_t i = 0; i < sizeof net / sizeof(float); i++)
		w[i] = 0.15f * ((float)rand() / (float)RAND_MAX - 0.5f);
	watch_begin(&watch);
	for (int train = 0; watch_seconds(&watch) < 6.5; train++) {
		double loss;

		dwell_step_begin();
		pass_by(train);
		{
			DWELL_ZONE("forward");
			loss = forward();
		}
		{
			DWELL_ZONE("backward");
			backward();
		}
		update();
		note(&journal, train, loss);
		dwell_step_end();
		watch.steps++;
	}
	watch_tell(&watch);
	printf("%ld pages\n", journal.pages);
	return 0;
}
