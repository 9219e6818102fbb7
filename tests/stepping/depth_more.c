/* More calls, as in depth_calls.c: streams, messages, vectors, locks of C11, other programs. */
#include "depth.h"

#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "kernel.h"

/* ---- streams --------------------------------------------------------------------------------------- */

static int ends[2];
static FILE *stream;
static char text[128];
static char *line;
static size_t line_bytes;

static void release_line(void)
{
	kernel(SYS_write, ends[1], (long)"a line\n", 7, 0, 0, 0);
}

static void prepare_reading(bool waits)
{
	if (pipe(ends) != 0)
		abort();
	stream = stdin = fdopen(ends[0], "r");
	free(line);
	line_bytes = 100;
	line = malloc(line_bytes);
	depth_release(waits, release_line);
}

/* By pointers: headers may put other functions in their place. */
static int (*volatile get_character)(void) = getchar;
static int (*volatile get_of)(FILE *) = getc;
static int (*volatile get_of_file)(FILE *) = fgetc;
static ssize_t (*volatile get_line)(char **, size_t *, FILE *) = getline;

DO(fgetc, get_of_file(stream))
DO(getc, get_of(stream))
DO(getchar, get_character())
DO(fgets, depth_must(fgets(text, sizeof text, stream) != NULL))
DO(getline, depth_must(get_line(&line, &line_bytes, stream) >= 0))
DO(getdelim, depth_must(getdelim(&line, &line_bytes, 'e', stream) >= 0))
DO(fread, depth_must(fread(text, 1, 7, stream) == 7))

static void release_drain(void)
{
	static char page[4096];

	kernel(SYS_read, ends[0], (long)page, sizeof page, 0, 0, 0);
}

static void prepare_writing(bool waits)
{
	static char page[4096];

	if (pipe(ends) != 0)
		abort();
	for (int i = fcntl(ends[1], F_SETPIPE_SZ, 4096); waits && i > 0; i -= (int)sizeof page)
		kernel(SYS_write, ends[1], (long)page, sizeof page, 0, 0, 0);
	stream = fdopen(ends[1], "w");
	fputs("text", stream);
	if (waits)
		depth_release(waits, release_drain);
}

DO(fflush, fflush(stream))
DO(fclose, fclose(stream))

/* ---- files and sockets ------------------------------------------------------------------------------ */

static int file;
static struct iovec part = { text, 1 };

static void prepare_file(bool waits)
{
	(void)waits;
	file = memfd_create("depth", 0);
	if (ftruncate(file, 4096) != 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) != 0)
		abort();
}

static void prepare_lock(bool waits);

DO(readv, depth_must(readv(file, &part, 1) == 1))
DO(writev, depth_must(writev(file, &part, 1) == 1))
DO(preadv, depth_must(preadv(file, &part, 1, 0) == 1))
DO(preadv64, depth_must(preadv64(file, &part, 1, 0) == 1))
DO(pwritev, depth_must(pwritev(file, &part, 1, 0) == 1))
DO(pwritev64, depth_must(pwritev64(file, &part, 1, 0) == 1))
DO(sendfile, depth_must(sendfile(ends[0], file, NULL, 1) == 1))
DO(sendfile64, depth_must(sendfile64(ends[0], file, NULL, 1) == 1))
DO(lockf, depth_must(lockf(file, F_LOCK, 1) == 0))
DO(lockf64, depth_must(lockf64(file, F_LOCK, 1) == 0))
DO(send, depth_must(send(ends[0], text, 1, 0) == 1))
DO(sendto, depth_must(sendto(ends[0], text, 1, 0, NULL, 0) == 1))

static void call_sendmsg(bool waits)
{
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	(void)waits;
	if (sendmsg(ends[0], &message, 0) != 1)
		abort();
}

static void call_sendmmsg(bool waits)
{
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };

	(void)waits;
	if (sendmmsg(ends[0], &message, 1, 0) != 1)
		abort();
}

static void call_recvmmsg(bool waits)
{
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };

	(void)waits;
	recvmmsg(ends[0], &message, 1, MSG_DONTWAIT, NULL);
}

/* ---- sockets -------------------------------------------------------------------------------------- */

static const struct timeval socket_time = { 0, WAIT_MS * 1000 };
static struct sockaddr_un where = { .sun_family = AF_UNIX };

static void prepare_recv(bool waits)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0, ends) != 0)
		abort();
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &socket_time, sizeof socket_time);
}

DO(recv, recv(ends[0], text, 1, 0))
DO(recvfrom, recvfrom(ends[0], text, 1, 0, NULL, NULL))

static void call_recvmsg(bool waits)
{
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	(void)waits;
	recvmsg(ends[0], &message, 0);
}

/* Of Linux: a name without a file. */
static socklen_t calls_listen(bool waits)
{
	static int count;
	socklen_t bytes = sizeof(sa_family_t) + 6;

	memcpy(where.sun_path, "\0depth", 6);
	where.sun_path[1] = (char)('A' + count++);
	memcpy(where.sun_path + 2, (pid_t[]){ getpid() }, 4);
	file = socket(AF_UNIX, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0);
	if (bind(file, (struct sockaddr *)&where, bytes) != 0 || listen(file, 0) != 0)
		abort();
	setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &socket_time, sizeof socket_time);
	return bytes;
}

PREPARE(accept, calls_listen(waits))
DO(accept, accept(file, NULL, NULL))
DO(accept4, accept4(file, NULL, NULL, SOCK_CLOEXEC))

static void prepare_connect(bool waits)
{
	socklen_t bytes = calls_listen(waits);

	/* of a queue that is full */
	for (int i = 0; i < 2; i++) {
		ends[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		kernel(SYS_connect, ends[0], (long)&where, bytes, 0, 0, 0);
	}
	ends[0] = socket(AF_UNIX, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0);
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &socket_time, sizeof socket_time);
}

static void call_connect(bool waits)
{
	(void)waits;
	if (connect(ends[0], (struct sockaddr *)&where, sizeof(sa_family_t) + 6) == 0)
		abort();
}

static int other_file;

static void release_lock(void)
{
	kernel(SYS_flock, other_file, LOCK_UN, 0, 0, 0, 0);
}

static void prepare_lock(bool waits)
{
	char path[64];

	prepare_file(waits);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	other_file = open(path, O_RDWR);
	kernel(SYS_flock, other_file, LOCK_EX, 0, 0, 0, 0);
	depth_release(waits, release_lock);
}

DO(flock, depth_must(flock(file, LOCK_EX) == 0))

static void call_aio_suspend(bool waits)
{
	static struct aiocb control;
	const struct aiocb *list[] = { &control };
	struct timespec time = { 0, 1000 };

	(void)waits;
	aio_suspend(list, 1, &time);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static struct message {
	long kind;
	char text[8];
} message = { 1, "text" };
static int queue, set;
static mqd_t named;

static void prepare_queue(bool waits)
{
	(void)waits;
	queue = msgget(IPC_PRIVATE, 0600);
	set = semget(IPC_PRIVATE, 1, 0600);
	if (queue < 0 || set < 0)
		abort();
}

static void more_remove(void)
{
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
}

DO(msgsnd, msgsnd(queue, &message, 4, IPC_NOWAIT); more_remove())
DO(msgrcv, msgrcv(queue, &message, 4, 0, IPC_NOWAIT); more_remove())

static void call_semop(bool waits)
{
	struct sembuf one = { 0, -1, IPC_NOWAIT };

	(void)waits;
	semop(set, &one, 1);
	more_remove();
}

static void call_semtimedop(bool waits)
{
	struct sembuf one = { 0, -1, 0 };
	struct timespec time = { 0, waits ? WAIT_MS * 1000000 : 1000 };

	semtimedop(set, &one, 1, &time);
	more_remove();
}

static void prepare_named(bool waits)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	char name[32];

	(void)waits;
	snprintf(name, sizeof name, "/depth.%d", (int)getpid());
	named = mq_open(name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attributes);
	mq_unlink(name);
}

static void prepare_named_waiting(bool waits)
{
	struct mq_attr attributes = { .mq_flags = 0 };

	prepare_named(waits);
	mq_setattr(named, &attributes, NULL);
}

DO(mq_send, mq_send(named, "text", 4, 0))
DO(mq_receive, mq_receive(named, text, sizeof text, NULL))

static void call_mq_timedsend(bool waits)
{
	struct timespec until = depth_until(CLOCK_REALTIME, waits);

	mq_timedsend(named, "text", 4, 0, &until);
}

static void call_mq_timedreceive(bool waits)
{
	struct timespec until = depth_until(CLOCK_REALTIME, waits);

	mq_timedreceive(named, text, sizeof text, NULL, &until);
}

/* ---- threads and locks ------------------------------------------------------------------------------------ */

static mtx_t mutex;
static cnd_t condition;
static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once;
static pthread_t thread;

static void more_lock(void)
{
	((int (*)(mtx_t *))(uintptr_t)depth_libc("mtx_lock"))(&mutex);
}

static void release_condition(void)
{
	more_lock();
	cnd_signal(&condition);
	mtx_unlock(&mutex);
}

static void prepare_condition(bool waits)
{
	mtx_init(&mutex, mtx_plain);
	cnd_init(&condition);
	more_lock();
	depth_release(true, release_condition);
	(void)waits;
}

static void prepare_mutex(bool waits)
{
	(void)waits;
	mtx_init(&mutex, mtx_timed);
	free_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	once = PTHREAD_ONCE_INIT;
}

/* The mutex is held by this thread itself: a timed wait ends by its time. */
static void prepare_held(bool waits)
{
	prepare_mutex(waits);
	if (!waits)
		return;
	more_lock();
	((int (*)(pthread_mutex_t *))(uintptr_t)depth_libc("pthread_mutex_lock"))(&free_mutex);
}

static void more_wait(struct timespec *until)
{
	*until = depth_until(CLOCK_REALTIME, true);
}

DO(cnd_wait, cnd_wait(&condition, &mutex); mtx_unlock(&mutex))

static void call_cnd_timedwait(bool waits)
{
	struct timespec until = depth_until(CLOCK_REALTIME, waits);

	until.tv_sec++;
	cnd_timedwait(&condition, &mutex, &until);
	mtx_unlock(&mutex);
}

DO(mtx_lock, mtx_lock(&mutex); mtx_unlock(&mutex))

static void call_mtx_timedlock(bool waits)
{
	struct timespec until;

	(void)waits;
	more_wait(&until);
	mtx_timedlock(&mutex, &until);
}

static void call_pthread_mutex_clocklock(bool waits)
{
	struct timespec until = depth_until(CLOCK_MONOTONIC, true);

	(void)waits;
	pthread_mutex_clocklock(&free_mutex, CLOCK_MONOTONIC, &until);
}

static void call_pthread_rwlock_timedrdlock(bool waits)
{
	struct timespec until;

	(void)waits;
	more_wait(&until);
	pthread_rwlock_timedrdlock(&lock, &until);
}

static void call_pthread_rwlock_timedwrlock(bool waits)
{
	struct timespec until;

	(void)waits;
	more_wait(&until);
	pthread_rwlock_timedwrlock(&lock, &until);
}

static void more_nothing(void)
{
}

DO(pthread_once, pthread_once(&once, more_nothing))

static void *more_sleep(void *waits)
{
	kernel_sleep_ms(waits ? WAIT_MS : 0);
	return NULL;
}

static int more_sleep_c11(void *waits)
{
	more_sleep(waits);
	return 0;
}

static void prepare_join(bool waits)
{
	pthread_create(&thread, NULL, more_sleep, waits ? &thread : NULL);
	if (!waits)
		kernel_sleep_ms(5);
}

static void prepare_join_c11(bool waits)
{
	thrd_create(&thread, more_sleep_c11, waits ? &thread : NULL);
	if (!waits)
		kernel_sleep_ms(5);
}

DO(thrd_join, thrd_join(thread, NULL))

static void call_pthread_timedjoin_np(bool waits)
{
	struct timespec until = depth_until(CLOCK_REALTIME, waits);

	until.tv_sec++;
	pthread_timedjoin_np(thread, NULL, &until);
}

/* ---- programs and signals ------------------------------------------------------------------------------------ */

static const char *const nowhere = "/nowhere/at.all";
static char *const list[] = { "nowhere", NULL };

static void prepare_child(bool waits)
{
	if (kernel(SYS_fork, 0, 0, 0, 0, 0, 0) == 0) {
		kernel_sleep_ms(waits ? WAIT_MS : 0);
		kernel(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	if (!waits)
		kernel_sleep_ms(5);
}

DO(wait3, depth_must(wait3(NULL, 0, NULL) >= 0))
DO(system, depth_must(system(waits ? "sleep 0.02" : "true") == 0))
PREPARE(pclose, stream = popen(waits ? "sleep 0.02" : "true", "r"))
DO(pclose, pclose(stream))
DO(execve, execve(nowhere, list, environ))
DO(execv, execv(nowhere, list))
DO(execvp, execvp(nowhere, list))
DO(execvpe, execvpe(nowhere, list, environ))
DO(fexecve, fexecve(file, list, environ))
DO(execveat, execveat(AT_FDCWD, nowhere, list, environ, 0))
DO(execl, execl(nowhere, "a", "b", (char *)NULL))
DO(execlp, execlp(nowhere, "a", "b", (char *)NULL))
DO(execle, execle(nowhere, "a", "b", (char *)NULL, environ))

/* The kernel refuses to end the process, or a thread, with this status. libc then executes an instruction that is not permitted. */
#define LEFT 77

static sigjmp_buf left;

static void more_come_back(int number)
{
	siglongjmp(left, number);
}

static void prepare_leave(bool waits)
{
	static char stack[65536];
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LEFT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof rules / sizeof *rules, rules };
	struct sigaction action = { .sa_handler = more_come_back, .sa_flags = SA_ONSTACK | SA_NODEFER };

	(void)waits;
	/* By the kernel's calls: for dwell this is no sandbox. */
	kernel(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
	kernel(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&filter, 0, 0, 0);
	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof stack }, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

DO(_exit, if (!sigsetjmp(left, 0)) _exit(LEFT))
DO(_Exit, if (!sigsetjmp(left, 0)) _Exit(LEFT))
DO(quick_exit, if (!sigsetjmp(left, 0)) quick_exit(LEFT))

static void more_ignore(int number)
{
	(void)number;
}

void (*bsd_signal(int number, void (*handler)(int)))(int);
void (*ssignal(int number, void (*handler)(int)))(int);

static void call_bsd_signal(bool waits)
{
	void *(*set_handler)(int, void (*)(int));

	(void)waits;
	*(void **)&set_handler = dlsym(RTLD_DEFAULT, "bsd_signal");
	if (set_handler)
		set_handler(SIGUSR2, more_ignore);
}

/* ---- what headers call in place of the above, with _FORTIFY_SOURCE ------------------------------------------- */

ssize_t __read_chk(int from, void *to, size_t bytes, size_t size);
ssize_t __pread_chk(int from, void *to, size_t bytes, off_t at, size_t size);
ssize_t __pread64_chk(int from, void *to, size_t bytes, off64_t at, size_t size);
ssize_t __recv_chk(int from, void *to, size_t bytes, size_t size, int flags);
ssize_t __recvfrom_chk(int from, void *to, size_t bytes, size_t size, int flags, struct sockaddr *, socklen_t *);
int __poll_chk(struct pollfd *files, nfds_t count, int timeout, size_t size);
int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *, const sigset_t *, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
char *__fgets_chk(char *to, size_t size, int bytes, FILE *from);
size_t __fread_chk(void *to, size_t size, size_t bytes, size_t count, FILE *from);
ssize_t __getdelim(char **to, size_t *bytes, int end, FILE *from);

DO(__read_chk, depth_must(__read_chk(file, text, 1, 1) == 1))
DO(__pread_chk, depth_must(__pread_chk(file, text, 1, 0, 1) == 1))
DO(__pread64_chk, depth_must(__pread64_chk(file, text, 1, 0, 1) == 1))
DO(__recv_chk, __recv_chk(ends[0], text, 1, 1, 0))
DO(__recvfrom_chk, __recvfrom_chk(ends[0], text, 1, 1, 0, NULL, NULL))
DO(__poll_chk, __poll_chk(NULL, 0, waits ? WAIT_MS : 0, 0))
DO(__ppoll_chk, __ppoll_chk(NULL, 0, depth_time(waits), NULL, 0))
DO(__open_2, file = __open_2("/dev/null", O_RDONLY))
DO(__open64_2, file = __open64_2("/dev/null", O_RDONLY))
DO(__fgets_chk, depth_must(__fgets_chk(text, sizeof text, sizeof text, stream) != NULL))
DO(__fread_chk, depth_must(__fread_chk(text, sizeof text, 1, 7, stream) == 7))
DO(__getdelim, depth_must(__getdelim(&line, &line_bytes, 'e', stream) >= 0))

static void *library;

PREPARE(dlclose, library = dlopen("libm.so.6", RTLD_NOW))
DO(dlclose, dlclose(library))

DO(ssignal, ssignal(SIGUSR2, more_ignore))
DO(sysv_signal, sysv_signal(SIGUSR2, more_ignore))
DO(__sysv_signal, __sysv_signal(SIGUSR2, more_ignore))

DO(setuid, depth_must(setuid(getuid()) == 0))
DO(seteuid, depth_must(seteuid(geteuid()) == 0))
DO(setreuid, depth_must(setreuid(getuid(), geteuid()) == 0))
DO(setresuid, depth_must(setresuid(-1u, -1u, -1u) == 0))
DO(setgid, depth_must(setgid(getgid()) == 0))
DO(setegid, depth_must(setegid(getegid()) == 0))
DO(setregid, depth_must(setregid(getgid(), getegid()) == 0))
DO(setresgid, depth_must(setresgid(-1u, -1u, -1u) == 0))
DO(setgroups, setgroups(0, NULL)) /* not every user may */
DO(initgroups, initgroups("root", 0))

#define CALL(name, kind, prepare) \
	{ \
#name, kind, call_##name, prepare, NULL \
	}

const struct depth_call depth_more[] = {
	CALL(fgetc, "waits", prepare_reading),
	CALL(getc, "waits", prepare_reading),
	CALL(getchar, "waits", prepare_reading),
	CALL(fgets, "waits", prepare_reading),
	CALL(getline, "waits", prepare_reading),
	CALL(getdelim, "waits", prepare_reading),
	CALL(fread, "waits", prepare_reading),
	CALL(fflush, "waits", prepare_writing),
	CALL(fclose, "waits", prepare_writing),
	CALL(readv, "call", prepare_file),
	CALL(writev, "call", prepare_file),
	CALL(preadv, "call", prepare_file),
	CALL(preadv64, "call", prepare_file),
	CALL(pwritev, "call", prepare_file),
	CALL(pwritev64, "call", prepare_file),
	CALL(sendfile, "call", prepare_file),
	CALL(sendfile64, "call", prepare_file),
	CALL(lockf, "call", prepare_file),
	CALL(lockf64, "call", prepare_file),
	CALL(send, "call", prepare_file),
	CALL(sendto, "call", prepare_file),
	CALL(sendmsg, "call", prepare_file),
	CALL(sendmmsg, "call", prepare_file),
	CALL(recvmmsg, "call", prepare_file),
	CALL(recv, "waits", prepare_recv),
	CALL(recv, "waits", prepare_recv),
	CALL(recvfrom, "waits", prepare_recv),
	CALL(recvmsg, "waits", prepare_recv),
	CALL(accept, "waits", prepare_accept),
	CALL(accept4, "waits", prepare_accept),
	CALL(connect, "waits", prepare_connect),
	CALL(flock, "waits", prepare_lock),
	CALL(aio_suspend, "call", NULL),
	CALL(msgsnd, "call", prepare_queue),
	CALL(msgrcv, "call", prepare_queue),
	CALL(semop, "call", prepare_queue),
	CALL(semtimedop, "waits", prepare_queue),
	CALL(mq_send, "call", prepare_named),
	CALL(mq_receive, "call", prepare_named),
	CALL(mq_timedsend, "call", prepare_named),
	CALL(mq_timedreceive, "waits", prepare_named_waiting),
	CALL(cnd_wait, "waits", prepare_condition),
	CALL(cnd_timedwait, "waits", prepare_condition),
	CALL(mtx_lock, "call", prepare_mutex),
	CALL(mtx_timedlock, "waits", prepare_held),
	CALL(pthread_mutex_clocklock, "waits", prepare_held),
	CALL(pthread_rwlock_timedrdlock, "call", prepare_mutex),
	CALL(pthread_rwlock_timedwrlock, "call", prepare_mutex),
	CALL(pthread_once, "call", prepare_mutex),
	CALL(thrd_join, "waits", prepare_join_c11),
	CALL(pthread_timedjoin_np, "waits", prepare_join),
	CALL(wait3, "waits", prepare_child),
	CALL(system, "waits", NULL),
	CALL(pclose, "waits", prepare_pclose),
	CALL(execve, "call", NULL),
	CALL(execv, "call", NULL),
	CALL(execvp, "call", NULL),
	CALL(execvpe, "call", NULL),
	CALL(fexecve, "call", prepare_file),
	CALL(execveat, "call", NULL),
	CALL(execl, "call", NULL),
	CALL(execlp, "call", NULL),
	CALL(execle, "call", NULL),
	CALL(_exit, "call", prepare_leave),
	CALL(_Exit, "call", prepare_leave),
	CALL(quick_exit, "call", prepare_leave),
	CALL(bsd_signal, "call", NULL),
	CALL(dlclose, "call", prepare_dlclose),
	CALL(__read_chk, "call", prepare_file),
	CALL(__pread_chk, "call", prepare_file),
	CALL(__pread64_chk, "call", prepare_file),
	CALL(__recv_chk, "waits", prepare_recv),
	CALL(__recvfrom_chk, "waits", prepare_recv),
	CALL(__poll_chk, "waits", NULL),
	CALL(__ppoll_chk, "waits", NULL),
	CALL(__open_2, "call", NULL),
	CALL(__open64_2, "call", NULL),
	CALL(__fgets_chk, "waits", prepare_reading),
	CALL(__fread_chk, "waits", prepare_reading),
	CALL(__getdelim, "waits", prepare_reading),
	CALL(ssignal, "call", NULL),
	CALL(sysv_signal, "call", NULL),
	CALL(__sysv_signal, "call", NULL),
	CALL(setuid, "call", NULL),
	CALL(seteuid, "call", NULL),
	CALL(setreuid, "call", NULL),
	CALL(setresuid, "call", NULL),
	CALL(setgid, "call", NULL),
	CALL(setegid, "call", NULL),
	CALL(setregid, "call", NULL),
	CALL(setresgid, "call", NULL),
	CALL(setgroups, "call", NULL),
	CALL(initgroups, "call", NULL),
	{ NULL, NULL, NULL, NULL, NULL },
};
