/*
 * A loop with a part under a name of its own, for named_test.py:
 *
 *     named CASE STEPS
 *
 * A step computes for about 3 ms in "forward", and is twice as long in "metrics", where the program does what CASE
 * says. A case with "-team" has a second thread that spins all the time, as a team of OpenMP does while it waits.
 *
 *     fsync     writes a line and waits for the disk
 *     compute   computes
 *     sleep     sleeps for 2 ms at a time
 *     short     sleeps for 20 us at a time
 *     lock      waits for a lock whose owner sleeps
 *     socket    waits for the answer of another process
 *     faults    touches new memory
 *     names     100 ranges in each step, with one of 10,000 names each, and no "metrics"
 */
#include <dwell/probe.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 10000, OF_A_STEP = 100 };
#define STEP_MS 3.0

static const char *what;
static volatile double sink;
static volatile int stops;
static int log_fd = -1, answers[2] = { -1, -1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t names[NAMES];

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void doze(double ms)
{
	struct timespec time = { 0, (long)(ms * 1e6) };

	nanosleep(&time, NULL);
}

static void compute_until(double end_ms)
{
	while (now_ms() < end_ms)
		for (int i = 0; i < 1000; i++)
			sink = sink * 0.5 + i;
}

static int begins(const char *with)
{
	return strncmp(what, with, strlen(with)) == 0;
}

static void *spin(void *unused)
{
	while (!stops)
		sink = sink + 1;
	return unused;
}

/* Holds the lock for nearly all of the time, and sleeps meanwhile. */
static void *hold(void *unused)
{
	while (!stops) {
		pthread_mutex_lock(&lock);
		doze(2);
		pthread_mutex_unlock(&lock);
		doze(0.1);
	}
	return unused;
}

static void touch(void)
{
	size_t size = 1 << 20;
	char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if ((void *)block == MAP_FAILED)
		exit(1);
	madvise(block, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		block[i] = 1;
	munmap(block, size);
}

static void do_part(double end_ms)
{
	char byte = 'x';

	if (begins("compute"))
		compute_until(end_ms);
	while (now_ms() < end_ms)
		if (begins("fsync")) {
			if (write(log_fd, "loss 0.123\n", 11) < 0)
				exit(1);
			fsync(log_fd);
		} else if (begins("sleep") || begins("short")) {
			doze(begins("sleep") ? 2 : 0.02);
		} else if (begins("lock")) {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		} else if (begins("socket")) {
			if (write(answers[0], &byte, 1) != 1 || read(answers[0], &byte, 1) != 1)
				exit(1);
		} else {
			touch();
		}
}

static void do_step(int step)
{
	double begin = now_ms();
	DWELL_STEP();

	{
		DWELL_PHASE("forward");
		DWELL_OP("linear");
		compute_until(begin + STEP_MS);
	}
	if (begins("names")) {
		for (int i = 0; i < OF_A_STEP; i++) {
			DWELL_SCOPE_ID(DWELL_CATEGORY_ZONE, names[(step * OF_A_STEP + i) % NAMES]);
			compute_until(now_ms() + 0.05);
		}
		return;
	}
	{
		DWELL_ZONE("metrics"); /* named_test.py looks for this line */
		do_part(now_ms() + 2 * (now_ms() - begin));
	}
}

/* Another process that answers after 1 ms. */
static pid_t answer(void)
{
	pid_t child;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, answers))
		exit(1);
	child = fork();
	if (child)
		return child;
	close(answers[0]);
	while (read(answers[1], &byte, 1) == 1) {
		doze(1);
		if (write(answers[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t team, owner;
	char path[] = "named-XXXXXX", name[32];
	pid_t child = 0;

	if (argc != 3)
		return 2;
	what = argv[1];
	log_fd = mkstemp(path);
	unlink(path);
	if (begins("socket"))
		child = answer();
	for (int i = 0; begins("names") && i < NAMES; i++) {
		snprintf(name, sizeof name, "part %d", i);
		names[i] = dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
	}
	if ((strstr(what, "-team") && pthread_create(&team, NULL, spin, NULL)) ||
	    (begins("lock") && pthread_create(&owner, NULL, hold, NULL)))
		return 1;
	for (int step = 0; step < atoi(argv[2]); step++)
		do_step(step);
	stops = 1;
	if (strstr(what, "-team"))
		pthread_join(team, NULL);
	if (begins("lock"))
		pthread_join(owner, NULL);
	close(answers[0]);
	if (child)
		waitpid(child, NULL, 0);
	return 0;
}
