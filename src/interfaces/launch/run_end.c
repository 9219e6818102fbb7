/* The end of `dwell run`; see run_end.h. */
#include "launch/run_end.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "launch/run_entry.h"
#include "launch/run_program.h"
#include "machine/apart.h"
#include "rank/gather.h"
#include "read/source.h"
#include "record/entry.h"
#include "record/file.h"
#include "record/process_state.h"
#include "record/session_state.h"
#include "say/say.h"
#include "symbolize/symbolize.h"

static struct {
	atomic_ullong seen_bytes;
	char moved_from[4096]; /* "": it was not moved */
} end;

void dw_run_see_size(void)
{
	struct stat status;

	if (fstat(dw_session.fd, &status) == 0 && (unsigned long long)status.st_size > atomic_load(&end.seen_bytes))
		atomic_store(&end.seen_bytes, (unsigned long long)status.st_size);
}

/* Helpers of a program, such as Python's resource tracker, often outlive it by milliseconds. Waits
 * up to a second: processes that still run then were left running by the program. */
static void run_wait_for_writers(void)
{
	struct timespec pause = { 0, 2000000 };

	for (long waited_ns = 0; waited_ns < 1000000000 &&
	                         dw_file_writers(dw_session.fd, dw_process->id);) {
		nanosleep(&pause, NULL);
		waited_ns += pause.tv_nsec;
		if (pause.tv_nsec < 100000000)
			pause.tv_nsec *= 2;
	}
}

static void run_warn_writers(const struct dw_finish *result)
{
	if (result->alive)
		dw_say("%u process%s of this run still record%s to %s", result->alive, result->alive == 1 ? "" : "es",
		       result->alive == 1 ? "s" : "", result->path);
	else if (result->unknown)
		dw_say("%u process%s of this run may still record to %s from another container", result->unknown,
		       result->unknown == 1 ? "" : "es", result->path);
}

/* Whether the trace is there to be finished; if not, says why. `path`, where it was created, becomes the path that it has. */
static bool run_find_trace(char path[4096])
{
	char now_at[4096], quoted[DW_QUOTED_BYTES];

	switch (dw_file_fate(dw_session.fd, path, atomic_load(&end.seen_bytes), now_at)) {
	case DW_FILE_MOVED:
		snprintf(end.moved_from, sizeof end.moved_from, "%s", path);
		snprintf(path, 4096, "%s", now_at);
		snprintf(dw_session.path, sizeof dw_session.path, "%s", now_at); /* what is still recorded goes there */
		return true;
	case DW_FILE_REMOVED:
		dw_say("there is no trace: %s was removed while the program ran", path);
		return false;
	case DW_FILE_REPLACED:
		dw_say("there is no trace: another file was put in the place of %s while the program ran", path);
		return false;
	case DW_FILE_CUT:
		dw_say("the trace is damaged: %s was cut or written over while the program ran; what is left: dwell report %s",
		       *now_at ? now_at : path, dw_quote(*now_at ? now_at : path, quoted));
		return false;
	default:
		return true;
	}
}

/* Stores what is known only from all of the trace: names of functions, and which processes are not in it. */
static void run_note_from_trace(const char *path, const struct dw_run_usage *usage)
{
	struct dw_source *source = NULL;

	dw_source_trust_modules();
	if (dw_source_open(&source, &path, 1, NULL) != 0)
		source = NULL;
	if (source)
		dw_symbolize(source);
	dw_run_note_entry(source);
	dw_apart_note(source, usage->cpu_ns, usage->is_named);
	if (source)
		dw_source_close(source);
}

void dw_run_finish(const char *wanted, const char *actual, const struct dw_run_usage *usage, char *trace)
{
	static char path[4096];
	struct dwell_error error = { 0, "" };
	struct dw_finish result;

	snprintf(path, sizeof path, "%s", actual);
	run_wait_for_writers();
	if (!run_find_trace(path))
		return;
	run_note_from_trace(path, usage);
	dw_journal_clock();
	if (dw_file_finish(dw_session.fd, path, strcmp(wanted, actual) != 0 ? wanted : "", dw_process->id, &result, &error) != 0) {
		dw_say("%s", error.message);
		return;
	}
	run_warn_writers(&result);
	if (result.alive || result.unknown)
		dw_gather_hold();
	memcpy(trace, result.path, strlen(result.path) + 1);
}

void dw_run_say_where(const char *trace)
{
	char quoted[DW_QUOTED_BYTES];

	dw_quote(trace, quoted);
	if (dw_program_saw_cut())
		dw_say("the trace is damaged: %s was cut or written over; what is left: dwell report %s", trace, quoted);
	else if (*end.moved_from)
		dw_say("recorded to %s, to which it was moved from %s (dwell report %s)", trace, end.moved_from, quoted);
	else
		dw_say("recorded to %s (dwell report %s)", trace, quoted);
}
