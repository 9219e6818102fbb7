/* The program of `dwell run` as a child process; see run_program.h. */
#include "launch/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/background.h"
#include "launch/run_witness.h"
#include "say/say.h"

/* ---- what the program inherits ----------------------------------------------------- */

static const int timers[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
#define TIMERS (sizeof timers / sizeof *timers)

static struct {
	sigset_t mask, ignored;
	struct itimerval timers[TIMERS];
	pid_t runner;
} inherited;

static void program_hold_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", O_RDWR | O_CLOEXEC); /* the lowest free descriptor is this one */
}

static volatile sig_atomic_t running, was_cut; /* the program's pid, or 0; whether a file was cut that is mapped here */

/*
 * SIGBUS that was sent is passed on. A fault is the use of a mapped trace that somebody cuts: the page is replaced by an
 * empty one, and what reads it finds the trace damaged. Else the program would be killed with this process.
 */
static void program_take_bus_error(int signal, siginfo_t *info, void *context)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	char *page = (char *)info->si_addr - (uintptr_t)info->si_addr % page_bytes;

	(void)context;
	if (info->si_code <= 0 && running > 0) {
		kill((pid_t)running, signal);
	} else if (info->si_code == BUS_ADRERR &&
	           mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page) {
		was_cut = true;
	} else {
		sigaction(signal, &usual, NULL);
		raise(signal);
	}
}

bool dw_program_saw_cut(void)
{
	return was_cut;
}

void dw_program_begin(void)
{
	struct sigaction action;

	program_hold_standard();
	sigprocmask(SIG_SETMASK, NULL, &inherited.mask);
	sigemptyset(&inherited.ignored);
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&inherited.ignored, signal);
	/* If SIGCHLD is ignored, the kernel reaps child processes, and nobody learns how they ended. */
	action = (struct sigaction){ .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &action, NULL);
	action = (struct sigaction){ .sa_sigaction = program_take_bus_error, .sa_flags = SA_SIGINFO };
	sigaction(SIGBUS, &action, NULL);
	inherited.runner = getpid();
}

/* In the child process. */
static void program_inherit(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (sigismember(&inherited.ignored, signal) == 1)
			sigaction(signal, &ignore, NULL);
	for (size_t i = 0; i < TIMERS; i++)
		setitimer(timers[i], &inherited.timers[i], NULL);
	sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
}

/* Whoever kills `dwell run` means the program. The kernel forgets this when the program gets other rights: if it is
 * set-user-ID or changes its user. */
static void program_end_with_runner(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != inherited.runner) /* it ended before the call */
		raise(SIGKILL);
}

pid_t dw_program_start(const char *name, void (*execute)(const void *context), const void *context)
{
	const struct itimerval off = { { 0, 0 }, { 0, 0 } };
	int ends[2] = { -1, -1 };
	char byte;
	pid_t pid;

	/* Until the program's id is known, signals wait. */
	dw_background_block_signals(NULL);
	for (size_t i = 0; i < TIMERS; i++) /* an alarm that was set before is the program's */
		setitimer(timers[i], &off, &inherited.timers[i]);
	fflush(NULL);
	(void)!pipe2(ends, O_CLOEXEC);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		(void)!read(ends[0], &byte, 1); /* until this process and the witness have closed the other end */
		close(ends[0]);
		program_end_with_runner();
		program_inherit();
		execute(context);
		_exit(DW_EXIT_CANNOT_RUN);
	}
	if (pid < 0)
		dw_say("cannot start %s: %s%s", name, strerror(errno),
		       errno == EAGAIN ? "; the limit of processes (ulimit -u) is reached" : "");
	else
		dw_witness_begin(pid);
	close(ends[0]);
	close(ends[1]);
	running = pid;
	return pid;
}

/* ---- signals ------------------------------------------------------------------------- */

/* Sends the program a signal that was sent to this process, with its value if it has one. */
static void program_pass_signal(pid_t program, int signal, siginfo_t *info)
{
	if (info->si_code == SI_QUEUE && syscall(SYS_rt_sigqueueinfo, program, signal, info) == 0)
		return;
	kill(program, signal);
}

/* The program is stopped: stops this process by the same signal, so that a shell sees a stopped job. Returns when it is
 * continued; what continued it is passed on. Where the kernel stops nobody by the signal, because no shell would continue
 * the process group, this returns at once. */
static void program_stop_too(int signal)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	struct sigaction before;
	sigset_t only, all;

	dw_witness_saw(signal); /* it is not received here */
	if (signal == SIGSTOP) {
		raise(SIGSTOP);
		return;
	}
	sigaction(signal, &usual, &before);
	raise(signal);
	sigemptyset(&only);
	sigaddset(&only, signal);
	sigprocmask(SIG_UNBLOCK, &only, &all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigaction(signal, &before, NULL);
}

/* Handles one signal of this process. A terminal, and others that signal the whole process group, have signalled the program
 * as well. What the program sends to its parent process goes to that of this one. */
static void program_take_signal(pid_t program, int signal, siginfo_t *info)
{
	int saw = signal == SIGCHLD ? 0 : dw_witness_saw(signal);

	if (signal == SIGCHLD || saw == 1 || info->si_code > 0 || info->si_pid == getpid() || dw_witness_sent(info->si_pid))
		return;
	if (info->si_pid != program)
		program_pass_signal(program, signal, info);
	else if (saw == 0 && getppid() > 0)
		kill(getppid(), signal);
}

/* Whether SIGCONT has come, which continues the program too: it may be stopped only because this process was. */
static bool program_is_continued(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

int dw_program_wait(pid_t program, void (*ended)(pid_t program), struct rusage *usage)
{
	const struct timespec now = { 0, 0 };
	siginfo_t state, info;
	sigset_t all;
	int status, signal;

	sigfillset(&all);
	for (;;) {
		state.si_pid = 0;
		if (waitid(P_PID, (id_t)program, &state, WEXITED | WSTOPPED | WNOWAIT | WNOHANG) != 0)
			return -1;
		if (state.si_pid == program && state.si_code != CLD_STOPPED)
			break;
		if (state.si_pid == program && !program_is_continued()) {
			waitid(P_PID, (id_t)program, &state, WSTOPPED | WNOHANG);
			program_stop_too(state.si_status);
			continue;
		}
		signal = sigwaitinfo(&all, &info);
		if (signal > 0)
			program_take_signal(program, signal, &info);
	}
	while ((signal = sigtimedwait(&all, &info, &now)) > 0) /* what the program sent to its parent process */
		program_take_signal(program, signal, &info);
	dw_witness_end();
	ended(program);
	running = 0;
	return wait4(program, &status, 0, usage) == program ? status : -1;
}

/* ---- the end ---------------------------------------------------------------------------- */

void dw_program_release(void)
{
	const struct timespec now = { 0, 0 };
	sigset_t all;

	sigfillset(&all);
	while (sigtimedwait(&all, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
}

int dw_program_end(int status)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	const struct rlimit none = { 0, 0 };
	sigset_t only;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	fflush(NULL);
	/* The program's own core is what users look for. A limit of 0 alone does not stop a core that a program receives. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(WTERMSIG(status), &usual, NULL);
	raise(WTERMSIG(status));
	sigemptyset(&only);
	sigaddset(&only, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	return 128 + WTERMSIG(status); /* of the first process of a container, which no signal of its own ends */
}
