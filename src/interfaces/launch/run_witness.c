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
#define WITNESS_RUNNER 1  /* the stat of `dwell run` in /proc */
#define WITNESS_PROGRAM 2 /* and that of the program */
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

/* What was seen of `dwell run` and the program. */
struct witness_seen {
	bool is_stopped;      /* `dwell run` at the last look */
	bool were_both;       /* since then also the program was */
	unsigned runs_alone;  /* looks in sequence at which the program was continued, and `dwell run` was not */
};

/* Whether the process is stopped. `stat_fd`: its stat in /proc. */
static bool witness_is_stopped(int stat_fd)
{
	char text[DW_PROC_STAT_BYTES];
	ssize_t length = pread(stat_fd, text, sizeof text - 1, 0);
	struct dw_proc_stat stat;

	text[length > 0 ? length : 0] = '\0';
	return dw_proc_parse_stat(text, &stat) && stat.state == 'T';
}

/* Whoever continues the program alone continues `dwell run` too: without it the end of the program would be seen by nobody. Twice:
 * who continues both may be between the two. */
static void witness_continue(struct witness_seen *seen, pid_t runner)
{
	bool runs = !witness_is_stopped(WITNESS_PROGRAM);

	seen->were_both |= !runs;
	seen->runs_alone = runs && seen->were_both ? seen->runs_alone + 1 : 0;
	if (seen->runs_alone == 2)
		kill(runner, SIGCONT);
}

/* If `dwell run` has been stopped, stops the program, once. */
static void witness_look(struct witness_seen *seen, pid_t runner, pid_t program)
{
	bool stopped = witness_is_stopped(WITNESS_RUNNER);

	if (!stopped) {
		*seen = (struct witness_seen){ .is_stopped = false };
		return;
	}
	if (!seen->is_stopped && !witness_is_stopped(WITNESS_PROGRAM)) {
		kill(program, SIGSTOP);
		if (!witness_is_stopped(WITNESS_RUNNER)) /* continued meanwhile, and perhaps the program before this stop */
			kill(program, SIGCONT);
	}
	seen->is_stopped = true;
	witness_continue(seen, runner);
}

static int witness_open_stat(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return fcntl(open(path, O_RDONLY | O_CLOEXEC), F_DUPFD_CLOEXEC, WITNESS_PROGRAM + 1);
}

/* Keeps three descriptors: a pipe must not stay open because of the witness. False: it cannot look. */
static bool witness_close_others(int socket, int runner_fd, int program_fd)
{
	bool can_look = runner_fd >= 0 && program_fd >= 0;

	dup2(socket, WITNESS_SOCKET);
	if (!can_look || dup2(runner_fd, WITNESS_RUNNER) < 0 || dup2(program_fd, WITNESS_PROGRAM) < 0) {
		close(WITNESS_RUNNER);
		close(WITNESS_PROGRAM);
	}
	if (syscall(SYS_close_range, 3, ~0u, 0) != 0) /* before Linux 5.9 */
		for (int fd = 3; fd < WITNESS_FILES; fd++)
			close(fd);
	return can_look;
}

static void witness_work(int socket, pid_t runner, pid_t program)
{
	const struct timespec now = { 0, 0 };
	struct pollfd polled = { WITNESS_SOCKET, POLLIN, 0 };
	struct witness_seen seen = { .is_stopped = false };
	struct witness_word word;
	sigset_t signals;
	bool can_look;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, DW_TOP_WITNESS);
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	can_look = witness_close_others(socket, witness_open_stat(runner), witness_open_stat(program));
	while (getppid() == runner) {
		if (poll(&polled, 1, can_look ? WITNESS_LOOK_MS : -1) == 0) {
			witness_look(&seen, runner, program);
			continue;
		}
		if (recv(WITNESS_SOCKET, &word, sizeof word, 0) != sizeof word)
			return;
		/* `dwell run` stops because the program is stopped. */
		if (word.signal == SIGSTOP || word.signal == SIGTSTP || word.signal == SIGTTIN || word.signal == SIGTTOU)
			seen = (struct witness_seen){ .is_stopped = true, .were_both = true };
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

bool dw_witness_sent(pid_t sender)
{
	return witness.pid && sender == witness.pid;
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
