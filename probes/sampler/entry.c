/*
 * Steps that begin where a function of a native program is entered: `dwell run --step-on FUNCTION`.
 *
 * Each process of the run looks for the function in its own program and libraries before main(), and in libraries that
 * it loads later when the dlopen() ends, before the program can call them. So it does not matter who starts the
 * program.
 *
 * The first instructions of the function are replaced by a jump (entry_patch.h). It leads to a copy of them with a call
 * before it, which begins the step, and from there back into the function (entry_move.h). A step lasts until the next entry, so no
 * return has to be seen: exceptions, longjmp() and tail calls need no care. No signal is used, and the code is never changed
 * again. Where code cannot be moved or changed, a breakpoint of the kernel begins the step (entry_trap.h). Where it is not certain
 * that the program goes on as before, the function is refused, with the reason.
 *
 * The first thread that enters the function has the steps. Only x86-64 and aarch64.
 */
#include "sampler.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entry_find.h"
#include "entry_patch.h"
#include "entry_save.h"
#include "entry_trap.h"
#include "format/keys.h"

#if defined __x86_64__ || defined __aarch64__

SEEN_BY_CODE __thread bool dws_entry_steps __attribute__((__tls_model__("initial-exec")));
static bool refused; /* one copy of the function could not be changed: no step is better than some of them */
static __thread bool inside __attribute__((__tls_model__("initial-exec")));

#define MEASURED 32u

/* How long the beginnings of the first steps took, without the first one. */
static struct {
	unsigned count;
	uint64_t ns[MEASURED];
} cost;

/* Writes the median, which a report takes for the cost of each step. */
static void entry_note_cost(void)
{
	char text[24];

	for (unsigned i = 1; i < MEASURED; i++)
		for (unsigned k = i; k > 0 && cost.ns[k] < cost.ns[k - 1]; k--) {
			uint64_t more = cost.ns[k - 1];

			cost.ns[k - 1] = cost.ns[k];
			cost.ns[k] = more;
		}
	snprintf(text, sizeof text, "%u", (unsigned)(cost.ns[MEASURED / 2] + dws_trap_ns()));
	dwell_meta_json(DW_KEY_NATIVE_STEP_NS, text);
}

/* The readings of the clock take about as long as what dws_entry_save() does. */
static void entry_begin_measured(void)
{
	uint64_t before = dws_now_ns();

	dwell_step_begin();
	cost.ns[cost.count++] = dws_now_ns() - before;
	if (cost.count == MEASURED)
		entry_note_cost();
}

void dws_entry_called(void)
{
	if (inside || refused || dws_recorder->meta != dwell_meta) /* a program that contains the recorder marks its own */
		return;
	inside = true;
	if (dws_entry_steps && cost.count < MEASURED) {
		entry_begin_measured();
	} else if (dws_entry_steps) {
		dwell_step_begin();
	} else if (!__atomic_exchange_n(&dws_entry_taken, 1, __ATOMIC_RELAXED)) {
		dws_entry_steps = true;
		dwell_meta(DW_KEY_NATIVE_STEP_ON, "steps");
		dwell_step_begin();
	}
	inside = false;
}

/* ---- the function ------------------------------------------------------------------------------- */

/* Where a reason holds for all functions of the process, it has its remedy behind a ";". */
#define REMEDY "name a function that it calls or that calls it, or mark steps with DWELL_STEP()"

/* What the user named. No name: nothing. */
static const char *wanted, *wanted_file;
static unsigned wanted_file_bytes;
static uint64_t wanted_address;
static int is_found; /* atomic; a thread has found it */

static void entry_note(const struct dws_found *found, const char *problem)
{
	static char text[2304] = "there";

	if (found->several)
		snprintf(text, sizeof text, "several functions have this name: %s; give the whole name, or FILE:NAME", found->others);
	else if (problem)
		snprintf(text, sizeof text, "%s: %s%s", found->path, problem, strchr(problem, ';') ? "" : "; " REMEDY);
	else if (!found->is_program)
		dwell_meta(DW_KEY_NATIVE_STEP_ON_FILE, found->path);
	dwell_meta(DW_KEY_NATIVE_STEP_ON, text);
}

/* Returns why calls of one copy of the function cannot begin steps, or NULL. */
static const char *entry_use_copy(const struct dws_found *found, unsigned i, bool is_alone)
{
	static char text[1024];
	const char *problem = dws_patch(&found->parts, &found->at[i], is_alone), *more, *remedy;

	if (!problem || !dws_patch_may_trap(&found->parts, &found->at[i]))
		return problem;
	more = dws_trap(found->at[i].code, dws_entry_called);
	if (!more)
		return NULL;
	remedy = strchr(problem, ';');
	snprintf(text, sizeof text, "%.*s, and %s; or %s", (int)strcspn(problem, ";"), problem, more, remedy ? remedy + 2 : REMEDY);
	return text;
}

static void entry_use(const struct dws_found *found, bool is_certain)
{
	const char *problem = NULL;
	bool is_alone = dws_patch_is_alone();

	if (found->is_no_begin)
		problem = "no function begins there by the unwind table";
	else if (!is_certain && !is_alone)
		problem = "it was loaded by a dlopen() that looks in the folders of its caller (RUNPATH), while other threads run";
	for (unsigned i = 0; i < found->count && !problem && !found->several; i++)
		problem = entry_use_copy(found, i, is_alone);
	refused = problem || found->several;
	if (refused)
		dws_trap_leave();
	entry_note(found, problem);
}

/* Several threads may be here at once: each looks in libraries of its own. */
static void entry_look(bool is_certain)
{
	struct dws_found found = { .file = wanted_file, .file_bytes = wanted_file_bytes, .name = wanted, .address = wanted_address };

	if (__atomic_load_n(&is_found, __ATOMIC_RELAXED))
		return;
	dws_find(&found);
	if (found.count && !__atomic_exchange_n(&is_found, 1, __ATOMIC_ACQ_REL))
		entry_use(&found, is_certain);
	free(found.symbol);
}

/* Called after the program has loaded libraries (probes/python/attach.c). `is_certain`: no others were loaded since the
 * last call. */
__attribute__((visibility("default"))) void dws_entry_loaded(bool is_certain);

void dws_entry_loaded(bool is_certain)
{
	if (wanted)
		entry_look(is_certain);
}

/* There a name without a file is a function of Python, which its probe looks for. */
static bool entry_is_python(void)
{
	char own[4096];
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
	const char *slash;

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	return slash && strncmp(slash + 1, "python", 6) == 0;
}

/* NAME, FILE:NAME or FILE+0xADDRESS, as the user wrote it. */
static void entry_name(const char *text)
{
	const char *colon, *plus;

	wanted = wanted_file = strdup(text); /* the program may change its environment */
	if (!wanted)
		return;
	colon = strchr(wanted, ':');
	plus = strstr(wanted, "+0x");
	if (colon && colon[1] && colon[1] != ':') {
		wanted_file_bytes = (unsigned)(colon - wanted_file);
		wanted = colon + 1;
	} else if (plus && plus > wanted) {
		wanted_address = strtoull(plus + 3, NULL, 16);
		wanted_file_bytes = (unsigned)(plus - wanted_file);
	}
}

/* A child has the thread that called fork() alone: if that one has no steps, the next one that enters the function has them. */
static void entry_in_child(void)
{
	dws_entry_taken = dws_entry_steps;
	dws_trap_forked();
}

/* DWELL_STEP_ENTRY: the function. */
__attribute__((constructor)) static void entry_begin(void)
{
	const char *text = getenv("DWELL_STEP_ENTRY");

	if (!text || !*text || !getenv("DWELL_TRACE"))
		return;
	entry_name(text);
	if (wanted && !wanted_file_bytes && entry_is_python())
		wanted = NULL;
	if (!wanted)
		return;
	pthread_atfork(NULL, NULL, entry_in_child);
	entry_look(true);
}
#endif
