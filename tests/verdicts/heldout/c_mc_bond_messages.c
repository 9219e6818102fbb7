/*
 * Learns the energy of molecular clusters from the distances of their atoms: three rounds in which each atom hears its
 * neighbours through a filter of the distance, and a sum over the atoms at the end. Gradients by hand.
 *
 * Planted: the arena maps blocks of memory for each cluster and gives all of them back to the kernel after it, so every page of filters and messages is faulted in anew.
 * Truth: time of the kernel in this thread, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ATOMS = 150, WIDTH = 24, KNOTS = 64, ROUNDS = 3, CLUSTERS = 2, BLOCK = 1 << 20, MOST_BLOCKS = 128 };

/* ---- arena: what a cluster needs until its gradients are known ---- */

struct arena {
	char *blocks[MOST_BLOCKS];
	size_t sizes[MOST_BLOCKS], used;
	int count;
};

static void *arena_take(struct arena *arena, size_t bytes)
{
	bytes = (bytes + 63) & ~(size_t)63;
	if (!arena->count || arena->used + bytes > arena->sizes[arena->count - 1]) {
		const size_t size = bytes > BLOCK ? (bytes + 4095) & ~(size_t)4095 : BLOCK;

		if (arena->count == MOST_BLOCKS)
			abort();
		arena->blocks[arena->count] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (arena->blocks[arena->count] == MAP_FAILED)
			abort();
		arena->sizes[arena->count++] = size;
		arena->used = 0;
	}
	void *taken = arena->blocks[arena->count - 1] + arena->used;

	arena->used += bytes;
	return taken;
}

static void arena_empty(struct arena *arena)
{
	while (arena->count) {
		arena->count--;
		munmap(arena->blocks[arena->count], arena->sizes[arena->count]);
	}
	arena->used = 0;
}

/* ---- the model ---- */

static float filters[ROUNDS][KNOTS + 1][WIDTH], filters_g[ROUNDS][KNOTS + 1][WIDTH];
static float mix[ROUNDS][WIDTH][WIDTH], mix_g[ROUNDS][WIDTH][WIDTH];
static float out[WIDTH], out_g[WIDTH], kinds[4][WIDTH];

struct pair {
	uint16_t a, b, knot;
	float between;
};

struct cluster {
	float place[ATOMS][3];
	int kind[ATOMS];
	float energy;
};

static float any(void)
{
	return (float)rand() / (float)RAND_MAX - 0.5f;
}

static struct pair *find_pairs(struct arena *arena, const struct cluster *cluster, int *count)
{
	DWELL_ZONE("neighbours");
	struct pair *pairs = arena_take(arena, sizeof *pairs * ATOMS * ATOMS);
	int n = 0;

	for (int a = 0; a < ATOMS; a++)
		for (int b = 0; b < ATOMS; b++) {
			float square = 0;

			for (int x = 0; x < 3; x++) {
				const float d = cluster->place[a][x] - cluster->place[b][x];
				square += d * d;
			}
			if (a == b)
				continue;
			const float at = fminf(sqrtf(square) * 0.57f, 0.999f) * KNOTS;

			pairs[n].a = (uint16_t)a;
			pairs[n].b = (uint16_t)b;
			pairs[n].knot = (uint16_t)at;
			pairs[n++].between = at - floorf(at);
		}
	*count = n;
	return pairs;
}

static float learn(const struct cluster *cluster)
{
	struct arena arena = { .count = 0 };
	float (*state[ROUNDS + 1])[WIDTH], (*heard[ROUNDS])[WIDTH], (*filter[ROUNDS])[WIDTH], (*message[ROUNDS])[WIDTH];
	int count;
	const struct pair *pairs = find_pairs(&arena, cluster, &count);
	float energy = 0;

	state[0] = arena_take(&arena, sizeof(float) * ATOMS * WIDTH);
	for (int a = 0; a < ATOMS; a++)
		memcpy(state[0][a], kinds[cluster->kind[a]], sizeof kinds[0]);
	for (int r = 0; r < ROUNDS; r++) {
		DWELL_ZONE("round");
		filter[r] = arena_take(&arena, sizeof(float) * (size_t)count * WIDTH);
		message[r] = arena_take(&arena, sizeof(float) * (size_t)count * WIDTH);
		heard[r] = arena_take(&arena, sizeof(float) * ATOMS * WIDTH);
		state[r + 1] = arena_take(&arena, sizeof(float) * ATOMS * WIDTH);
		memset(heard[r], 0, sizeof(float) * ATOMS * WIDTH);
		for (int p = 0; p < count; p++) {
			const float *low = filters[r][pairs[p].knot], *high = filters[r][pairs[p].knot + 1];

			for (int w = 0; w < WIDTH; w++) {
				filter[r][p][w] = low[w] + pairs[p].between * (high[w] - low[w]);
				message[r][p][w] = filter[r][p][w] * state[r][pairs[p].b][w];
				heard[r][pairs[p].a][w] += message[r][p][w];
			}
		}
		for (int a = 0; a < ATOMS; a++)
			for (int o = 0; o < WIDTH; o++) {
				float sum = 0;
				for (int i = 0; i < WIDTH; i++)
					sum += mix[r][o][i] * heard[r][a][i];
				state[r + 1][a][o] = state[r][a][o] + tanhf(sum);
			}
	}
	for (int a = 0; a < ATOMS; a++)
		for (int w = 0; w < WIDTH; w++)
			energy += out[w] * state[ROUNDS][a][w];
	const float error = energy / ATOMS - cluster->energy;
	float (*back)[WIDTH] = arena_take(&arena, sizeof(float) * ATOMS * WIDTH);
	float (*to_heard)[WIDTH] = arena_take(&arena, sizeof(float) * ATOMS * WIDTH);

	for (int a = 0; a < ATOMS; a++)
		for (int w = 0; w < WIDTH; w++) {
			out_g[w] += error * state[ROUNDS][a][w] / ATOMS;
			back[a][w] = error * out[w] / ATOMS;
		}
	for (int r = ROUNDS - 1; r >= 0; r--) {
		DWELL_ZONE("round back");
		memset(to_heard, 0, sizeof(float) * ATOMS * WIDTH);
		for (int a = 0; a < ATOMS; a++)
			for (int o = 0; o < WIDTH; o++) {
				const float squashed = state[r + 1][a][o] - state[r][a][o];
				const float slope = back[a][o] * (1 - squashed * squashed);

				for (int i = 0; i < WIDTH; i++) {
					mix_g[r][o][i] += slope * heard[r][a][i];
					to_heard[a][i] += slope * mix[r][o][i];
				}
			}
		for (int p = 0; p < count; p++) {
			float *low = filters_g[r][pairs[p].knot], *high = filters_g[r][pairs[p].knot + 1];

			for (int w = 0; w < WIDTH; w++) {
				const float g = to_heard[pairs[p].a][w] * state[r][pairs[p].b][w];

				low[w] += g * (1 - pairs[p].between);
				high[w] += g * pairs[p].between;
				back[pairs[p].b][w] += to_heard[pairs[p].a][w] * filter[r][p][w];
			}
		}
	}
	arena_empty(&arena);
	return error * error;
}

static void descend(float *w, float *g, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		w[i] -= 1e-5f * g[i];
		g[i] = 0;
	}
}

int main(void)
{
	static struct cluster cluster[24];
	struct watch watch;
	float loss = 0;

	srand(12);
	for (size_t c = 0; c < sizeof cluster / sizeof cluster[0]; c++) {
		for (int a = 0; a < ATOMS; a++) {
			cluster[c].kind[a] = rand() % 4;
			for (int x = 0; x < 3; x++)
				cluster[c].place[a][x] = any();
		}
		cluster[c].energy = any();
	}
	for (size_t i = 0; i < sizeof filters / sizeof(float); i++)
		((float *)filters)[i] = 0.05f * any();
	for (size_t i = 0; i < sizeof mix / sizeof(float); i++)
		((float *)mix)[i] = 0.3f * any();
	for (int w = 0; w < WIDTH; w++) {
		out[w] = any();
		for (int k = 0; k < 4; k++)
			kinds[k][w] = any();
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		loss = 0;
		for (int c = 0; c < CLUSTERS; c++)
			loss += learn(&cluster[(watch.steps * CLUSTERS + c) % 24]);
		DWELL_ZONE("descend");
		descend((float *)filters, (float *)filters_g, sizeof filters / sizeof(float));
		descend((float *)mix, (float *)mix_g, sizeof mix / sizeof(float));
		descend(out, out_g, WIDTH);
	}
	watch_tell_share(&watch, (system_s() - watch.system_began) / watch_seconds(&watch));
	printf("loss %.5f\n", (double)(loss / CLUSTERS));
	return 0;
}
