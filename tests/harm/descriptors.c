/* Descriptors: which numbers a program gets, which are open, and that nobody else writes into them. */
#define _GNU_SOURCE
#include "harm.h"
#include <dirent.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* Descriptors below 100 that are open, without one for the list. */
static void list_say(const char *where)
{
	char line[600];
	int size = snprintf(line, sizeof line, "%s: open", where);
	for (int fd = 0; fd < 100; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			size += snprintf(line + size, sizeof line - (size_t)size, " %d", fd);
	harm_say("%s\n", line);
}

static void folder_say(void)
{
	DIR *folder = opendir("/proc/self/fd");
	bool seen[100] = { false };
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.' && atoi(entry->d_name) < 100)
			seen[atoi(entry->d_name)] = true;
	closedir(folder);
	for (int fd = 3; fd < 100; fd++)
		if (seen[fd])
			harm_say("/proc/self/fd has %d\n", fd);
}

static void *list_begin(void *value)
{
	harm_compute(.02);
	list_say("a thread");
	return value;
}

static void list_child(long value UNUSED)
{
	harm_compute(.02);
	list_say("a child");
}

static void list_main(long value UNUSED)
{
	list_say("at the start");
	folder_say();
	harm_compute(TICKS);
	usleep(1000);
	list_say("later");
	folder_say();
	harm_thread(list_begin, NULL, NULL);
	harm_child("child", list_child, 0);
	harm_execute("state", ".files");
	list_say("at the end");
}

static void numbers_main(long value)
{
	int ends[2], pair[2];
	if (value)
		harm_compute(TICKS);
	harm_result("open", open("/dev/null", O_RDONLY));
	harm_result("socket", socket(AF_UNIX, SOCK_STREAM, 0));
	harm_result("epoll_create1", epoll_create1(0));
	harm_result("eventfd", eventfd(0, 0));
	harm_result("memfd_create", memfd_create("x", 0));
	harm_result("pipe", pipe(ends));
	harm_say("ends %d %d\n", ends[0], ends[1]);
	harm_result("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	harm_say("pair %d %d\n", pair[0], pair[1]);
	harm_result("dup", dup(1));
	harm_result("F_DUPFD", fcntl(1, F_DUPFD, 3));
	FILE *file = fopen("/dev/null", "r");
	harm_result("fopen", fileno(file));
	fclose(file);
	DIR *folder = opendir("/");
	harm_result("opendir", dirfd(folder));
	closedir(folder);
	close(5);
	harm_result("open", open("/dev/null", O_RDONLY));
}

/* ---- all descriptors are closed ---- */

enum { CLOSE_LOOP, CLOSE_RANGE, CLOSE_RANGE_CALL, CLOSE_FROM, CLOSE_LIST, CLOSE_DUP, CLOSE_EXEC, CLOSE_AGAIN };

static void closing_close(long how)
{
	DIR *folder;
	switch (how) {
	case CLOSE_LOOP:
		for (int fd = 3; fd < 4096; fd++)
			close(fd);
		break;
	case CLOSE_RANGE:
		harm_result("close_range", close_range(3, ~0u, 0));
		break;
	case CLOSE_RANGE_CALL:
		harm_result("close_range", syscall(SYS_close_range, 3u, ~0u, 0u));
		break;
	case CLOSE_FROM:
		closefrom(3);
		break;
	case CLOSE_EXEC:
		harm_result("close_range", close_range(3, ~0u, CLOSE_RANGE_CLOEXEC));
		break;
	case CLOSE_LIST:
		folder = opendir("/proc/self/fd");
		for (struct dirent *entry; (entry = readdir(folder));)
			if (atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(folder))
				close(atoi(entry->d_name));
		closedir(folder);
		break;
	default:
		for (int fd = 3; fd < 64; fd++)
			if (dup2(0, fd) != fd)
				harm_say("dup2 to %d: %s\n", fd, strerrorname_np(errno));
	}
}

static void *closing_work(void *value)
{
	harm_compute(.03);
	usleep(2000);
	free(malloc(600000));
	return value;
}

/* Then files of the program have what the program wrote, and nothing else. */
static void closing_main(long how)
{
	char name[32], text[32];
	int fds[70], bad = 0;
	closing_work(NULL);
	closing_close(how);
	if (how == CLOSE_DUP)
		for (int fd = 3; fd < 64; fd++)
			close(fd);
	for (int i = 0; i < 70; i++) {
		snprintf(name, sizeof name, "file%d.tmp", i);
		fds[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
		bad += write(fds[i], name, strlen(name)) != (ssize_t)strlen(name);
	}
	harm_say("first %d, last %d, bad %d\n", fds[0], fds[69], bad);
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, closing_work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pid_t pid = fork();
	if (!pid) {
		closing_work(NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 70; i++) {
		snprintf(name, sizeof name, "file%d.tmp", i);
		ssize_t size = pread(fds[i], text, sizeof text, 0);
		if (size != (ssize_t)strlen(name) || memcmp(text, name, (size_t)size) || lseek(fds[i], 0, SEEK_CUR) != size)
			harm_say("%s has other content, %zd bytes\n", name, size);
	}
}

/* ---- 0, 1, 2 are closed ---- */

/* Executed with some of 0, 1, 2 closed: writes to all of them, opens a file, and stores what happened there. */
static void closed_child(long value UNUSED)
{
	char line[300];
	harm_compute(TICKS);
	int fd = open("closed.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
	ssize_t in = read(0, line, 1), out = write(1, "out\n", 4), error = write(2, "err\n", 4);
	usleep(2000);
	int next = open("/dev/null", O_RDONLY);
	struct stat about;
	int size =
		snprintf(line, sizeof line, "first %d, next %d, read %zd, write %zd %zd, open", fd, next, in, out, error);
	for (int i = 0; i < 100; i++)
		if (!fstat(i, &about))
			size += snprintf(line + size, sizeof line - (size_t)size, " %d:%o", i, about.st_mode >> 12);
	int result = open("result.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (write(result, line, (size_t)size) != size)
		_exit(1);
	_exit(0);
}

static void closed_main(long which)
{
	pid_t pid = fork();
	int status = 0;
	if (!pid) {
		for (int fd = 0; fd < 3; fd++)
			if (which >> fd & 1)
				close(fd);
		execl(harm_path, harm_path, "closed 0, 1, 2", ".child", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	harm_say_status("child", status);
	char text[600];
	int fd = open("result.tmp", O_RDONLY);
	ssize_t size = read(fd, text, sizeof text - 1);
	text[size > 0 ? size : 0] = 0;
	close(fd);
	harm_say("%s\n", text);
	fd = open("closed.tmp", O_RDONLY);
	size = read(fd, text, sizeof text - 1);
	text[size > 0 ? size : 0] = 0;
	harm_say("the file has: %s\n", text);
}

/* The program closes them itself. */
static void closed_self(long which)
{
	int result = fcntl(1, F_DUPFD, 60);
	for (int fd = 0; fd < 3; fd++)
		if (which >> fd & 1)
			close(fd);
	for (int i = 0; i < 3; i++) {
		harm_compute(.03);
		usleep(2000);
	}
	char line[100];
	int size = snprintf(line, sizeof line, "writes %d %d\n", (int)write(1, "out\n", 4), (int)write(2, "err\n", 4));
	size += snprintf(line + size, sizeof line - (size_t)size, "opened %d\n", open("own.tmp", O_CREAT | O_RDWR, 0600));
	if (write(result, line, (size_t)size) != size)
		_exit(1);
	_exit(0);
}

/* ---- few descriptors ---- */

static void *few_begin(void *value)
{
	harm_compute(.01);
	return value;
}

static void few_say(long value)
{
	int made = 0;
	while (made < 100 && open("/dev/null", O_RDONLY) >= 0)
		made++;
	harm_say("could open %d: %s\n", made, strerrorname_np(errno));
	list_say("few");
	harm_compute(TICKS);
	usleep(1000);
	harm_thread(few_begin, NULL, NULL);
	if (value)
		return;
	pid_t pid = fork();
	if (!pid)
		_exit(open("/dev/null", O_RDONLY) >= 0);
	int status = 0;
	waitpid(pid, &status, 0);
	harm_say_status("child", status);
}

static void few_main(long value)
{
	struct rlimit limit = { (rlim_t)labs(value), (rlim_t)labs(value) };
	harm_result("setrlimit", setrlimit(RLIMIT_NOFILE, &limit));
	if (value > 0)
		few_say(0);
	else
		execl(harm_path, harm_path, "few descriptors", ".child", (char *)NULL);
}

#define CLOSED(name, which) \
	{ "closed 0, 1, 2", name, closed_main, which }, \
	{ \
		"closed 0, 1, 2", name " by itself", closed_self, which \
	}

const struct harm_program harm_descriptors[] = {
	{ "descriptors", "which are open", list_main, 0 },
	{ "descriptors", "numbers at the start", numbers_main, 0 },
	{ "descriptors", "numbers later", numbers_main, 1 },
	{ "close all", "a loop", closing_main, CLOSE_LOOP },
	{ "close all", "close_range", closing_main, CLOSE_RANGE },
	{ "close all", "close_range by a system call", closing_main, CLOSE_RANGE_CALL },
	{ "close all", "closefrom", closing_main, CLOSE_FROM },
	{ "close all", "CLOSE_RANGE_CLOEXEC", closing_main, CLOSE_EXEC },
	{ "close all", "of /proc/self/fd", closing_main, CLOSE_LIST },
	{ "close all", "dup2 to all below 64", closing_main, CLOSE_DUP },
	CLOSED("none", 0),
	CLOSED("0", 1),
	CLOSED("1", 2),
	CLOSED("0 and 1", 3),
	CLOSED("2", 4),
	CLOSED("0 and 2", 5),
	CLOSED("1 and 2", 6),
	CLOSED("all", 7),
	{ "closed 0, 1, 2", ".child", closed_child, 0 },
	{ "few descriptors", "4", few_main, 4 },
	{ "few descriptors", "8", few_main, 8 },
	{ "few descriptors", "16", few_main, 16 },
	{ "few descriptors", "4, then exec", few_main, -4 },
	{ "few descriptors", "5, then exec", few_main, -5 },
	{ "few descriptors", "8, then exec", few_main, -8 },
	{ "few descriptors", "16, then exec", few_main, -16 },
	{ "few descriptors", "64, then exec", few_main, -64 },
	{ "few descriptors", ".child", few_say, 1 },
	{ NULL, NULL, NULL, 0 },
};
