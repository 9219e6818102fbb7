/*
 * Learns to fill in the growth of lichen on photographed stones: an autoencoder of two layers over patches. A camera's
 * thread cuts the patches of the next batch when it is asked to.
 *
 * Planted: the trainer asks whether the patches are there and sleeps 5 ms before it asks again, though they take a moment.
 * Truth: time in the loop that sleeps and asks, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIDE = 20, PIXELS = SIDE * SIDE, CODE = 96, BATCH = 256, STONE = 512 };

struct camera {
	pthread_mutex_t lock;
	pthread_cond_t asked;
	int wanted, stop;
	atomic_int ready;
	unsigned seed;
	float patches[BATCH][PIXELS];
};

static unsigned char stone[STONE][STONE];
static struct camera camera = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 5, { { 0 } } };
static float enter[PIXELS][CODE], leave[CODE][PIXELS], enter_change[PIXELS][CODE], leave_change[CODE][PIXELS];
static float code[BATCH][CODE], drawn[BATCH][PIXELS], code_error[BATCH][CODE];

static void *cut(void *unused)
{
	pthread_mutex_lock(&camera.lock);
	for (;;) {
		while (!camera.wanted && !camera.stop)
			pthread_cond_wait(&camera.asked, &camera.lock);
		if (camera.stop)
			break;
		camera.wanted = 0;
		for (int b = 0; b < BATCH; b++) {
			const int top = rand_r(&camera.seed) % (STONE - SIDE), left = rand_r(&camera.seed) % (STONE - SIDE);

			for (int p = 0; p < PIXELS; p++)
				camera.patches[b][p] = (float)stone[top + p / SIDE][left + p % SIDE] / 255 - 0.5f;
		}
		atomic_store(&camera.ready, 1);
	}
	pthread_mutex_unlock(&camera.lock);
	return unused;
}

static void patches_wait(struct watch *watch)
{
	pthread_mutex_lock(&camera.lock);
	camera.wanted = 1;
	pthread_cond_signal(&camera.asked);
	pthread_mutex_unlock(&camera.lock);
	planted_begin(watch);
	while (!atomic_exchange(&camera.ready, 0))
		usleep(5000);
	planted_end(watch);
}

static float encode_decode(void)
{
	float loss = 0;

	DWELL_ZONE("draw the patches");
	for (int b = 0; b < BATCH; b++) {
		for (int c = 0; c < CODE; c++)
			code[b][c] = 0;
		for (int p = 0; p < PIXELS; p++)
			for (int c = 0; c < CODE; c++)
				code[b][c] += camera.patches[b][p] * enter[p][c];
		for (int p = 0; p < PIXELS; p++)
			drawn[b][p] = 0;
		for (int c = 0; c < CODE; c++) {
			code[b][c] = tanhf(code[b][c]);
			for (int p = 0; p < PIXELS; p++)
				drawn[b][p] += code[b][c] * leave[c][p];
		}
		for (int p = 0; p < PIXELS; p++) {
			drawn[b][p] -= camera.patches[b][p];
			loss += drawn[b][p] * drawn[b][p];
		}
	}
	return loss / BATCH;
}

static void backward(void)
{
	DWELL_ZONE("backward");
	for (int b = 0; b < BATCH; b++) {
		for (int c = 0; c < CODE; c++) {
			float sum = 0;

			for (int p = 0; p < PIXELS; p++) {
				leave_change[c][p] += code[b][c] * drawn[b][p];
				sum += leave[c][p] * drawn[b][p];
			}
			code_error[b][c] = sum * (1 - code[b][c] * code[b][c]);
		}
		for (int p = 0; p < PIXELS; p++)
			for (int c = 0; c < CODE; c++)
				enter_change[p][c] += camera.patches[b][p] * code_error[b][c];
	}
}

static void update(float *weight, float *change, int count)
{
	DWELL_ZONE("update");
	for (int i = 0; i < count; i++) {
		weight[i] -= 0.0002f * change[i];
		change[i] *= 0.5f;
		change[i] = fabsf(change[i]) < 1e-9f ? 0 : change[i];
	}
}

int main(void)
{
	static struct watch watch;
	pthread_t thread;
	float loss = 0;

	srand(3);
	for (int y = 0; y < STONE; y++)
		for (int x = 0; x < STONE; x++)
			stone[y][x] = (unsigned char)(127 + 80 * sin(x * 0.11) * cos(y * 0.07) + rand() % 40);
	for (int p = 0; p < PIXELS; p++)
		for (int c = 0; c < CODE; c++) {
			enter[p][c] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
			leave[c][p] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
		}
	pthread_create(&thread, NULL, cut, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		patches_wait(&watch);
		loss = encode_decode();
		backward();
		update(&enter[0][0], &enter_change[0][0], PIXELS * CODE);
		update(&leave[0][0], &leave_change[0][0], PIXELS * CODE);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&camera.lock);
	camera.stop = 1;
	pthread_cond_signal(&camera.asked);
	pthread_mutex_unlock(&camera.lock);
	pthread_join(thread, NULL);
	printf("loss %.4f\n", loss);
	return 0;
}
