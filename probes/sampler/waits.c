/*
 * Time off the CPU by call stack: functions of libc in which threads wait.
 *
 * The library is in front of them and measures each call. A thread's time of waiting is sampled as its CPU time is: at
 * points that are a period apart in the mean, and at random, because programs wait in a fixed order. A wait that
 * contains points is recorded with its stack, and stands for a period for each of them. So long waits are recorded each,
 * and short ones as often as their share of the time says. What a call waits in another call of this file, as that of a
 * signal's handler, belongs to the inner one.
 *
 * Calls that libc answers without the kernel are tried first, and cost no reading of a clock: a lock that is free, a
 * semaphore that is up, a buffer that is full. Other calls cost two readings of the processor's counter. Nothing is kept
 * of a call that the program leaves by a jump.
 *
 * Not seen: waits within libc's own functions that are not listed below, and system calls without libc.
 */
#undef _FILE_OFFSET_BITS /* with it, open() and open64() have one name */
#include "sampler.h"

#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "base/system/system.h"
#include "messages.h"
#include "requests.h"
#include "wrapped.h"

#define PUBLIC __attribute__((__visibility__("default"))) DWS_FRONT
#define THREAD_LOCAL static __thread __attribute__((__tls_model__("initial-exec")))

THREAD_LOCAL struct {
	int64_t left;     /* ticks of waiting until the next point */
	int64_t waited;   /* ticks, in all calls */
	uint64_t calls;   /* that were measured */
	uint32_t random;  /* 0: not seeded yet */
	uint32_t points;  /* of earlier waits that could not be recorded */
} mine;

static int64_t period; /* in ticks; 0: nothing is recorded */
#define LATE_NS 20000000 /* an answer that took half of the 40 ms by which Linux delays an acknowledgement at least */
static int64_t late;     /* the same in ticks */
static uint64_t ended_calls; /* atomic; measured calls of threads that have ended */

/* ---- the clock --------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) int64_t waits_now(void)
{
	if (DWELL_LIKELY(dws_process.has_counter))
#ifdef __x86_64__
		return (int64_t)__builtin_ia32_rdtsc();
#else
	{
		int64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return (int64_t)dws_now_ns();
}

void dws_waits_set_period(long period_ns)
{
	uint64_t rate = dws_recorder->counter_rate ? dws_recorder->counter_rate() : 0;

	dws_process.has_counter = rate != 0;
	period = rate ? (int64_t)((double)period_ns * 1e-9 * (double)rate) : period_ns;
	late = rate ? (int64_t)((double)LATE_NS * 1e-9 * (double)rate) : LATE_NS;
}

/* A strict sandbox ends a thread that reads the counter. */
void dws_waits_stop(bool stop)
{
	static int64_t before;

	if (stop)
		before = period;
	period = stop ? 0 : before;
}

/* ---- points ------------------------------------------------------------------------------------ */

/* The points of sampling in a wait; there is at least one. */
static uint32_t waits_points(void)
{
	uint32_t points = 0;

	if (DWELL_UNLIKELY(!mine.random)) {
		mine.random = ((uint32_t)(uintptr_t)&mine ^ (uint32_t)dws_now_ns()) | 1u;
		mine.left += period / 2;
	}
	while (mine.left < 0) {
		mine.random ^= mine.random << 13;
		mine.random ^= mine.random >> 17;
		mine.random ^= mine.random << 5;
		/* from a half to one and a half of the period */
		mine.left += period / 2 + (int64_t)((uint64_t)period * mine.random >> 32);
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

	if (dws_recorder->intern_frame && dws_cfi_module((uintptr_t)dws_recorder->intern_frame, &found) &&
	    (program < found.low || program >= found.high))
		recorder = found;
}

bool dws_is_recorder(const void *caller)
{
	return (uintptr_t)caller >= recorder.low && (uintptr_t)caller < recorder.high;
}

struct record {
	struct dws_wrapped *wrapped;
	const void *caller;
	struct dws_here here;
	uint32_t points, holder;
	uint32_t delayed; /* of the points, for a message that TCP held back */
	bool done;
};

static uint32_t waits_frame(struct dws_wrapped *wrapped)
{
	uint32_t frame = __atomic_load_n(&wrapped->frame, __ATOMIC_RELAXED);

	if (!frame) {
		frame = dws_recorder->intern_frame(wrapped->name, NULL, 0);
		__atomic_store_n(&wrapped->frame, frame, __ATOMIC_RELAXED);
	}
	return frame;
}

/* How many of the points of a wait for an answer fall into the time in which TCP held back the end of the message. */
static uint32_t waits_delayed(int64_t took, uint32_t points)
{
	double took_ns = (double)took / (double)late * LATE_NS;

	return (uint32_t)((double)points * dws_message_held_ns(took_ns) / took_ns + .5);
}

static void waits_record_apart(void *given)
{
	static struct dws_wrapped delayed = { "delayed_send", NULL, NULL, 0 }; /* in front of nothing */
	struct record *record = given;
	uint32_t points = record->points - record->delayed;

	/* A child of vfork() has this memory, too. */
	record->done = dws_process.pid != (int)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0) || dws_is_recorder(record->caller) ||
	               !dws_sampler_records() || !dws_note(false);
	if (record->done)
		return;
	if (record->delayed)
		dws_recorder->waited(waits_frame(&delayed), dws_message.stack, record->delayed, 0);
	if (points)
		dws_recorder->waited(waits_frame(record->wrapped), dws_stack_from(&record->here, dws_own_stack(), record->caller), points,
		                     record->holder);
	record->done = true;
}

/* `delayed`: what the wait took, if it was for the answer to a message that TCP held back, else 0. */
__attribute__((noinline)) static void waits_reached(struct dws_wrapped *wrapped, const void *caller, uint32_t holder, int64_t delayed)
{
	struct record record = { .wrapped = wrapped, .caller = caller, .holder = holder };

	if (!dws_process.period_ns) { /* the program began a sandbox */
		mine.left = period;
		return;
	}
	record.points = waits_points() + mine.points;
	if (!record.points)
		return;
	record.delayed = delayed && dws_message.stack ? waits_delayed(delayed, record.points) : 0;
	DWS_HERE(&record.here);
	dws_apart(waits_record_apart, &record);
	mine.points = record.done ? 0 : record.points;
}

struct wait {
	int64_t began, waited;
	bool held; /* the signal of events */
};

/* `file`: what the call reads, see dws_perf_hold(). */
static inline __attribute__((always_inline)) struct wait waits_begin(int file)
{
	bool held = DWELL_UNLIKELY(dws_process.has_perf) && dws_perf_hold(file);

	return (struct wait){ waits_now(), mine.waited, held };
}

/* `from`: the descriptor whose bytes the call waited for, or DWS_NO_FILE. */
static inline __attribute__((always_inline)) void waits_end(struct dws_wrapped *wrapped, struct wait before, const void *caller,
                                                           uint32_t holder, int from)
{
	int64_t took = waits_now() - before.began;

	if (DWELL_UNLIKELY(before.held))
		dws_perf_release();
	mine.left -= took - (mine.waited - before.waited);
	mine.waited = before.waited + took;
	mine.calls++;
	if (DWELL_UNLIKELY(mine.left < 0))
		waits_reached(wrapped, caller, holder, from != DWS_NO_FILE && dws_message_is_answer(from) ? took : 0);
	if (from != DWS_NO_FILE)
		dws_message_answered(from, took > late);
}

uint64_t dws_waits_calls(bool thread_ends)
{
	if (thread_ends) {
		__atomic_fetch_add(&ended_calls, mine.calls, __ATOMIC_RELAXED);
		mine.calls = 0;
	}
	return __atomic_load_n(&ended_calls, __ATOMIC_RELAXED) + mine.calls;
}

/* The mask of a function that sets one while it waits. */
static inline const sigset_t *waits_mask(const sigset_t *mask, sigset_t *held)
{
	return DWELL_UNLIKELY(dws_process.has_perf) && mask ? dws_perf_mask(mask, held) : mask;
}

/* After a call that sent something; see messages.h and requests.h. */
static __attribute__((noinline)) ssize_t waits_sent(int to, const void *bytes, size_t room, ssize_t result, const void *caller)
{
	dws_message_sent(to, caller);
	return dws_request_connection(to) ? dws_request_sent(to, bytes, room, result) : result;
}

/* ---- functions that enter the kernel ---------------------------------------------------------------- */

/* The parts of a function in front of another one: what it is in front of, and the call. */
#define FRONT(name, version)                                                       \
	static struct dws_wrapped wrapped DWS_WRAPPED = { name, version, NULL, 0 };    \
	struct wait measured
#define CALL(file, from, result, call)                                             \
	do {                                                                           \
		if (DWELL_UNLIKELY(!period))                                               \
			return call;                                                           \
		measured = waits_begin(file);                                              \
		result = call;                                                             \
		waits_end(&wrapped, measured, __builtin_return_address(0), 0, from);       \
	} while (0)

/* A function with its result, parameters and arguments. `file`: see waits_begin(); `from`: see waits_end(); `before` and `after`: what
 * else is done. */
#define WAITS_FILE(result_type, name, version, file, from, before, after, parameters, arguments) \
	PUBLIC result_type name parameters                                             \
	{                                                                              \
		FRONT(#name, version);                                                     \
		result_type(*next) parameters;                                             \
		result_type result;                                                        \
                                                                                   \
		before;                                                                    \
		*(void **)&next = dws_target(&wrapped);                                    \
		CALL(file, from, result, next arguments);                                  \
		after;                                                                     \
		return result;                                                             \
	}
#define NOTHING (void)0
#define MASKED(result_type, name, parameters, arguments)                           \
	PUBLIC result_type name parameters                                             \
	{                                                                              \
		FRONT(#name, NULL);                                                        \
		result_type(*next) parameters;                                             \
		result_type result;                                                        \
		sigset_t held;                                                             \
                                                                                   \
		*(void **)&next = dws_target(&wrapped);                                    \
		CALL(DWS_NO_FILE, DWS_NO_FILE, result, next arguments);                    \
		return result;                                                             \
	}
#define WAITS_VERSION(result_type, name, version, parameters, arguments) \
	WAITS_FILE(result_type, name, version, DWS_NO_FILE, DWS_NO_FILE, NOTHING, NOTHING, parameters, arguments)
#define WAITS(result_type, name, parameters, arguments) WAITS_VERSION(result_type, name, NULL, parameters, arguments)
#define READS(result_type, name, file, parameters, arguments) \
	WAITS_FILE(result_type, name, NULL, file, DWS_NO_FILE, NOTHING, NOTHING, parameters, arguments)
/* `bytes` and `room`: see requests.h, whose functions are called last: nothing is kept for later. */
#define RECEIVES(result_type, name, file, from, bytes, room, parameters, arguments) \
	WAITS_FILE(result_type, name, NULL, file, from, NOTHING,                        \
	           if (result > 0 && dws_request_connection(from)) return dws_request_received(from, bytes, room, result), \
	           parameters, arguments)
#define SENDS(result_type, name, to, bytes, room, parameters, arguments)            \
	WAITS_FILE(result_type, name, NULL, DWS_NO_FILE, DWS_NO_FILE, NOTHING,          \
	           if (result > 0) return waits_sent(to, bytes, room, result, __builtin_return_address(0)), parameters, arguments)
#define ANSWERED(to)                                                               \
	if (result > 0 && dws_request_connection(to))                                  \
		return dws_request_sent(to, NULL, 0, result)
#define ACCEPTS(name, parameters, arguments)                                       \
	WAITS_FILE(int, name, NULL, DWS_NO_FILE, DWS_NO_FILE, NOTHING,                  \
	           if (result >= 0) return dws_request_accepted(result), parameters, arguments)
#define ALL SIZE_MAX /* there is room for what was read or sent */
#define STAYS (MSG_PEEK | MSG_TRUNC | MSG_ERRQUEUE) /* the call leaves the bytes in the socket, or returns none of them */

/* What poll() found ready, if it was asked for one descriptor. */
#define POLLED (result > 0 && count == 1 ? fds->fd : DWS_NO_FILE)

WAITS(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
WAITS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
      (clock, flags, time, left))
WAITS(int, usleep, (useconds_t time), (time))
WAITS(unsigned, sleep, (unsigned seconds), (seconds))
WAITS(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left))
WAITS_FILE(int, poll, NULL, DWS_NO_FILE, POLLED, NOTHING, NOTHING, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
MASKED(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
      (fds, count, timeout, waits_mask(mask, &held)))
WAITS(int, select, (int count, fd_set *in, fd_set *out, fd_set *errors, struct timeval *timeout),
      (count, in, out, errors, timeout))
MASKED(int, pselect,
      (int count, fd_set *in, fd_set *out, fd_set *errors, const struct timespec *timeout, const sigset_t *mask),
      (count, in, out, errors, timeout, waits_mask(mask, &held)))
WAITS_FILE(int, epoll_wait, NULL, DWS_NO_FILE, (result == 1 ? events->data.fd : DWS_NO_FILE), NOTHING, NOTHING,
           (int epoll, struct epoll_event *events, int most, int timeout), (epoll, events, most, timeout))
MASKED(int, epoll_pwait, (int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask),
      (epoll, events, most, timeout, waits_mask(mask, &held)))
MASKED(int, epoll_pwait2,
       (int epoll, struct epoll_event *events, int most, const struct timespec *timeout, const sigset_t *mask),
       (epoll, events, most, timeout, waits_mask(mask, &held)))
RECEIVES(ssize_t, read, file, file, to, ALL, (int file, void *to, size_t bytes), (file, to, bytes))
SENDS(ssize_t, write, file, from, ALL, (int file, const void *from, size_t bytes), (file, from, bytes))
READS(ssize_t, pread, file, (int file, void *to, size_t bytes, off_t at), (file, to, bytes, at))
READS(ssize_t, pread64, file, (int file, void *to, size_t bytes, off64_t at), (file, to, bytes, at))
WAITS(ssize_t, pwrite, (int file, const void *from, size_t bytes, off_t at), (file, from, bytes, at))
WAITS(ssize_t, pwrite64, (int file, const void *from, size_t bytes, off64_t at), (file, from, bytes, at))
RECEIVES(ssize_t, readv, file, file, parts->iov_base, parts->iov_len,
         (int file, const struct iovec *parts, int count), (file, parts, count))
SENDS(ssize_t, writev, file, parts->iov_base, parts->iov_len, (int file, const struct iovec *parts, int count), (file, parts, count))
READS(ssize_t, preadv, file, (int file, const struct iovec *parts, int count, off_t at), (file, parts, count, at))
WAITS(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t at), (file, parts, count, at))
READS(ssize_t, preadv64, file, (int file, const struct iovec *parts, int count, off64_t at), (file, parts, count, at))
WAITS(ssize_t, pwritev64, (int file, const struct iovec *parts, int count, off64_t at), (file, parts, count, at))
WAITS_FILE(ssize_t, sendfile, NULL, from, DWS_NO_FILE, NOTHING, ANSWERED(to),
           (int to, int from, off_t *at, size_t bytes), (to, from, at, bytes))
WAITS_FILE(ssize_t, sendfile64, NULL, from, DWS_NO_FILE, NOTHING, ANSWERED(to),
           (int to, int from, off64_t *at, size_t bytes), (to, from, at, bytes))
WAITS_FILE(int, close, NULL, DWS_NO_FILE, DWS_NO_FILE, dws_request_close(file), NOTHING, (int file), (file))
WAITS(int, fsync, (int file), (file))
WAITS(int, fdatasync, (int file), (file))
WAITS(int, msync, (void *address, size_t bytes, int flags), (address, bytes, flags))
WAITS(int, flock, (int file, int what), (file, what))
WAITS(int, lockf, (int file, int what, off_t bytes), (file, what, bytes))
WAITS(int, lockf64, (int file, int what, off64_t bytes), (file, what, bytes))
SENDS(ssize_t, send, socket, from, ALL, (int socket, const void *from, size_t bytes, int flags), (socket, from, bytes, flags))
SENDS(ssize_t, sendto, socket, from, ALL,
      (int socket, const void *from, size_t bytes, int flags, const struct sockaddr *to, socklen_t to_bytes),
      (socket, from, bytes, flags, to, to_bytes))
SENDS(ssize_t, sendmsg, socket, message->msg_iov->iov_base, message->msg_iov->iov_len,
      (int socket, const struct msghdr *message, int flags), (socket, message, flags))
WAITS(int, sendmmsg, (int socket, struct mmsghdr *messages, unsigned count, int flags), (socket, messages, count, flags))
RECEIVES(ssize_t, recv, DWS_NO_FILE, socket, flags & STAYS ? NULL : to, ALL,
         (int socket, void *to, size_t bytes, int flags), (socket, to, bytes, flags))
RECEIVES(ssize_t, recvfrom, DWS_NO_FILE, socket, flags & STAYS ? NULL : to, ALL,
      (int socket, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *from_bytes),
      (socket, to, bytes, flags, from, from_bytes))
RECEIVES(ssize_t, recvmsg, DWS_NO_FILE, socket, flags & STAYS ? NULL : message->msg_iov->iov_base,
         message->msg_iov->iov_len, (int socket, struct msghdr *message, int flags), (socket, message, flags))
WAITS(int, recvmmsg, (int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
      (socket, messages, count, flags, timeout))
ACCEPTS(accept, (int socket, struct sockaddr *from, socklen_t *bytes), (socket, from, bytes))
ACCEPTS(accept4, (int socket, struct sockaddr *from, socklen_t *bytes, int flags), (socket, from, bytes, flags))
WAITS_FILE(int, connect, NULL, DWS_NO_FILE, DWS_NO_FILE, dws_request_close(socket), NOTHING,
           (int socket, const struct sockaddr *to, socklen_t bytes), (socket, to, bytes))
WAITS(pid_t, waitpid, (pid_t process, int *status, int flags), (process, status, flags))
WAITS(pid_t, wait4, (pid_t process, int *status, int flags, struct rusage *usage), (process, status, flags, usage))
WAITS(pid_t, wait3, (int *status, int flags, struct rusage *usage), (status, flags, usage))
WAITS(pid_t, wait, (int *status), (status))
WAITS(int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int flags), (kind, id, info, flags))
READS(int, system, DWS_NOT_HELD, (const char *command), (command))
WAITS(int, pclose, (FILE * stream), (stream))
WAITS(int, pause, (void), ())
MASKED(int, sigsuspend, (const sigset_t *mask), (waits_mask(mask, &held)))
WAITS(int, sigwait, (const sigset_t *set, int *number), (set, number))
WAITS(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
WAITS(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout), (set, info, timeout))
WAITS(int, semop, (int set, struct sembuf *operations, size_t count), (set, operations, count))
WAITS(int, semtimedop, (int set, struct sembuf *operations, size_t count, const struct timespec *timeout),
      (set, operations, count, timeout))
WAITS(int, msgsnd, (int queue, const void *message, size_t bytes, int flags), (queue, message, bytes, flags))
WAITS(ssize_t, msgrcv, (int queue, void *message, size_t bytes, long kind, int flags), (queue, message, bytes, kind, flags))
WAITS(int, mq_send, (mqd_t queue, const char *message, size_t bytes, unsigned priority), (queue, message, bytes, priority))
WAITS(ssize_t, mq_receive, (mqd_t queue, char *message, size_t bytes, unsigned *priority), (queue, message, bytes, priority))
WAITS(int, mq_timedsend,
      (mqd_t queue, const char *message, size_t bytes, unsigned priority, const struct timespec *until),
      (queue, message, bytes, priority, until))
WAITS(ssize_t, mq_timedreceive,
      (mqd_t queue, char *message, size_t bytes, unsigned *priority, const struct timespec *until),
      (queue, message, bytes, priority, until))
WAITS(int, aio_suspend, (const struct aiocb *const list[], int count, const struct timespec *timeout), (list, count, timeout))
WAITS(int, pthread_join, (pthread_t thread, void **value), (thread, value))
WAITS(int, pthread_timedjoin_np, (pthread_t thread, void **value, const struct timespec *until), (thread, value, until))
WAITS(int, thrd_join, (thrd_t thread, int *value), (thread, value))
WAITS(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))

/* ---- files that are opened ---------------------------------------------------------------------- */

#define OPENS(name)                                                                           \
	PUBLIC int name(const char *path, int flags, ...)                                           \
	{                                                                                           \
		FRONT(#name, NULL);                                                                     \
		int (*next)(const char *, int, ...), result;                                            \
		mode_t mode;                                                                            \
		va_list list;                                                                           \
                                                                                                \
		va_start(list, flags);                                                                  \
		mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;  \
		va_end(list);                                                                           \
		*(void **)&next = dws_target(&wrapped);                                                 \
		CALL(DWS_NO_FILE, DWS_NO_FILE, result, next(path, flags, mode));                        \
		dws_request_close(result);                                                              \
		return result;                                                                          \
	}

OPENS(open)
OPENS(open64)

/* With _FORTIFY_SOURCE programs call these, which end the program if a buffer is too small. */
ssize_t __read_chk(int file, void *to, size_t bytes, size_t size);
ssize_t __pread_chk(int file, void *to, size_t bytes, off_t at, size_t size);
ssize_t __pread64_chk(int file, void *to, size_t bytes, off64_t at, size_t size);
ssize_t __recv_chk(int socket, void *to, size_t bytes, size_t size, int flags);
ssize_t __recvfrom_chk(int socket, void *to, size_t bytes, size_t size, int flags, struct sockaddr *from, socklen_t *from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
char *__fgets_chk(char *text, size_t size, int bytes, FILE *stream);
size_t __fread_chk(void *to, size_t size, size_t bytes, size_t count, FILE *stream);
RECEIVES(ssize_t, __read_chk, file, file, to, ALL, (int file, void *to, size_t bytes, size_t size), (file, to, bytes, size))
READS(ssize_t, __pread_chk, file, (int file, void *to, size_t bytes, off_t at, size_t size), (file, to, bytes, at, size))
READS(ssize_t, __pread64_chk, file, (int file, void *to, size_t bytes, off64_t at, size_t size), (file, to, bytes, at, size))
RECEIVES(ssize_t, __recv_chk, DWS_NO_FILE, socket, flags & STAYS ? NULL : to, ALL,
         (int socket, void *to, size_t bytes, size_t size, int flags),
         (socket, to, bytes, size, flags))
RECEIVES(ssize_t, __recvfrom_chk, DWS_NO_FILE, socket, flags & STAYS ? NULL : to, ALL,
      (int socket, void *to, size_t bytes, size_t size, int flags, struct sockaddr *from, socklen_t *from_bytes),
      (socket, to, bytes, size, flags, from, from_bytes))
WAITS_FILE(int, __poll_chk, NULL, DWS_NO_FILE, POLLED, NOTHING, NOTHING,
           (struct pollfd * fds, nfds_t count, int timeout, size_t size), (fds, count, timeout, size))
MASKED(int, __ppoll_chk,
       (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size),
       (fds, count, timeout, waits_mask(mask, &held), size))
WAITS(int, __open_2, (const char *path, int flags), (path, flags))
WAITS(int, __open64_2, (const char *path, int flags), (path, flags))

/* ---- conditions ---------------------------------------------------------------------------------- */

/* glibc of x86-64 has two versions of conditions; programs use the newer one. */
#define CONDITION_VERSION "GLIBC_2.3.2"
WAITS_VERSION(int, pthread_cond_wait, CONDITION_VERSION, (pthread_cond_t * condition, pthread_mutex_t *mutex),
              (condition, mutex))
WAITS_VERSION(int, pthread_cond_timedwait, CONDITION_VERSION,
              (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
              (condition, mutex, until))
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 30)
WAITS(int, pthread_cond_clockwait,
      (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
      (condition, mutex, clock, until))
#endif
WAITS(int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
WAITS(int, cnd_timedwait, (cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until),
      (condition, mutex, until))

/* ---- what libc answers without the kernel ----------------------------------------------------------- */

/* A function that is tried by another one first, which answers `busy` where the function would wait. */
#define TRIES(name, try_name, busy, lock_type, holder_of, parameters, arguments)        \
	PUBLIC int name parameters                                                          \
	{                                                                                   \
		static struct dws_wrapped tried DWS_WRAPPED = { #try_name, NULL, NULL, 0 };     \
		FRONT(#name, NULL);                                                             \
		int (*next) parameters, (*try)(lock_type *), result;                            \
		uint32_t holder;                                                                \
                                                                                        \
		*(void **)&next = dws_target(&wrapped);                                         \
		*(void **)&try = dws_target(&tried);                                            \
		if (DWELL_UNLIKELY(!period || !try))                                            \
			return next arguments;                                                      \
		result = try(lock);                                                             \
		if (DWELL_LIKELY(!(busy)))                                                      \
			return result;                                                              \
		holder = holder_of;                                                             \
		measured = waits_begin(DWS_NO_FILE);                                                           \
		result = next arguments;                                                        \
		waits_end(&wrapped, measured, __builtin_return_address(0), holder, DWS_NO_FILE);                 \
		return result;                                                                  \
	}

#ifdef __GLIBC__
#define OWNER(lock) ((uint32_t)__atomic_load_n(&((pthread_mutex_t *)(void *)(lock))->__data.__owner, __ATOMIC_RELAXED))
#else
#define OWNER(lock) 0
#endif
#define MUTEX_BUSY (result == EBUSY)

TRIES(pthread_mutex_lock, pthread_mutex_trylock, MUTEX_BUSY, pthread_mutex_t, OWNER(lock), (pthread_mutex_t * lock), (lock))
TRIES(pthread_mutex_timedlock, pthread_mutex_trylock, MUTEX_BUSY, pthread_mutex_t, OWNER(lock),
      (pthread_mutex_t *restrict lock, const struct timespec *restrict until), (lock, until))
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 30)
TRIES(pthread_mutex_clocklock, pthread_mutex_trylock, MUTEX_BUSY, pthread_mutex_t, OWNER(lock),
      (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until), (lock, clock, until))
#endif
TRIES(mtx_lock, mtx_trylock, result == thrd_busy, mtx_t, OWNER(lock), (mtx_t * lock), (lock))
TRIES(mtx_timedlock, mtx_trylock, result == thrd_busy, mtx_t, OWNER(lock),
      (mtx_t *restrict lock, const struct timespec *restrict until), (lock, until))
TRIES(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, MUTEX_BUSY, pthread_rwlock_t, 0, (pthread_rwlock_t * lock), (lock))
TRIES(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, MUTEX_BUSY, pthread_rwlock_t, 0, (pthread_rwlock_t * lock), (lock))
TRIES(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, MUTEX_BUSY, pthread_rwlock_t, 0,
      (pthread_rwlock_t *restrict lock, const struct timespec *restrict until), (lock, until))
TRIES(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, MUTEX_BUSY, pthread_rwlock_t, 0,
      (pthread_rwlock_t *restrict lock, const struct timespec *restrict until), (lock, until))

/* A semaphore is a point of cancellation even if it is up. Its try sets errno where the wait would not. */
#define SEMAPHORES(name, parameters, arguments)                                          \
	PUBLIC int name parameters                                                           \
	{                                                                                    \
		FRONT(#name, NULL);                                                              \
		int (*next) parameters, saved = errno, result;                                   \
                                                                                         \
		*(void **)&next = dws_target(&wrapped);                                          \
		if (DWELL_UNLIKELY(!period))                                                     \
			return next arguments;                                                       \
		pthread_testcancel();                                                            \
		if (DWELL_LIKELY(sem_trywait(semaphore) == 0))                                   \
			return 0;                                                                    \
		errno = saved;                                                                   \
		measured = waits_begin(DWS_NO_FILE);                                                            \
		result = next arguments;                                                         \
		waits_end(&wrapped, measured, __builtin_return_address(0), 0, DWS_NO_FILE);                       \
		return result;                                                                   \
	}

SEMAPHORES(sem_wait, (sem_t * semaphore), (semaphore))
SEMAPHORES(sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict until), (semaphore, until))
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 30)
SEMAPHORES(sem_clockwait, (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until),
           (semaphore, clock, until))
#endif

/* glibc sets the second bit when the function has returned. */
PUBLIC int pthread_once(pthread_once_t *once, void (*function)(void))
{
	FRONT("pthread_once", NULL);
	int (*next)(pthread_once_t *, void (*)(void)), result;

	*(void **)&next = dws_target(&wrapped);
	if (DWELL_LIKELY(__atomic_load_n((int *)once, __ATOMIC_ACQUIRE) & 2))
		return next(once, function);
	CALL(DWS_NOT_HELD, DWS_NO_FILE, result, next(once, function));
	return result;
}

/* ---- streams ------------------------------------------------------------------------------------ */

/* Bytes of the stream that libc has read already. */
static inline size_t waits_buffered(const FILE *stream)
{
#ifdef __GLIBC__
	return (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
#else
	return 0;
#endif
}

/* What a stream reads. */
static inline int waits_file(const FILE *stream)
{
#ifdef __GLIBC__
	return stream->_fileno;
#else
	return DWS_NO_FILE;
#endif
}

#define STREAMS(result_type, name, is_buffered, file, parameters, arguments) \
	PUBLIC result_type name parameters                                     \
	{                                                                      \
		FRONT(#name, NULL);                                                \
		result_type(*next) parameters;                                     \
		result_type result;                                                \
                                                                           \
		*(void **)&next = dws_target(&wrapped);                            \
		if (DWELL_LIKELY(is_buffered))                                     \
			return next arguments;                                         \
		CALL(file, DWS_NO_FILE, result, next arguments);                   \
		return result;                                                     \
	}

STREAMS(char *, fgets, waits_buffered(stream) > 255, waits_file(stream), (char *text, int bytes, FILE *stream), (text, bytes, stream))
STREAMS(size_t, fread, waits_buffered(stream) >= bytes * count, waits_file(stream), (void *to, size_t bytes, size_t count, FILE *stream),
        (to, bytes, count, stream))
STREAMS(ssize_t, getline, waits_buffered(stream) > 255, waits_file(stream), (char **line, size_t *bytes, FILE *stream),
        (line, bytes, stream))
STREAMS(ssize_t, getdelim, waits_buffered(stream) > 255, waits_file(stream), (char **line, size_t *bytes, int end, FILE *stream),
        (line, bytes, end, stream))
STREAMS(ssize_t, __getdelim, waits_buffered(stream) > 255, waits_file(stream), (char **line, size_t *bytes, int end, FILE *stream),
        (line, bytes, end, stream))
STREAMS(char *, __fgets_chk, waits_buffered(stream) > 255, waits_file(stream), (char *text, size_t size, int bytes, FILE *stream),
        (text, size, bytes, stream))
STREAMS(size_t, __fread_chk, waits_buffered(stream) >= bytes * count, waits_file(stream),
        (void *to, size_t size, size_t bytes, size_t count, FILE *stream), (to, size, bytes, count, stream))
STREAMS(int, fgetc, waits_buffered(stream) > 0, waits_file(stream), (FILE * stream), (stream))
STREAMS(int, getc, waits_buffered(stream) > 0, waits_file(stream), (FILE * stream), (stream))
STREAMS(int, getchar, waits_buffered(stdin) > 0, waits_file(stdin), (void), ())
STREAMS(int, fflush, false, DWS_NO_FILE, (FILE * stream), (stream))
STREAMS(int, fclose, false, DWS_NO_FILE, (FILE * stream), (stream))

/* ---- libc's syscall() ------------------------------------------------------------------------------ */

/* C++'s futures, latches and atomics wait by it. */
bool dws_waits_is_futex(long number, long operation)
{
	int command = (int)operation & FUTEX_CMD_MASK;

	return number == SYS_futex && period && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI);
}

DWS_FRONT long dws_waits_futex(long a, long b, long c, long d, long e, long f, const void *caller)
{
	static struct dws_wrapped wrapped DWS_WRAPPED = { "futex", NULL, NULL, 0 };
	struct wait measured = waits_begin(DWS_NO_FILE);
	long result = dw_system(SYS_futex, a, b, c, d, e, f);

	waits_end(&wrapped, measured, caller, 0, DWS_NO_FILE);
	return result;
}
