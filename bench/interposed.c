/*
 * What a call of libc takes that the sampler is in front of: ns of CPU time of a call.
 *
 *     bench_interposed [ROUNDS]        alone, or under dwell run
 *
 * Each call is made 200,000 times a round, of all kinds in turn, and the fastest round counts. Those before "read" libc answers
 * without the kernel; the others enter it and do not block. bench/interposed.py compares both ways to start it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CALLS 200000

static sem_t semaphore;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *stream;
static int in, out, ends[2];
static char byte;

static void nothing(void)
{
}

static void call_semaphore(void)
{
	sem_post(&semaphore);
	sem_wait(&semaphore);
}

static void call_mutex(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void call_readers(void)
{
	pthread_rwlock_rdlock(&readers);
	pthread_rwlock_unlock(&readers);
}

static void call_once(void)
{
	pthread_once(&once, nothing);
}

static void call_fgetc(void)
{
	ungetc(fgetc(stream), stream);
}

static void call_read(void)
{
	if (read(in, &byte, 1) != 1)
		abort();
}

static void call_pread(void)
{
	if (pread(in, &byte, 1, 0) != 1)
		abort();
}

static void call_write(void)
{
	if (write(out, &byte, 1) != 1)
		abort();
}

static void call_poll(void)
{
	poll(NULL, 0, 0);
}

static void call_recv(void)
{
	recv(ends[0], &byte, 1, MSG_DONTWAIT);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{ "sem_wait", call_semaphore }, { "pthread_mutex_lock", call_mutex }, { "pthread_rwlock_rdlock", call_readers },
	{ "pthread_once", call_once },  { "fgetc", call_fgetc },              { "read", call_read },
	{ "pread", call_pread },        { "write", call_write },              { "poll", call_poll },
	{ "recv", call_recv },
};

#define KINDS (sizeof calls / sizeof *calls)

static double used_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double round_ns(void (*call)(void))
{
	double before = used_ns();

	for (int i = 0; i < CALLS; i++)
		call();
	return (used_ns() - before) / CALLS;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	double least[KINDS];

	in = open("/dev/zero", O_RDONLY);
	out = open("/dev/null", O_WRONLY);
	stream = fopen("/dev/zero", "r");
	if (in < 0 || out < 0 || !stream || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || sem_init(&semaphore, 0, 0))
		return 1;
	for (int i = 0; i < rounds; i++)
		for (size_t kind = 0; kind < KINDS; kind++) {
			double ns = round_ns(calls[kind].call);

			if (!i || ns < least[kind])
				least[kind] = ns;
		}
	for (size_t kind = 0; kind < KINDS; kind++)
		printf("%s %.2f\n", calls[kind].name, least[kind]);
	return 0;
}
