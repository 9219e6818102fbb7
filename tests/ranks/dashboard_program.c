/* A rank for dashboard_test.py, which has each part of a step, memory and a collective until the folder has the file "end". */
#include <dwell/probe.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define REST(kind, name, ms) \
	do { \
		DWELL_SCOPE(DWELL_CATEGORY_##kind, name); \
		rest(ms); \
	} while (0)

static void rest(long ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

static void run_step(uint32_t group, uint64_t number, long slower_ms)
{
	DWELL_STEP();
	REST(DATA, "next batch", 3 + slower_ms);
	REST(PHASE, "forward", 4);
	REST(DEVICE, "synchronize", 3);
	REST(PROFILER, "own work", 1);
	{
		DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "all_reduce");
		dwell_collective(group, number, 4096);
		rest(5);
	}
	rest(3);
}

/* usage: dashboard_program MS: how much longer its data takes in each step */
int main(int count, char **words)
{
	const long slower_ms = count > 1 ? atol(words[1]) : 0;
	const uint32_t group = dwell_intern_group("world");
	void *memory = malloc(1 << 20);

	DWELL_ALLOC("parameter", "cpu", memory, 1 << 20);
	for (uint64_t number = 1; access("end", F_OK) != 0; number++) {
		run_step(group, number, slower_ms);
		rest(2);
	}
	DWELL_FREE(memory);
	free(memory);
	return 0;
}
