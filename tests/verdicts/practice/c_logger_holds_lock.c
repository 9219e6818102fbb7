/*
 * A speech filter in C that hands its log lines to a thread.
 *
 * Planted: the thread holds the queue's lock while it writes the lines to the disk.
 * Truth: time that the loop waits for the lock, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 6, TAPS = 64, SAMPLES = 16000, LINES = 64 };

static float sound[SAMPLES + TAPS], wanted[SAMPLES], taps[TAPS];
static char lines[LINES][80];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ended;

static void *write_lines(void *file)
{
	while (!atomic_load(&ended)) {
		pthread_mutex_lock(&lock);
		fprintf(file, "%d lines\n", count);
		for (int line = 0; line < count; line++)
			fputs(lines[line], file);
		fflush(file);
		fdatasync(fileno(file));
		usleep(1500); /* The disk is far away. */
		count = 0;
		pthread_mutex_unlock(&lock);
		usleep(4000);
	}
	return NULL;
}

static void say(struct watch *watch, int block, float error)
{
	DWELL_ZONE("log");
	planted_begin(watch);
	pthread_mutex_lock(&lock);
	planted_end(watch);
	if (count < LINES)
		snprintf(lines[count++], sizeof(lines[0]), "step %d block %d error %.3g\n", watch->steps,
		         block, (double)error);
	pthread_mutex_unlock(&lock);
}

static float adapt(int block)
{
	DWELL_ZONE("adapt");
	float all = 0;

	for (int at = block % 2; at < SAMPLES; at++) {
		float error = -wanted[at];

		for (int tap = 0; tap < TAPS; tap++)
			error += taps[tap] * sound[at + tap];
		for (int tap = 0; tap < TAPS; tap++)
			taps[tap] -= 1e-5f * error * sound[at + tap];
		all += error * error;
	}
	return all;
}

int main(void)
{
	FILE *file = fopen("filter.log", "w");
	struct watch watch;
	pthread_t thread;

	if (!file)
		return 1;
	for (int at = 0; at < SAMPLES; at++)
		sound[at] = wanted[at] = (float)(at * 37 % 101) / 101;
	pthread_create(&thread, NULL, write_lines, file);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int block = 0; block < 4; block++)
			say(&watch, block, adapt(block));
	}
	watch_tell(&watch);
	atomic_store(&ended, 1);
	pthread_join(thread, NULL);
	fclose(file);
	return 0;
}
