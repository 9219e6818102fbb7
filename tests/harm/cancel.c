/* Threads that are cancelled in each call that permits it. */
#define _GNU_SOURCE
#include "harm.h"
#include <mqueue.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

enum {
	P_READ,
	P_WRITE,
	P_READV,
	P_WRITEV,
	P_POLL,
	P_PPOLL,
	P_SELECT,
	P_PSELECT,
	P_EPOLL,
	P_EPOLL_P,
	P_USLEEP,
	P_NANOSLEEP,
	P_CLOCK,
	P_SLEEP,
	P_SEM,
	P_SEM_TIMED,
	P_COND,
	P_COND_TIMED,
	P_JOIN,
	P_PAUSE,
	P_SIGWAIT,
	P_SIGTIMED,
	P_SIGSUSPEND,
	P_ACCEPT,
	P_RECV,
	P_RECVMSG,
	P_SEND,
	P_CONNECT,
	P_MSGRCV,
	P_WAITPID,
	P_OPEN,
	P_LOCK,
	P_MQ,
	P_SYSTEM,
	P_TEST,
	P_ASYNC,
	P_DISABLED,
	P_OPEN_FILE,
	P_CLOSE,
	P_FSYNC
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ends[2], pair[2];
static pthread_t main_thread;
static char bytes[1 << 20];
static volatile int begun;

static void cleanup(void *value)
{
	harm_say("cleanup %s\n", (char *)value);
	if (pthread_mutex_trylock(&lock) == EBUSY)
		pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&lock);
}

static void point_file(long call)
{
	struct iovec vector = { bytes, 1 };
	struct flock whole = { .l_type = F_WRLCK };
	int fd, other;
	switch (call) {
	case P_READ:
		harm_result("read", read(ends[0], bytes, 1));
		break;
	case P_READV:
		harm_result("readv", readv(ends[0], &vector, 1));
		break;
	case P_WRITE:
		while (write(ends[1], bytes, 65536) > 0)
			;
		break;
	case P_WRITEV:
		vector.iov_len = 65536;
		while (writev(ends[1], &vector, 1) > 0)
			;
		break;
	case P_OPEN:
		mkfifo("fifo.tmp", 0600);
		harm_result("open", open("fifo.tmp", O_RDONLY));
		break;
	case P_LOCK:
		fd = open("lock.tmp", O_RDWR | O_CREAT, 0600);
		other = open("lock.tmp", O_RDWR);
		harm_result("F_OFD_SETLKW", fcntl(other, F_OFD_SETLKW, &whole));
		harm_result("F_OFD_SETLKW", fcntl(fd, F_OFD_SETLKW, &whole));
		break;
	case P_OPEN_FILE: /* it does not wait: the request is there already */
		usleep(150000);
		break;
	default:
		break;
	}
}

static void point_wait(long call)
{
	struct epoll_event event;
	struct timespec time = harm_time(20);
	struct timeval short_time = { 20, 0 };
	sigset_t set;
	int number;
	sigemptyset(&set);
	int epoll = epoll_create1(0);
	switch (call) {
	case P_POLL:
		poll(NULL, 0, 20000);
		break;
	case P_PPOLL:
		ppoll(NULL, 0, &time, &set);
		break;
	case P_SELECT:
		select(0, NULL, NULL, NULL, &short_time);
		break;
	case P_PSELECT:
		pselect(0, NULL, NULL, NULL, &time, &set);
		break;
	case P_EPOLL:
		epoll_wait(epoll, &event, 1, 20000);
		break;
	case P_EPOLL_P:
		epoll_pwait(epoll, &event, 1, 20000, &set);
		break;
	case P_USLEEP:
		usleep(20000000);
		break;
	case P_NANOSLEEP:
		nanosleep(&time, NULL);
		break;
	case P_CLOCK:
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
		break;
	case P_SLEEP:
		sleep(20);
		break;
	case P_PAUSE:
		pause();
		break;
	case P_SIGSUSPEND:
		sigsuspend(&set);
		break;
	case P_SIGWAIT:
		sigaddset(&set, SIGUSR2);
		sigwait(&set, &number);
		break;
	default:
		sigaddset(&set, SIGUSR2);
		sigtimedwait(&set, NULL, &time);
	}
}

static void point_socket(long call)
{
	struct iovec vector = { bytes, 1 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket.tmp" };
	int fd;
	switch (call) {
	case P_ACCEPT:
		bind(fd = socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
		listen(fd, 1);
		accept(fd, NULL, NULL);
		break;
	case P_RECV:
		recv(pair[0], bytes, 1, 0);
		break;
	case P_RECVMSG:
		recvmsg(pair[0], &message, 0);
		break;
	default:
		while (send(pair[0], bytes, sizeof bytes, 0) > 0)
			;
	}
}

static void point_other(long call)
{
	struct timespec until = harm_after(CLOCK_REALTIME, 20);
	switch (call) {
	case P_SEM:
		sem_wait(&semaphore);
		break;
	case P_SEM_TIMED:
		sem_timedwait(&semaphore, &until);
		break;
	case P_COND:
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&condition, &lock);
		break;
	case P_COND_TIMED:
		pthread_mutex_lock(&lock);
		pthread_cond_timedwait(&condition, &lock, &until);
		break;
	case P_JOIN:
		pthread_join(main_thread, NULL);
		break;
	case P_MSGRCV:
		msgrcv(msgget(IPC_PRIVATE, 0600), bytes, 10, 0, 0);
		break;
	case P_WAITPID:
		if (!fork()) { /* no point at which the child, too, could be cancelled */
			syscall(SYS_nanosleep, &(struct timespec){ 0, 400000000 }, NULL);
			_exit(0);
		}
		waitpid(-1, NULL, 0);
		break;
	case P_SYSTEM:
		if (system("sleep .3"))
			harm_say("system failed\n");
		pthread_testcancel();
		break;
	case P_TEST:
		for (;;) {
			harm_compute(.01);
			pthread_testcancel();
		}
	default:
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		for (;;)
			__asm__ volatile("pause");
	}
}

static void *point_begin(void *value)
{
	long call = (long)value;
	int old;
	pthread_cleanup_push(cleanup, "of the thread");
	begun = call == P_DISABLED;
	if (call == P_DISABLED) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
		usleep(150000);
		harm_result("read", read(open("/dev/null", O_RDONLY), bytes, 1));
		harm_say("old state %d\n", old);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
		pthread_testcancel();
	}
	harm_compute(.02);
	begun = 1;
	if (call <= P_WRITEV || call == P_OPEN || call == P_LOCK || call == P_OPEN_FILE)
		point_file(call);
	else if (call <= P_SLEEP || (call >= P_PAUSE && call <= P_SIGSUSPEND))
		point_wait(call);
	else if (call >= P_ACCEPT && call <= P_SEND)
		point_socket(call);
	else
		point_other(call);
	pthread_cleanup_pop(0);
	return (void *)7L;
}

/* With the request made before the call. */
static void *early_begin(void *value)
{
	while (!begun)
		__asm__ volatile("pause");
	pthread_cleanup_push(cleanup, "of the early thread");
	switch ((long)value) {
	case P_OPEN_FILE:
		harm_result("open", open("/dev/null", O_RDONLY));
		break;
	case P_CLOSE:
		harm_result("close", close(dup(0)));
		break;
	case P_FSYNC:
		harm_result("fsync", fsync(0));
		break;
	case P_USLEEP:
		harm_result("usleep", usleep(1000));
		break;
	case P_COND:
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&condition, &lock);
		break;
	case P_LOCK:
		harm_say("pthread_mutex_lock: %d\n", pthread_mutex_lock(&lock));
		break;
	case P_WRITE:
		harm_result("write", write(ends[1], "x", 1));
		break;
	default:
		harm_result("sem_wait", (sem_post(&semaphore), sem_wait(&semaphore)));
	}
	pthread_cleanup_pop(0);
	return (void *)7L;
}

static void cancel_main(long value)
{
	bool early = value >= 100;
	pthread_t thread;
	void *result = NULL;
	sem_init(&semaphore, 0, 0);
	main_thread = pthread_self();
	if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	pthread_create(&thread, NULL, early ? early_begin : point_begin, (void *)(value % 100));
	while (!early && !begun)
		usleep(500);
	if (!early)
		usleep(100000);
	int cancelled = pthread_cancel(thread);
	if (early)
		begun = 1;
	int joined = pthread_join(thread, &result);
	harm_say("pthread_cancel: %d, pthread_join: %d\n", cancelled, joined);
	harm_say("cancelled %d, result %ld\n", result == PTHREAD_CANCELED, result == PTHREAD_CANCELED ? 0 : (long)result);
	harm_say("mutex is free %d\n", pthread_mutex_trylock(&lock) == 0);
}

#define IN(name, call) \
	{ \
		"pthread_cancel", name, cancel_main, call \
	}
#define EARLY(name, call) \
	{ \
		"pthread_cancel", "before " name, cancel_main, 100 + (call) \
	}

const struct harm_program harm_cancel[] = {
	IN("read", P_READ),
	IN("write", P_WRITE),
	IN("readv", P_READV),
	IN("writev", P_WRITEV),
	IN("poll", P_POLL),
	IN("ppoll", P_PPOLL),
	IN("select", P_SELECT),
	IN("pselect", P_PSELECT),
	IN("epoll_wait", P_EPOLL),
	IN("epoll_pwait", P_EPOLL_P),
	IN("usleep", P_USLEEP),
	IN("nanosleep", P_NANOSLEEP),
	IN("clock_nanosleep", P_CLOCK),
	IN("sleep", P_SLEEP),
	IN("sem_wait", P_SEM),
	IN("sem_timedwait", P_SEM_TIMED),
	IN("pthread_cond_wait", P_COND),
	IN("pthread_cond_timedwait", P_COND_TIMED),
	IN("pthread_join", P_JOIN),
	IN("pause", P_PAUSE),
	IN("sigwait", P_SIGWAIT),
	IN("sigtimedwait", P_SIGTIMED),
	IN("sigsuspend", P_SIGSUSPEND),
	IN("accept", P_ACCEPT),
	IN("recv", P_RECV),
	IN("recvmsg", P_RECVMSG),
	IN("send", P_SEND),
	IN("msgrcv", P_MSGRCV),
	IN("waitpid", P_WAITPID),
	IN("open of a FIFO", P_OPEN),
	IN("fcntl F_OFD_SETLKW", P_LOCK),
	IN("system", P_SYSTEM),
	IN("pthread_testcancel", P_TEST),
	IN("code, asynchronously", P_ASYNC),
	IN("a disabled state", P_DISABLED),
	EARLY("open", P_OPEN_FILE),
	EARLY("close", P_CLOSE),
	EARLY("fsync", P_FSYNC),
	EARLY("usleep", P_USLEEP),
	EARLY("pthread_cond_wait", P_COND),
	EARLY("pthread_mutex_lock", P_LOCK),
	EARLY("write", P_WRITE),
	EARLY("sem_wait", P_SEM),
	{ NULL, NULL, NULL, 0 },
};
