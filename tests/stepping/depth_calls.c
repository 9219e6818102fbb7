/*
 * A call of each function that dwell has in front of another library's. Each has a call that waits for 20 ms, where it
 * can wait, or that is large, where it returns memory; and one that is short.
 *
 * Other threads use the functions of libc itself, so that the first call in this process is the one that is measured.
 */
#include "depth.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "kernel.h"

#define LARGE ((size_t)32 << 20)
#define SMALL ((size_t)100)

static const struct timespec wait_time = { 0, WAIT_MS * 1000000 }, no_time = { 0, 1000 };

const struct timespec *depth_time(bool waits)
{
	return waits ? &wait_time : &no_time;
}

struct timespec depth_until(clockid_t clock, bool waits)
{
	struct timespec now;

	kernel(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
	now.tv_nsec += waits ? WAIT_MS * 1000000 : 0;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

/* The function of libc itself. */
void *depth_libc(const char *name)
{
	static void *libc;

	if (!libc)
		libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	return dlsym(libc, name);
}

static void *depth_later(void *release)
{
	void (*function)(void) = (void (*)(void))(uintptr_t)release;

	kernel_sleep_ms(WAIT_MS);
	function();
	return NULL;
}

/* Calls a function in another thread after the time of a wait, or at once. */
void depth_release(bool waits, void (*function)(void))
{
	pthread_t thread;

	if (!waits) {
		function();
		return;
	}
	pthread_create(&thread, NULL, depth_later, (void *)(uintptr_t)function);
	pthread_detach(thread);
}

/* ---- time ----------------------------------------------------------------------------------------- */

DO(nanosleep, nanosleep(depth_time(waits), NULL))
DO(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, depth_time(waits), NULL))
DO(usleep, usleep(waits ? WAIT_MS * 1000 : 1))
DO(sleep, sleep(waits))
DO(thrd_sleep, thrd_sleep(depth_time(waits), NULL))
DO(poll, poll(NULL, 0, waits ? WAIT_MS : 0))
DO(ppoll, ppoll(NULL, 0, depth_time(waits), NULL))
DO(pselect, pselect(0, NULL, NULL, NULL, depth_time(waits), NULL))

static void call_select(bool waits)
{
	struct timeval time = { 0, waits ? WAIT_MS * 1000 : 1 };

	select(0, NULL, NULL, NULL, &time);
}

static int epoll;

static void prepare_epoll(bool waits)
{
	(void)waits;
	if (!epoll)
		epoll = epoll_create1(0);
}

static void call_epoll_wait(bool waits)
{
	struct epoll_event event;

	epoll_wait(epoll, &event, 1, waits ? WAIT_MS : 0);
}

static void call_epoll_pwait(bool waits)
{
	struct epoll_event event;

	epoll_pwait(epoll, &event, 1, waits ? WAIT_MS : 0, NULL);
}

static void call_epoll_pwait2(bool waits)
{
	struct epoll_event event;

	epoll_pwait2(epoll, &event, 1, depth_time(waits), NULL);
}

/* ---- files ---------------------------------------------------------------------------------------- */

static int file, ends[2];
static char byte, page[4096];

static void prepare_timer(bool waits)
{
	struct itimerspec time = { .it_value = *depth_time(waits) };

	file = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(file, 0, &time, NULL);
	if (!waits)
		kernel_sleep_ms(1);
}

static void call_read(bool waits)
{
	uint64_t count;

	(void)waits;
	if (read(file, &count, sizeof count) < 0)
		abort();
}

static void release_pipe(void)
{
	kernel(SYS_read, ends[0], (long)page, sizeof page, 0, 0, 0);
}

static void prepare_write(bool waits)
{
	if (pipe(ends) != 0)
		abort();
	for (int i = fcntl(ends[1], F_SETPIPE_SZ, 4096); waits && i > 0; i -= (int)sizeof page)
		kernel(SYS_write, ends[1], (long)page, sizeof page, 0, 0, 0);
	if (waits)
		depth_release(waits, release_pipe);
}

static void call_write(bool waits)
{
	(void)waits;
	if (write(ends[1], &byte, 1) != 1)
		abort();
}

static void prepare_file(bool waits)
{
	(void)waits;
	file = memfd_create("depth", 0);
	if (ftruncate(file, sizeof page) != 0)
		abort();
}

DO(pread, depth_must(pread(file, &byte, 1, 0) == 1))
DO(pread64, depth_must(pread64(file, &byte, 1, 0) == 1))
DO(pwrite, depth_must(pwrite(file, &byte, 1, 0) == 1))
DO(pwrite64, depth_must(pwrite64(file, &byte, 1, 0) == 1))
DO(close, close(file))
DO(fsync, fsync(file))
DO(fdatasync, fdatasync(file))
DO(msync, msync((void *)((uintptr_t)&page & ~(uintptr_t)4095), 4096, MS_ASYNC))

static char fifo[64];

static void release_fifo(void)
{
	kernel(SYS_open, (long)fifo, O_WRONLY, 0, 0, 0, 0);
}

static void prepare_open(bool waits)
{
	memcpy(fifo, "/dev/null", 10);
	if (!waits)
		return;
	memcpy(fifo, "/tmp/depth.XXXXXX", 18);
	if (!mkdtemp(fifo))
		abort();
	rmdir(fifo);
	if (mkfifo(fifo, 0600) != 0)
		abort();
	depth_release(waits, release_fifo);
}

DO(open, file = open(fifo, O_RDONLY); if (waits) unlink(fifo))
DO(open64, file = open64(fifo, O_RDONLY); if (waits) unlink(fifo))

/* ---- processes and threads -------------------------------------------------------------------------- */

static pid_t child;
static pthread_t thread;

static void prepare_child(bool waits)
{
	child = (pid_t)kernel(SYS_fork, 0, 0, 0, 0, 0, 0);
	if (!child) {
		kernel_sleep_ms(waits ? WAIT_MS : 0);
		kernel(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	if (!waits)
		kernel_sleep_ms(5);
}

DO(waitpid, depth_must(waitpid(child, NULL, 0) == child))
DO(wait4, depth_must(wait4(child, NULL, 0, NULL) == child))
DO(wait, depth_must(wait(NULL) == child))

static void call_waitid(bool waits)
{
	siginfo_t info;

	(void)waits;
	if (waitid(P_PID, (id_t)child, &info, WEXITED) != 0)
		abort();
}

static void *calls_thread(void *waits)
{
	kernel_sleep_ms(waits ? WAIT_MS : 0);
	return NULL;
}

static void prepare_join(bool waits)
{
	pthread_create(&thread, NULL, calls_thread, waits ? &thread : NULL);
	if (!waits)
		kernel_sleep_ms(5);
}

DO(pthread_join, pthread_join(thread, NULL))
DO(pthread_create, pthread_create(&thread, NULL, calls_thread, waits ? &thread : NULL))

static int calls_c11(void *unused)
{
	(void)unused;
	return 0;
}

static void call_thrd_create(bool waits)
{
	(void)waits;
	thrd_create(&thread, calls_c11, NULL);
}

static void *calls_empty(void *unused)
{
	return unused;
}

/* Of the new thread: from its begin to its end. */
static long measure_thread(bool waits)
{
	char *stack = depth_stack();

	pthread_join(depth_start(stack, waits ? calls_empty : calls_thread), NULL);
	return depth_used(stack);
}

/* ---- locks ------------------------------------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;
static pthread_rwlock_t lock;
static pthread_barrier_t barrier;
static sem_t semaphore;
static volatile int held;

static void *calls_hold_mutex(void *unused)
{
	((int (*)(pthread_mutex_t *))(uintptr_t)depth_libc("pthread_mutex_lock"))(&mutex);
	held = 1;
	kernel_sleep_ms(WAIT_MS);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *calls_hold_lock(void *unused)
{
	((int (*)(pthread_rwlock_t *))(uintptr_t)depth_libc("pthread_rwlock_wrlock"))(&lock);
	held = 1;
	kernel_sleep_ms(WAIT_MS);
	pthread_rwlock_unlock(&lock);
	return unused;
}

static void calls_hold(bool waits, void *(*function)(void *))
{
	pthread_t holder;

	held = !waits;
	if (waits && pthread_create(&holder, NULL, function, NULL) == 0)
		pthread_detach(holder);
	while (!held)
		kernel(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

PREPARE(mutex, calls_hold(waits, calls_hold_mutex))
DO(pthread_mutex_lock, pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex))

static void call_pthread_mutex_timedlock(bool waits)
{
	struct timespec until = depth_until(CLOCK_REALTIME, true);

	(void)waits;
	until.tv_sec++;
	pthread_mutex_timedlock(&mutex, &until);
	pthread_mutex_unlock(&mutex);
}

static void prepare_lock(bool waits)
{
	pthread_rwlock_init(&lock, NULL);
	calls_hold(waits, calls_hold_lock);
}

DO(pthread_rwlock_rdlock, pthread_rwlock_rdlock(&lock); pthread_rwlock_unlock(&lock))
DO(pthread_rwlock_wrlock, pthread_rwlock_wrlock(&lock); pthread_rwlock_unlock(&lock))

static void release_condition(void)
{
	((int (*)(pthread_mutex_t *))(uintptr_t)depth_libc("pthread_mutex_lock"))(&mutex);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static void prepare_condition(bool waits)
{
	pthread_cond_init(&condition, NULL);
	((int (*)(pthread_mutex_t *))(uintptr_t)depth_libc("pthread_mutex_lock"))(&mutex);
	depth_release(true, release_condition);
	(void)waits;
}

static void call_pthread_cond_wait(bool waits)
{
	(void)waits;
	pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void prepare_timed(bool waits)
{
	(void)waits;
	pthread_cond_init(&condition, NULL);
	((int (*)(pthread_mutex_t *))(uintptr_t)depth_libc("pthread_mutex_lock"))(&mutex);
}

static void call_pthread_cond_timedwait(bool waits)
{
	struct timespec until = depth_until(CLOCK_REALTIME, waits);

	pthread_cond_timedwait(&condition, &mutex, &until);
	pthread_mutex_unlock(&mutex);
}

static void call_pthread_cond_clockwait(bool waits)
{
	struct timespec until = depth_until(CLOCK_MONOTONIC, waits);

	pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
	pthread_mutex_unlock(&mutex);
}

static void release_barrier(void)
{
	((int (*)(pthread_barrier_t *))(uintptr_t)depth_libc("pthread_barrier_wait"))(&barrier);
}

static void prepare_barrier(bool waits)
{
	pthread_barrier_init(&barrier, NULL, waits ? 2 : 1);
	if (waits)
		depth_release(waits, release_barrier);
}

DO(pthread_barrier_wait, pthread_barrier_wait(&barrier))

static void release_semaphore(void)
{
	sem_post(&semaphore);
}

static void prepare_semaphore(bool waits)
{
	sem_init(&semaphore, 0, 0);
	depth_release(waits, release_semaphore);
}

DO(sem_wait, sem_wait(&semaphore))

static void call_sem_timedwait(bool waits)
{
	struct timespec until = depth_until(CLOCK_REALTIME, waits);

	until.tv_sec++;
	sem_timedwait(&semaphore, &until);
}

static void call_sem_clockwait(bool waits)
{
	struct timespec until = depth_until(CLOCK_MONOTONIC, waits);

	until.tv_sec++;
	sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
}

/* ---- signals ------------------------------------------------------------------------------------------ */

static sigset_t usual;
static long waiting_thread;

static void calls_ignore(int number)
{
	(void)number;
}

static void release_signal(void)
{
	kernel(SYS_tgkill, getpid(), waiting_thread, SIGUSR1, 0, 0, 0);
}

static void prepare_signal(bool waits)
{
	sigset_t before;

	sigemptyset(&usual);
	sigaddset(&usual, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usual, &before);
	waiting_thread = kernel(SYS_gettid, 0, 0, 0, 0, 0, 0);
	depth_release(waits, release_signal);
}

DO(sigtimedwait, sigtimedwait(&usual, NULL, depth_time(waits)); kernel_sleep_ms(WAIT_MS * waits))
DO(sigwaitinfo, sigwaitinfo(&usual, NULL))

static void call_sigwait(bool waits)
{
	int number;

	(void)waits;
	sigwait(&usual, &number);
}

static void prepare_suspend(bool waits)
{
	struct sigaction action = { .sa_handler = calls_ignore };

	sigaction(SIGUSR1, &action, NULL);
	prepare_signal(waits);
}

static void call_sigsuspend(bool waits)
{
	sigset_t none;

	(void)waits;
	sigemptyset(&none);
	sigsuspend(&none);
}

static volatile bool pauses;

/* More than once: the first may come before the pause. */
static void release_pause(void)
{
	for (; pauses; kernel_sleep_ms(WAIT_MS))
		release_signal();
}

static void call_pause(bool waits)
{
	(void)waits;
	pauses = true;
	depth_release(true, release_pause);
	pthread_sigmask(SIG_UNBLOCK, &usual, NULL);
	pause();
	pauses = false;
}

DO(sigpending, sigpending(&usual))

static void call_sigaction(bool waits)
{
	struct sigaction action = { .sa_handler = calls_ignore, .sa_flags = waits ? SA_ONSTACK : 0 };

	sigaction(SIGUSR2, &action, NULL);
}

DO(signal, signal(SIGUSR2, calls_ignore))

static void call_sigaltstack(bool waits)
{
	static char space[65536];
	stack_t stack = { .ss_sp = space, .ss_size = sizeof space };

	sigaltstack(waits ? &stack : NULL, waits ? NULL : &stack);
}

/* ---- the kernel, memory ---------------------------------------------------------------------------------- */

DO(syscall, syscall(SYS_getppid))
DO(prctl, prctl(PR_GET_NAME, (unsigned long)page, 0ul, 0ul, 0ul))

static void *volatile block;

PREPARE(block, block = malloc(waits ? LARGE : SMALL))
PREPARE(map, block = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
DO(malloc, block = malloc(waits ? LARGE : SMALL))
DO(free, free(block))
DO(calloc, block = calloc(1, waits ? LARGE : SMALL))
DO(realloc, block = realloc(block, waits ? LARGE * 2 : SMALL * 20))
DO(reallocarray, block = reallocarray(block, 2, waits ? LARGE : SMALL))
DO(aligned_alloc, block = aligned_alloc(64, waits ? LARGE : 128))
DO(memalign, block = memalign(64, waits ? LARGE : SMALL))
DO(valloc, block = valloc(waits ? LARGE : SMALL))
DO(pvalloc, block = pvalloc(waits ? LARGE : SMALL))

static void call_posix_memalign(bool waits)
{
	void *made;

	if (posix_memalign(&made, 64, waits ? LARGE : SMALL) == 0)
		block = made;
}

DO(mmap, block = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
DO(mmap64, block = mmap64(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
DO(munmap, munmap(block, LARGE))
DO(mremap, block = mremap(block, LARGE, 2 * LARGE, MREMAP_MAYMOVE))

/* ---- computing: ticks of the sampler interrupt it ----------------------------------------------------------- */

static double calls_cpu(void)
{
	struct timespec now;

	kernel(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0, 0, 0);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void call_tick(bool waits)
{
	double until = calls_cpu() + (waits ? 0.05 : 0.02);

	while (calls_cpu() < until)
		for (volatile int i = 0; i < 10000; i++)
			;
}

/* ---- functions of the recorder, if it is loaded -------------------------------------------------------------- */

static void *calls_dwell(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static void call_dwell_step(bool waits)
{
	static void (*begin)(void), (*end)(void);

	(void)waits;
	if (!begin) {
		*(void **)&begin = calls_dwell("dwell_step_begin");
		*(void **)&end = calls_dwell("dwell_step_end");
	}
	if (begin && end)
		begin(), end();
}

static void call_dwell_meta(bool waits)
{
	static void (*meta)(const char *, const char *);

	(void)waits;
	if (!meta)
		*(void **)&meta = calls_dwell("dwell_meta");
	if (meta)
		meta("depth", "measured");
}

static void call_dwell_frame(bool waits)
{
	static uint32_t (*intern)(const char *, const char *, uint32_t);

	if (!intern)
		*(void **)&intern = calls_dwell("dwell_intern_frame");
	if (intern)
		intern(waits ? "function" : "other", "file.c", 1);
}

#define CALL(name, kind, prepare) \
	{ \
#name, kind, call_##name, prepare, NULL \
	}

const struct depth_call depth_calls[] = {
	CALL(nanosleep, "waits", NULL),
	CALL(clock_nanosleep, "waits", NULL),
	CALL(usleep, "waits", NULL),
	CALL(sleep, "waits", NULL),
	CALL(thrd_sleep, "waits", NULL),
	CALL(poll, "waits", NULL),
	CALL(ppoll, "waits", NULL),
	CALL(select, "waits", NULL),
	CALL(pselect, "waits", NULL),
	CALL(epoll_wait, "waits", prepare_epoll),
	CALL(epoll_pwait, "waits", prepare_epoll),
	CALL(epoll_pwait2, "waits", prepare_epoll),
	CALL(read, "waits", prepare_timer),
	CALL(write, "waits", prepare_write),
	CALL(pread, "call", prepare_file),
	CALL(pread64, "call", prepare_file),
	CALL(pwrite, "call", prepare_file),
	CALL(pwrite64, "call", prepare_file),
	CALL(close, "call", prepare_file),
	CALL(fsync, "call", prepare_file),
	CALL(fdatasync, "call", prepare_file),
	CALL(msync, "call", NULL),
	CALL(open, "waits", prepare_open),
	CALL(open64, "waits", prepare_open),
	CALL(waitpid, "waits", prepare_child),
	CALL(wait4, "waits", prepare_child),
	CALL(wait, "waits", prepare_child),
	CALL(waitid, "waits", prepare_child),
	CALL(pthread_join, "waits", prepare_join),
	CALL(pthread_create, "call", NULL),
	CALL(thrd_create, "call", NULL),
	{ "pthread_create.thread", "call", NULL, NULL, measure_thread },
	CALL(pthread_mutex_lock, "waits", prepare_mutex),
	CALL(pthread_mutex_timedlock, "waits", prepare_mutex),
	CALL(pthread_rwlock_rdlock, "waits", prepare_lock),
	CALL(pthread_rwlock_wrlock, "waits", prepare_lock),
	CALL(pthread_cond_wait, "waits", prepare_condition),
	CALL(pthread_cond_timedwait, "waits", prepare_timed),
	CALL(pthread_cond_clockwait, "waits", prepare_timed),
	CALL(pthread_barrier_wait, "waits", prepare_barrier),
	CALL(sem_wait, "waits", prepare_semaphore),
	CALL(sem_timedwait, "waits", prepare_semaphore),
	CALL(sem_clockwait, "waits", prepare_semaphore),
	CALL(sigtimedwait, "call", prepare_signal),
	CALL(sigwaitinfo, "call", prepare_signal),
	CALL(sigwait, "call", prepare_signal),
	CALL(sigsuspend, "call", prepare_suspend),
	CALL(pause, "call", prepare_suspend),
	CALL(sigpending, "call", NULL),
	CALL(sigaction, "call", NULL),
	CALL(signal, "call", NULL),
	CALL(sigaltstack, "call", NULL),
	CALL(syscall, "call", NULL),
	CALL(prctl, "call", NULL),
	CALL(malloc, "heap", NULL),
	CALL(free, "heap", prepare_block),
	CALL(calloc, "heap", NULL),
	CALL(realloc, "heap", prepare_block),
	CALL(reallocarray, "heap", prepare_block),
	CALL(aligned_alloc, "heap", NULL),
	CALL(memalign, "heap", NULL),
	CALL(valloc, "heap", NULL),
	CALL(pvalloc, "heap", NULL),
	CALL(posix_memalign, "heap", NULL),
	CALL(mmap, "heap", NULL),
	CALL(mmap64, "heap", NULL),
	CALL(munmap, "heap", prepare_map),
	CALL(mremap, "heap", prepare_map),
	CALL(tick, "tick", NULL),
	CALL(dwell_step, "own", NULL),
	CALL(dwell_meta, "own", NULL),
	CALL(dwell_frame, "own", NULL),
	{ NULL, NULL, NULL, NULL, NULL },
};
