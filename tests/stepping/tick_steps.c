/*
 * The sampler's signal at each instruction: a program is stepped through calls that hold locks of libc, and gets the signal
 * as from the kernel's timer, with the same information.
 *
 *   tick_steps PROGRAM [--ticks N] [--positions N] [--processes N] [--seed S] [--only REGION]
 *
 * It is started without dwell; STEP_PRELOAD has the libraries that `dwell run` loads into the program. In each region:
 *
 *   - steps alone, and then with signals: at each address of an instruction when it is reached first, at each instruction
 *     behind one that may take a lock, and at N others at random. The handler must return within a time, with the same
 *     registers; the program must print what it prints without tracing.
 *   - another thread gets the signal while this one stands at an instruction: at N random ones of a process, and as the first
 *     signal of a process, in N processes. The handler must return within 20 ms.
 *
 * The last line: N passed, N failed.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "tracer.h"

#define HANG_SECONDS 8.0   /* of one instruction, or of one handler */
#define MOST_SECONDS 0.02  /* of a handler while another thread stands still */
#define SEEN (1u << 18)
#define BEHIND_LOCK 40u    /* instructions */
#define TRIES 3            /* of a handler that was slow: another program may have had the processor */

static const char *program;
static unsigned ticks = 300, positions = 60, processes = 12;
static uint64_t state = 1;
static unsigned passed, failed;
static char problem[16384]; /* why this process failed; "": it did not */

struct traced {
	pid_t process;
	int output;              /* what it prints */
	siginfo_t tick;          /* as the kernel sent it */
	bool has_tick;
	pid_t other, created;    /* the thread that computes; one that began in the region */
	bool other_waits;        /* the other one stands before its handler */
};

#define PROBLEM(...)                                           \
	do {                                                       \
		if (!*problem)                                         \
			snprintf(problem, sizeof problem, __VA_ARGS__);    \
	} while (0)

/* ---- the traced process -------------------------------------------------------------------------- */

static void steps_be_program(const char *region, int output)
{
	char number[16];

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	snprintf(number, sizeof number, "%d", (int)getppid());
	setenv("DWELL_RUNNER", number, 1); /* it is the program of the run, as far as the sampler knows */
	if (getenv("STEP_PRELOAD"))
		setenv("LD_PRELOAD", getenv("STEP_PRELOAD"), 1);
	dup2(output, 1);
	execl(program, program, region, "traced", (char *)NULL);
	_exit(126);
}

static bool steps_start(struct traced *traced, const char *region)
{
	int ends[2], status;

	memset(traced, 0, sizeof *traced);
	*problem = '\0';
	if (pipe(ends) != 0)
		return false;
	traced->process = fork();
	if (!traced->process)
		steps_be_program(region, ends[1]);
	close(ends[1]);
	traced->output = ends[0];
	if (tracer_wait(traced->process, &status, HANG_SECONDS) <= 0 || !WIFSTOPPED(status)) {
		PROBLEM("the program does not start");
		return false;
	}
	ptrace(PTRACE_SETOPTIONS, traced->process, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE));
	return tracer_resume(PTRACE_CONT, traced->process, 0);
}

static bool steps_is_event(int status)
{
	return status >> 16 != 0;
}

/* Whether a thread stands at a mark of the program: behind a trap. */
static bool steps_is_mark(pid_t thread, int status)
{
	siginfo_t info;

	return !steps_is_event(status) && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP &&
	       ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) == 0 && info.si_code == SI_KERNEL;
}

/* A signal of the sampler is kept for later, and does not reach the thread. Returns the signal that it gets. */
static int steps_keep_tick(struct traced *traced, pid_t thread, int status)
{
	int signal = steps_is_event(status) || !WIFSTOPPED(status) ? 0 : WSTOPSIG(status);

	if (signal == SIGURG && !traced->has_tick && ptrace(PTRACE_GETSIGINFO, thread, NULL, &traced->tick) == 0)
		traced->has_tick = true;
	return signal == SIGURG || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
}

/* Lets the process run until its first thread is at a mark. The other thread stands before its first handler then. */
static bool steps_run_to_mark(struct traced *traced)
{
	bool marked = false;

	while (!marked || !traced->other_waits || !traced->has_tick) {
		int status;
		pid_t thread = tracer_wait(-1, &status, HANG_SECONDS);

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
		if (thread == traced->other && !steps_is_event(status) && WSTOPSIG(status) == SIGURG) {
			steps_keep_tick(traced, thread, status);
			traced->other_waits = true;
			continue;
		}
		tracer_resume(PTRACE_CONT, thread, steps_keep_tick(traced, thread, status));
	}
	return true;
}

/* Lets all threads run to the end. */
static bool steps_finish(struct traced *traced, const char *wanted)
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
		pid_t thread = tracer_wait(-1, &status, HANG_SECONDS);

		if (thread <= 0) {
			PROBLEM("the program does not end after the region");
			return false;
		}
		if (thread == traced->process && !WIFSTOPPED(status))
			break;
		if (WIFSTOPPED(status))
			tracer_resume(PTRACE_CONT, thread, steps_is_event(status) || WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP
			                                       ? 0 : WSTOPSIG(status));
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

static void steps_end(struct traced *traced)
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

static bool steps_is_blocked(pid_t thread)
{
	uint64_t blocked = 0;

	return ptrace((enum __ptrace_request)PTRACE_GETSIGMASK, thread, (void *)sizeof blocked, &blocked) != 0 ||
	       blocked >> (SIGURG - 1) & 1;
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

/* Runs a stopped thread through its handler, to the return from it. The registers must be as before. Returns seconds; below
 * 0: it failed. */
static double steps_tick(struct traced *traced, pid_t thread)
{
	struct user_regs_struct before, after;
	double began = steps_now(traced, thread);
	bool returns = false;
	int status;

	if (!tracer_registers(thread, &before) || ptrace(PTRACE_SETSIGINFO, thread, NULL, &traced->tick) != 0) {
		PROBLEM("the thread is gone, or takes no signal");
		return -1;
	}
	for (int signal = SIGURG;; signal = 0) {
		tracer_resume(PTRACE_SYSCALL, thread, signal);
		if (tracer_wait(thread, &status, HANG_SECONDS) <= 0) {
			steps_describe(traced, thread, "the handler does not return", (uintptr_t)before.rip);
			return -1;
		}
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			steps_describe(traced, thread, WIFSTOPPED(status) ? strsignal(WSTOPSIG(status)) : "the program ends", (uintptr_t)before.rip);
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

enum stepped {
	STEPPED,
	STEPPED_TO_MARK,
	STEPPED_TO_END, /* of the thread */
	STEPPED_WRONG,
};

/* One instruction of one thread. */
static enum stepped steps_step(struct traced *traced, pid_t thread)
{
	int status, signal = 0;

	for (;;) {
		struct user_regs_struct registers = { 0 };

		if (!tracer_resume(PTRACE_SINGLESTEP, thread, signal))
			return STEPPED_TO_END;
		if (tracer_wait(thread, &status, HANG_SECONDS) <= 0) {
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

/* The thread that began in the region runs, if it is not the one that is stepped. */
static void steps_let_created_run(struct traced *traced)
{
	int status;

	if (traced->created && tracer_wait(traced->created, &status, HANG_SECONDS) > 0)
		ptrace(PTRACE_DETACH, traced->created, NULL, NULL);
	traced->created = 0;
}

static bool steps_is_new(uintptr_t at)
{
	static uintptr_t seen[SEEN];
	static uintptr_t *slot;

	if (!at) {
		memset(seen, 0, sizeof seen);
		return false;
	}
	for (uint64_t i = at * 0x9e3779b97f4a7c15u >> 46;; i = (i + 1) % SEEN) {
		slot = &seen[i % SEEN];
		if (*slot == at)
			return false;
		if (!*slot) {
			*slot = at;
			return true;
		}
	}
}

static bool steps_may_lock(pid_t thread, uintptr_t at)
{
	return ((unsigned long)ptrace(PTRACE_PEEKTEXT, thread, (void *)at, NULL) & 0xff) == 0xf0;
}

struct count {
	uint64_t instructions, signals;
	double slowest;
};

/* Steps a thread from one mark to the next, or to its end, and sends the signal at instructions. `all`: 0: none; else how many
 * instructions there are, of which `ticks` are chosen at random. */
static bool steps_region(struct traced *traced, pid_t thread, uint64_t all, struct count *count)
{
	unsigned behind = 0;
	enum stepped stepped = STEPPED;

	memset(count, 0, sizeof *count);
	steps_is_new(0);
	for (;;) {
		struct user_regs_struct registers;
		double took;

		stepped = steps_step(traced, thread);
		if (stepped != STEPPED)
			return stepped != STEPPED_WRONG;
		count->instructions++;
		if (traced->created && thread != traced->created)
			steps_let_created_run(traced);
		if (!all || !tracer_registers(thread, &registers))
			continue;
		behind = steps_may_lock(thread, (uintptr_t)registers.rip) ? BEHIND_LOCK : behind ? behind - 1 : 0;
		if (!steps_is_new((uintptr_t)registers.rip) && !behind && tracer_random(&state) % all >= ticks)
			continue;
		if (steps_is_blocked(thread))
			continue;
		took = steps_tick(traced, thread);
		if (took < 0)
			return false;
		count->signals++;
		count->slowest = took > count->slowest ? took : count->slowest;
	}
}

static void steps_say(const char *region, const char *what, bool good, const char *text)
{
	passed += good;
	failed += !good;
	printf("%s %s: %s%s%s\n", region, what, text, good ? "" : "; FAILED: ", good ? "" : problem);
	fflush(stdout);
}

/* The thread that begins in the region: it is stepped from its first instruction to its end. */
static bool steps_to_created(struct traced *traced)
{
	int status;

	while (!traced->created)
		if (steps_step(traced, traced->process) != STEPPED) {
			PROBLEM("no thread began in the region");
			return false;
		}
	tracer_wait(traced->created, &status, HANG_SECONDS);
	tracer_resume(PTRACE_CONT, traced->process, 0);
	return true;
}

/* Signals in the thread that makes the calls. */
static void steps_own_signals(const char *region, const char *wanted)
{
	bool of_created = !strcmp(region, "thread");
	struct traced traced;
	struct count count = { 0 };
	uint64_t all = 0;
	char text[256];

	for (int with = 0; with < 2; with++) {
		bool good = steps_start(&traced, region) && steps_run_to_mark(&traced) && (!of_created || steps_to_created(&traced)) &&
		            steps_region(&traced, of_created ? traced.created : traced.process, with ? all : 0, &count);

		if (of_created)
			traced.created = 0;
		good = good && steps_finish(&traced, wanted);
		steps_end(&traced);
		all = count.instructions;
		snprintf(text, sizeof text, "%" PRIu64 " instructions, %" PRIu64 " signals, the slowest %.2f ms", count.instructions,
		         count.signals, count.slowest * 1e3);
		steps_say(region, with ? "with signals" : "alone", good && all, text);
		if (!good || !all)
			break;
	}
}

/* ---- a thread stands still, and another one gets the signal ---------------------------------------------- */

/* Lets the other thread compute until its next signal. */
static bool steps_next_tick(struct traced *traced)
{
	int status;

	tracer_resume(PTRACE_CONT, traced->other, 0);
	while (tracer_wait(traced->other, &status, HANG_SECONDS) > 0 && WIFSTOPPED(status)) {
		if (!steps_is_event(status) && WSTOPSIG(status) == SIGURG)
			return true;
		tracer_resume(PTRACE_CONT, traced->other, 0);
	}
	PROBLEM("the other thread gets no more signals");
	return false;
}

/* Stops at random instructions of the region, and sends signals to the other thread there. Returns the slowest; below 0:
 * wrong. */
static double steps_hold(struct traced *traced, uint64_t all, unsigned most, unsigned *done)
{
	uint64_t first = tracer_random(&state) % all;
	double slowest = 0;

	for (uint64_t i = 0; *done < most; i++) {
		struct user_regs_struct registers = { 0 };
		double took;

		if (steps_step(traced, traced->process) != STEPPED)
			return *problem ? -1 : slowest;
		if (traced->created)
			steps_let_created_run(traced);
		/* of more signals: in the mean so many that the last one is at the end */
		if (most == 1 ? i < first : tracer_random(&state) % all >= most)
			continue;
		tracer_registers(traced->process, &registers);
		for (unsigned k = 0; k < (most == 1 ? 1u : 2u); k++) {
			took = steps_tick(traced, traced->other);
			if (took < 0 || took > MOST_SECONDS) {
				char place[4200];

				PROBLEM("the handler took %.0f ms while a thread stood at %s", took * 1e3,
				        tracer_place(traced->process, (uintptr_t)registers.rip, place));
				return took < 0 ? -1 : took;
			}
			slowest = took > slowest ? took : slowest;
			if (!steps_next_tick(traced))
				return -1;
		}
		(*done)++;
	}
	return slowest;
}

/* Returns whether a process went well. */
static bool steps_hold_in_process(const char *region, const char *wanted, uint64_t all, unsigned most, unsigned *done, double *slowest)
{
	struct traced traced;
	double took = -1;

	if (steps_start(&traced, region) && steps_run_to_mark(&traced)) {
		took = steps_hold(&traced, all, most, done);
		if (took >= 0 && !*problem)
			steps_finish(&traced, wanted);
	}
	steps_end(&traced);
	*slowest = took > *slowest ? took : *slowest;
	return !*problem;
}

static void steps_other_signals(const char *region, const char *wanted)
{
	struct traced traced;
	struct count count = { 0 };
	double slowest = 0;
	unsigned done = 0;
	char text[256];
	bool good = steps_start(&traced, region) && steps_run_to_mark(&traced) &&
	            steps_region(&traced, traced.process, 0, &count);

	steps_end(&traced);
	good = good && count.instructions;
	for (unsigned i = 0; good && i < processes; i++) {
		uint64_t before = state;

		for (int k = 0; k < TRIES; k++) {
			state = before;
			good = steps_hold_in_process(region, wanted, count.instructions, 1, &done, &slowest);
			if (good)
				break;
			done = 0;
		}
		done = 0;
	}
	snprintf(text, sizeof text, "%u processes, the slowest %.2f ms", processes, slowest * 1e3);
	steps_say(region, "stands still, another thread's first signal", good, text);
	slowest = 0;
	for (int k = 0; count.instructions && k < TRIES; k++) {
		done = 0;
		good = steps_hold_in_process(region, wanted, count.instructions, positions, &done, &slowest);
		if (good)
			break;
	}
	snprintf(text, sizeof text, "%u places, the slowest %.2f ms", done, slowest * 1e3);
	steps_say(region, "stands still, another thread's signals", good, text);
}

/* ---- all --------------------------------------------------------------------------------------------------- */

/* What the program prints without dwell and without a tracer. */
static bool steps_wanted(const char *region, char wanted[256])
{
	char command[4300];
	FILE *output;
	size_t bytes;

	snprintf(command, sizeof command, "'%s' %s", program, region);
	output = popen(command, "r");
	bytes = output ? fread(wanted, 1, 255, output) : 0;
	wanted[bytes] = '\0';
	return output && pclose(output) == 0 && bytes;
}

int main(int argc, char **argv)
{
	static const char *const regions[] = { "malloc", "calloc", "realloc", "dlopen", "fopen", "create", "thread", "iterate", "stdio" };
	const char *only = "";
	char wanted[256];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--ticks") && i + 1 < argc)
			ticks = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--positions") && i + 1 < argc)
			positions = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--processes") && i + 1 < argc)
			processes = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			state = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			only = argv[++i];
		else
			program = argv[i];
	}
	if (!program)
		return fprintf(stderr, "usage: tick_steps PROGRAM [--ticks N] [--positions N] [--processes N] [--seed S] [--only REGION]\n"), 2;
	if (!tracer_is_permitted()) {
		puts("skip tick_steps: this system does not permit ptrace()");
		return 77;
	}
	for (unsigned i = 0; i < sizeof regions / sizeof *regions; i++) {
		if (!strstr(regions[i], only))
			continue;
		if (!steps_wanted(regions[i], wanted)) {
			snprintf(problem, sizeof problem, "the program fails without dwell");
			steps_say(regions[i], "alone", false, "");
			continue;
		}
		steps_own_signals(regions[i], wanted);
		if (strcmp(regions[i], "thread") != 0)
			steps_other_signals(regions[i], wanted);
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
