/* Threads: how they begin and end, and what they are told of themselves. */
#define _GNU_SOURCE
#include "harm.h"
#include <dirent.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <threads.h>

static _Atomic int count;
static pthread_key_t key;

static int c11_begin(void *value)
{
	harm_compute(.02);
	return (int)(long)value + 1;
}

static void c11_main(long value)
{
	thrd_t threads[4];
	for (long i = 0; i < value; i++)
		harm_say("thrd_create: %d\n", thrd_create(&threads[i], c11_begin, (void *)i));
	for (long i = 0; i < value; i++) {
		int result = 0;
		int error = thrd_join(threads[i], &result);
		harm_say("thrd_join: %d, result %d\n", error, result);
	}
	struct timespec time = harm_time(.01);
	harm_say("thrd_sleep: %d\n", thrd_sleep(&time, NULL));
	thrd_yield();
}

static void *short_begin(void *value)
{
	count++;
	if (value)
		harm_compute(.0001);
	return value;
}

static void short_main(long value)
{
	int failed = 0;
	for (int i = 0; i < value; i++) {
		pthread_t thread;
		void *result = NULL;
		failed += pthread_create(&thread, NULL, short_begin, (void *)(long)(i % 2)) || pthread_join(thread, &result) ||
		          result != (void *)(long)(i % 2);
	}
	harm_say("threads %d, failed %d\n", count, failed);
}

static void detached_main(long value)
{
	pthread_attr_t attributes;
	int failed = 0;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < value; i++) {
		pthread_t thread;
		failed += pthread_create(&thread, &attributes, short_begin, (void *)1L) != 0;
		while (i % 20 == 19 && count <= i)
			usleep(200);
	}
	while (count < value - failed)
		usleep(1000);
	harm_say("threads %d, failed %d\n", count, failed);
}

static void *alive_begin(void *value)
{
	pthread_barrier_t *barrier = value;
	int one = pthread_barrier_wait(barrier);
	harm_compute(.002);
	return (void *)(long)(one == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void alive_main(long value)
{
	static pthread_t threads[400];
	pthread_barrier_t barrier;
	long serial = 0;
	pthread_barrier_init(&barrier, NULL, (unsigned)value);
	for (int i = 0; i < value; i++)
		if (pthread_create(&threads[i], NULL, alive_begin, &barrier))
			harm_say("thread %d was not made\n", i);
	for (int i = 0; i < value; i++) {
		void *result = NULL;
		pthread_join(threads[i], &result);
		serial += (long)result;
	}
	harm_say("serial threads %ld\n", serial);
}

/* ---- what a thread is told of itself ---- */

static void *attributes_begin(void *value)
{
	pthread_attr_t attributes;
	size_t size = 0, guard = 0;
	void *low = NULL;
	char name[16], local;
	sigset_t set;
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &size);
	pthread_attr_getguardsize(&attributes, &guard);
	pthread_getname_np(pthread_self(), name, sizeof name);
	if (!strcmp(value, "main")) /* the kernel places its begin at random */
		size = (size + 0xfffff) >> 20 << 20;
	harm_say("%s: stack %zu, guard %zu, we are on it %d, name %s\n", (char *)value, size, guard,
	         &local > (char *)low && &local < (char *)low + size, name);
	cpu_set_t cores;
	int error = pthread_getaffinity_np(pthread_self(), sizeof cores, &cores);
	harm_say("affinity %d, cores %d\n", error, CPU_COUNT(&cores) > 0);
	int policy = -1;
	struct sched_param parameters = { -1 };
	pthread_getschedparam(pthread_self(), &policy, &parameters);
	harm_say("policy %d, priority %d, nice %d\n", policy, parameters.sched_priority, getpriority(PRIO_PROCESS, 0));
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	harm_say_set("mask", &set);
	return NULL;
}

static int tasks_count(void)
{
	DIR *folder = opendir("/proc/self/task");
	int tasks = 0;
	while (folder && readdir(folder))
		tasks++;
	closedir(folder);
	return tasks - 2;
}

static void attributes_main(long value)
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	if (value)
		pthread_attr_setstacksize(&attributes, (size_t)value);
	size_t size = 0;
	pthread_attr_getstacksize(&attributes, &size);
	harm_say("size asked for %zu, tasks %d\n", size, tasks_count());
	attributes_begin("main");
	harm_thread(attributes_begin, "a thread", &attributes);
	pthread_setname_np(pthread_self(), "renamed");
	harm_compute(TICKS);
	attributes_begin("main");
	harm_say("tasks %d\n", tasks_count());
}

static void destructor(void *value)
{
	harm_say("destructor %ld, round %d\n", (long)value, count);
	if (++count < 3)
		pthread_setspecific(key, value);
	usleep(1000);
	free(malloc(100000));
	harm_compute(.01);
}

static void *keys_begin(void *value)
{
	pthread_setspecific(key, value);
	harm_compute(.02);
	return NULL;
}

static void keys_main(long value)
{
	harm_result("pthread_key_create", pthread_key_create(&key, destructor));
	harm_thread(keys_begin, (void *)(value + 5), NULL);
	int keys = 0;
	for (pthread_key_t other; keys < 2000 && !pthread_key_create(&other, NULL);)
		keys++;
	harm_about("keys that could not be made", 1024 - keys, 4);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void once_begin(void)
{
	count++;
	harm_compute(.02);
	usleep(1000);
}

static void *once_thread(void *value)
{
	pthread_once(&once, once_begin);
	return value;
}

static void once_main(long value)
{
	pthread_t threads[8];
	for (int i = 0; i < value; i++)
		pthread_create(&threads[i], NULL, once_thread, NULL);
	for (int i = 0; i < value; i++)
		pthread_join(threads[i], NULL);
	harm_say("once: %d\n", count);
}

static volatile int ready;

static void *signalled_begin(void *value)
{
	sigset_t set;
	int number = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	ready = 1;
	harm_compute(.05);
	if (value) {
		harm_say("sigwait: %d", sigwait(&set, &number));
		harm_say(", %d\n", number);
	}
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	harm_say_mask("a thread");
	return NULL;
}

static void signalled_main(long value)
{
	pthread_t thread;
	harm_handle(SIGUSR1, 0);
	pthread_create(&thread, NULL, signalled_begin, (void *)value);
	while (!ready)
		usleep(500);
	harm_result("pthread_kill", pthread_kill(thread, SIGUSR1));
	if (value)
		harm_result("pthread_kill", pthread_kill(pthread_self(), SIGUSR1));
	pthread_join(thread, NULL);
	harm_say("SIGUSR1 %d, code %d\n", harm_seen[SIGUSR1], harm_code[SIGUSR1]);
}

/* ---- a change of user, of which libc tells threads that wait ---- */

enum { IN_READ, IN_POLL, IN_PPOLL, IN_SLEEP, IN_LOCK, IN_CONDITION, IN_SEMAPHORE, IN_SIGWAIT, IN_JOIN };

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static bool released;

static long user_wait(long how)
{
	struct pollfd file = { ends[0], POLLIN, 0 };
	struct timespec time = harm_time(1.5);
	sigset_t set;
	int number = 0;
	char byte;
	sigfillset(&set);
	switch (how) {
	case IN_READ:
		return read(ends[0], &byte, 1);
	case IN_POLL:
		return poll(&file, 1, 1500);
	case IN_PPOLL:
		return ppoll(&file, 1, &time, &set);
	case IN_SLEEP:
		return nanosleep(&time, &time);
	case IN_LOCK:
		return pthread_mutex_lock(&lock) || pthread_mutex_unlock(&lock);
	case IN_SEMAPHORE:
		return sem_wait(&semaphore);
	case IN_SIGWAIT:
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		return sigwait(&set, &number) * 100 + number;
	default:
		pthread_mutex_lock(&lock);
		while (!released)
			pthread_cond_wait(&condition, &lock);
		return pthread_mutex_unlock(&lock);
	}
}

static void *user_begin(void *how)
{
	errno = 0;
	harm_compute(.02);
	long result = user_wait((long)how);
	harm_compute(.02);
	harm_result("wait", result);
	harm_say_mask("waited");
	return NULL;
}

static void *user_join(void *thread)
{
	harm_say("join %d\n", pthread_join(*(pthread_t *)thread, NULL));
	return NULL;
}

static void user_main(long how)
{
	pthread_t thread, other;
	if (pipe(ends) || sem_init(&semaphore, 0, 0))
		return;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (how == IN_LOCK)
		pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, user_begin, (void *)(how == IN_JOIN ? IN_READ : how));
	if (how == IN_JOIN)
		pthread_create(&other, NULL, user_join, &thread);
	harm_compute(.1);
	usleep(400000);
	double before = harm_now();
	harm_result("setgid", setgid(getgid()));
	harm_result("setuid", setuid(geteuid()));
	harm_say("at once %d\n", harm_now() - before < 1);
	if (how != IN_LOCK)
		pthread_mutex_lock(&lock);
	released = true;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&lock);
	sem_post(&semaphore);
	kill(getpid(), SIGUSR1);
	harm_result("write", write(ends[1], "x", 1));
	pthread_join(how == IN_JOIN ? other : thread, NULL);
	harm_compute(TICKS);
	harm_say("user %d %d\n", getuid(), geteuid());
}

#define USER(name, how) \
	{ \
		"threads", "another user while one waits in " name, user_main, how \
	}

const struct harm_program harm_threads[] = {
	{ "threads", "C11, 1", c11_main, 1 },
	{ "threads", "C11, 4", c11_main, 4 },
	{ "threads", "1,000 short ones", short_main, 1000 },
	{ "threads", "300 detached", detached_main, 300 },
	{ "threads", "40 at once", alive_main, 40 },
	{ "threads", "400 at once", alive_main, 400 },
	{ "threads", "attributes", attributes_main, 0 },
	{ "threads", "attributes, 128 KiB", attributes_main, 131072 },
	{ "threads", "keys and destructors", keys_main, 0 },
	{ "threads", "pthread_once", once_main, 8 },
	USER("read", IN_READ),
	USER("poll", IN_POLL),
	USER("ppoll", IN_PPOLL),
	USER("nanosleep", IN_SLEEP),
	USER("pthread_mutex_lock", IN_LOCK),
	USER("pthread_cond_wait", IN_CONDITION),
	USER("sem_wait", IN_SEMAPHORE),
	USER("sigwait", IN_SIGWAIT),
	USER("pthread_join", IN_JOIN),
	{ "threads", "pthread_kill", signalled_main, 0 },
	{ "threads", "pthread_kill and sigwait", signalled_main, 1 },
	{ NULL, NULL, NULL, 0 },
};
