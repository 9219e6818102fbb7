/*
 * Threads that wait for each other; for stacks_test.py. Prints "ready" when they do.
 *
 *     deadlock circle    two threads hold a lock each, and want that of the other
 *     deadlock join      main holds a lock and waits for the end of a thread that wants it
 *     deadlock itself    main takes a lock twice
 *     deadlock writer    main wants to read what a thread writes, which is no deadlock
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

static __attribute__((noinline)) void take_both(int first)
{
	pthread_mutex_lock(&locks[first]);
	pthread_barrier_wait(&both);
	if (!first)
		say_ready();
	pthread_mutex_lock(&locks[!first]);
	pthread_mutex_unlock(&locks[!first]);
}

static void *take_others(void *unused)
{
	take_both(1);
	return unused;
}

static void *take_one(void *unused)
{
	pthread_mutex_lock(&locks[0]);
	return unused;
}

static void *write_table(void *unused)
{
	pthread_rwlock_wrlock(&table);
	pthread_barrier_wait(&both);
	for (;;)
		pause();
	return unused;
}

int main(int count, char **values)
{
	const char *what = count > 1 ? values[1] : "circle";
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	if (strcmp(what, "circle") == 0) {
		pthread_create(&thread, NULL, take_others, NULL);
		take_both(0);
	} else if (strcmp(what, "writer") == 0) {
		pthread_create(&thread, NULL, write_table, NULL);
		pthread_barrier_wait(&both);
		say_ready();
		pthread_rwlock_rdlock(&table);
	} else {
		pthread_mutex_lock(&locks[0]);
		say_ready();
		if (strcmp(what, "itself") == 0)
			pthread_mutex_lock(&locks[0]);
		pthread_create(&thread, NULL, take_one, NULL);
		pthread_join(thread, NULL);
	}
	return 0;
}
