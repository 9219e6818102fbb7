/*
 * Faults of woven cloth: a network learns from the pictures of a camera above the loom, two weavers (threads) side by side, each at
 * its own pace and with Adagrad after every picture as online learning has it.
 *
 * Planted: a weaver keeps the weights' mutex from the forward pass to the end of the update, and the other one waits for it.
 * Truth: time that the two threads wait for the mutex, their mean, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SIDE = 16, PIXELS = SIDE * SIDE, HIDDEN = 64, FAULTS = 6, PICTURES = 768, ROUND = 80 };

static struct {
	pthread_mutex_t mutex;
	float into[HIDDEN][PIXELS], into_sum[HIDDEN][PIXELS];
	float out[FAULTS][HIDDEN], out_sum[FAULTS][HIDDEN];
} net = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct { float pixel[PIXELS]; int fault; } pictures[PICTURES];
static atomic_bool closing;
static double waited[2];

static void adagrad(float *weight, float *sum, float slope)
{
	*sum += slope * slope;
	*weight -= 0.01f * slope / (sqrtf(*sum) + 1e-6f);
}

/* How strongly threads run along and across at each place: the edges wrap. */
static void texture(const float *picture, float *energy)
{
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			float along = 0, across = 0;

			for (int d = 0; d < 3; d++)
				for (int e = 0; e < 3; e++) {
					float shade = picture[((y + d) & (SIDE - 1)) * SIDE + ((x + e) & (SIDE - 1))];

					along += d == 1 ? 2 * shade : -shade;
					across += e == 1 ? 2 * shade : -shade;
				}
			energy[y * SIDE + x] = (fabsf(along) - fabsf(across)) / 4;
		}
}

/* Keeps a neuron's weights within a ball. */
static void at_most(float *weight, float radius)
{
	float sum = 0;

	for (int p = 0; p < PIXELS; p++)
		sum += weight[p] * weight[p];
	if (sum > radius * radius)
		for (int p = 0; p < PIXELS; p++)
			weight[p] *= radius / sqrtf(sum);
}

static void weave(int weaver, const float *picture, int fault)
{
	float pixel[PIXELS], hidden[HIDDEN], back[HIDDEN] = {0}, score[FAULTS], total = 0;
	double asked;

	texture(picture, pixel);
	asked = now_s();
	pthread_mutex_lock(&net.mutex); /* the weights must stay as they are until the update is done */
	waited[weaver] += now_s() - asked;
	for (int h = 0; h < HIDDEN; h++) {
		float sum[4] = {0};

		for (int p = 0; p < PIXELS; p += 4)
			for (int k = 0; k < 4; k++)
				sum[k] += net.into[h][p + k] * pixel[p + k];
		hidden[h] = tanhf(sum[0] + sum[1] + sum[2] + sum[3]);
	}
	for (int f = 0; f < FAULTS; f++) {
		float sum = 0;

		for (int h = 0; h < HIDDEN; h++)
			sum += net.out[f][h] * hidden[h];
		total += score[f] = expf(fminf(sum, 30));
	}

	for (int f = 0; f < FAULTS; f++) {
		float error = score[f] / total - (f == fault);

		for (int h = 0; h < HIDDEN; h++) {
			back[h] += error * net.out[f][h];
			adagrad(&net.out[f][h], &net.out_sum[f][h], error * hidden[h]);
		}
	}
	for (int h = 0; h < HIDDEN; h++) {
		float error = back[h] * (1 - hidden[h] * hidden[h]);

		for (int p = 0; p < PIXELS; p++)
			adagrad(&net.into[h][p], &net.into_sum[h][p], error * pixel[p]);
		at_most(net.into[h], 2);
	}
	pthread_mutex_unlock(&net.mutex);
}

/* A round of a weaver, over its half of the pictures. */
static void round_of(int weaver, int number)
{
	DWELL_ZONE("weave");
	for (int n = 0; n < ROUND; n++) {
		int which = (number * ROUND + n) * 2 % PICTURES + weaver;

		weave(weaver, pictures[which].pixel, pictures[which].fault);
	}
}

/* Learns at its own pace. */
static void *second_weaver(void *unused)
{
	for (int number = 0; !atomic_load(&closing); number++)
		round_of(1, number);
	return unused;
}

static float thread_noise(unsigned *seed)
{
	return (float)rand_r(seed) / (float)RAND_MAX - 0.5f;
}

int main(void)
{
	unsigned seed = 17;
	struct watch watch;
	pthread_t second;

	for (int n = 0; n < PICTURES; n++) {
		pictures[n].fault = n % FAULTS;
		for (int p = 0; p < PIXELS; p++)
			pictures[n].pixel[p] = thread_noise(&seed) + 0.3f * sinf((float)(p / SIDE * (n % FAULTS + 1) + p % SIDE));
	}
	for (int h = 0; h < HIDDEN; h++) {
		for (int p = 0; p < PIXELS; p++)
			net.into[h][p] = 0.1f * thread_noise(&seed), net.into_sum[h][p] = 0.1f;
		for (int f = 0; f < FAULTS; f++)
			net.out[f][h] = 0.2f * thread_noise(&seed), net.out_sum[f][h] = 0.1f;
	}
	watch_begin(&watch);
	pthread_create(&second, NULL, second_weaver, NULL);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		round_of(0, watch.steps);
		watch.steps++;
	}
	watch_tell_share(&watch, (waited[0] + waited[1]) / 2 / watch_seconds(&watch));
	atomic_store(&closing, true);
	pthread_join(second, NULL);
	printf("a weight: %.4f\n", (double)net.into[3][7]);
	return 0;
}
