/* Calls that a signal interrupts, that are restarted after one, and that nothing may interrupt. */
#define _GNU_SOURCE
#include "harm.h"
#include <linux/futex.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
	C_READ,
	C_WRITE,
	C_POLL,
	C_SELECT,
	C_EPOLL,
	C_NANOSLEEP,
	C_CLOCK_NANOSLEEP,
	C_USLEEP,
	C_SLEEP,
	C_SEM_TIMED,
	C_MSGRCV,
	C_SEMOP,
	C_RECV_TIMED,
	C_RECV,
	C_ACCEPT,
	C_WAITPID,
	C_PAUSE,
	C_SIGTIMEDWAIT,
	C_FLOCK,
	C_LOCK,
	C_FIFO,
	C_FUTEX,
	C_MQ,
	C_SEND,
	C_COND
};

static pid_t helper;

/* A child that does what ends the call, after some time. */
static void helper_start(double seconds, void (*act)(int), int value)
{
	helper = fork();
	if (!helper) {
		usleep((useconds_t)(seconds * 1e6));
		act(value);
		_exit(0);
	}
}

static void helper_write(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(1);
}

static void helper_read(int fd)
{
	static char bytes[1 << 20];
	while (read(fd, bytes, sizeof bytes) > 0)
		;
}

static void helper_nothing(int value UNUSED)
{
}

static int files_lock(bool record)
{
	int fd = open("lock.tmp", O_RDWR | O_CREAT, 0600), ready[2];
	char byte;
	if (pipe(ready))
		return -1;
	if (!fork()) {
		int own = open("lock.tmp", O_RDWR);
		struct flock whole = { .l_type = F_WRLCK };
		if (record)
			fcntl(own, F_SETLK, &whole);
		else
			flock(own, LOCK_EX);
		helper_write(ready[1]);
		usleep(400000);
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1)
		return -1;
	return fd;
}

static long call_socket(int call)
{
	int pair[2], size = 4096;
	static char bytes[1 << 20];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -2;
	struct timeval time = { 0, 400000 };
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket.tmp" };
	switch (call) {
	case C_RECV_TIMED:
		setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
		return recv(pair[0], bytes, 1, 0);
	case C_RECV:
		helper_start(.25, helper_write, pair[1]);
		return recv(pair[0], bytes, 1, 0);
	case C_SEND:
		setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
		helper_start(.25, helper_read, pair[1]);
		return send(pair[0], bytes, 4096, 0) == 4096 && send(pair[0], bytes, 300000, 0) > 0 ? 1 : -1;
	default:
		bind(pair[0] = socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
		listen(pair[0], 1);
		setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
		return accept(pair[0], NULL, NULL);
	}
}

static long call_queue(int call)
{
	struct sembuf down = { 0, -1, 0 };
	struct {
		long type;
		char text[8];
	} message;
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	struct timespec time = harm_time(.4);
	long result;
	int error, id;
	if (call == C_SEMOP) {
		id = semget(IPC_PRIVATE, 1, 0600);
		result = semtimedop(id, &down, 1, &time);
		error = errno;
		semctl(id, 0, IPC_RMID);
	} else if (call == C_MSGRCV) {
		id = msgget(IPC_PRIVATE, 0600);
		if (!fork()) {
			usleep(400000);
			msgctl(id, IPC_RMID, NULL);
			_exit(0);
		}
		result = msgrcv(id, &message, 8, 0, 0);
		error = errno;
	} else {
		char name[32];
		snprintf(name, sizeof name, "/harm.%d", (int)getpid());
		mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
		mq_unlink(name);
		time = harm_after(CLOCK_REALTIME, .4);
		result = mq_timedreceive(queue, message.text, 8, NULL, &time);
		error = errno;
	}
	errno = error;
	return result;
}

static long call_lock(int call)
{
	static sem_t semaphore;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec time = harm_time(.4), until = harm_after(CLOCK_REALTIME, .4);
	struct flock whole = { .l_type = F_WRLCK };
	int word = 0, fd, error;
	switch (call) {
	case C_SEM_TIMED:
		sem_init(&semaphore, 0, 0);
		return sem_timedwait(&semaphore, &until);
	case C_COND:
		pthread_mutex_lock(&lock);
		errno = error = pthread_cond_timedwait(&condition, &lock, &until);
		return error ? -1 : 0;
	case C_FUTEX:
		return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0);
	case C_FLOCK:
		fd = files_lock(false);
		return flock(fd, LOCK_EX);
	case C_LOCK:
		fd = files_lock(true);
		return fcntl(fd, F_SETLKW, &whole);
	default:
		mkfifo("fifo.tmp", 0600);
		if (!fork()) {
			usleep(400000);
			_exit(open("fifo.tmp", O_WRONLY | O_NONBLOCK) < 0);
		}
		return open("fifo.tmp", O_RDONLY) < 0 ? -1 : 0;
	}
}

static long call_time(int call)
{
	struct timespec time = harm_time(.4), rest = { 0, 0 };
	struct timeval short_time = { 0, 400000 };
	struct epoll_event event;
	sigset_t set;
	long result;
	switch (call) {
	case C_POLL:
		return poll(NULL, 0, 400);
	case C_SELECT:
		return select(0, NULL, NULL, NULL, &short_time);
	case C_EPOLL:
		return epoll_wait(epoll_create1(0), &event, 1, 400);
	case C_NANOSLEEP:
		result = nanosleep(&time, &rest);
		harm_say("rest is more than 0: %d\n", rest.tv_nsec > 0);
		return result;
	case C_CLOCK_NANOSLEEP:
		result = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &rest);
		harm_say("rest is more than 0: %d\n", rest.tv_nsec > 0);
		return result;
	case C_USLEEP:
		return usleep(400000);
	case C_SLEEP:
		return sleep(1);
	case C_PAUSE:
		return pause();
	default:
		sigemptyset(&set);
		sigaddset(&set, SIGUSR2);
		return sigtimedwait(&set, NULL, &time);
	}
}

static long call_make(int call)
{
	int ends[2];
	static char bytes[1 << 20];
	switch (call) {
	case C_READ:
		if (pipe(ends))
			return -2;
		helper_start(.25, helper_write, ends[1]);
		return read(ends[0], bytes, 1);
	case C_WRITE:
		if (pipe(ends))
			return -2;
		helper_start(.25, helper_read, ends[0]);
		return write(ends[1], bytes, 65536) == 65536 ? write(ends[1], bytes, 4096) : -2;
	case C_WAITPID:
		helper_start(.25, helper_nothing, 0);
		return waitpid(helper, NULL, 0) < 0 ? -1 : 1;
	case C_RECV_TIMED:
	case C_RECV:
	case C_ACCEPT:
	case C_SEND:
		return call_socket(call);
	case C_MSGRCV:
	case C_SEMOP:
	case C_MQ:
		return call_queue(call);
	case C_SEM_TIMED:
	case C_FLOCK:
	case C_LOCK:
	case C_FIFO:
	case C_FUTEX:
	case C_COND:
		return call_lock(call);
	default:
		return call_time(call);
	}
}

/* VALUE: the call, plus 100 with SA_RESTART, plus 200 without any signal. */
static void interrupted_main(long value)
{
	harm_handle(SIGALRM, value >= 100 ? SA_RESTART : 0);
	harm_compute(TICKS / 2);
	if (value < 200)
		harm_alarm(.08);
	harm_result("call", call_make((int)(value % 100)));
	harm_say("alarms %d, code %d\n", harm_seen[SIGALRM], harm_code[SIGALRM]);
	if (helper)
		kill(helper, SIGKILL);
}

/* Calls that take much of the kernel's time, again and again, in a program without a handler. */
static void quiet_main(long call)
{
	struct pollfd many[400];
	int count = 0, ends[2], interrupted = 0, calls = 0;
	for (; count < 400 && !pipe(ends); count++)
		many[count] = (struct pollfd){ ends[0], POLLIN, 0 };
	int epoll = epoll_create1(0);
	for (double end = harm_now() + .3; harm_now() < end; calls++) {
		struct timespec time = { 0, 60000 };
		struct timeval short_time = { 0, 50 };
		struct epoll_event event;
		errno = 0;
		long result = call == C_POLL        ? poll(many, (nfds_t)count, 1)
		              : call == C_NANOSLEEP ? nanosleep(&time, NULL)
		              : call == C_SELECT    ? select(0, NULL, NULL, NULL, &short_time)
		              : call == C_EPOLL     ? epoll_wait(epoll, &event, 1, 1)
		              : call == C_USLEEP    ? usleep(50)
		                                    : syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
		interrupted += result < 0;
	}
	harm_say("interrupted %d, many calls %d\n", interrupted, calls > 20);
}

#define CALL(name, call) \
	{ \
		"interrupted", name, interrupted_main, call \
	}
#define AGAIN(name, call) \
	{ \
		"SA_RESTART", name, interrupted_main, 100 + (call) \
	}
#define ALONE(name, call) \
	{ \
		"no signal", name, interrupted_main, 200 + (call) \
	}

const struct harm_program harm_interrupted[] = {
	CALL("read", C_READ),
	CALL("write", C_WRITE),
	CALL("poll", C_POLL),
	CALL("select", C_SELECT),
	CALL("epoll_wait", C_EPOLL),
	CALL("nanosleep", C_NANOSLEEP),
	CALL("clock_nanosleep", C_CLOCK_NANOSLEEP),
	CALL("usleep", C_USLEEP),
	CALL("sleep", C_SLEEP),
	CALL("sem_timedwait", C_SEM_TIMED),
	CALL("msgrcv", C_MSGRCV),
	CALL("semtimedop", C_SEMOP),
	CALL("recv with a timeout", C_RECV_TIMED),
	CALL("recv", C_RECV),
	CALL("send", C_SEND),
	CALL("accept", C_ACCEPT),
	CALL("waitpid", C_WAITPID),
	CALL("pause", C_PAUSE),
	CALL("sigtimedwait", C_SIGTIMEDWAIT),
	CALL("flock", C_FLOCK),
	CALL("fcntl F_SETLKW", C_LOCK),
	CALL("futex", C_FUTEX),
	CALL("mq_timedreceive", C_MQ),
	CALL("pthread_cond_timedwait", C_COND),
	AGAIN("read", C_READ),
	AGAIN("write", C_WRITE),
	AGAIN("poll", C_POLL),
	AGAIN("nanosleep", C_NANOSLEEP),
	AGAIN("recv with a timeout", C_RECV_TIMED),
	AGAIN("recv", C_RECV),
	AGAIN("waitpid", C_WAITPID),
	AGAIN("flock", C_FLOCK),
	AGAIN("sem_timedwait", C_SEM_TIMED),
	AGAIN("mq_timedreceive", C_MQ),
	ALONE("read", C_READ),
	ALONE("poll", C_POLL),
	ALONE("nanosleep", C_NANOSLEEP),
	ALONE("semtimedop", C_SEMOP),
	ALONE("recv with a timeout", C_RECV_TIMED),
	ALONE("accept", C_ACCEPT),
	ALONE("sigtimedwait", C_SIGTIMEDWAIT),
	{ "no signal, often", "poll", quiet_main, C_POLL },
	{ "no signal, often", "nanosleep", quiet_main, C_NANOSLEEP },
	{ "no signal, often", "select", quiet_main, C_SELECT },
	{ "no signal, often", "epoll_wait", quiet_main, C_EPOLL },
	{ "no signal, often", "usleep", quiet_main, C_USLEEP },
	{ "no signal, often", "system call", quiet_main, C_CLOCK_NANOSLEEP },
	{ NULL, NULL, NULL, 0 },
};
