/*
 * Which box goes on a pallet next: a policy scores boxes by a network over the heights of the pallet's cells; two packers, a thread
 * each, pack pallets of their own and add their slopes up.
 *
 * Decoy: a mutex around the sum, a third thread that mostly sleeps, a line into a file each 40th step, a block per pallet: all of a moment.
 * Truth: time of the main thread for the mutex, the barrier's sum, the lines and the blocks, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 96, BOXES = 40, WIDTH = 56, PALLETS = 6, PLACES = 30 };

struct policy {
	float cell[WIDTH][CELLS], box[WIDTH][4], score[WIDTH];
};

static struct policy policy, sum_of;
static float box_of[BOXES][4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int placed, leaving;

struct packer {
	unsigned dice;
	struct watch *watch;
	float reward;
};

static unsigned roll(unsigned *dice)
{
	*dice ^= *dice << 13;
	*dice ^= *dice >> 17;
	return *dice ^= *dice << 5;
}

/* Packs one pallet; the slopes of the choices go to `slope`. */
static float pack(float *height, struct policy *slope, unsigned *dice)
{
	float reward = 0;

	memset(height, 0, CELLS * sizeof *height);
	for (int place = 0; place < PLACES; place++) {
		float base[WIDTH], hidden[BOXES][WIDTH], chance[BOXES], all = 0;
		int taken = BOXES - 1;

		for (int w = 0; w < WIDTH; w++) {
			base[w] = 0;
			for (int c = 0; c < CELLS; c++)
				base[w] += policy.cell[w][c] * height[c];
		}
		for (int b = 0; b < BOXES; b++) {
			float score = 0;

			for (int w = 0; w < WIDTH; w++) {
				float sum = base[w];

				for (int k = 0; k < 4; k++)
					sum += policy.box[w][k] * box_of[b][k];
				hidden[b][w] = sum / (1 + fabsf(sum));
				score += policy.score[w] * hidden[b][w];
			}
			all += chance[b] = expf(score);
		}
		float mark = (float)(roll(dice) % 10000) / 1e4f * all;

		for (int b = 0; b < BOXES; b++)
			if ((mark -= chance[b]) < 0) {
				taken = b;
				break;
			}
		const int at = (int)(roll(dice) % (CELLS - 8));

		for (int c = at; c < at + 8; c++)
			height[c] = 0.9f * height[c] + 0.1f * box_of[taken][0];
		for (int b = 0; b < BOXES; b++) {
			const float push = (b == taken) - chance[b] / all;

			for (int w = 0; w < WIDTH; w++) {
				slope->score[w] += push * hidden[b][w];
				for (int k = 0; k < 4; k++)
					slope->box[w][k] += push * policy.score[w] * box_of[b][k];
			}
		}
		for (int w = 0; w < WIDTH; w++)
			for (int c = 0; c < CELLS; c++)
				slope->cell[w][c] += 0.01f * policy.score[w] * height[c];
		reward += box_of[taken][1] * 0.1f;
	}
	atomic_fetch_add(&placed, PLACES);
	return reward;
}

static void *shift(void *data)
{
	struct packer *packer = data;
	struct policy mine;

	memset(&mine, 0, sizeof mine);
	packer->reward = 0;
	for (int p = 0; p < PALLETS; p++) {
		float *height = malloc(CELLS * sizeof *height);

		packer->reward += pack(height, &mine, &packer->dice);
		free(height);
	}
	if (packer->watch)
		planted_begin(packer->watch);
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof mine / sizeof(float); i++)
		((float *)&sum_of)[i] += ((const float *)&mine)[i];
	pthread_mutex_unlock(&lock);
	if (packer->watch)
		planted_end(packer->watch);
	return NULL;
}

/* Lights the lamp above the belt. */
static void *lamp(void *unused)
{
	(void)unused;
	for (int last = 0; !leaving; last = placed)
		usleep(placed - last > 100000 ? 20000 : 50000);
	return NULL;
}

int main(void)
{
	struct watch watch;
	struct packer near = { 77, &watch, 0 }, far = { 991, NULL, 0 };
	pthread_t lamp_thread;
	FILE *list = tmpfile();

	srand(14);
	for (size_t i = 0; i < sizeof policy / sizeof(float); i++)
		((float *)&policy)[i] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int b = 0; b < BOXES; b++)
		for (int k = 0; k < 4; k++)
			box_of[b][k] = (float)rand() / (float)RAND_MAX;
	pthread_create(&lamp_thread, NULL, lamp, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		pthread_t other;

		memset(&sum_of, 0, sizeof sum_of);
		{
			DWELL_ZONE("pack");
			pthread_create(&other, NULL, shift, &far);
			shift(&near);
			pthread_join(other, NULL);
		}
		DWELL_ZONE("update");
		for (size_t i = 0; i < sizeof policy / sizeof(float); i++)
			((float *)&policy)[i] = 0.9999f * ((float *)&policy)[i] + 1e-6f * ((const float *)&sum_of)[i];
		if (watch.steps % 40 == 0 && list) {
			planted_begin(&watch);
			fprintf(list, "step %d reward %.3f\n", watch.steps, (double)(near.reward + far.reward));
			fflush(list);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	leaving = 1;
	pthread_join(lamp_thread, NULL);
	printf("reward %.3f, %d boxes\n", (double)(near.reward + far.reward), (int)placed);
	return 0;
}
