/*
 * Programs of known behaviour, for tests of dwell attach.
 *
 *   shares        work_a() does 70% of the loop's work and work_b() 30%; a thread waits for a lock that another holds
 *   calls         each thread makes a call that waits, again and again; at the end of its input it prints how many ended early
 *   exec          works in before_exec() for a second, then becomes "shares"
 *   fork          the parent waits, a child works in child_work()
 *   vfork         a thread has a child of vfork(), which sleeps, while the main thread works
 *   short         works for a second and ends
 *   spin          computes without pause
 *
 * Each prints "ready".
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls, early;

#define NOINLINE __attribute__((noinline))

static void add(int count)
{
	for (int i = 0; i < count; i++)
		sum += i;
}

static NOINLINE void work_a(void)
{
	for (int i = 0; i < 700; i++)
		sum += i;
}

static NOINLINE void work_b(void)
{
	for (int i = 0; i < 300; i++)
		sum += i;
}

static NOINLINE void before_exec(void)
{
	add(1000);
	sum += 1;
}

static NOINLINE void child_work(void)
{
	add(1000);
	sum += 1;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static NOINLINE void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void *waiter(void *argument)
{
	for (;;)
		wait_for_lock();
	return argument;
}

static void *holder(void *argument)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		usleep(20000);
		pthread_mutex_unlock(&lock);
		usleep(1000);
	}
	return argument;
}

static void shares(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, holder, NULL);
	pthread_create(&thread, NULL, waiter, NULL);
	ready();
	for (;;) {
		for (int i = 0; i < 1000; i++)
			work_a();
		for (int i = 0; i < 1000; i++)
			work_b();
	}
}

/* One call of each kind, all of at least 2 ms. Returns what the call returned; a timeout is 0. */
static int call_once(long kind, int epoll, sem_t *semaphore)
{
	struct timespec pause = { 0, 2000000 }, until;
	struct epoll_event event;

	switch (kind) {
	case 0: return nanosleep(&pause, NULL);
	case 1: return poll(NULL, 0, 2);
	case 2: return select(0, NULL, NULL, NULL, &(struct timeval){ 0, 2000 });
	case 3:
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 2000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		return sem_timedwait(semaphore, &until) != 0 && errno == ETIMEDOUT ? 0 : -1;
	default: return epoll_wait(epoll, &event, 1, 2);
	}
}

static void *caller(void *argument)
{
	int epoll = epoll_create1(0);
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	for (;;) {
		add(3000); /* a stop may come while the call begins */
		if (call_once((long)argument, epoll, &semaphore) != 0)
			__atomic_fetch_add(&early, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	}
	return argument;
}

static int make_calls(void)
{
	pthread_t thread;

	for (long kind = 0; kind < 8; kind++)
		pthread_create(&thread, NULL, caller, (void *)kind);
	ready();
	while (getchar() != EOF)
		;
	printf("%d of %d\n", early, calls);
	return 0;
}

static void work_for_a_second(void (*work)(void))
{
	clock_t end = clock() + CLOCKS_PER_SEC;

	while (clock() < end)
		for (int i = 0; i < 1000; i++)
			work();
}

static void *vfork_and_wait(void *path)
{
	if (vfork() == 0) {
		execl(path, path, "sleep", (char *)NULL);
		_exit(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(what, "shares") == 0)
		shares();
	if (strcmp(what, "calls") == 0)
		return make_calls();
	if (strcmp(what, "sleep") == 0)
		return (int)sleep(1);
	ready();
	if (strcmp(what, "fork") == 0 && fork() == 0)
		for (;;)
			child_work();
	if (strcmp(what, "fork") == 0)
		return (int)sleep(1000);
	if (strcmp(what, "vfork") == 0)
		pthread_create(&thread, NULL, vfork_and_wait, argv[0]);
	if (strcmp(what, "exec") == 0 || strcmp(what, "short") == 0)
		work_for_a_second(before_exec);
	if (strcmp(what, "exec") == 0)
		execl(argv[0], argv[0], "shares", (char *)NULL);
	while (strcmp(what, "short") != 0)
		work_a();
	return 0;
}
