/*
 * Rates positions of draughts with a network whose first layer adds columns of the pieces on the board, and trains it on the results of
 * a fixed set of games.
 *
 * Decoy: a scribe's thread naps and looks at a queue under a lock, a table of positions has a lock for each entry, lists of moves are
 * allocated for each position, a line is flushed in each step and the weights are written in each fiftieth, all of a moment.
 * Truth: time of locks, lists, lines and writing, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SQUARES = 50, KINDS = 4, FIRST = 384, SECOND = 48, POSITIONS = 4096, BATCH = 96, SLOTS = 1024 };

struct position {
	unsigned char piece[SQUARES]; /* 0..3, 4: none */
	float result;
};

struct slot {
	pthread_mutex_t lock;
	unsigned long key;
	float value;
};

static struct position positions[POSITIONS];
static float columns[SQUARES * KINDS][FIRST], middle[SECOND][FIRST], last[SECOND];
static struct slot table[SLOTS];
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static float queue[16];
static atomic_int done;
static struct watch watch;

static void *scribe(void *argument)
{
	float *seen = argument;

	while (!atomic_load(&done)) {
		usleep(15000);
		pthread_mutex_lock(&queue_lock);
		memcpy(seen, queue, sizeof queue);
		pthread_mutex_unlock(&queue_lock);
	}
	return NULL;
}

static void note(const struct position *position, float value)
{
	unsigned long key = 5381;

	for (int s = 0; s < SQUARES; s += 3)
		key = key * 33 + position->piece[s];
	struct slot *slot = &table[key % SLOTS];

	pthread_mutex_lock(&slot->lock);
	slot->key = key;
	slot->value = value;
	pthread_mutex_unlock(&slot->lock);
}

static int moves_of(const struct position *position)
{
	int *list = malloc(SQUARES * sizeof *list), count = 0;

	for (int s = 0; s + 5 < SQUARES; s++)
		if (position->piece[s] < KINDS && position->piece[s + 5] == KINDS)
			list[count++] = s;
	if (count)
		count = list[count - 1] % 7 + count;
	free(list);
	return count;
}

static float rate(const struct position *position, float *one, float *two)
{
	float sum = 0;

	memset(one, 0, FIRST * sizeof *one);
	for (int s = 0; s < SQUARES; s++) {
		if (position->piece[s] == KINDS)
			continue;
		const float *column = columns[s * KINDS + position->piece[s]];

		for (int f = 0; f < FIRST; f++)
			one[f] += column[f];
	}
	for (int f = 0; f < FIRST; f++)
		one[f] = one[f] > 0 ? one[f] : 0.05f * one[f];
	for (int m = 0; m < SECOND; m++) {
		two[m] = 0;
		for (int f = 0; f < FIRST; f++)
			two[m] += middle[m][f] * one[f];
		sum += last[m] * tanhf(two[m]);
	}
	return tanhf(sum);
}

static void correct(const struct position *position, const float *one, const float *two, float by)
{
	static float back[FIRST];

	memset(back, 0, sizeof back);
	for (int m = 0; m < SECOND; m++) {
		const float t = tanhf(two[m]), d = by * last[m] * (1 - t * t);

		last[m] -= by * t;
		for (int f = 0; f < FIRST; f++) {
			back[f] += d * middle[m][f];
			middle[m][f] -= d * one[f];
		}
	}
	for (int s = 0; s < SQUARES; s++)
		if (position->piece[s] < KINDS)
			for (int f = 0; f < FIRST; f++)
				columns[s * KINDS + position->piece[s]][f] -= back[f];
}

int main(void)
{
	static float seen[16];
	float one[FIRST], two[SECOND], error = 0;
	long moves = 0;
	pthread_t thread;
	FILE *log = fopen("/dev/null", "w"), *weights = tmpfile();

	srand(3);
	for (int p = 0; p < POSITIONS; p++) {
		memset(positions[p].piece, KINDS, SQUARES);
		for (int s = 0; s < 24; s++) /* as many pieces on each board */
			positions[p].piece[(s * 2 + rand() % 2) % SQUARES] = (unsigned char)(rand() % KINDS);
		positions[p].result = (float)(p % 3 - 1) * 0.8f;
	}
	for (int c = 0; c < SQUARES * KINDS; c++)
		for (int f = 0; f < FIRST; f++)
			columns[c][f] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int m = 0; m < SECOND; m++) {
		last[m] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
		for (int f = 0; f < FIRST; f++)
			middle[m][f] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	}
	for (int s = 0; s < SLOTS; s++)
		pthread_mutex_init(&table[s].lock, NULL);
	pthread_create(&thread, NULL, scribe, seen);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		float errors = 0;

		for (int b = 0; b < BATCH; b++) {
			const struct position *position = &positions[(watch.steps * BATCH + b) % POSITIONS];
			float value;

			{
				DWELL_ZONE("rate");
				value = rate(position, one, two);
			}
			{
				DWELL_ZONE("correct");
				correct(position, one, two, 2e-4f * (value - position->result));
			}
			errors += fabsf(value - position->result);
			planted_begin(&watch);
			moves += moves_of(position);
			note(position, value);
			planted_end(&watch);
		}
		error = errors / BATCH;
		planted_begin(&watch);
		pthread_mutex_lock(&queue_lock);
		queue[watch.steps % 16] = error;
		pthread_mutex_unlock(&queue_lock);
		fprintf(log, "%d %.4f\n", watch.steps, (double)error);
		fflush(log);
		if (watch.steps % 50 == 49) {
			DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
			rewind(weights);
			fwrite(middle, sizeof middle, 1, weights);
			fflush(weights);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	atomic_store(&done, 1);
	pthread_join(thread, NULL);
	printf("error %.4f, %.1f moves, seen %.3f\n", (double)error, (double)moves / watch.steps / BATCH, (double)seen[0]);
	return 0;
}
