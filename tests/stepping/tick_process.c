/* See tick_process.h. */
#include "tick_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "tracer.h"

const char *program;
double hang_seconds = 8;
char problem[16384];

/* ---- the traced process -------------------------------------------------------------------------- */

static void steps_be_program(const char *region, const char *how, int output)
{
	char number[16];

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	snprintf(number, sizeof number, "%d", (int)getppid());
	setenv("DWELL_RUNNER", number, 1); /* it is the program of the run, as far as the sampler knows */
	if (getenv("STEP_PRELOAD"))
		setenv("LD_PRELOAD", getenv("STEP_PRELOAD"), 1);
	dup2(output, 1);
	personality(ADDR_NO_RANDOMIZE); /* an address is the same in each process */
	execl(program, program, region, how, (char *)NULL);
	_exit(126);
}

bool steps_start(struct traced *traced, const char *region, const char *how)
{
	int ends[2], status;

	memset(traced, 0, sizeof *traced);
	*problem = '\0';
	if (pipe(ends) != 0)
		return false;
	traced->process = fork();
	if (!traced->process)
		steps_be_program(region, how, ends[1]);
	close(ends[1]);
	traced->output = ends[0];
	if (tracer_wait(traced->process, &status, hang_seconds) <= 0 || !WIFSTOPPED(status)) {
		PROBLEM("the program does not start");
		return false;
	}
	ptrace(PTRACE_SETOPTIONS, traced->process, NULL,
	       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE));
	return tracer_resume(PTRACE_CONT, traced->process, 0);
}

bool steps_is_event(int status)
{
	return status >> 16 != 0;
}

/* Whether a thread stands at a mark of the program: behind a trap. */
bool steps_is_mark(pid_t thread, int status)
{
	siginfo_t info;

	return !steps_is_event(status) && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP &&
	       ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) == 0 && info.si_code == SI_KERNEL;
}

/* Whether a thread stands before a signal of a timer: the program has none, so it is the sampler's. The first one is
 * kept. */
bool steps_is_tick(struct traced *traced, pid_t thread, int status)
{
	siginfo_t info;

	if (steps_is_event(status) || !WIFSTOPPED(status) || WSTOPSIG(status) == SIGTRAP ||
	    ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) != 0 || info.si_code != SI_TIMER)
		return false;
	if (!traced->has_tick)
		traced->tick = info;
	return traced->has_tick = true;
}

/* A signal of the sampler is kept for later, and does not reach the thread. Returns the signal that it gets. */
int steps_keep_tick(struct traced *traced, pid_t thread, int status)
{
	int signal = steps_is_event(status) || !WIFSTOPPED(status) ? 0 : WSTOPSIG(status);

	return steps_is_tick(traced, thread, status) || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
}

/* Lets the process run until its first thread is at a mark. The other thread stands before its first handler then. */
bool steps_run_to_mark(struct traced *traced)
{
	bool marked = false;

	while (!marked || !traced->other_waits || !traced->has_tick) {
		int status;
		pid_t thread = tracer_wait(-1, &status, hang_seconds);

		if (thread <= 0 || (thread == traced->process && !WIFSTOPPED(status))) {
			PROBLEM("%s before the region", thread == 0 ? "nothing more happens" : "the program ends");
			return false;
		}
		if (!WIFSTOPPED(status))
			continue;
		if (thread != traced->process)
			traced->other = thread;
		marked |= thread == traced->process && steps_is_mark(thread, status);
		if (marked && thread == traced->process)
			continue;
		if (thread == traced->other && steps_is_tick(traced, thread, status)) {
			traced->other_waits = true;
			continue;
		}
		tracer_resume(PTRACE_CONT, thread, steps_keep_tick(traced, thread, status));
	}
	return true;
}

/* Lets all threads run to the end. */
bool steps_finish(struct traced *traced, const char *wanted)
{
	char text[256] = "";
	ssize_t bytes;
	int status = 0;

	if (traced->other)
		tracer_resume(PTRACE_CONT, traced->other, 0);
	if (traced->created)
		tracer_resume(PTRACE_CONT, traced->created, 0);
	tracer_resume(PTRACE_CONT, traced->process, 0);
	for (;;) {
		pid_t thread = tracer_wait(-1, &status, hang_seconds);

		if (thread <= 0) {
			PROBLEM("the program does not end after the region");
			return false;
		}
		if (thread == traced->process && !WIFSTOPPED(status))
			break;
		if (WIFSTOPPED(status))
			tracer_resume(PTRACE_CONT, thread,
			              steps_is_event(status) || WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP
			                  ? 0
			                  : WSTOPSIG(status));
	}
	traced->process = 0;
	bytes = read(traced->output, text, sizeof text - 1);
	text[bytes > 0 ? bytes : 0] = '\0';
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		PROBLEM("the program ends with status %#x", (unsigned)status);
	else if (strcmp(text, wanted) != 0)
		PROBLEM("the program prints %s in place of %s", text, wanted);
	return !*problem;
}

void steps_end(struct traced *traced)
{
	if (traced->process > 0)
		tracer_kill(traced->process);
	close(traced->output);
}

/* ---- the signal ------------------------------------------------------------------------------------ */

/* Where the threads of the process stand. */
static void steps_describe(const struct traced *traced, pid_t thread, const char *what, uintptr_t at)
{
	char place[4200], now[4200];
	struct user_regs_struct registers = { 0 };

	kill(traced->process, SIGSTOP);
	if (!tracer_registers(thread, &registers)) {
		int status;

		kernel(SYS_tgkill, traced->process, thread, SIGSTOP, 0, 0, 0);
		tracer_wait(thread, &status, 1);
		tracer_registers(thread, &registers);
	}
	PROBLEM("%s; the signal came at %s, and the handler is at %s", what, tracer_place(traced->process, at, place),
	        tracer_place(traced->process, (uintptr_t)registers.rip, now));
}

bool steps_is_blocked(const struct traced *traced, pid_t thread)
{
	uint64_t blocked = 0;

	return ptrace((enum __ptrace_request)PTRACE_GETSIGMASK, thread, (void *)sizeof blocked, &blocked) != 0 ||
	       blocked >> (traced->tick.si_signo - 1) & 1;
}

/* Seconds that a thread of this process or of the traced one was ready to run, and waited for a processor. */
static double steps_delay(pid_t process, pid_t thread)
{
	unsigned long long delay = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)process, (int)thread);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*u %llu", &delay) != 1)
		delay = 0;
	if (file)
		fclose(file);
	return 1e-9 * (double)delay;
}

/* The time, without that which this process and the traced thread waited for a processor. */
static double steps_now(const struct traced *traced, pid_t thread)
{
	return kernel_now() - steps_delay(getpid(), getpid()) - steps_delay(traced->process, thread);
}

/* Runs a stopped thread through its handler, to the return from it. The registers must be as before. Returns seconds;
 * below 0: it failed. */
double steps_tick(struct traced *traced, pid_t thread)
{
	struct user_regs_struct before, after;
	double began = steps_now(traced, thread);
	bool returns = false;
	int status;

	if (!tracer_registers(thread, &before) || ptrace(PTRACE_SETSIGINFO, thread, NULL, &traced->tick) != 0) {
		PROBLEM("the thread is gone, or takes no signal");
		return -1;
	}
	for (int signal = traced->tick.si_signo;; signal = 0) {
		tracer_resume(PTRACE_SYSCALL, thread, signal);
		if (tracer_wait(thread, &status, hang_seconds) <= 0) {
			steps_describe(traced, thread, "the handler does not return", (uintptr_t)before.rip);
			return -1;
		}
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			steps_describe(traced, thread, WIFSTOPPED(status) ? strsignal(WSTOPSIG(status)) : "the program ends",
			               (uintptr_t)before.rip);
			return -1;
		}
		if (returns)
			break;
		returns = tracer_registers(thread, &after) && after.orig_rax == SYS_rt_sigreturn;
	}
	tracer_registers(thread, &after);
	after.orig_rax = before.orig_rax;
	if (memcmp(&before, &after, sizeof before) != 0) {
		steps_describe(traced, thread, "registers are not as before", (uintptr_t)before.rip);
		return -1;
	}
	began = steps_now(traced, thread) - began;
	return began > 0 ? began : 0; /* the parts of the time are not read at one moment */
}

/* ---- steps ------------------------------------------------------------------------------------------ */

/* One instruction of one thread. */
enum stepped steps_step(struct traced *traced, pid_t thread)
{
	int status, signal = 0;

	for (;;) {
		struct user_regs_struct registers = { 0 };

		if (!tracer_resume(PTRACE_SINGLESTEP, thread, signal))
			return STEPPED_TO_END;
		if (tracer_wait(thread, &status, hang_seconds) <= 0) {
			tracer_registers(thread, &registers);
			steps_describe(traced, thread, "an instruction does not end", (uintptr_t)registers.rip);
			return STEPPED_WRONG;
		}
		if (!WIFSTOPPED(status))
			return STEPPED_TO_END;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8)) {
			unsigned long created = 0;

			ptrace(PTRACE_GETEVENTMSG, thread, NULL, &created);
			traced->created = (pid_t)created;
			return STEPPED;
		}
		if (!steps_is_event(status) && WSTOPSIG(status) == SIGTRAP)
			return steps_is_mark(thread, status) ? STEPPED_TO_MARK : STEPPED;
		signal = steps_keep_tick(traced, thread, status);
		if (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL) {
			steps_describe(traced, thread, strsignal(signal), 0);
			return STEPPED_WRONG;
		}
	}
}
