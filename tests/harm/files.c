/* errno after calls that succeed, data that passes through files, pipes and sockets, and stdio. */
#define _GNU_SOURCE
#include "harm.h"
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* ---- errno stays ---- */

#define KEEP 123 /* no call sets errno to it */
#define KEPT(call) \
	do { \
		errno = KEEP; \
		(void)!(call); \
		if (errno != KEEP) \
			harm_say("errno after %s: %s\n", #call, strerrorname_np(errno)); \
	} while (0)

static void *kept_begin(void *value)
{
	return value;
}

static void kept_files(long rounds)
{
	char byte;
	int ends[2];
	for (long i = 0; i < rounds; i++) {
		int fd = 0;
		KEPT(fd = open("errno.tmp", O_RDWR | O_CREAT, 0600));
		KEPT(write(fd, "x", 1));
		KEPT(pread(fd, &byte, 1, 0));
		KEPT(read(fd, &byte, 1));
		KEPT(fsync(fd));
		KEPT(close(fd));
		KEPT(pipe(ends));
		KEPT(write(ends[1], "x", 1));
		KEPT(read(ends[0], &byte, 1));
		KEPT(poll(NULL, 0, 1));
		KEPT(select(0, NULL, NULL, NULL, &(struct timeval){ 0, 1000 }));
		close(ends[0]);
		close(ends[1]);
		harm_compute(.005);
	}
	harm_say("done\n");
}

static void kept_locks(long rounds)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	sem_t semaphore;
	pthread_t thread;
	sem_init(&semaphore, 0, 0);
	for (long i = 0; i < rounds; i++) {
		KEPT(pthread_mutex_lock(&lock));
		KEPT(pthread_mutex_trylock(&lock));
		KEPT(pthread_cond_signal(&condition));
		KEPT(pthread_mutex_unlock(&lock));
		KEPT(pthread_rwlock_wrlock(&rwlock));
		KEPT(pthread_rwlock_unlock(&rwlock));
		KEPT(sem_post(&semaphore));
		KEPT(sem_wait(&semaphore));
		KEPT(pthread_create(&thread, NULL, kept_begin, NULL));
		KEPT(pthread_join(thread, NULL));
		KEPT(usleep(1000));
		KEPT(nanosleep(&(struct timespec){ 0, 1000000 }, NULL));
		KEPT(sched_yield());
		harm_compute(.005);
	}
	harm_say("done\n");
}

static void kept_memory(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		void *block = NULL;
		KEPT((block = malloc(600000)) != NULL);
		KEPT((block = realloc(block, 900000)) != NULL);
		errno = KEEP;
		free(block);
		harm_say("%s", errno == KEEP ? "" : "free changes errno\n");
		KEPT((block = calloc(10, 100000)) != NULL);
		free(block);
		KEPT(posix_memalign(&block, 64, 600000));
		free(block);
		KEPT((block = aligned_alloc(64, 640000)) != NULL);
		free(block);
		KEPT((block = malloc(10)) != NULL);
		free(block);
		harm_compute(.005);
	}
	harm_say("done\n");
}

static void kept_processes(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		pid_t pid = 0;
		KEPT((pid = fork()) >= 0);
		if (!pid)
			_exit(errno != KEEP);
		int status = 0;
		KEPT(waitpid(pid, &status, 0));
		harm_say_status("child", status);
		KEPT(signal(SIGURG, SIG_IGN) != SIG_ERR);
		KEPT(sigaction(SIGURG, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL));
		KEPT(sigprocmask(SIG_BLOCK, &(sigset_t){ 0 }, NULL));
		KEPT(sigpending(&(sigset_t){ 0 }));
		KEPT(sigaltstack(NULL, &(stack_t){ 0 }));
		KEPT(getpid());
		harm_compute(.01);
	}
}

/* Only computes and looks at errno. */
static void kept_compute(long value)
{
	errno = value ? 0 : KEEP;
	harm_compute(.2);
	harm_say("errno %d\n", errno);
}

/* Errors of calls. */
static void errors_main(long value)
{
	char byte;
	if (value)
		harm_compute(TICKS);
	harm_result("open", open("/nonexistent/file", O_RDONLY));
	harm_result("open", open("/", O_WRONLY));
	harm_result("read", read(-1, &byte, 1));
	harm_result("read", read(0, (void *)1, 1));
	harm_result("write", write(99, &byte, 1));
	harm_result("close", close(-1));
	harm_result("close", close(99));
	harm_result("poll", poll((struct pollfd *)1, 1, 0));
	harm_result("select", select(-1, NULL, NULL, NULL, NULL));
	harm_result("nanosleep", nanosleep(&(struct timespec){ 0, -1 }, NULL));
	harm_result("usleep", usleep(0));
	harm_result("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ -1, 0 }, NULL));
	harm_result("sem_wait", sem_trywait(&(sem_t){ 0 }));
	harm_result("waitpid", waitpid(-1, NULL, 0));
	harm_result("kill", kill(0x3ffffff, 0));
	harm_result("fsync", fsync(-1));
	harm_result("recv", recv(0, &byte, 1, 0));
	harm_result("epoll_wait", epoll_wait(0, NULL, 0, 0));
	harm_result("dup2", dup2(-1, 5));
	harm_result("sigaction", sigaction(SIGKILL, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL));
	harm_result("sigaction", sigaction(99, NULL, NULL));
	harm_result("malloc", malloc(-5ul) ? 0 : -1);
	harm_result("accept", accept(0, NULL, NULL));
	harm_result("ioctl", fcntl(0, 9999));
}

/* ---- data ---- */

enum {
	T_PIPE,
	T_SOCKET,
	T_FILE,
	T_VECTORS,
	T_SENDFILE,
	T_SPLICE,
	T_NONBLOCK,
	T_EVENT,
	T_EDGE,
	T_BROKEN,
	T_SIGIO,
	T_INOTIFY,
	T_DATAGRAM
};

static unsigned data_sum(const char *bytes, size_t size)
{
	unsigned sum = 0;
	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + (unsigned char)bytes[i];
	return sum;
}

static void *data_write(void *value)
{
	int fd = *(int *)value;
	char bytes[5000];
	for (int round = 0; round < 40; round++) {
		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (char)(i * 7 + (size_t)round);
		for (size_t at = 0; at < sizeof bytes;) {
			ssize_t size = write(fd, bytes + at, sizeof bytes - at);
			at += size > 0 ? (size_t)size : 0;
		}
		if (round % 8 == 0)
			harm_compute(.003);
	}
	close(fd);
	return NULL;
}

static void data_read(int fd)
{
	static char bytes[300000];
	size_t all = 0;
	for (ssize_t size; (size = read(fd, bytes + all, sizeof bytes - all)) > 0;)
		all += (size_t)size;
	harm_say("%zu bytes, sum %x\n", all, data_sum(bytes, all));
}

static void data_stream(long how)
{
	int ends[2];
	if (how == T_PIPE ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	int from = ends[0], to = ends[1];
	pthread_t thread;
	pthread_create(&thread, NULL, data_write, &to);
	data_read(from);
	pthread_join(thread, NULL);
}

static void data_file(long how)
{
	int fd = open("data.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600), copy = dup(fd), ends[2];
	data_write(&copy);
	lseek(fd, 0, SEEK_SET);
	if (how == T_SENDFILE) {
		int other = open("other.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
		harm_result("sendfile", sendfile(other, fd, NULL, 200000));
		lseek(other, 0, SEEK_SET);
		data_read(other);
	} else if (how == T_SPLICE && !pipe(ends)) {
		harm_result("splice", splice(fd, NULL, ends[1], NULL, 4096, 0));
		close(ends[1]);
		data_read(ends[0]);
	} else if (how == T_VECTORS) {
		char first[10], second[20];
		struct iovec vectors[] = { { first, 10 }, { second, 20 } };
		harm_result("readv", readv(fd, vectors, 2));
		harm_result("pwritev", pwritev(fd, vectors, 2, 100));
		harm_result("preadv", preadv(fd, vectors, 2, 95));
		harm_say("sums %x %x\n", data_sum(first, 10), data_sum(second, 20));
	} else {
		data_read(fd);
	}
}

static void data_nonblock(long how UNUSED)
{
	int ends[2];
	static char bytes[1 << 20];
	if (pipe2(ends, O_NONBLOCK))
		return;
	harm_compute(TICKS);
	harm_result("read", read(ends[0], bytes, 1));
	harm_result("write", write(ends[1], bytes, sizeof bytes));
	harm_result("write", write(ends[1], bytes, 1));
	harm_result("read", read(ends[0], bytes, sizeof bytes));
	struct pollfd wait = { ends[0], POLLIN, 0 };
	harm_result("poll", poll(&wait, 1, 5));
	close(ends[1]);
	harm_result("poll", poll(&wait, 1, 5));
	harm_say("events %x\n", (unsigned)wait.revents);
	harm_result("read", read(ends[0], bytes, 1));
}

static void data_events(long how)
{
	int fd = eventfd(0, how == T_EVENT ? EFD_SEMAPHORE | EFD_NONBLOCK : EFD_NONBLOCK), epoll = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data = { .u64 = 77 } };
	uint64_t value = 3;
	harm_result("epoll_ctl", epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	harm_compute(TICKS);
	harm_result("epoll_wait", epoll_wait(epoll, &event, 1, 5));
	harm_result("write", write(fd, &value, sizeof value));
	for (int i = 0; i < 5; i++) {
		harm_result("epoll_wait", epoll_wait(epoll, &event, 1, 5));
		harm_result("read", read(fd, &value, sizeof value));
		harm_say("value %d, data %d\n", (int)value, (int)event.data.u64);
	}
}

static void data_signals(long how)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	harm_handle(how == T_BROKEN ? SIGPIPE : SIGIO, SA_RESTART);
	harm_compute(TICKS);
	if (how == T_BROKEN) {
		close(ends[1]);
		harm_result("write", write(ends[0], "x", 1));
		harm_result("send", send(ends[0], "x", 1, MSG_NOSIGNAL));
		harm_say("SIGPIPE %d, code %d\n", harm_seen[SIGPIPE], harm_code[SIGPIPE]);
	} else {
		fcntl(ends[0], F_SETOWN, getpid());
		fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
		for (int i = 0; i < 3; i++) {
			harm_result("write", write(ends[1], "x", 1));
			harm_compute(.02);
		}
		harm_say("SIGIO %d, code %d\n", harm_seen[SIGIO], harm_code[SIGIO]);
	}
}

static void data_watch(long how UNUSED)
{
	char bytes[4096];
	int watch = inotify_init1(IN_NONBLOCK);
	inotify_add_watch(watch, ".", IN_CREATE | IN_DELETE | IN_OPEN);
	harm_compute(TICKS);
	usleep(1000);
	close(open("watched.tmp", O_CREAT | O_WRONLY, 0600));
	unlink("watched.tmp");
	harm_compute(TICKS);
	ssize_t size = read(watch, bytes, sizeof bytes);
	for (char *at = bytes; at < bytes + size;) {
		struct inotify_event *event = (struct inotify_event *)at;
		harm_say("%x %s\n", event->mask, event->len ? event->name : "");
		at += sizeof *event + event->len;
	}
}

static void data_datagrams(long how UNUSED)
{
	int pair[2];
	char text[64];
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	for (int i = 0; i < 5; i++) {
		snprintf(text, sizeof text, "datagram %d", i);
		harm_result("send", send(pair[0], text, strlen(text), 0));
		harm_compute(.01);
	}
	for (int i = 0; i < 5; i++) {
		ssize_t size = recv(pair[1], text, sizeof text, 0);
		harm_say("%.*s\n", (int)size, text);
	}
	harm_result("recv", recv(pair[1], text, 5, MSG_DONTWAIT));
}

/* ---- stdio ---- */

static void *stdio_begin(void *value)
{
	for (int i = 0; i < 200; i++) {
		flockfile(value);
		fputs("ab", value);
		if (i % 40 == 0)
			harm_compute(.002);
		fputs("cd\n", value);
		funlockfile(value);
	}
	return NULL;
}

static void stdio_threads(long count)
{
	pthread_t threads[8];
	char line[100];
	int good = 0, bad = 0;
	FILE *file = fopen("stdio.tmp", "w+");
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, stdio_begin, file);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	rewind(file);
	while (fgets(line, sizeof line, file)) {
		good += !strcmp(line, "abcd\n");
		bad += strcmp(line, "abcd\n") != 0;
	}
	harm_say("good %d, bad %d\n", good, bad);
}

static void stdio_exit(long status)
{
	exit((int)status);
}

static void stdio_modes(long mode)
{
	setvbuf(stdout, NULL, (int)mode, BUFSIZ);
	for (int i = 0; i < 5; i++) {
		printf("line %d\n", i);
		harm_compute(.01);
		fprintf(stderr, "error %d\n", i);
		usleep(1000);
	}
	harm_child("child", stdio_exit, 0);
	printf("the last one without an end");
}

static void stdio_tell(long value UNUSED)
{
	FILE *file = fopen("stdio.tmp", "w+");
	for (int i = 0; i < 1000; i++)
		fprintf(file, "%d ", i);
	harm_compute(TICKS);
	harm_say("at %ld\n", ftell(file));
	rewind(file);
	int sum = 0, one = 0;
	while (fscanf(file, "%d", &one) == 1)
		sum += one;
	harm_say("sum %d, end %d, error %d\n", sum, feof(file), ferror(file));
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	fprintf(memory, "%s", "in memory");
	fclose(memory);
	harm_say("%s %zu\n", text, size);
}

const struct harm_program harm_files[] = {
	{ "errno", "files", kept_files, 8 },
	{ "errno", "locks and threads", kept_locks, 8 },
	{ "errno", "memory", kept_memory, 10 },
	{ "errno", "processes and signals", kept_processes, 5 },
	{ "errno", "computation", kept_compute, 0 },
	{ "errno", "computation, 0", kept_compute, 1 },
	{ "errno", "errors of calls", errors_main, 0 },
	{ "errno", "errors of calls, later", errors_main, 1 },
	{ "data", "pipe", data_stream, T_PIPE },
	{ "data", "socket", data_stream, T_SOCKET },
	{ "data", "file", data_file, T_FILE },
	{ "data", "vectors", data_file, T_VECTORS },
	{ "data", "sendfile", data_file, T_SENDFILE },
	{ "data", "splice", data_file, T_SPLICE },
	{ "data", "O_NONBLOCK", data_nonblock, 0 },
	{ "data", "eventfd", data_events, T_EVENT },
	{ "data", "epoll, edges", data_events, T_EDGE },
	{ "data", "SIGPIPE", data_signals, T_BROKEN },
	{ "data", "SIGIO", data_signals, T_SIGIO },
	{ "data", "inotify", data_watch, 0 },
	{ "data", "datagrams", data_datagrams, 0 },
	{ "stdio", "8 threads, flockfile", stdio_threads, 8 },
	{ "stdio", "buffer of lines", stdio_modes, _IOLBF },
	{ "stdio", "full buffer", stdio_modes, _IOFBF },
	{ "stdio", "no buffer", stdio_modes, _IONBF },
	{ "stdio", "positions", stdio_tell, 0 },
	{ NULL, NULL, NULL, 0 },
};
