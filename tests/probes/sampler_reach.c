/*
 * What samples must reach. usage: sampler_reach short MILLISECONDS | c11 | deep FRAMES | heap | hidden | waits
 *
 * short  burns 1.2 s of CPU time in threads that use so much each, and 0.3 s in the first thread
 * c11    burns half a second in each of three threads of C11
 * deep   burns 0.3 s at the end of so many calls, from each of two functions
 * heap   allocates and frees for half a second of CPU time
 * hidden waits for half a second by a system call of its own, and as long in libc
 * waits  waits for a fifth of a second in each of many functions of libc, and prints their names
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 200000000L

static volatile double sink;

static double cpu_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#define BURN(name, number)                               \
	__attribute__((noinline)) static void name(double s) \
	{                                                    \
		for (double end = cpu_s() + s; cpu_s() < end;)   \
			for (int i = 0; i < 2000; i++)               \
				sink += i * (number);                    \
	}
BURN(burn_piece, 3)
BURN(burn_rest, 5)

/* ---- threads ------------------------------------------------------------------------------------ */

static void *piece(void *seconds)
{
	burn_piece(*(double *)seconds);
	return NULL;
}

static void short_threads(double seconds)
{
	pthread_t thread;

	for (int i = 0; i < (int)(1.2 / seconds + 0.5); i++)
		if (!pthread_create(&thread, NULL, piece, &seconds))
			pthread_join(thread, NULL);
	burn_rest(0.3);
}

static int c11_piece(void *unused)
{
	burn_piece(0.5);
	return unused != NULL;
}

static void c11_threads(void)
{
	thrd_t threads[3];

	for (int i = 0; i < 3; i++)
		thrd_create(&threads[i], c11_piece, NULL);
	for (int i = 0; i < 3; i++)
		thrd_join(threads[i], NULL);
}

__attribute__((noinline)) static int down(int frames)
{
	if (frames)
		return down(frames - 1) + (sink > 0);
	burn_piece(0.3);
	return 1;
}

__attribute__((noinline)) static void entry_a(int frames)
{
	sink += down(frames);
}

__attribute__((noinline)) static void entry_b(int frames)
{
	sink -= down(frames);
}

static void use_heap(void)
{
	void *blocks[64];

	for (double end = cpu_s() + 0.5; cpu_s() < end;)
		for (int turn = 0; turn < 200; turn++) {
			for (int i = 0; i < 64; i++)
				blocks[i] = malloc((size_t)(i + 1) * 700);
			for (int i = 0; i < 64; i++)
				free(blocks[i]);
		}
}

/* ---- waits --------------------------------------------------------------------------------------- */

static int sockets[2], pipes[2], files[2], semaphores;
static mtx_t c11_lock;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int word;
static char bytes[1 << 20];

/* A thread does this after a while. */
static void *later(void *function)
{
	void (*end)(void);

	nanosleep(&(struct timespec){ 0, WAIT_NS }, NULL);
	*(void **)&end = function;
	end();
	return NULL;
}

static pthread_t end_by(void (*function)(void))
{
	pthread_t thread;

	pthread_create(&thread, NULL, later, (void *)(size_t)function);
	return thread;
}

static void drain_socket(void)
{
	static char space[1 << 20];

	for (ssize_t got, all = 0; all < (ssize_t)sizeof bytes && (got = read(sockets[1], space, sizeof space)) > 0;)
		all += got;
}

static void drain_pipe(void)
{
	static char space[1 << 20];

	for (ssize_t got, all = 0; all < (ssize_t)sizeof bytes && (got = read(pipes[0], space, sizeof space)) > 0;)
		all += got;
}

static void answer(void)
{
	if (write(sockets[1], "line\n", 5) != 5)
		abort();
}

static void unlock_file(void)
{
	flock(files[0], LOCK_UN);
}

static void wake_word(void)
{
	atomic_store(&word, 1);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void unlock_soon(void)
{
	mtx_unlock(&c11_lock);
}

static void *hold_c11(void *unused)
{
	mtx_lock(&c11_lock);
	atomic_store(&word, 2);
	later((void *)(size_t)unlock_soon);
	return unused;
}

static void signal_first(void)
{
	kill(getpid(), SIGUSR1);
}

static void on_signal(int number)
{
	sink += number;
}

static void up(void)
{
	semop(semaphores, &(struct sembuf){ 0, 1, 0 }, 1);
}

static void initialize(void)
{
	nanosleep(&(struct timespec){ 0, WAIT_NS }, NULL);
}

static void *call_once_first(void *unused)
{
	atomic_store(&word, 3);
	pthread_once(&once, initialize);
	return unused;
}

static struct timespec soon(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	now.tv_nsec += WAIT_NS;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

static void wait_for(int value)
{
	while (atomic_load(&word) != value)
		usleep(1000);
}

static void wait_for_files(void)
{
	char text[64];
	FILE *stream;
	pthread_t thread = end_by(drain_socket);
	ssize_t sent = send(sockets[0], bytes, sizeof bytes, 0);

	pthread_join(thread, NULL);
	thread = end_by(drain_pipe);
	sent += writev(pipes[1], &(struct iovec){ bytes, sizeof bytes }, 1);
	pthread_join(thread, NULL);
	thread = end_by(answer);
	sent += recv(sockets[0], text, sizeof text, 0);
	pthread_join(thread, NULL);
	thread = end_by(answer);
	stream = fdopen(dup(sockets[0]), "r");
	if (!fgets(text, sizeof text, stream) || sent < 0)
		abort();
	fclose(stream);
	pthread_join(thread, NULL);
	flock(files[0], LOCK_EX);
	thread = end_by(unlock_file);
	flock(files[1], LOCK_EX);
	pthread_join(thread, NULL);
	if (system("sleep 0.2"))
		abort();
}

static void wait_for_threads(void)
{
	const struct timespec while_ns = { 0, WAIT_NS };
	struct timespec until;
	pthread_t thread = end_by(wake_word);

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, hold_c11, NULL);
	wait_for(2);
	mtx_lock(&c11_lock);
	pthread_join(thread, NULL);
	thrd_sleep(&while_ns, NULL);
	pthread_mutex_lock(&lock);
	until = soon(CLOCK_REALTIME);
	pthread_mutex_timedlock(&lock, &until);
	until = soon(CLOCK_MONOTONIC);
	sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
	pthread_create(&thread, NULL, call_once_first, NULL);
	wait_for(3);
	usleep(10000);
	pthread_once(&once, initialize);
	pthread_join(thread, NULL);
	thread = end_by(up);
	semtimedop(semaphores, &(struct sembuf){ 0, -1, 0 }, 1, &(struct timespec){ 5, 0 });
	pthread_join(thread, NULL);
}

static void wait_for_signals(void)
{
	sigset_t set;
	int number;
	pthread_t thread;

	signal(SIGUSR1, on_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL); /* of the threads that follow, too */
	thread = end_by(signal_first);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pause();
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	thread = end_by(signal_first);
	sigwait(&set, &number);
	pthread_join(thread, NULL);
}

static void waits(void)
{
	char path[] = "/tmp/sampler_reach_XXXXXX";

	files[0] = mkstemp(path);
	files[1] = open(path, O_RDWR);
	unlink(path);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || pipe(pipes) || semaphores < 0)
		exit(1);
	mtx_init(&c11_lock, mtx_plain);
	sem_init(&semaphore, 0, 0);
	wait_for_files();
	wait_for_threads();
	wait_for_signals();
	semctl(semaphores, 0, IPC_RMID);
	puts("send writev recv fgets flock system futex mtx_lock thrd_sleep pthread_mutex_timedlock sem_clockwait pthread_once semtimedop "
	     "pause sigwait");
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";

	if (strcmp(mode, "short") == 0)
		short_threads(atof(arguments[2]) / 1e3);
	else if (strcmp(mode, "c11") == 0)
		c11_threads();
	else if (strcmp(mode, "waits") == 0)
		waits();
	else if (strcmp(mode, "heap") == 0)
		use_heap();
	else if (strcmp(mode, "hidden") == 0) {
		syscall(SYS_nanosleep, &(struct timespec){ 0, 500000000 }, NULL);
		usleep(500000);
	} else if (strcmp(mode, "deep") == 0) {
		entry_a(atoi(arguments[2]));
		entry_b(atoi(arguments[2]));
	}
	return 0;
}
