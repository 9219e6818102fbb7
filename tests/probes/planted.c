/*
 * A training loop in C without a probe, whose step takes twice as long as necessary, for one of many causes.
 *
 * usage: planted CASE       executes it
 *        planted            prints "CASE FUNCTION" for each: the function in which the excess is
 *
 * All steps do the same work in four functions, a fifth each, and the planted one in excess of it. tests/probes/planted_test.py
 * asks whether the report of dwell names the function.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/* The call before it is no jump, after which no stack contains the function. */
#define NO_JUMP __asm__ volatile("" : : : "memory")
#define STEPS 60
#define BASE_NS 2000000     /* of each of the four functions */
#define EXCESS_NS 8000000   /* of the planted one */
#define COUNT 4096

static float weights[COUNT], gradients[COUNT], batch[COUNT];
static volatile double sink;
static volatile int stop;

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whether the thread has used so much CPU since it asked first. Asked seldom, so that the clock costs little. */
static int is_done(int64_t *end, int64_t ns)
{
	int64_t now = now_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!*end)
		*end = now + ns;
	return now >= *end;
}
#define WORK(ns) for (int64_t end = 0; !is_done(&end, ns);)

/* ---- the work of all steps ---------------------------------------------------------------------- */

static NOINLINE void load_batch(int step)
{
	WORK(BASE_NS)
		for (int i = 0; i < COUNT; i++)
			batch[i] = (float)((i * 7 + step) % 255) / 255;
}

static NOINLINE void forward_pass(void)
{
	WORK(BASE_NS)
		for (int i = 0; i < COUNT; i++)
			sink += batch[i] * weights[i];
}

static NOINLINE void backward_pass(void)
{
	WORK(BASE_NS)
		for (int i = 0; i < COUNT; i++)
			gradients[i] = batch[i] * (float)(sink > 0 ? 1 : -1);
}

static NOINLINE void update_weights(void)
{
	WORK(BASE_NS)
		for (int i = 0; i < COUNT; i++)
			weights[i] -= gradients[i] * 1e-4f;
}

/* ---- functions ----------------------------------------------------------------------------------- */

static NOINLINE void find_rows(void)
{
	static int table[20000];

	WORK(EXCESS_NS)
		for (int i = 0; i < 20000 && table[i] != 1; i++)
			table[i] = 2;
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static NOINLINE void sort_batch(void)
{
	WORK(EXCESS_NS) {
		float copy[500];

		memcpy(copy, batch, sizeof copy);
		qsort(copy, 500, sizeof *copy, compare_floats);
	}
}

static NOINLINE void parse_numbers(void)
{
	WORK(EXCESS_NS)
		for (int i = 0; i < 100; i++)
			sink += strtod("3.14159265358979", NULL);
}

static NOINLINE void sum_columns(void)
{
	static float matrix[512][512];

	WORK(EXCESS_NS)
		for (int column = 0; column < 8; column++)
			for (int row = 0; row < 512; row++)
				sink += matrix[row][column];
}

static NOINLINE unsigned count_ways(unsigned n)
{
	return n < 2 ? 1 : count_ways(n - 1) + count_ways(n - 2) + (unsigned)(sink < -1e300);
}

static NOINLINE void ways(void)
{
	WORK(EXCESS_NS)
		sink += count_ways(16);
}

static NOINLINE void apply_window(float *at, int count)
{
	for (int i = 0; i < count; i++)
		at[i] = at[i] * 0.99f + 0.01f;
}

static NOINLINE void call_back(void)
{
	void (*volatile function)(float *, int) = apply_window;

	WORK(EXCESS_NS)
		function(batch, COUNT);
}

static inline __attribute__((always_inline)) double distance(const float *a, const float *b)
{
	double sum = 0;

	for (int i = 0; i < COUNT; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

static NOINLINE void compare_batches(void)
{
	WORK(EXCESS_NS)
		sink += distance(batch, weights);
}

static NOINLINE void activate(void)
{
	WORK(EXCESS_NS)
		for (int i = 0; i < 200; i++)
			sink += exp(batch[i]) + tanh(weights[i]);
}

/* ---- memory -------------------------------------------------------------------------------------- */

static NOINLINE void build_list(void)
{
	void *blocks[200];

	WORK(EXCESS_NS) {
		for (int i = 0; i < 200; i++)
			blocks[i] = malloc((size_t)(i * 37 % 3000 + 16));
		for (int i = 0; i < 200; i++)
			free(blocks[i]);
	}
}

static NOINLINE void copy_batch(void)
{
	static char from[1 << 20], to[1 << 20];

	WORK(EXCESS_NS) {
		memcpy(to, from, sizeof to);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
}

static NOINLINE void clear_workspace(void)
{
	static char space[1 << 20];

	WORK(EXCESS_NS) {
		memset(space, 0, sizeof space);
		__asm__ volatile("" : : "r"(space) : "memory");
	}
}

static NOINLINE void fresh_buffer(void)
{
	WORK(EXCESS_NS) {
		char *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int i = 0; i < 1 << 20; i += 4096)
			at[i] = 1;
		munmap(at, 1 << 20);
	}
}

static NOINLINE void append_rows(void)
{
	WORK(EXCESS_NS) {
		char *rows = NULL;

		for (size_t bytes = 64; bytes < 1 << 21; bytes += bytes / 2) {
			rows = realloc(rows, bytes);
			memset(rows + bytes / 2, 1, bytes / 2);
		}
		free(rows);
	}
}

static NOINLINE void format_rows(void)
{
	char line[200];

	WORK(EXCESS_NS)
		for (int i = 0; i < 50; i++)
			snprintf(line, sizeof line, "%d %.6f %s %g", i, sink, "row", sink * i);
}

/* ---- waits ---------------------------------------------------------------------------------------- */

static NOINLINE void sleep_once(void)
{
	usleep(EXCESS_NS / 1000);
	NO_JUMP;
}

static NOINLINE void poll_ready(void)
{
	const struct timespec pause = { 0, 500000 };

	for (int64_t end = now_ns(CLOCK_MONOTONIC) + EXCESS_NS; now_ns(CLOCK_MONOTONIC) < end;)
		nanosleep(&pause, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, table_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static sem_t asked, answered;
static volatile int wanted, ready;
static int ends[2];

/* The other thread: waits until it is asked, holds what it holds for as long as the excess, and answers. */
static void *other_thread(void *argument)
{
	const char *name = argument;

	while (sem_wait(&asked) == 0 && !stop) {
		if (strcmp(name, "lock") == 0 || strcmp(name, "trylock") == 0)
			pthread_mutex_lock(&mutex);
		if (strcmp(name, "rwlock") == 0)
			pthread_rwlock_wrlock(&rwlock);
		if (strcmp(name, "spinlock") == 0)
			pthread_spin_lock(&spinlock);
		wanted = 1;
		usleep(EXCESS_NS / 1000);
		if (strcmp(name, "lock") == 0 || strcmp(name, "trylock") == 0)
			pthread_mutex_unlock(&mutex);
		if (strcmp(name, "rwlock") == 0)
			pthread_rwlock_unlock(&rwlock);
		if (strcmp(name, "spinlock") == 0)
			pthread_spin_unlock(&spinlock);
		if (strcmp(name, "condition") == 0) {
			pthread_mutex_lock(&table_mutex);
			ready = 1;
			pthread_cond_signal(&condition);
			pthread_mutex_unlock(&table_mutex);
		}
		if (strcmp(name, "barrier") == 0)
			pthread_barrier_wait(&barrier);
		if (strcmp(name, "pipe") == 0 || strcmp(name, "socket") == 0)
			(void)!write(ends[1], "x", 1);
		ready = 1;
		sem_post(&answered);
	}
	return NULL;
}

/* Asks the other thread, and lets it come to what it holds. */
static void ask_other(int holds)
{
	wanted = ready = 0;
	sem_post(&asked);
	while (holds && !wanted)
		usleep(50);
}

static NOINLINE void take_lock(void)
{
	ask_other(1);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	sem_wait(&answered);
}

static NOINLINE void read_settings(void)
{
	ask_other(1);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	sem_wait(&answered);
}

static NOINLINE void wait_for_result(void)
{
	ask_other(0);
	pthread_mutex_lock(&table_mutex);
	while (!ready)
		pthread_cond_wait(&condition, &table_mutex);
	pthread_mutex_unlock(&table_mutex);
	sem_wait(&answered);
}

static NOINLINE void take_slot(void)
{
	ask_other(0);
	sem_wait(&answered);
	NO_JUMP;
}

static void *sleeping_helper(void *argument)
{
	usleep(EXCESS_NS / 1000);
	return argument;
}

static NOINLINE void join_helper(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleeping_helper, NULL);
	pthread_join(thread, NULL);
}

static NOINLINE void meet_other(void)
{
	ask_other(0);
	pthread_barrier_wait(&barrier);
	sem_wait(&answered);
}

static NOINLINE void read_reply(void)
{
	char byte;

	ask_other(0);
	(void)!read(ends[0], &byte, 1);
	sem_wait(&answered);
}

static NOINLINE void await_socket(void)
{
	struct pollfd socket = { ends[0], POLLIN, 0 };
	char byte;

	ask_other(0);
	poll(&socket, 1, 1000);
	(void)!recv(ends[0], &byte, 1, 0);
	sem_wait(&answered);
}

static NOINLINE void save_state(void)
{
	static char block[1 << 16];
	int fd = open("planted.tmp", O_CREAT | O_WRONLY | O_TRUNC, 0600);

	for (int64_t end = now_ns(CLOCK_MONOTONIC) + EXCESS_NS; now_ns(CLOCK_MONOTONIC) < end;) {
		(void)!write(fd, block, sizeof block);
		fsync(fd);
	}
	close(fd);
}

/* ---- spins ---------------------------------------------------------------------------------------- */

static NOINLINE void spin_until_ready(void)
{
	ask_other(0);
	while (!ready)
		;
	sem_wait(&answered);
}

static NOINLINE void yield_until_ready(void)
{
	ask_other(0);
	while (!ready)
		sched_yield();
	sem_wait(&answered);
}

static NOINLINE void take_spinlock(void)
{
	ask_other(1);
	pthread_spin_lock(&spinlock);
	pthread_spin_unlock(&spinlock);
	sem_wait(&answered);
}

static NOINLINE void try_lock(void)
{
	ask_other(1);
	while (pthread_mutex_trylock(&mutex))
		;
	pthread_mutex_unlock(&mutex);
	sem_wait(&answered);
}

static NOINLINE void watch_clock(void)
{
	for (int64_t end = now_ns(CLOCK_MONOTONIC) + EXCESS_NS; now_ns(CLOCK_MONOTONIC) < end;)
		;
}

/* ---- the cases ------------------------------------------------------------------------------------ */

/* `names`: functions that name the excess equally well. */
static const struct {
	const char *name, *names;
	void (*plant)(void);
} cases[] = {
	{ "search", "find_rows", find_rows },
	{ "sort", "sort_batch|compare_floats", sort_batch },
	{ "parse", "parse_numbers", parse_numbers },
	{ "columns", "sum_columns", sum_columns },
	{ "recursion", "count_ways", ways },
	{ "callback", "apply_window", call_back },
	{ "inlined", "distance|compare_batches", compare_batches },
	{ "math", "activate", activate },
	{ "malloc", "build_list", build_list },
	{ "memcpy", "copy_batch", copy_batch },
	{ "memset", "clear_workspace", clear_workspace },
	{ "faults", "fresh_buffer", fresh_buffer },
	{ "realloc", "append_rows", append_rows },
	{ "printf", "format_rows", format_rows },
	{ "sleep", "sleep_once", sleep_once },
	{ "naps", "poll_ready", poll_ready },
	{ "lock", "take_lock", take_lock },
	{ "rwlock", "read_settings", read_settings },
	{ "condition", "wait_for_result", wait_for_result },
	{ "semaphore", "take_slot", take_slot },
	{ "join", "join_helper", join_helper },
	{ "barrier", "meet_other", meet_other },
	{ "pipe", "read_reply", read_reply },
	{ "socket", "await_socket", await_socket },
	{ "fsync", "save_state", save_state },
	{ "spin", "spin_until_ready", spin_until_ready },
	{ "yield", "yield_until_ready", yield_until_ready },
	{ "spinlock", "take_spinlock", take_spinlock },
	{ "trylock", "try_lock", try_lock },
	{ "clock", "watch_clock|now_ns", watch_clock },
};
#define CASES (sizeof cases / sizeof *cases)

static void (*plant)(void);

__attribute__((noinline)) void train_step(int step)
{
	load_batch(step);
	forward_pass();
	backward_pass();
	plant();
	update_weights();
}

int main(int count, char **words)
{
	pthread_t other;

	for (size_t i = 0; i < CASES; i++)
		if (count < 2)
			printf("%s %s\n", cases[i].name, cases[i].names);
		else if (strcmp(words[1], cases[i].name) == 0)
			plant = cases[i].plant;
	if (!plant)
		return count < 2 ? 0 : 1;
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, 2);
	if (strcmp(words[1], "socket") == 0 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends))
		return 1;
	pthread_create(&other, NULL, other_thread, words[1]);
	for (int step = 0; step < STEPS; step++)
		train_step(step);
	stop = 1;
	sem_post(&asked);
	pthread_join(other, NULL);
	unlink("planted.tmp");
	return 0;
}
