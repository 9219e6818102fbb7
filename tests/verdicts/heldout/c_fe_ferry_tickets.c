/*
 * Predicts who will miss the ferry: a factorization machine that learns from bookings, a batch at a time. The bookings are kept
 * under seal; another process opens the seals and hands the lines over through a pipe.
 *
 * Planted: the process that opens the seals is slower than the learning, so the learner waits at the pipe again and again.
 * Truth: time in which the learner's buffer is filled from the pipe, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIELDS = 24, BUCKETS = 1 << 14, FACTORS = 32, BATCH = 256, SEAL_ROUNDS = 10500 };

struct booking {
	uint32_t bucket[FIELDS];
	float missed;
};

struct machine {
	float bias;
	float linear[BUCKETS];
	float factor[BUCKETS][FACTORS];
};

/* The learner's end of the pipe. */
struct counter {
	int pipe;
	size_t at, end;
	char text[8192];
};

static struct machine machine;
static struct watch watch;

/* The other process: never returns. */
static void open_seals(int to)
{
	uint32_t seal = 2463534242u;
	FILE *lines = fdopen(to, "w");

	for (;;) {
		for (int round = 0; round < SEAL_ROUNDS; round++) {
			seal ^= seal << 13;
			seal ^= seal >> 17;
			seal ^= seal << 5;
		}
		fprintf(lines, "%d", seal % 9 == 0);
		for (uint32_t f = 0; f < FIELDS; f++)
			fprintf(lines, " %u", (seal * (2 * f + 1) >> 7) % BUCKETS);
		if (fputc('\n', lines) == EOF || (seal % 16 == 0 && fflush(lines) == EOF))
			_exit(0);
	}
}

static int next_character(struct counter *counter)
{
	if (counter->at == counter->end) {
		planted_begin(&watch);
		const ssize_t got = read(counter->pipe, counter->text, sizeof counter->text);
		planted_end(&watch);
		if (got <= 0)
			abort();
		counter->at = 0;
		counter->end = (size_t)got;
	}
	return counter->text[counter->at++];
}

static uint32_t next_number(struct counter *counter)
{
	uint32_t number = 0;

	for (int character; (character = next_character(counter)) >= '0';)
		number = 10 * number + (uint32_t)(character - '0');
	return number;
}

static void take_batch(struct counter *counter, struct booking *batch)
{
	DWELL_ZONE("take_batch");
	for (int b = 0; b < BATCH; b++) {
		batch[b].missed = (float)next_number(counter);
		for (int f = 0; f < FIELDS; f++)
			batch[b].bucket[f] = next_number(counter);
	}
}

static float predict(const struct booking *booking, float *sums)
{
	float score = machine.bias, pairs = 0;

	memset(sums, 0, FACTORS * sizeof *sums);
	for (int f = 0; f < FIELDS; f++) {
		const float *factor = machine.factor[booking->bucket[f]];

		score += machine.linear[booking->bucket[f]];
		for (int k = 0; k < FACTORS; k++) {
			sums[k] += factor[k];
			pairs -= factor[k] * factor[k];
		}
	}
	for (int k = 0; k < FACTORS; k++)
		pairs += sums[k] * sums[k];
	return 1 / (1 + expf(-(score + 0.5f * pairs)));
}

static void correct(const struct booking *booking, const float *sums, float error)
{
	machine.bias -= 0.01f * error;
	for (int f = 0; f < FIELDS; f++) {
		float *factor = machine.factor[booking->bucket[f]];

		machine.linear[booking->bucket[f]] -= 0.01f * error;
		for (int k = 0; k < FACTORS; k++)
			factor[k] -= 0.01f * (error * (sums[k] - factor[k]) + 1e-4f * factor[k]);
	}
}

int main(void)
{
	static struct booking batch[BATCH];
	static struct counter counter;
	int ends[2];
	double total = 0;

	srand(19);
	for (int b = 0; b < BUCKETS; b++)
		for (int k = 0; k < FACTORS; k++)
			machine.factor[b][k] = 0.02f * ((float)rand() / (float)RAND_MAX - 0.5f);
	if (pipe(ends) < 0)
		return 1;
	const pid_t opener = fork();
	if (opener == 0) {
		close(ends[0]);
		open_seals(ends[1]);
	}
	close(ends[1]);
	counter.pipe = ends[0];

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		take_batch(&counter, batch);

		DWELL_ZONE("learn");
		for (int round = 0; round < 24; round++)
			for (int b = 0; b < BATCH; b++) {
				float sums[FACTORS];
				const float chance = predict(&batch[b], sums);

				correct(&batch[b], sums, chance - batch[b].missed);
				total += (double)chance;
			}
		watch.steps++;
	}
	watch_tell(&watch);
	close(ends[0]);
	kill(opener, SIGTERM);
	waitpid(opener, NULL, 0);
	printf("sum of chances %.1f\n", total);
	return 0;
}
