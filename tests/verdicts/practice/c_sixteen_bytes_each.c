/*
 * Learns to rank from a file of records in C; a record has 16 bytes.
 *
 * Planted: the loop reads each record with a system call of its own.
 * Truth: time of reading, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 6, RECORDS = 60000, BATCH = 12000, HIDDEN = 320 };

struct record {
	float place, age, clicks, price;
};

static struct record batch[BATCH];
static float inner[HIDDEN][4], outer[HIDDEN];

static void read_batch(int fd, int step)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "records");
	for (int at = 0; at < BATCH; at++) {
		off_t number = (at * 7919L + step) % RECORDS;

		if (pread(fd, &batch[at], sizeof(batch[at]), number * (off_t)sizeof(batch[at])) < 0)
			exit(1);
	}
}

static void train(void)
{
	DWELL_ZONE("train");
	for (int at = 0; at < BATCH; at++) {
		const struct record *one = &batch[at];
		float units[HIDDEN], score = 0, error;

		for (int unit = 0; unit < HIDDEN; unit++) {
			float sum = inner[unit][0] * one->place + inner[unit][1] * one->age +
			            inner[unit][2] * one->clicks + inner[unit][3] * one->price;

			units[unit] = sum > 0 ? sum : 0.1f * sum;
			score += units[unit] * outer[unit];
		}
		error = score - one->clicks;
		for (int unit = 0; unit < HIDDEN; unit++) {
			float slope = error * outer[unit] * (units[unit] > 0 ? 1 : 0.1f);

			outer[unit] -= 1e-6f * error * units[unit];
			inner[unit][0] -= 1e-6f * slope * one->place;
			inner[unit][1] -= 1e-6f * slope * one->age;
			inner[unit][2] -= 1e-6f * slope * one->clicks;
			inner[unit][3] -= 1e-6f * slope * one->price;
		}
	}
}

int main(void)
{
	char path[] = "./records-XXXXXX";
	int fd = mkstemp(path);
	struct watch watch;

	if (fd < 0)
		return 1;
	unlink(path);
	for (int at = 0; at < RECORDS; at++) {
		struct record one = { (float)(at % 10) / 10, (float)(at % 90) / 90, (float)(at % 3),
		                      (float)(at % 17) / 17 };

		if (write(fd, &one, sizeof(one)) < 0)
			return 1;
	}
	for (int unit = 0; unit < HIDDEN; unit++)
		inner[unit][unit % 4] = outer[unit] = (float)(unit % 9 - 4) / 100;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		read_batch(fd, watch.steps);
		planted_end(&watch);
		train();
	}
	watch_tell(&watch);
	return 0;
}
