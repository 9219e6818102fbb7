/* A process beside `dwell run`; see run_witness.h. */
#include "launch/run_witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/proc.h"
#include "top/top.h"

#define WITNESS_LOOK_MS 100   /* between two looks whether `dwell run` is stopped */
#define WITNESS_ANSWER_MS 500 /* for an answer; on a busy machine another process gets the CPU late */
#define WITNESS_CONTINUED_MS 20
#define WITNESS_SOCKET 0
#define WITNESS_STAT 1
#define WITNESS_FILES 4096 /* that are closed one by one, where the kernel cannot close a range */
#define WITNESS_PAUSE_NS 1000000 /* whoever ends a control group signals one process after the other */

struct witness_word {
	unsigned number;
	int signal; /* of a question; in an answer whether it was pending */
};

static struct {
	pid_t pid; /* 0: there is none */
	int socket;
	unsigned number; /* of the last question */
} witness;

/* ---- in the witness ------------------------------------------------------------------ */

/* Whether the process is stopped. `stat_fd`: its stat in /proc. */
static bool witness_is_stopped(int stat_fd)
{
	char text[DW_PROC_STAT_BYTES];
	ssize_t length = pread(stat_fd, text, sizeof text - 1, 0);
	struct dw_proc_stat stat;

	text[length > 0 ? length : 0] = '\0';
	return dw_proc_parse_stat(text, &stat) && stat.state == 'T';
}

/* If `dwell run` has been stopped, stops the program, once. */
static void witness_look(int stat_fd, pid_t program, bool *was_stopped)
{
	bool stopped = witness_is_stopped(stat_fd);

	if (stopped && !*was_stopped) {
		kill(program, SIGSTOP);
		if (!witness_is_stopped(stat_fd)) /* continued meanwhile, and perhaps the program before this stop */
			kill(program, SIGCONT);
	}
	*was_stopped = stopped;
}

/* Keeps two descriptors, as 0 and 1: a pipe must not stay open because of the witness. */
static void witness_close_others(int socket, int stat_fd)
{
	dup2(socket, WITNESS_SOCKET);
	if (stat_fd < 0 || dup2(stat_fd, WITNESS_STAT) < 0)
		close(WITNESS_STAT);
	if (syscall(SYS_close_range, 2, ~0u, 0) != 0) /* before Linux 5.9 */
		for (int fd = 2; fd < WITNESS_FILES; fd++)
			close(fd);
}

static void witness_work(int socket, pid_t runner, pid_t program)
{
	const struct timespec now = { 0, 0 };
	struct pollfd polled = { WITNESS_SOCKET, POLLIN, 0 };
	bool was_stopped = false;
	struct witness_word word;
	sigset_t signals;
	char path[32];
	int stat_fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, DW_TOP_WITNESS);
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	snprintf(path, sizeof path, "/proc/%d/stat", (int)runner);
	stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	witness_close_others(socket, stat_fd);
	while (getppid() == runner) {
		if (poll(&polled, 1, stat_fd < 0 ? -1 : WITNESS_LOOK_MS) == 0) {
			witness_look(WITNESS_STAT, program, &was_stopped);
			continue;
		}
		if (recv(WITNESS_SOCKET, &word, sizeof word, 0) != sizeof word)
			return;
		sigemptyset(&signals);
		sigaddset(&signals, word.signal);
		word.signal = sigtimedwait(&signals, NULL, &now) == word.signal;
		send(WITNESS_SOCKET, &word, sizeof word, MSG_NOSIGNAL);
	}
}

/* ---- in `dwell run` -------------------------------------------------------------------- */

void dw_witness_begin(pid_t program)
{
	pid_t runner = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	witness.pid = fork();
	if (witness.pid == 0) {
		witness_work(ends[1], runner, program);
		_exit(0);
	}
	close(ends[1]);
	witness.socket = ends[0];
	if (witness.pid < 0) {
		close(ends[0]);
		witness.pid = 0;
	}
}

/* 1: the signal is pending in the witness, and is not any more; 0: it is not; -1: no answer. */
static int witness_ask(int signal, int limit_ms)
{
	struct witness_word word = { ++witness.number, signal };
	struct pollfd polled = { witness.socket, POLLIN, 0 };

	if (!witness.pid || send(witness.socket, &word, sizeof word, MSG_NOSIGNAL) != sizeof word)
		return -1;
	while (poll(&polled, 1, limit_ms) > 0) {
		if (recv(witness.socket, &word, sizeof word, 0) != sizeof word)
			return -1;
		if (word.number == witness.number) /* not a late answer to a question before */
			return word.signal;
	}
	return -1;
}

int dw_witness_saw(int signal)
{
	const struct timespec pause = { 0, WITNESS_PAUSE_NS };
	int saw = witness_ask(signal, signal == SIGCONT ? WITNESS_CONTINUED_MS : WITNESS_ANSWER_MS);

	if (saw < 0 && signal == SIGCONT && witness.pid) {
		/* The group was stopped, and this process alone continued. */
		kill(witness.pid, SIGCONT);
		witness_ask(SIGCONT, WITNESS_ANSWER_MS);
		return 0;
	}
	if (saw == 0) {
		nanosleep(&pause, NULL);
		saw = witness_ask(signal, WITNESS_ANSWER_MS);
	}
	return saw;
}

void dw_witness_end(void)
{
	if (!witness.pid)
		return;
	kill(witness.pid, SIGKILL);
	while (waitpid(witness.pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(witness.socket);
	witness.pid = 0;
}
