/*
 * Records the stacks of a program that runs already, and of its descendants; see attach.h.
 *
 * Nothing is loaded into the program. What it does is seen from outside (process/follow.h) and written as samples
 * and waits (attach_trace.h). The moments of looking are random, because programs are periodic.
 */
#include "attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/attach_trace.h"
#include "base/grow.h"
#include "base/system/clock.h"
#include "base/system/proc.h"
#include "format/keys.h"
#include "launch/new_trace.h"
#include "program/process_library.h"
#include "record/redact.h"
#include "say/say.h"
#include "top/top.h"

#define ATTACH_TRIES 10u
#define ATTACH_CHILDREN_NS 250000000u /* between two looks for new processes */

#define ATTACH_FUNCTIONS(X) X(open) X(look) X(process) X(problem) X(made) X(made_lacks) X(sleep) X(let_go) X(close)
static struct {
#define X(name) __typeof__(dw_follow_##name) *name;
	ATTACH_FUNCTIONS(X)
#undef X
} attach_follow;

struct attach_target {
	uint32_t pid;
	struct dw_follow *follow; /* NULL: it has ended, cannot be read, or begins another program */
	struct dw_attach_process process;
	uint32_t before;          /* PROCESS of the program that ran in it before; 0: none */
	unsigned tries;           /* left, to read the program that exec() began */
	bool began;
};

struct attach {
	const struct dw_attach_request *request;
	char *path; /* of the trace, 4096 bytes */
	int fd;
	struct dw_encode encode;
	struct attach_target **targets;
	size_t count, capacity;
	uint64_t rounds, children_ns, random;
	uint64_t looks, stops, stopped_ns, longest_stop_ns;
	bool let_go;              /* of all threads */
};

static volatile sig_atomic_t attach_stops;

static void attach_take_signal(int signal)
{
	attach_stops = 1;
}

/* Loads the library. False after an error message. */
static bool attach_load(void)
{
	void *library = dw_process_library("attaching");
	bool good = true;

	if (!library)
		return false;
	unsetenv("DEBUGINFOD_URLS"); /* a look waits for no server */
#define X(name) good &= (*(void **)&attach_follow.name = dw_process_function(library, dw_follow_##name)) != NULL;
	ATTACH_FUNCTIONS(X)
#undef X
	if (!good)
		dw_say("stacks cannot be read: %s", dlerror());
	return good;
}

/* Samples of a program that is recorded belong into its own trace, with its steps. */
static bool attach_is_recorded(uint32_t pid)
{
	struct dwell_error error = { 0, "" };
	char trace[4096];

	if (dw_top_find(pid, trace, sizeof trace, &error) != 0)
		return false;
	dw_say("process %u is recorded already, to %s. A second trace would lack its steps, so dwell attach refuses: dwell report "
	       "shows that trace now, dwell stacks %u the stacks; dwell run --sample %u records stacks from the start",
	       pid, trace, pid, DW_ATTACH_HZ);
	return true;
}

/* Asked before a file is made or replaced. False after an error message. */
static bool attach_is_permitted(uint32_t pid)
{
	struct dwell_error error = { 0, "" };
	struct dw_follow *follow;
	int code = attach_follow.open(&follow, pid, &error);

	if (code)
		dw_say("%s", error.message);
	else
		attach_follow.close(follow);
	return code == 0;
}

/* ---- the trace's file -------------------------------------------------------------------------- */

static int attach_create_one(void *context, const char *path)
{
	struct attach *attach = context;
	int fd;

	snprintf(attach->path, 4096, "%s", path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : errno == EEXIST ? DWELL_E_EXISTS : DWELL_E_IO;
}

/* A new file, or the one that the user named. */
static bool attach_create(struct attach *attach)
{
	char text[4096], *words[DW_PROC_WORDS], program[] = "program"; /* a thread of the kernel has no words */
	const char *elsewhere;

	if (attach->request->output) {
		snprintf(attach->path, 4096, "%s", attach->request->output);
		attach->fd = open(attach->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	} else {
		if (!dw_proc_read_command(attach->request->pid, text, sizeof text, words)) {
			words[0] = program;
			words[1] = NULL;
		}
		attach->fd = dw_new_trace(words, attach_create_one, attach, &elsewhere);
	}
	if (attach->fd < 0) {
		dw_say("cannot write %s: %s", attach->path, strerror(errno));
		return false;
	}
	dw_encode_init_file(&attach->encode, DW_CLOCK_MONOTONIC, 1000000000u, attach->fd);
	if (attach->encode.failed)
		dw_say("cannot write %s: %s", attach->path, strerror(attach->encode.error ? attach->encode.error : ENOMEM));
	else
		dw_attach_head(&attach->encode);
	return !attach->encode.failed;
}

/* ---- the processes ----------------------------------------------------------------------------- */

/* Begins to follow the program that runs in the process now. False after an error message. */
static bool attach_begin(struct attach *attach, struct attach_target *target)
{
	struct dwell_error error = { 0, "" };
	char path[4096], text[4096], command[4096], *words[DW_PROC_WORDS];
	struct dw_proc_stat stat;
	struct dw_attach_about about = { .pid = target->pid, .path = path, .command = command,
		                             .parent_entry = target->before };
	int code = attach_follow.open(&target->follow, target->pid, &error);

	if (target->tries)
		target->tries--;
	if (code && !target->tries && (code != DWELL_E_NO_DATA || target->pid == attach->request->pid))
		dw_say("%s", error.message);
	if (code)
		return false;
	target->tries = 0;
	dw_proc_read_link(target->pid, "exe", path, sizeof path);
	dw_metadata_redact(text, dw_proc_read_command(target->pid, text, sizeof text, words), command, sizeof command);
	dw_proc_read_stat(target->pid, 0, &stat);
	about.parent = stat.parent;
	about.python = attach_follow.process(target->follow)->python != 0;
	dw_attach_begin(&target->process, &attach->encode, &about);
	target->began = true;
	return true;
}

/* Names the places in code that the process made. */
static void attach_name_made(struct attach_target *target)
{
	struct dw_attach_process *process = &target->process;
	char text[DW_CODE_NAME_BYTES];
	const char *name;

	for (size_t i = 0; i < process->made_count; i++)
		if ((name = attach_follow.made(target->follow, process->made[i].address, text)) != NULL)
			dw_attach_name(process, &process->made[i], name);
	name = attach_follow.made_lacks(target->follow);
	if (!*name)
		return;
	dw_say("process %u: names of code made at run time: %s", target->pid, name);
	dw_attach_meta(process, DW_KEY_SAMPLE_NAMES_LACK, name, false);
}

static void attach_finish(struct attach *attach, struct attach_target *target)
{
	struct dw_attach_process *process = &target->process;
	const char *problem, *other;

	if (!target->began)
		return;
	problem = attach_follow.problem(target->follow);
	other = attach_follow.process(target->follow)->problem;
	if (problem)
		dw_say("process %u: %s", target->pid, problem);
	if (problem || other)
		dw_attach_meta(process, DW_KEY_SAMPLE_LACKS, problem ? problem : other, false);
	attach_name_made(target);
	dw_attach_end(process);
	attach->looks += process->looks;
	attach->stops += process->stops;
	attach->stopped_ns += process->stopped_ns;
	if (process->longest_stop_ns > attach->longest_stop_ns)
		attach->longest_stop_ns = process->longest_stop_ns;
	target->before = process->journal.id;
	dw_attach_reset(process);
	attach_follow.close(target->follow);
	target->follow = NULL;
	target->began = false;
}

static bool attach_add_target(struct attach *attach, uint32_t pid)
{
	struct attach_target *target;

	for (size_t i = 0; i < attach->count; i++)
		if (attach->targets[i]->pid == pid)
			return true;
	target = calloc(1, sizeof *target);
	if (!target || !DW_GROW(&attach->targets, &attach->capacity, attach->count)) {
		free(target);
		return false;
	}
	target->pid = pid;
	attach->targets[attach->count++] = target;
	return attach_begin(attach, target);
}

/* Descendants of the process that began since. */
static void attach_find_children(struct attach *attach, uint64_t now_ns)
{
	struct dwell_error error = { 0, "" };
	uint32_t *pids;
	size_t count;

	if (now_ns - attach->children_ns < ATTACH_CHILDREN_NS)
		return;
	attach->children_ns = now_ns;
	if (dw_top_find_processes(attach->request->pid, &pids, &count, &error) != 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (pids[i] != (uint32_t)getpid())
			attach_add_target(attach, pids[i]);
	free(pids);
}

static void attach_take_look(void *context, const struct dw_follow_look *look)
{
	dw_attach_add(context, look);
}

/* Looks at all processes once. False: all have ended, or the trace cannot be written. */
static bool attach_look(struct attach *attach)
{
	bool lives = false;

	for (size_t i = 0; i < attach->count; i++) {
		struct attach_target *target = attach->targets[i];
		int state = target->began ? attach_follow.look(target->follow, attach_take_look, &target->process) : DW_FOLLOW_ENDED;

		if (target->began && state != DW_FOLLOW_LIVES)
			attach_finish(attach, target);
		if (state == DW_FOLLOW_EXECUTED)
			target->tries = ATTACH_TRIES;
		if (target->tries)
			attach_begin(attach, target);
		lives |= target->began || target->tries;
		if (state == DWELL_E_NOMEM || target->process.no_memory) {
			dw_say("out of memory");
			return false;
		}
	}
	return lives && !attach->encode.failed;
}

/* Until a random moment, a period ahead in the mean. */
static void attach_sleep(struct attach *attach)
{
	uint64_t period_ns = 1000000000u / attach->request->hz;

	attach->random ^= attach->random << 13;
	attach->random ^= attach->random >> 7;
	attach->random ^= attach->random << 17;
	attach_follow.sleep(period_ns / 2 + attach->random % period_ns);
}

/* Stops of threads that had no CPU anyway are not counted. */
static void attach_say_cost(const struct attach *attach, uint64_t start_ns)
{
	char stops[160] = "";

	if (attach->stops)
		snprintf(stops, sizeof stops, "; %llu stopped a thread that ran, for %.0f us in the mean, %.0f us at most",
		         (unsigned long long)attach->stops, (double)attach->stopped_ns / (double)attach->stops / 1e3,
		         (double)attach->longest_stop_ns / 1e3);
	dw_say("%llu looks at threads in %.1f s%s", (unsigned long long)attach->looks,
	       (double)(dw_clock_monotonic_ns() - start_ns) / 1e9, stops);
}

static void attach_loop(struct attach *attach)
{
	uint64_t start_ns = dw_clock_monotonic_ns();

	attach->random = start_ns | 1;
	while (!attach_stops && attach_look(attach)) {
		uint64_t now_ns = dw_clock_monotonic_ns();

		attach->rounds++;
		if (attach->request->for_ms && now_ns - start_ns >= attach->request->for_ms * 1000000u)
			break;
		attach_find_children(attach, now_ns);
		attach_sleep(attach);
	}
	for (size_t i = 0; i < attach->count; i++)
		attach_finish(attach, attach->targets[i]);
	attach->let_go = attach_follow.let_go();
	attach_say_cost(attach, start_ns);
}

static int attach_run(struct attach *attach)
{
	const struct sigaction action = { .sa_handler = attach_take_signal };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	size_t bytes = 0;
	void *image = NULL;
	bool any;

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
	any = attach_add_target(attach, attach->request->pid);
	if (any) {
		dw_say("recording process %u to %s until %s", attach->request->pid, attach->path,
		       attach->request->for_ms ? "the time is over or the program ends" : "Ctrl-C or the end of the program");
		attach_loop(attach);
		dw_encode_head(&attach->encode)->end_blocks = attach->encode.blocks;
		dw_encode_head(&attach->encode)->flags |= DW_HEAD_FINISHED;
		image = dw_encode_take(&attach->encode, &bytes);
		if (!image)
			dw_say("cannot write %s: %s", attach->path, strerror(attach->encode.error ? attach->encode.error : ENOMEM));
	}
	if (image)
		munmap(image, bytes);
	dw_encode_reset(&attach->encode);
	close(attach->fd);
	for (size_t i = 0; i < attach->count; i++)
		free(attach->targets[i]);
	free(attach->targets);
	if (!image) {
		unlink(attach->path);
		return DW_EXIT_BAD_INPUT;
	}
	return 0;
}

int dw_attach(const struct dw_attach_request *request, char *trace, bool *let_go)
{
	struct attach attach = { .request = request, .path = trace };
	int status;

	if (attach_is_recorded(request->pid) || !attach_load() || !attach_is_permitted(request->pid) || !attach_create(&attach))
		return DW_EXIT_BAD_INPUT;
	status = attach_run(&attach);
	*let_go = attach.let_go;
	return status;
}
