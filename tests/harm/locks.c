/* What functions of locks return. */
#define _GNU_SOURCE
#include "harm.h"
#include <semaphore.h>
#include <threads.h>

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void error_say(const char *call, int error)
{
	harm_say("%s: %s\n", call, error ? strerrorname_np(error) : "0");
}

static void *owner_begin(void *value)
{
	error_say("a thread locks", pthread_mutex_lock(&mutex));
	harm_compute(.02);
	return value;
}

static void *try_begin(void *value)
{
	struct timespec until = harm_after(CLOCK_REALTIME, .02);
	error_say("another tries", pthread_mutex_trylock(&mutex));
	error_say("another waits", pthread_mutex_timedlock(&mutex, &until));
	until = harm_after(CLOCK_MONOTONIC, .02);
	error_say("another waits", pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until));
	error_say("another unlocks", value ? pthread_mutex_unlock(&mutex) : 0);
	return NULL;
}

static void type_main(long type)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, (int)type);
	pthread_mutex_init(&mutex, &attributes);
	harm_compute(TICKS);
	error_say("lock", pthread_mutex_lock(&mutex));
	if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
		error_say("lock again", pthread_mutex_lock(&mutex));
	error_say("try", pthread_mutex_trylock(&mutex));
	harm_thread(try_begin, type == PTHREAD_MUTEX_NORMAL || type == PTHREAD_MUTEX_ADAPTIVE_NP ? NULL : (void *)1L, NULL);
	error_say("destroy", type == PTHREAD_MUTEX_ERRORCHECK ? pthread_mutex_destroy(&mutex) : 0);
	error_say("unlock", pthread_mutex_unlock(&mutex));
	if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
		for (int i = 0; i < 3; i++)
			error_say("unlock", pthread_mutex_unlock(&mutex));
}

static void robust_main(long value)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	if (value & 1)
		pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attributes);
	for (int i = 0; i < 2; i++) {
		harm_thread(owner_begin, NULL, NULL);
		error_say("lock", pthread_mutex_lock(&mutex));
		if (i == 0)
			error_say("consistent", pthread_mutex_consistent(&mutex));
		error_say("unlock", pthread_mutex_unlock(&mutex));
	}
	error_say("lock", pthread_mutex_lock(&mutex));
}

/* The owner is a process that ended. */
static void robust_process(long value)
{
	pthread_mutex_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(shared, &attributes);
	pid_t pid = fork();
	if (!pid) {
		pthread_mutex_lock(shared);
		harm_compute(TICKS);
		if (value)
			kill(getpid(), SIGKILL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	error_say("lock", pthread_mutex_lock(shared));
	error_say("consistent", pthread_mutex_consistent(shared));
	error_say("unlock", pthread_mutex_unlock(shared));
}

static void *priority_begin(void *value)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&mutex);
		++*(int *)value;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void priority_main(long protocol)
{
	pthread_mutexattr_t attributes;
	pthread_t threads[4];
	int count = 0;
	pthread_mutexattr_init(&attributes);
	error_say("protocol", pthread_mutexattr_setprotocol(&attributes, (int)protocol));
	pthread_mutex_init(&mutex, &attributes);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, priority_begin, &count);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	harm_say("count %d\n", count);
}

static void rwlock_main(long value)
{
	struct timespec until = harm_after(CLOCK_REALTIME, .02);
	harm_compute(TICKS);
	if (value) {
		error_say("wrlock", pthread_rwlock_wrlock(&rwlock));
		error_say("wrlock", pthread_rwlock_wrlock(&rwlock));
		error_say("rdlock", pthread_rwlock_rdlock(&rwlock));
		error_say("tryrdlock", pthread_rwlock_tryrdlock(&rwlock));
		error_say("timedwrlock", pthread_rwlock_timedwrlock(&rwlock, &until));
	} else {
		error_say("rdlock", pthread_rwlock_rdlock(&rwlock));
		error_say("rdlock", pthread_rwlock_rdlock(&rwlock));
		error_say("trywrlock", pthread_rwlock_trywrlock(&rwlock));
		error_say("timedwrlock", pthread_rwlock_timedwrlock(&rwlock, &until));
		error_say("unlock", pthread_rwlock_unlock(&rwlock));
	}
	error_say("unlock", pthread_rwlock_unlock(&rwlock));
	error_say("trywrlock", pthread_rwlock_trywrlock(&rwlock));
}

static void condition_main(long value)
{
	struct timespec until = harm_after(CLOCK_REALTIME, .02), past = harm_after(CLOCK_REALTIME, -1),
					wrong = { 0, 2000000000 };
	pthread_mutex_init(&mutex, NULL);
	pthread_mutex_lock(&mutex);
	harm_compute(TICKS);
	for (int i = 0; i < 5; i++) {
		until = harm_after(CLOCK_REALTIME, .01);
		error_say("timedwait", pthread_cond_timedwait(&condition, &mutex, &until));
		until = harm_after(CLOCK_MONOTONIC, .01);
		error_say("clockwait", value ? pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) : 0);
	}
	error_say("timedwait in the past", pthread_cond_timedwait(&condition, &mutex, &past));
	error_say("timedwait, wrong time", pthread_cond_timedwait(&condition, &mutex, &wrong));
	error_say("signal", pthread_cond_signal(&condition));
	error_say("broadcast", pthread_cond_broadcast(&condition));
	error_say("try", pthread_mutex_trylock(&mutex));
	error_say("unlock", pthread_mutex_unlock(&mutex));
}

static void semaphore_main(long value)
{
	sem_t semaphore;
	struct timespec until = harm_after(CLOCK_REALTIME, .02), wrong = { 0, 2000000000 };
	int count = 0;
	harm_result("sem_init", sem_init(&semaphore, 0, (unsigned)value));
	harm_compute(TICKS);
	for (long i = 0; i < value; i++)
		harm_result("sem_wait", sem_wait(&semaphore));
	harm_result("sem_trywait", sem_trywait(&semaphore));
	harm_result("sem_timedwait", sem_timedwait(&semaphore, &until));
	harm_result("sem_timedwait, wrong time", sem_timedwait(&semaphore, &wrong));
	until = harm_after(CLOCK_MONOTONIC, .02);
	harm_result("sem_clockwait", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until));
	harm_result("sem_post", sem_post(&semaphore));
	sem_getvalue(&semaphore, &count);
	harm_say("value %d\n", count);
}

static void c11_main(long type)
{
	mtx_t lock;
	cnd_t signal;
	struct timespec until = harm_after(CLOCK_REALTIME, .02);
	harm_say("mtx_init %d\n", mtx_init(&lock, (int)type));
	cnd_init(&signal);
	harm_compute(TICKS);
	harm_say("mtx_lock %d\n", mtx_lock(&lock));
	harm_say("mtx_trylock %d\n", mtx_trylock(&lock));
	if (type & mtx_timed)
		harm_say("mtx_timedlock %d\n", mtx_timedlock(&lock, &until));
	if (!(type & mtx_recursive))
		harm_say("cnd_timedwait %d\n", cnd_timedwait(&signal, &lock, &until));
	harm_say("mtx_unlock %d\n", mtx_unlock(&lock));
}

/* ---- counts of a lock that is contended ---- */

static _Atomic int locked, refused, stop;

static void *contended_begin(void *value)
{
	while (!stop) {
		if (value ? !pthread_mutex_trylock(&mutex) : !pthread_mutex_lock(&mutex)) {
			locked++;
			pthread_mutex_unlock(&mutex);
		} else {
			refused++;
		}
	}
	return NULL;
}

static void contended_main(long value)
{
	pthread_t threads[3];
	pthread_mutex_init(&mutex, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, contended_begin, (void *)value);
	usleep(80000);
	pthread_mutex_lock(&mutex);
	int held = locked;
	usleep(20000);
	harm_say("nobody else has it: %d\n", locked == held);
	pthread_mutex_unlock(&mutex);
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	harm_say("locked %d, refused %d\n", locked > 0, value ? refused > 0 : refused);
}

const struct harm_program harm_locks[] = {
	{ "locks", "normal mutex", type_main, PTHREAD_MUTEX_NORMAL },
	{ "locks", "recursive mutex", type_main, PTHREAD_MUTEX_RECURSIVE },
	{ "locks", "mutex that checks", type_main, PTHREAD_MUTEX_ERRORCHECK },
	{ "locks", "adaptive mutex", type_main, PTHREAD_MUTEX_ADAPTIVE_NP },
	{ "locks", "robust mutex", robust_main, 0 },
	{ "locks", "robust mutex with priority inheritance", robust_main, 1 },
	{ "locks", "robust mutex of a process that ended", robust_process, 0 },
	{ "locks", "robust mutex of a process that was killed", robust_process, 1 },
	{ "locks", "priority inheritance", priority_main, PTHREAD_PRIO_INHERIT },
	{ "locks", "read lock", rwlock_main, 0 },
	{ "locks", "write lock", rwlock_main, 1 },
	{ "locks", "condition", condition_main, 0 },
	{ "locks", "condition, two clocks", condition_main, 1 },
	{ "locks", "semaphore of 0", semaphore_main, 0 },
	{ "locks", "semaphore of 3", semaphore_main, 3 },
	{ "locks", "C11 plain", c11_main, mtx_plain },
	{ "locks", "C11 timed", c11_main, mtx_timed },
	{ "locks", "C11 recursive and timed", c11_main, mtx_recursive | mtx_timed },
	{ "locks", "contended", contended_main, 0 },
	{ "locks", "contended, trylock", contended_main, 1 },
	{ NULL, NULL, NULL, 0 },
};
