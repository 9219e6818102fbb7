/*
 * The sampler's signal at each instruction: a program is stepped through calls that hold locks of libc, and gets the
 * signal as from the kernel's timer, with the same information.
 *
 *   tick_steps PROGRAM [--ticks N] [--places N] [--processes N] [--seed S] [--only REGION]
 *
 * It is started without dwell; STEP_PRELOAD has the libraries that `dwell run` loads into the program. In each region:
 *
 *   - the thread that makes the calls is stepped alone, and then with signals: at each address of an instruction when
 * it is reached first, at each instruction behind one that may take a lock, and at N others at random.
 *   - it gets the first signal of a process at a random instruction, in N processes.
 *   - it stands still at a random instruction, and another thread gets the first signal of a process, in N processes;
 * and later signals, at N places of one process.
 *
 * The handler must return with the same registers, and within 20 ms while another thread stands still. The program must
 * print what it prints without tracing. The last line: N passed, N failed.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "tracer.h"

#define HANG_SECONDS 8.0  /* of one instruction, or of one handler */
#define MOST_SECONDS 0.02 /* of a handler while another thread stands still */
#define SEEN (1u << 18)
#define BREAK ((uint8_t)0xcc)
#define BEHIND_LOCK 40u /* instructions */
#define TRIES 3         /* of a handler that was slow: another program may have had the processor */

static const char *program;
static unsigned ticks = 300, places = 40, processes = 12;
static uint64_t state = 1;
static unsigned passed, failed;
static char problem[16384]; /* why this process failed; "": it did not */

struct traced {
	pid_t process;
	int output;     /* what it prints */
	siginfo_t tick; /* as the kernel sent it */
	bool has_tick;
	pid_t other, created; /* the thread that computes; one that began in the region */
	bool other_waits;     /* the other one stands before its handler */
};

#define PROBLEM(...) \
	do { \
		if (!*problem) \
			snprintf(problem, sizeof problem, __VA_ARGS__); \
	} while (0)

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

static bool steps_start(struct traced *traced, const char *region, const char *how)
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
	if (tracer_wait(traced->process, &status, HANG_SECONDS) <= 0 || !WIFSTOPPED(status)) {
		PROBLEM("the program does not start");
		return false;
	}
	ptrace(PTRACE_SETOPTIONS, traced->process, NULL,
	       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE));
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

/* Whether a thread stands before a signal of a timer: the program has none, so it is the sampler's. The first one is
 * kept. */
static bool steps_is_tick(struct traced *traced, pid_t thread, int status)
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
static int steps_keep_tick(struct traced *traced, pid_t thread, int status)
{
	int signal = steps_is_event(status) || !WIFSTOPPED(status) ? 0 : WSTOPSIG(status);

	return steps_is_tick(traced, thread, status) || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
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
		if (thread == traced->other && steps_is_tick(traced, thread, status)) {
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

static bool steps_is_blocked(const struct traced *traced, pid_t thread)
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
	for (int signal = traced->tick.si_signo;; signal = 0) {
		tracer_resume(PTRACE_SYSCALL, thread, signal);
		if (tracer_wait(thread, &status, HANG_SECONDS) <= 0) {
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

/* Addresses of instructions, in the order in which a region reaches them. */
static uintptr_t reached[SEEN];
static uint64_t reached_count;

/* The number of the address of stepped_here(), where the program holds a lock; or a random one. */
static uint64_t here;

static void steps_find_here(const struct traced *traced)
{
	static const char *const names[] = { "stepped_here", NULL };
	struct tracer_function function;
	char place[4200], wanted[32];

	here = tracer_random(&state) % (reached_count + 1);
	if (!tracer_functions(program, names, &function, 1))
		return;
	snprintf(wanted, sizeof wanted, "+%#" PRIxPTR, function.offset);
	for (uint64_t i = 0; i < reached_count; i++)
		if ((reached[i] ^ function.offset) % 4096 == 0 &&
		    strstr(tracer_place(traced->process, reached[i], place), wanted))
			here = i;
}

static bool steps_is_new(uintptr_t at)
{
	static uintptr_t seen[SEEN];
	uintptr_t *slot;

	if (!at) {
		memset(seen, 0, sizeof seen);
		reached_count = 0;
		return false;
	}
	for (uint64_t i = at * 0x9e3779b97f4a7c15u >> 46;; i = (i + 1) % SEEN) {
		slot = &seen[i % SEEN];
		if (*slot == at)
			return false;
		if (!*slot && reached_count < SEEN / 2) {
			*slot = reached[reached_count++] = at;
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

/* Steps a thread from one mark to the next, or to its end, and sends the signal at instructions. `all`: 0: none; else
 * how many instructions there are, of which `ticks` are chosen at random. */
static bool steps_region(struct traced *traced, pid_t thread, uint64_t all, struct count *count)
{
	unsigned behind = 0;
	enum stepped stepped = STEPPED;

	memset(count, 0, sizeof *count);
	steps_is_new(0);
	for (;;) {
		struct user_regs_struct registers;
		double took;
		bool is_new;

		stepped = steps_step(traced, thread);
		if (stepped != STEPPED)
			return stepped != STEPPED_WRONG;
		count->instructions++;
		if (traced->created && thread != traced->created)
			steps_let_created_run(traced);
		if (!tracer_registers(thread, &registers))
			continue;
		is_new = steps_is_new((uintptr_t)registers.rip);
		if (!all)
			continue;
		behind = steps_may_lock(thread, (uintptr_t)registers.rip) ? BEHIND_LOCK : behind ? behind - 1 : 0;
		if (!is_new && !behind && tracer_random(&state) % all >= ticks)
			continue;
		if (steps_is_blocked(traced, thread))
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
static void steps_own_signals(const char *region, const char *wanted, bool signals, uint64_t all)
{
	bool of_created = !strcmp(region, "thread");
	struct traced traced;
	struct count count = { 0 };
	char text[256];
	bool good = steps_start(&traced, region, signals ? "warm" : "traced") && steps_run_to_mark(&traced) &&
	            (!of_created || steps_to_created(&traced)) &&
	            steps_region(&traced, of_created ? traced.created : traced.process, signals ? all : 0, &count);

	if (of_created)
		traced.created = 0;
	else if (good && !signals)
		steps_find_here(&traced);
	good = good && steps_finish(&traced, wanted);
	steps_end(&traced);
	snprintf(text, sizeof text,
	         "%" PRIu64 " instructions at %" PRIu64 " addresses, %" PRIu64 " signals, the slowest %.2f ms",
	         count.instructions, reached_count, count.signals, count.slowest * 1e3);
	steps_say(region, signals ? "is stepped with signals" : "is stepped", good && count.instructions, text);
}

/* ---- signals at a place that is reached at full speed ------------------------------------------------------ */

/* A thread that is not meant passes the breakpoint. */
static void steps_pass(pid_t thread, pid_t process, uintptr_t at, uint8_t own)
{
	struct user_regs_struct registers;
	uint8_t stop = BREAK;
	int status;

	tracer_registers(thread, &registers);
	registers.rip = at;
	ptrace(PTRACE_SETREGS, thread, NULL, &registers);
	tracer_write(process, at, &own, 1);
	tracer_resume(PTRACE_SINGLESTEP, thread, 0);
	tracer_wait(thread, &status, HANG_SECONDS);
	tracer_write(process, at, &stop, 1);
	tracer_resume(PTRACE_CONT, thread, 0);
}

/* Runs the first thread to an address. The other one that computes stands still. False: it was not reached before the
 * mark. */
static bool steps_run_to(struct traced *traced, uintptr_t at)
{
	struct user_regs_struct registers = { 0 };
	uint8_t own, stop = BREAK;
	bool there = false;
	int status;

	if (!tracer_read(traced->process, at, &own, 1) || !tracer_write(traced->process, at, &stop, 1))
		return false;
	tracer_resume(PTRACE_CONT, traced->process, 0);
	for (;;) {
		pid_t thread = tracer_wait(-1, &status, HANG_SECONDS);

		if (thread <= 0 || (thread == traced->process && !WIFSTOPPED(status))) {
			PROBLEM("%s in the region", thread == 0 ? "nothing more happens" : "the program ends");
			return false;
		}
		if (!WIFSTOPPED(status))
			continue;
		tracer_registers(thread, &registers);
		there = !steps_is_event(status) && WSTOPSIG(status) == SIGTRAP && registers.rip == at + 1;
		if (thread == traced->process && (there || steps_is_mark(thread, status)))
			break;
		if (there)
			steps_pass(thread, traced->process, at, own);
		else
			tracer_resume(PTRACE_CONT, thread, steps_keep_tick(traced, thread, status));
	}
	tracer_write(traced->process, at, &own, 1);
	if (there) {
		registers.rip = at;
		ptrace(PTRACE_SETREGS, traced->process, NULL, &registers);
	}
	return there;
}

/* Lets the other thread compute until its next signal. */
static bool steps_next_tick(struct traced *traced)
{
	int status;

	tracer_resume(PTRACE_CONT, traced->other, 0);
	while (tracer_wait(traced->other, &status, HANG_SECONDS) > 0 && WIFSTOPPED(status)) {
		if (steps_is_tick(traced, traced->other, status))
			return true;
		tracer_resume(PTRACE_CONT, traced->other, 0);
	}
	PROBLEM("the other thread gets no more signals");
	return false;
}

/* What is asked of one process. */
struct visit {
	const char *region, *wanted;
	bool to_other;      /* the other thread gets the signals */
	const uint64_t *at; /* numbers of addresses that were reached, ascending */
	unsigned count, done;
	double slowest;
};

static bool steps_signal_at(struct traced *traced, struct visit *visit, uintptr_t at)
{
	char place[4200];

	for (unsigned k = 0; k < (visit->count == 1 ? 1u : 2u); k++) {
		double took = steps_is_blocked(traced, visit->to_other ? traced->other : traced->process)
		                  ? 0
		                  : steps_tick(traced, visit->to_other ? traced->other : traced->process);

		visit->slowest = took > visit->slowest ? took : visit->slowest;
		if (took < 0 || (visit->to_other && took > MOST_SECONDS)) {
			PROBLEM("the handler took %.0f ms while a thread stood at %s", took * 1e3,
			        tracer_place(traced->process, at, place));
			return false;
		}
		if (visit->to_other && !steps_next_tick(traced))
			return false;
	}
	visit->done++;
	return true;
}

/* One process, which gets signals at these places. */
static bool steps_visit(struct visit *visit)
{
	struct traced traced;
	bool good = steps_start(&traced, visit->region, "traced") && steps_run_to_mark(&traced);

	visit->done = 0;
	for (unsigned i = 0; good && i < visit->count; i++) {
		uintptr_t at = reached[visit->at[i]];

		if (steps_run_to(&traced, at))
			good = steps_signal_at(&traced, visit, at);
		else if (*problem)
			good = false;
		else if (tracer_read(traced.process, at, &(uint8_t){ 0 }, 1))
			break; /* it came to the mark */
	}
	good = good && steps_finish(&traced, visit->wanted);
	steps_end(&traced);
	return good;
}

/* A place that is slow or wrong is tried again: another program may have had the processor. */
static bool steps_visit_again(struct visit *visit)
{
	for (int k = 0; k < TRIES; k++) {
		if (steps_visit(visit))
			return true;
		printf("%s, try %d: %s\n", visit->region, k + 1, problem);
	}
	return false;
}

static void steps_first_signals(const char *region, const char *wanted, bool to_other)
{
	struct visit visit = { .region = region, .wanted = wanted, .to_other = to_other, .count = 1 };
	unsigned done = 0;
	bool good = true;
	char text[256];

	/* some places are reached only by a thread that is stepped, and waits long */
	for (unsigned i = 0; good && done < processes && i < 4 * processes; i++) {
		uint64_t at = i ? tracer_random(&state) % reached_count : here;

		visit.at = &at;
		good = steps_visit_again(&visit);
		done += visit.done;
	}
	snprintf(text, sizeof text, "at %u places, the slowest %.2f ms", done, visit.slowest * 1e3);
	steps_say(region, to_other ? "stands still, another thread's first signal" : "gets the first signal",
	          good && (done || !processes), text);
}

static int steps_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void steps_later_signals(const char *region, const char *wanted)
{
	uint64_t *at = calloc(places + 1, sizeof *at);
	struct visit visit = { .region = region, .wanted = wanted, .to_other = true, .at = at };
	char text[256];
	bool good;

	for (unsigned i = 0; i < places; i++)
		at[visit.count++] = i ? tracer_random(&state) % reached_count : here;
	qsort(at, visit.count, sizeof *at, steps_compare);
	good = steps_visit_again(&visit);
	free(at);
	snprintf(text, sizeof text, "at %u places, the slowest %.2f ms", visit.done, visit.slowest * 1e3);
	steps_say(region, "stands still, another thread's signals", good && (visit.done || !places), text);
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
	static const char *const regions[] = { "malloc", "calloc", "realloc", "dlopen", "fopen",
		                                   "create", "thread", "iterate", "stdio" };
	const char *only = "";
	char wanted[256];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--ticks") && i + 1 < argc)
			ticks = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--places") && i + 1 < argc)
			places = (unsigned)atoi(argv[++i]);
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
		return fprintf(
				   stderr,
				   "usage: tick_steps PROGRAM [--ticks N] [--places N] [--processes N] [--seed S] [--only REGION]\n"),
		       2;
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
		steps_own_signals(regions[i], wanted, false, 0);
		if (strcmp(regions[i], "thread") != 0 && reached_count) {
			steps_first_signals(regions[i], wanted, false);
			steps_first_signals(regions[i], wanted, true);
			steps_later_signals(regions[i], wanted);
		}
		if (reached_count)
			steps_own_signals(regions[i], wanted, true, reached_count);
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
