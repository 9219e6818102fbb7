/*
 * Tells the quarter of an hour from the shadow of a gnomon: a network of two hidden layers learns from pictures of dials,
 * forward and backward, with gradients added up over two threads.
 *
 * Clean: nothing is planted; both threads have half of each batch, and each batch is as large as the others.
 * Truth: nothing comes near a cause, 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, RAYS = 96, HIDDEN = 128, QUARTERS = 48, THREADS = 2, BATCHES = 16 };

struct weights { float one[RAYS][HIDDEN], two[HIDDEN][HIDDEN], last[HIDDEN][QUARTERS]; };

static struct weights net, gradients[THREADS];
static float shadows[BATCHES][BATCH][RAYS];
static int quarters[BATCHES][BATCH];
static float first[BATCH][HIDDEN], second[BATCH][HIDDEN], chance[BATCH][QUARTERS];

static void dense(float *to, const float *from, const float *matrix, int inputs, int outputs)
{
	memset(to, 0, sizeof *to * (size_t)outputs);
	for (int i = 0; i < inputs; i++)
		for (int o = 0; o < outputs; o++)
			to[o] += from[i] * matrix[i * outputs + o];
}

/* The gradient of a layer, and in `back` that of its input. */
static void dense_back(float *back, const float *from, const float *error, const float *matrix, float *gradient,
                       int inputs, int outputs)
{
	for (int i = 0; i < inputs; i++) {
		float sum = 0;

		for (int o = 0; o < outputs; o++) {
			gradient[i * outputs + o] += from[i] * error[o];
			sum += matrix[i * outputs + o] * error[o];
		}
		if (back)
			back[i] = sum * (1 - from[i] * from[i]);
	}
}

static void forward(int row, const float *shadow)
{
	float sum = 0;

	dense(first[row], shadow, &net.one[0][0], RAYS, HIDDEN);
	for (int h = 0; h < HIDDEN; h++)
		first[row][h] = tanhf(first[row][h]);
	dense(second[row], first[row], &net.two[0][0], HIDDEN, HIDDEN);
	for (int h = 0; h < HIDDEN; h++)
		second[row][h] = tanhf(second[row][h]);
	dense(chance[row], second[row], &net.last[0][0], HIDDEN, QUARTERS);
	for (int q = 0; q < QUARTERS; q++)
		sum += chance[row][q] = expf(chance[row][q]);
	for (int q = 0; q < QUARTERS; q++)
		chance[row][q] /= sum;
}

static void backward(int row, const float *shadow, int quarter, struct weights *gradient)
{
	float error[QUARTERS], deep[HIDDEN], shallow[HIDDEN];

	for (int q = 0; q < QUARTERS; q++)
		error[q] = (chance[row][q] - (q == quarter)) / BATCH;
	dense_back(deep, second[row], error, &net.last[0][0], &gradient->last[0][0], HIDDEN, QUARTERS);
	dense_back(shallow, first[row], deep, &net.two[0][0], &gradient->two[0][0], HIDDEN, HIDDEN);
	dense_back(NULL, shadow, shallow, &net.one[0][0], &gradient->one[0][0], RAYS, HIDDEN);
}

static void update(float rate)
{
	float *weight = &net.one[0][0];
	const float *a = &gradients[0].one[0][0], *b = &gradients[1].one[0][0];

	DWELL_ZONE("update");
#pragma omp parallel for num_threads(THREADS) schedule(static)
	for (size_t i = 0; i < sizeof net / sizeof *weight; i++)
		weight[i] -= rate * (a[i] + b[i]);
}

int main(void)
{
	static struct watch watch;
	float *weight = &net.one[0][0];

	srand(8);
	for (size_t i = 0; i < sizeof net / sizeof *weight; i++)
		weight[i] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int b = 0; b < BATCHES; b++)
		for (int row = 0; row < BATCH; row++) {
			quarters[b][row] = rand() % QUARTERS;
			for (int r = 0; r < RAYS; r++)
				shadows[b][row][r] = (abs(r - 2 * quarters[b][row]) < 4) + (float)rand() / (float)RAND_MAX;
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const long b = watch.steps % BATCHES;

		{
			DWELL_ZONE("forward");
#pragma omp parallel for num_threads(THREADS) schedule(static)
			for (int row = 0; row < BATCH; row++)
				forward(row, shadows[b][row]);
		}
		{
			DWELL_ZONE("backward");
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
			for (int half = 0; half < THREADS; half++) {
				memset(&gradients[half], 0, sizeof gradients[half]);
				for (int row = half * BATCH / THREADS; row < (half + 1) * BATCH / THREADS; row++)
					backward(row, shadows[b][row], quarters[b][row], &gradients[half]);
			}
		}
		update(0.002f);
	}
	watch_tell(&watch);
	printf("chance of the first %.4f\n", (double)chance[0][quarters[0][0]]);
	return 0;
}
