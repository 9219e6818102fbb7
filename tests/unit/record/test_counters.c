/*
 * The processor's counters of threads with steps. Many machines offer none to programs, so counters
 * of the kernel stand in for them: CPU time in ns for cycles, page faults for instructions, and
 * those without input for cache misses. Where the kernel permits no counters at all, as in some containers,
 * only that nothing is recorded can be tested.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/system.h"
#include "dwell/dwell.h"
#include "session.h"

static int refusal; /* the errno of the kernel's refusal, or 0 */

static long stand_in(long number, long a, long b, long c, long d, long e, long f)
{
	static const uint64_t software[] = { [0] = 1, [1] = 2, [3] = 5 };

	if (number == SYS_perf_event_open) {
		uint32_t *type = (uint32_t *)a;
		uint64_t *config = (uint64_t *)a + 1;

		if (refusal)
			return -refusal;
		*type = 1;
		*config = software[*config];
	}
	return dw_system(number, a, b, c, d, e, f);
}

#define dw_system stand_in
#include "record/counters.c"
#include "record/usage.c"
#undef dw_system

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void compute(uint64_t ns)
{
	uint64_t from = cpu_ns();

	while (cpu_ns() - from < ns)
		;
}

static void touch(size_t pages)
{
	char *memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	madvise(memory, pages * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)memory)[i * 4096] = 1;
	munmap(memory, pages * 4096);
}

/* Adds up the USAGE entries of the session's file that have counters. Returns how many there are. */
static unsigned read_counters(struct dw_entry_usage *sum, unsigned *without)
{
	static char block[DW_BLOCK_BYTES];
	FILE *file = fopen(session_path, "rb");
	unsigned count = 0;

	*sum = (struct dw_entry_usage){ .delay_ns = 0 };
	*without = 0;
	while (file && fread(block, sizeof block, 1, file) == 1) {
		const struct dw_chunk *chunk = (const struct dw_chunk *)(const void *)block;

		if (chunk->magic != DW_CHUNK_MAGIC || chunk->type != DW_CHUNK_JOURNAL)
			continue;
		for (size_t at = sizeof *chunk; at + sizeof(struct dw_entry) < sizeof block;) {
			struct dw_entry_usage entry = { .cycles = 0 };

			memcpy(&entry.entry, block + at, sizeof entry.entry);
			if (!entry.entry.bytes)
				break;
			if (entry.entry.tag == DW_ENTRY_TAG(DW_ENTRY_USAGE)) {
				bool known = entry.entry.aux & DW_USAGE_COUNTERS;

				memcpy(&entry, block + at, entry.entry.bytes);
				CHECK_EQ(entry.entry.bytes,
				         known ? sizeof entry : offsetof(struct dw_entry_usage, cycles));
				sum->cycles += entry.cycles;
				sum->instructions += entry.instructions;
				sum->cache_misses += entry.cache_misses;
				count += known;
				*without += !known;
			}
			at += entry.entry.bytes;
		}
	}
	if (file)
		fclose(file);
	return count;
}

static bool permitted(void)
{
	struct dw_counters counters = { { 0 }, { 0 }, false };
	bool yes;

	refusal = 0;
	yes = dw_counters_open(&counters) == 0;
	dw_counters_close(&counters);
	if (!yes)
		puts("the kernel permits no counters: not tested");
	return yes;
}

static bool begin(bool wanted, int refuse)
{
	refusal = refuse;
	if (!session_begin(0))
		return false;
	if (wanted)
		__atomic_fetch_or(&dw_session.map->flags, DW_HEAD_COUNTERS, __ATOMIC_RELEASE);
	return true;
}

#define LONG_NS 60000000u /* a reading is due after it even where a reading is slow */

static void four_steps(uint64_t ns)
{
	dwell_step_begin();
	for (int i = 0; i < 4; i++) {
		compute(ns);
		touch(100);
		usleep(1000);
		dwell_step();
	}
	dwell_step_end();
}

TEST(counts_are_those_of_the_thread)
{
	struct dw_entry_usage sum;
	unsigned without;

	if (!permitted())
		return;
	REQUIRE(begin(true, 0));
	four_steps(LONG_NS);
	CHECK_RANGE(read_counters(&sum, &without), 1, 5);
	session_end();
	CHECK_RANGE(sum.cycles, LONG_NS, 1000000000);
	CHECK_RANGE(sum.instructions, 300, 20000); /* a sanitizer's own memory has faults too */
	CHECK_RANGE(sum.cache_misses, 300, sum.instructions);
}

TEST(nothing_is_counted_unless_it_is_wanted_and_permitted)
{
	static const struct { bool wanted; int refusal; } cases[] = { { false, 0 }, { true, EACCES }, { true, ENOENT } };

	for (size_t i = 0; i < 3; i++) {
		struct dw_entry_usage sum;
		unsigned without;

		REQUIRE(begin(cases[i].wanted, cases[i].refusal));
		four_steps(LONG_NS);
		CHECK_EQ(read_counters(&sum, &without), 0);
		CHECK(without >= 1);
		session_end();
	}
}

/* The program closes what it does not know, and a file of its own gets the number of a counter. */
TEST(the_programs_files_are_not_read)
{
	char path[] = "/tmp/dwell-counters-XXXXXX";
	int file = mkstemp(path), highest = 0;
	struct dw_entry_usage sum;
	unsigned without;

	if (!permitted())
		return;
	REQUIRE(file >= 0 && write(file, "0123456789", 10) == 10 && unlink(path) == 0);
	REQUIRE(begin(true, 0));
	dwell_step_begin();
	compute(LONG_NS);
	dwell_step();
	for (int fd = 3; fd < 200; fd++) {
		char name[40], target[40] = "";

		snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		if (readlink(name, target, sizeof target - 1) > 0 && strstr(target, "perf_event")) {
			CHECK(dup2(file, fd) == fd);
			highest = fd;
		}
	}
	CHECK(highest > 0);
	lseek(file, 0, SEEK_SET);
	four_steps(LONG_NS);
	CHECK_EQ(lseek(file, 0, SEEK_CUR), 0);
	CHECK_RANGE(read_counters(&sum, &without), 0, 1);
	CHECK(without >= 1);
	session_end();
	CHECK(fcntl(highest, F_GETFD) >= 0);
	close(file);
}

static void *stepping_thread(void *context)
{
	(void)context;
	four_steps(15000000);
	return NULL;
}

TEST(counters_do_not_pile_up)
{
	int before = 0, after;

	if (!permitted())
		return;
	REQUIRE(begin(true, 0));
	for (int i = 0; i < 12; i++) {
		pthread_t thread;

		if (i == 4)
			before = dup(0);
		REQUIRE(pthread_create(&thread, NULL, stepping_thread, NULL) == 0);
		pthread_join(thread, NULL);
	}
	after = dup(0);
	CHECK(after - before <= 4);
	close(after);
	close(before);
	session_end();
}

TEST(a_child_process_counts_for_itself)
{
	struct dw_entry_usage sum;
	unsigned without;
	pid_t child;

	if (!permitted())
		return;
	REQUIRE(begin(true, 0));
	dwell_step_begin();
	compute(LONG_NS);
	dwell_step();
	child = fork();
	if (child == 0) {
		four_steps(LONG_NS);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	dwell_step_end();
	CHECK_RANGE(read_counters(&sum, &without), 2, 7);
	session_end();
	CHECK_RANGE(sum.cycles, 2 * LONG_NS, 1400000000);
}

CHECK_MAIN
