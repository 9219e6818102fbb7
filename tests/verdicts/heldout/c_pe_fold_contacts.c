/*
 * Which residues of a protein touch: inference of a network over the map of pairs, with triangular products along its rows and columns and a
 * small transition after them.
 *
 * Clean: four blocks over a map of 56 by 56 pairs, one protein after another from memory, one thread.
 * Truth: time of putting in the next protein, as a share of the loop; nothing else is nearer to a cause.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

#define N 56
#define CHANNELS 12
#define WIDER 24
#define BLOCKS 4
#define PROTEINS 20

static float pair[N][N][CHANNELS], left[CHANNELS][N][N], right[CHANNELS][N][N], product[CHANNELS][N][N];
static unsigned char residue[PROTEINS][N];
static float meaning[20][CHANNELS];
static struct block {
	float left[CHANNELS][CHANNELS], right[CHANNELS][CHANNELS], back[CHANNELS][CHANNELS], wide[WIDER][CHANNELS], narrow[CHANNELS][WIDER];
} blocks[BLOCKS];

static float uniform(void)
{
	return (float)(rand() % 20001 - 10000) / 10000.0f;
}

static void norm(const float *from, float *to)
{
	float mean = 0, square = 0;

	for (int c = 0; c < CHANNELS; c++)
		mean += from[c] / CHANNELS;
	for (int c = 0; c < CHANNELS; c++)
		square += (from[c] - mean) * (from[c] - mean) / CHANNELS;
	for (int c = 0; c < CHANNELS; c++)
		to[c] = (from[c] - mean) / sqrtf(square + 1e-3f);
}

static void embed(const unsigned char *chain)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int c = 0; c < CHANNELS; c++)
				pair[i][j][c] = meaning[chain[i]][c] * meaning[chain[j]][(c + 3) % CHANNELS] + 1.0f / (float)(1 + abs(i - j));
}

static void project(const struct block *block)
{
	DWELL_OP("project");
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			float even[CHANNELS];

			norm(pair[i][j], even);
			for (int c = 0; c < CHANNELS; c++) {
				float l = 0, r = 0;

				for (int k = 0; k < CHANNELS; k++) {
					l += block->left[c][k] * even[k];
					r += block->right[c][k] * even[k];
				}
				left[c][i][j] = l / (1 + expf(-l));
				right[c][i][j] = r / (1 + expf(-r));
			}
		}
}

static void triangle(void)
{
	DWELL_OP("triangle");
	for (int c = 0; c < CHANNELS; c++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++) {
				float sum = 0;

				for (int k = 0; k < N; k++)
					sum += left[c][i][k] * right[c][j][k];
				product[c][i][j] = sum / N;
			}
}

static void transition(const struct block *block)
{
	DWELL_OP("transition");
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			float mixed[CHANNELS], even[CHANNELS], wide[WIDER];

			for (int c = 0; c < CHANNELS; c++)
				mixed[c] = product[c][i][j];
			for (int c = 0; c < CHANNELS; c++)
				for (int k = 0; k < CHANNELS; k++)
					pair[i][j][c] += block->back[c][k] * mixed[k];
			norm(pair[i][j], even);
			for (int w = 0; w < WIDER; w++) {
				wide[w] = 0;
				for (int k = 0; k < CHANNELS; k++)
					wide[w] += block->wide[w][k] * even[k];
				wide[w] = wide[w] > 0 ? wide[w] : 0.1f * wide[w];
			}
			for (int c = 0; c < CHANNELS; c++)
				for (int w = 0; w < WIDER; w++)
					pair[i][j][c] += 0.2f * block->narrow[c][w] * wide[w];
		}
}

int main(void)
{
	struct watch watch;
	double touching = 0;

	srand(61);
	for (int p = 0; p < PROTEINS; p++)
		for (int i = 0; i < N; i++)
			residue[p][i] = (unsigned char)(rand() % 20);
	for (int a = 0; a < 20; a++)
		for (int c = 0; c < CHANNELS; c++)
			meaning[a][c] = uniform();
	for (size_t i = 0; i < sizeof blocks / (sizeof(float)); i++)
		((float *)blocks)[i] = 0.35f * uniform();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		embed(residue[watch.steps % PROTEINS]);
		planted_end(&watch);
		for (int b = 0; b < BLOCKS; b++) {
			DWELL_LAYER("fold.block");
			project(&blocks[b]);
			triangle();
			transition(&blocks[b]);
		}
		touching += (double)pair[3][N - 5][0] > 0;
	}
	watch_tell(&watch);
	printf("touching %.3f\n", touching / (double)watch.steps);
	return 0;
}
