/*
 * Energies of solutes in their shells of solvent: message passing over neighbouring atoms, with gates that fade with the distance.
 *
 * Planted: each layer asks malloc() for its messages, 40 MB, and gives them back, so the kernel maps and clears fresh pages each time.
 * Truth: the kernel's time for the thread, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ATOMS 1200
#define NEIGHBOURS 32
#define FEATURES 256
#define HEAD 128
#define LAYERS 2

struct shell {
	float state[ATOMS][FEATURES], mixed[ATOMS][FEATURES];
	int neighbour[ATOMS][NEIGHBOURS];
	float distance[ATOMS][NEIGHBOURS];
};

struct layer {
	float mix[FEATURES][HEAD], width[FEATURES];
};

/* One feature vector for each bond. */
struct messages {
	float (*of)[FEATURES];
};

static struct shell shell;
static struct layer layers[LAYERS];

static float drawn(void)
{
	return (float)(random() % 20001 - 10000) * 1e-4f;
}

static struct messages messages_new(void)
{
	struct messages m = { malloc(sizeof(float[FEATURES]) * ATOMS * NEIGHBOURS) };

	if (!m.of)
		exit(1);
	return m;
}

static void messages_free(struct messages *m)
{
	free(m->of);
	m->of = NULL;
}

static void mix_heads(const struct layer *layer)
{
	DWELL_ZONE("mix");
	for (int a = 0; a < ATOMS; a++)
		for (int f = 0; f < FEATURES; f++) {
			const float *head = shell.state[a] + f / HEAD * HEAD;
			float sum = 0;

			for (int h = 0; h < HEAD; h++)
				sum += layer->mix[f][h] * head[h];
			shell.mixed[a][f] = sum;
		}
}

static void send_messages(const struct layer *layer, struct messages m)
{
	DWELL_ZONE("messages");
	for (int a = 0; a < ATOMS; a++)
		for (int n = 0; n < NEIGHBOURS; n++) {
			const float *from = shell.mixed[shell.neighbour[a][n]];
			const float fade = shell.distance[a][n];
			float *to = m.of[a * NEIGHBOURS + n];

			for (int f = 0; f < FEATURES; f++)
				to[f] = from[f] / (1.0f + layer->width[f] * fade * fade);
		}
}

static void gather(struct messages m)
{
	DWELL_ZONE("gather");
	for (int a = 0; a < ATOMS; a++) {
		float sum[FEATURES] = {0};

		for (int n = 0; n < NEIGHBOURS; n++)
			for (int f = 0; f < FEATURES; f++)
				sum[f] += m.of[a * NEIGHBOURS + n][f];
		for (int f = 0; f < FEATURES; f++) {
			const float x = 0.5f * shell.state[a][f] + sum[f] / NEIGHBOURS;

			shell.state[a][f] = x / (1.0f + fabsf(x)) + 0.01f;
		}
	}
}

static void place(int solute)
{
	for (int a = 0; a < ATOMS; a++)
		for (int f = 0; f < FEATURES; f++)
			shell.state[a][f] = 0.1f + 0.4f * (float)((a * 7 + f * 3 + solute) % 11) / 11.0f;
}

int main(void)
{
	struct watch watch;
	double energy = 0;

	srandom(61);
	for (int l = 0; l < LAYERS; l++)
		for (int f = 0; f < FEATURES; f++) {
			layers[l].width[f] = 1.5f + drawn();
			for (int h = 0; h < HEAD; h++)
				layers[l].mix[f][h] = 0.2f * drawn();
		}
	for (int a = 0; a < ATOMS; a++)
		for (int n = 0; n < NEIGHBOURS; n++) {
			shell.neighbour[a][n] = (a + n * n - 200 + ATOMS) % ATOMS;
			shell.distance[a][n] = 1.6f + 0.5f * drawn();
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		place(watch.steps % 5);
		for (int l = 0; l < LAYERS; l++) {
			struct messages m = messages_new();

			mix_heads(&layers[l]);
			send_messages(&layers[l], m);
			gather(m);
			messages_free(&m);
		}
		for (int a = 0; a < ATOMS; a++)
			energy += (double)shell.state[a][watch.steps % FEATURES];
	}
	watch_tell_share(&watch, (system_s() - watch.system_began) / watch_seconds(&watch));
	printf("mean energy %.5f\n", energy / watch.steps / ATOMS);
	return 0;
}
