/*
 * Who will not meet a margin call: a factorisation machine over accounts, its pairs of fields by the sums' squares, AdaGrad.
 *
 * Decoy: a clerk's thread that naps with a lock, a book from calloc() in each step, a flushed line, a balance on the disk now and then: all of a moment.
 * Truth: time of the lock, the book, the lines and the balance, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ACCOUNTS = 512, FIELDS = 24, VALUES = 400, FACTORS = 16 };

static float factor[FIELDS * VALUES][FACTORS], single[FIELDS * VALUES], energy[FIELDS * VALUES];
static uint16_t account[ACCOUNTS][FIELDS];
static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static bool closed;
static double exposure;

static uint32_t seed = 99;

static uint32_t draw(uint32_t below)
{
	seed = seed * 747796405u + 2891336453u;
	return (uint32_t)((uint64_t)(seed ^ seed >> 15) * below >> 32);
}

static void *clerk(void *unused)
{
	bool stop = false;

	(void)unused;
	while (!stop) {
		usleep(20000);
		pthread_mutex_lock(&ledger);
		exposure *= 0.99;
		stop = closed;
		pthread_mutex_unlock(&ledger);
	}
	return NULL;
}

static void balance(double loss)
{
	FILE *file = fopen("balance.txt", "w");

	if (!file)
		return;
	fprintf(file, "%.6f %.6f\n", loss, exposure);
	fclose(file);
}

static float judge(const uint16_t *fields, float target)
{
	float sum[FACTORS] = {0}, square = 0, odds = 0;

	for (int f = 0; f < FIELDS; f++) {
		const float *row = factor[f * VALUES + fields[f]];

		odds += single[f * VALUES + fields[f]];
		for (int k = 0; k < FACTORS; k++) {
			sum[k] += row[k];
			square += row[k] * row[k];
		}
	}
	for (int k = 0; k < FACTORS; k++)
		odds += 0.5f * sum[k] * sum[k];
	odds -= 0.5f * square;
	const float chance = 1 / (1 + expf(-odds)), error = chance - target;

	for (int f = 0; f < FIELDS; f++) {
		const int at = f * VALUES + fields[f];
		float *row = factor[at];

		energy[at] += error * error;
		const float rate = 0.02f / sqrtf(1 + energy[at]);

		single[at] -= rate * error;
		for (int k = 0; k < FACTORS; k++)
			row[k] -= rate * (error * (sum[k] - row[k]) + 1e-3f * row[k]);
	}
	return error * error;
}

int main(void)
{
	struct watch watch;
	pthread_t thread;
	double loss = 0;

	for (int i = 0; i < FIELDS * VALUES; i++)
		for (int k = 0; k < FACTORS; k++)
			factor[i][k] = ((float)draw(2001) - 1000) * 5e-5f;
	pthread_create(&thread, NULL, clerk, NULL);
	FILE *tape = fopen("tape.txt", "w");
	if (!tape)
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		double *book = calloc(ACCOUNTS, sizeof *book);
		planted_end(&watch);
		if (!book)
			return 1;
		{
			DWELL_ZONE("accounts");
			for (int a = 0; a < ACCOUNTS; a++)
				for (int f = 0; f < FIELDS; f++)
					account[a][f] = (uint16_t)draw(VALUES);
		}
		loss = 0;
		{
			DWELL_ZONE("machine");
			for (int round = 0; round < 8; round++)
				for (int a = 0; a < ACCOUNTS; a++) {
					book[a] = (double)judge(account[a], (account[a][2] * 7 + account[a][9]) % 5 == 0);
					loss += book[a] / ACCOUNTS / 8;
				}
		}
		planted_begin(&watch);
		pthread_mutex_lock(&ledger);
		exposure += 0.01 * (book[7] - exposure);
		pthread_mutex_unlock(&ledger);
		free(book);
		if (watch.steps % 10 == 0) {
			DWELL_SCOPE(DWELL_CATEGORY_ACTION, "tape");
			fprintf(tape, "%ld %.5f\n", (long)watch.steps, loss);
			fflush(tape);
		}
		if (watch.steps % 150 == 149) {
			DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "balance");
			balance(loss);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&ledger);
	closed = true;
	pthread_mutex_unlock(&ledger);
	pthread_join(thread, NULL);
	fclose(tape);
	printf("loss %.4f\n", loss);
	return 0;
}
