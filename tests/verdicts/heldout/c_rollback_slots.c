/*
 * Tunes the opponents of a racing game. A save that a player could go back to is made each tenth step.
 *
 * Planted: nothing. A save is a copy of all weights into a mapped file and a call of msync(), which does not wait.
 * Truth: time of saving, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DRIVERS 40
#define SENSORS 32
#define UNITS 48
#define SLOTS 3

struct driver {
	float eyes[UNITS][SENSORS], hands[2][UNITS];
};

static struct driver drivers[DRIVERS], (*slots)[DRIVERS];

static float drive(struct driver *driver, int lap)
{
	DWELL_PHASE("forward");
	float place = 0, speed = 0, reward = 0;

	for (int tick = 0; tick < 40; tick++) {
		float hands[2] = { 0, 0 };

		for (int u = 0; u < UNITS; u++) {
			float sum = 0;

			for (int s = 0; s < SENSORS; s++)
				sum += driver->eyes[u][s] * (s % 2 ? speed : place * (float)(s + lap % 5) / SENSORS);
			sum = sum > 0 ? sum : 0;
			hands[0] += driver->hands[0][u] * sum;
			hands[1] += driver->hands[1][u] * sum;
		}
		speed = 0.95f * speed + 0.1f * tanhf(hands[0]);
		place = fmodf(place + speed, 1.0f);
		reward += speed - fabsf(tanhf(hands[1]));
	}
	return reward;
}

static void nudge(struct driver *driver, float reward, int lap)
{
	DWELL_PHASE("optimizer");
	for (int u = 0; u < UNITS; u++)
		for (int s = 0; s < SENSORS; s++)
			driver->eyes[u][s] += 1e-5f * reward * (float)((u * 31 + s * 17 + lap) % 21 - 10);
}

static void save(int slot)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save slot");
	memcpy(slots[slot], drivers, sizeof drivers);
	msync(slots[slot], sizeof drivers, MS_ASYNC);
}

int main(void)
{
	char name[] = "slots-XXXXXX";
	int file = mkstemp(name);
	struct watch watch;

	unlink(name);
	if (ftruncate(file, sizeof drivers * SLOTS))
		return 1;
	slots = mmap(NULL, sizeof drivers * SLOTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
	if (slots == MAP_FAILED)
		return 1;
	for (int d = 0; d < DRIVERS; d++)
		for (int u = 0; u < UNITS; u++) {
			drivers[d].hands[0][u] = drivers[d].hands[1][u] = (float)(rand() % 100 - 45) / 1000;
			for (int s = 0; s < SENSORS; s++)
				drivers[d].eyes[u][s] = (float)(rand() % 100 - 50) / 500;
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int d = 0; d < DRIVERS; d++)
			for (int lap = 0; lap < 3; lap++)
				nudge(&drivers[d], drive(&drivers[d], watch.steps + lap), watch.steps + lap);
		planted_begin(&watch);
		if (watch.steps % 10 == 9)
			save(watch.steps / 10 % SLOTS);
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
