/*
 * Time off the CPU by call stack: functions of libc in which threads wait.
 *
 * The library is in front of them and measures each call. A thread's time of waiting is sampled as its CPU time is: at
 * points that are a period apart in the mean, and at random, because programs wait in a fixed order. A wait that
 * contains points is recorded with its stack, and stands for a period for each of them. So long waits are recorded each, and short ones as
 * often as their share of the time says. A mutex is tried first: one that is free is no wait. Its owner is read from
 * it where glibc keeps it.
 *
 * Not seen: calls that libc makes by itself (a stream that is flushed), system calls without libc, and those of the
 * recorder for its own file.
 */
#undef _FILE_OFFSET_BITS /* with it, open() and open64() have one name */
#include "sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>


#define PUBLIC __attribute__((__visibility__("default")))
#define THREAD_LOCAL static __thread __attribute__((__tls_model__("initial-exec")))

THREAD_LOCAL struct {
	int64_t left_ns;  /* of waiting until the next point */
	uint32_t random;  /* 0: not seeded yet */
	unsigned depth;   /* of functions of this file: one may call another, and so may the recorder */
} mine;

/* The points of sampling in a wait. */
static uint32_t waits_points(uint64_t took_ns)
{
	int64_t period_ns = dws_process.period_ns;
	uint32_t points = 0;

	if (!period_ns) /* the program began a sandbox */
		return 0;
	if (DWELL_UNLIKELY(!mine.random)) {
		mine.random = ((uint32_t)(uintptr_t)&mine ^ (uint32_t)dws_now_ns()) | 1u;
		mine.left_ns = period_ns / 2;
	}
	mine.left_ns -= (int64_t)took_ns;
	while (mine.left_ns < 0) {
		mine.random ^= mine.random << 13;
		mine.random ^= mine.random >> 17;
		mine.random ^= mine.random << 5;
		/* from a half to one and a half of the period */
		mine.left_ns += period_ns / 2 + (int64_t)((uint64_t)period_ns * mine.random >> 32);
		points++;
	}
	return points;
}

/* The recorder's code, if it is a library of its own. It waits with its locks held. */
static struct dws_stack recorder;

void dws_waits_prepare(void)
{
	struct dws_stack found = { 0, 0 };
	uintptr_t program = (uintptr_t)getauxval(AT_ENTRY);

	if (dws_cfi_module((uintptr_t)&dwell_intern_frame, &found) && (program < found.low || program >= found.high))
		recorder = found;
}

bool dws_is_recorder(const void *caller)
{
	return (uintptr_t)caller >= recorder.low && (uintptr_t)caller < recorder.high;
}

/* What is known of one of the functions. */
struct wrapped {
	const char *name;
	uint32_t frame; /* atomic; its FRAME; 0: not needed yet */
};

__attribute__((noinline)) static void waits_record(struct wrapped *wrapped, uint32_t points,
                                                   const void *caller, uint32_t holder)
{
	uint32_t frame = __atomic_load_n(&wrapped->frame, __ATOMIC_RELAXED), stack;

	/* A child of vfork() has this memory, too. */
	if (dws_process.pid != getpid() || dws_is_recorder(caller))
		return;
	if (!dws_sampler_records() || !dws_note(false))
		return;
	if (!frame) {
		frame = dws_recorder->intern_frame(wrapped->name, NULL, 0);
		__atomic_store_n(&wrapped->frame, frame, __ATOMIC_RELAXED);
	}
	stack = dws_stack_here(dws_own_stack(), caller);
	dws_recorder->waited(frame, stack, points, holder);
}

void dws_waits_pause(bool pause)
{
	mine.depth += pause ? 1 : -1u;
}

static uint64_t waits_begin(void)
{
	return dws_process.period_ns && !mine.depth++ ? dws_now_ns() : 0;
}

static void waits_end(struct wrapped *wrapped, uint64_t began, const void *caller, uint32_t holder)
{
	int saved = errno;
	uint32_t points = began ? waits_points(dws_now_ns() - began) : 0;

	if (points)
		waits_record(wrapped, points, caller, holder);
	if (dws_process.period_ns)
		mine.depth--;
	errno = saved;
}

/* A function with its result, parameters and arguments. */
#define WAITS(result_type, name, parameters, arguments)                          \
	PUBLIC result_type name parameters                                             \
	{                                                                              \
		static result_type(*next) parameters;                                      \
		static struct wrapped wrapped = { #name, 0 };                              \
		result_type result;                                                        \
		uint64_t began;                                                            \
                                                                                   \
		if (DWELL_UNLIKELY(!next))                                                 \
			*(void **)&next = dws_next(#name);                                     \
		began = waits_begin();                                                     \
		result = next arguments;                                                   \
		waits_end(&wrapped, began, __builtin_return_address(0), 0);                \
		return result;                                                             \
	}

WAITS(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
WAITS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
      (clock, flags, time, left))
WAITS(int, usleep, (useconds_t time), (time))
WAITS(unsigned, sleep, (unsigned seconds), (seconds))
WAITS(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
WAITS(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
      (fds, count, timeout, mask))
WAITS(int, select, (int count, fd_set *in, fd_set *out, fd_set *errors, struct timeval *timeout),
      (count, in, out, errors, timeout))
WAITS(int, pselect,
      (int count, fd_set *in, fd_set *out, fd_set *errors, const struct timespec *timeout, const sigset_t *mask),
      (count, in, out, errors, timeout, mask))
WAITS(int, epoll_wait, (int epoll, struct epoll_event *events, int most, int timeout), (epoll, events, most, timeout))
WAITS(int, epoll_pwait, (int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask),
      (epoll, events, most, timeout, mask))
WAITS(ssize_t, read, (int file, void *to, size_t bytes), (file, to, bytes))
WAITS(ssize_t, write, (int file, const void *from, size_t bytes), (file, from, bytes))
WAITS(ssize_t, pread, (int file, void *to, size_t bytes, off_t at), (file, to, bytes, at))
WAITS(ssize_t, pread64, (int file, void *to, size_t bytes, off64_t at), (file, to, bytes, at))
WAITS(ssize_t, pwrite, (int file, const void *from, size_t bytes, off_t at), (file, from, bytes, at))
WAITS(ssize_t, pwrite64, (int file, const void *from, size_t bytes, off64_t at), (file, from, bytes, at))
WAITS(int, close, (int file), (file))
WAITS(int, fsync, (int file), (file))
WAITS(int, fdatasync, (int file), (file))
WAITS(int, msync, (void *address, size_t bytes, int flags), (address, bytes, flags))
WAITS(ssize_t, recv, (int socket, void *to, size_t bytes, int flags), (socket, to, bytes, flags))
WAITS(ssize_t, recvfrom,
      (int socket, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *from_bytes),
      (socket, to, bytes, flags, from, from_bytes))
WAITS(ssize_t, recvmsg, (int socket, struct msghdr *message, int flags), (socket, message, flags))
WAITS(int, accept, (int socket, struct sockaddr *from, socklen_t *bytes), (socket, from, bytes))
WAITS(int, accept4, (int socket, struct sockaddr *from, socklen_t *bytes, int flags), (socket, from, bytes, flags))
WAITS(int, connect, (int socket, const struct sockaddr *to, socklen_t bytes), (socket, to, bytes))
WAITS(pid_t, waitpid, (pid_t process, int *status, int flags), (process, status, flags))
WAITS(pid_t, wait4, (pid_t process, int *status, int flags, struct rusage *usage), (process, status, flags, usage))
WAITS(pid_t, wait, (int *status), (status))
WAITS(int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int flags), (kind, id, info, flags))
WAITS(int, pthread_join, (pthread_t thread, void **value), (thread, value))
WAITS(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
WAITS(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
WAITS(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WAITS(int, sem_wait, (sem_t * semaphore), (semaphore))
WAITS(int, sem_timedwait, (sem_t * semaphore, const struct timespec *until), (semaphore, until))

/* ---- files that are opened ---------------------------------------------------------------------- */

#define OPENS(name)                                                                           \
	PUBLIC int name(const char *path, int flags, ...)                                           \
	{                                                                                           \
		static int (*next)(const char *, int, ...);                                             \
		static struct wrapped wrapped = { #name, 0 };                                           \
		uint64_t began;                                                                         \
		mode_t mode;                                                                            \
		va_list list;                                                                           \
		int result;                                                                             \
                                                                                                \
		va_start(list, flags);                                                                  \
		mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;  \
		va_end(list);                                                                           \
		if (DWELL_UNLIKELY(!next))                                                              \
			*(void **)&next = dws_next(#name);                                                  \
		began = waits_begin();                                                                  \
		result = next(path, flags, mode);                                                       \
		waits_end(&wrapped, began, __builtin_return_address(0), 0);                             \
		return result;                                                                          \
	}

OPENS(open)
OPENS(open64)

/* ---- mutexes and conditions ------------------------------------------------------------------- */

/* glibc of x86-64 has two versions of conditions; programs use the newer one. */
static void *waits_next_condition(const char *name)
{
	void *next = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	return next ? next : dws_next(name);
}

#define CONDITIONS(name, parameters, arguments)                           \
	PUBLIC int name parameters                                              \
	{                                                                       \
		static int(*next) parameters;                                       \
		static struct wrapped wrapped = { #name, 0 };                       \
		uint64_t began;                                                     \
		int result;                                                         \
                                                                            \
		if (DWELL_UNLIKELY(!next))                                          \
			*(void **)&next = waits_next_condition(#name);                  \
		began = waits_begin();                                              \
		result = next arguments;                                            \
		waits_end(&wrapped, began, __builtin_return_address(0), 0);         \
		return result;                                                      \
	}

CONDITIONS(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
CONDITIONS(pthread_cond_timedwait,
           (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
           (condition, mutex, until))
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 30)
CONDITIONS(pthread_cond_clockwait,
           (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
           (condition, mutex, clock, until))
#endif

PUBLIC int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*next)(pthread_mutex_t *), (*try)(pthread_mutex_t *);
	static struct wrapped wrapped = { "pthread_mutex_lock", 0 };
	uint32_t holder = 0;
	uint64_t began;
	int result;

	if (DWELL_UNLIKELY(!next)) {
		*(void **)&try = dws_next("pthread_mutex_trylock");
		*(void **)&next = dws_next("pthread_mutex_lock");
	}
	if (!dws_process.period_ns)
		return next(mutex);
	result = try(mutex);
	if (DWELL_LIKELY(result != EBUSY))
		return result;
#ifdef __GLIBC__
	holder = (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
#endif
	began = waits_begin();
	result = next(mutex);
	waits_end(&wrapped, began, __builtin_return_address(0), holder);
	return result;
}
