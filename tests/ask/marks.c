/*
 * A loop that may mark its steps, for marks_test.py:
 *
 *     marks CASE MARKED
 *
 * A step computes for about half a millisecond and then does for 6 ms, and 8 times, what CASE says. MARKED: 1, with DWELL_STEP(); 0, without.
 *
 *     sleep     sleeps
 *     disk      writes a line and waits for the disk
 *     lock      waits for a lock whose owner sleeps
 *     child     waits for a process
 *     text      makes text
 *     memory    allocates and frees small blocks
 *     faults    touches new memory
 */
#include <dwell/probe.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 80, LEAST = 8, BLOCKS = 512, PAGES = 64 << 12 };

static volatile double sink;
static volatile int stops;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;

static double now_ms(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static void doze(double ms)
{
	struct timespec time = { 0, (long)(ms * 1e6) };

	nanosleep(&time, NULL);
}

static void *hold(void *unused)
{
	while (!stops) {
		pthread_mutex_lock(&lock);
		doze(3);
		pthread_mutex_unlock(&lock);
		doze(0.05);
	}
	return unused;
}

static void compute(void)
{
	for (int i = 0; i < 250000; i++)
		sink += (double)i * 1e-9;
}

static void wait_for_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		doze(5);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void make_text(void)
{
	char line[80];

	for (int i = 0; i < 2000; i++)
		sink += snprintf(line, sizeof line, "%d %f", i, (double)i / 7);
}

static void *blocks[BLOCKS];

static void make_blocks(void)
{
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < BLOCKS; i++)
			blocks[i] = malloc((size_t)(16 + (i * 37 + round) % 900));
		for (int i = 0; i < BLOCKS; i++)
			free(blocks[(i * 5) % BLOCKS]), blocks[(i * 5) % BLOCKS] = NULL;
	}
}

static void touch(void)
{
	char *memory = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	for (size_t at = 0; at < PAGES; at += 4096)
		memory[at] = 1;
	munmap(memory, PAGES);
}

static void do_case(const char *what)
{
	if (strcmp(what, "sleep") == 0)
		doze(2);
	else if (strcmp(what, "disk") == 0) {
		if (write(log_fd, "line\n", 5) != 5)
			exit(1);
		fsync(log_fd);
	} else if (strcmp(what, "lock") == 0) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	} else if (strcmp(what, "child") == 0)
		wait_for_child();
	else if (strcmp(what, "text") == 0)
		make_text();
	else if (strcmp(what, "memory") == 0)
		make_blocks();
	else
		touch();
}

static void do_part(const char *what)
{
	double end;

	compute();
	end = now_ms() + 6;
	for (int i = 0; i < LEAST || now_ms() < end; i++) /* beside other programs, most of that time may be theirs */
		do_case(what);
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	pthread_t owner;

	log_fd = open("marks.log", O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (log_fd < 0)
		return 1;
	if (strcmp(what, "lock") == 0)
		pthread_create(&owner, NULL, hold, NULL);
	for (int i = 0; i < STEPS; i++) {
		if (count > 2 && *words[2] == '1') {
			DWELL_STEP();
			do_part(what);
		} else {
			do_part(what);
		}
	}
	stops = 1;
	if (strcmp(what, "lock") == 0)
		pthread_join(owner, NULL);
	close(log_fd);
	return 0;
}
