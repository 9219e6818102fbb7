/*
 * A surrogate of the power flow in a distribution feeder: a network foretells the voltages of the buses from their loads. The cases on
 * which it is most wrong are solved anew by a solver's thread, which answers through a mailbox with one slot.
 *
 * Planted: the solver signals the wrong condition after an answer, so the learner wakes up only when its timed wait of 12 ms is over.
 * Truth: time from the moment when an answer lies in the mailbox to the moment when the learner goes on, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BUSES 72
#define WIDTH 160
#define CASES 800

struct mailbox {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	bool question, answer, closed;
	float load[BUSES], voltage[BUSES];
	double ready;
};

static struct mailbox box = { .lock = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER, .answered = PTHREAD_COND_INITIALIZER };
static float load_of[CASES][BUSES], voltage_of[CASES][BUSES];
static float first[WIDTH][BUSES], second[BUSES][WIDTH], admittance[BUSES];

/* Sweeps along the radial feeder until the sums agree. */
static void solve(const float *load, float *voltage)
{
	for (int b = 0; b < BUSES; b++)
		voltage[b] = 1;
	for (int sweep = 0; sweep < 400; sweep++) {
		float current = 0, at = 1;

		for (int b = BUSES - 1; b >= 0; b--)
			current += load[b] / voltage[b];
		for (int b = 0; b < BUSES; b++) {
			at -= admittance[b] * current;
			current -= load[b] / voltage[b];
			voltage[b] = 0.5f * (voltage[b] + at);
		}
	}
}

static void *solver(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&box.lock);
	while (!box.closed) {
		float load[BUSES], voltage[BUSES];

		while (!box.question && !box.closed)
			pthread_cond_wait(&box.asked, &box.lock);
		memcpy(load, box.load, sizeof load);
		box.question = false;
		pthread_mutex_unlock(&box.lock);
		solve(load, voltage);
		pthread_mutex_lock(&box.lock);
		memcpy(box.voltage, voltage, sizeof voltage);
		box.answer = true;
		box.ready = now_s();
		pthread_cond_signal(&box.asked);
	}
	pthread_mutex_unlock(&box.lock);
	return NULL;
}

static void ask(int one)
{
	pthread_mutex_lock(&box.lock);
	memcpy(box.load, load_of[one], sizeof box.load);
	box.question = true;
	box.answer = false;
	pthread_cond_signal(&box.asked);
	pthread_mutex_unlock(&box.lock);
}

static void take(int one, struct watch *watch)
{
	pthread_mutex_lock(&box.lock);
	while (!box.answer) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 12000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		if (pthread_cond_timedwait(&box.answered, &box.lock, &until) == ETIMEDOUT && box.closed)
			break;
		if (box.answer)
			watch->planted_s += now_s() - box.ready;
	}
	memcpy(voltage_of[one], box.voltage, sizeof box.voltage);
	pthread_mutex_unlock(&box.lock);
}

/* Teaches all cases once; says which one is worst. */
static int teach(double *loss)
{
	double worst = -1;
	int which = 0;

	*loss = 0;
	for (int c = 0; c < CASES; c++) {
		float hidden[WIDTH], wrong[BUSES], blame[WIDTH] = { 0 };
		double off = 0;

		for (int w = 0; w < WIDTH; w++) {
			float sum = 0;

			for (int b = 0; b < BUSES; b++)
				sum += first[w][b] * load_of[c][b];
			hidden[w] = sum / (1 + fabsf(sum));
		}
		for (int b = 0; b < BUSES; b++) {
			float sum = 1;

			for (int w = 0; w < WIDTH; w++)
				sum += second[b][w] * hidden[w];
			wrong[b] = sum - voltage_of[c][b];
			off += wrong[b] * wrong[b];
			for (int w = 0; w < WIDTH; w++) {
				blame[w] += wrong[b] * second[b][w];
				second[b][w] -= 2e-4f * wrong[b] * hidden[w];
			}
		}
		for (int w = 0; w < WIDTH; w++)
			for (int b = 0; b < BUSES; b++)
				first[w][b] -= 2e-4f * blame[w] * (1 - fabsf(hidden[w])) * load_of[c][b];
		*loss += off;
		if (off > worst) {
			worst = off;
			which = c;
		}
	}
	return which;
}

int main(void)
{
	struct watch watch;
	pthread_t thread;
	double loss = 0;

	srand(5);
	for (int b = 0; b < BUSES; b++) {
		admittance[b] = 1e-4f * (float)(1 + b % 5);
		for (int w = 0; w < WIDTH; w++) {
			first[w][b] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
			second[b][w] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
		}
	}
	for (int c = 0; c < CASES; c++) {
		for (int b = 0; b < BUSES; b++)
			load_of[c][b] = (float)rand() / (float)RAND_MAX;
		solve(load_of[c], voltage_of[c]);
	}
	pthread_create(&thread, NULL, solver, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		int worst;

		{
			DWELL_ZONE("teach");
			worst = teach(&loss);
		}
		for (int b = 0; b < BUSES; b++)
			load_of[worst][b] = 0.5f * load_of[worst][b] + 0.5f * (float)rand() / (float)RAND_MAX;
		ask(worst);
		take(worst, &watch);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&box.lock);
	box.closed = true;
	box.question = true;
	pthread_cond_signal(&box.asked);
	pthread_mutex_unlock(&box.lock);
	pthread_join(thread, NULL);
	printf("loss %.5f\n", loss / CASES);
	return 0;
}
