/* The summaries that `dwell run` writes, and its answers to `dwell capture`; see run_summary.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/background.h"
#include "base/system/clock.h"
#include "capture/capture_ask.h"
#include "job/summaries.h"
#include "rank/gather.h"
#include "rank/run_summary.h"
#include "rank/still.h"
#include "read/source.h"
#include "say/say.h"

static struct {
	struct dw_background background;
	char trace[4096], path[4104], program[16];
	uint64_t every_ms;
	struct dw_capture_seen seen;
	uint64_t slow_bytes;   /* for what is kept around slow steps; 0: nothing */
	uint64_t looked_ns;    /* when the last summary was begun, since 1970 */
	uint64_t took_ms;      /* of a CPU, by it */
} summary;

/* Starts a verb of dwell in a process of its own, so that a failure or the memory of reading does not touch the run. It
 * prints nothing, because the terminal is the program's. Returns its pid, or -1. */
static pid_t summary_start(const char *const *arguments, int priority)
{
	pid_t pid = fork();

	if (pid == 0) {
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (nothing >= 0) {
			dup2(nothing, 0);
			dup2(nothing, 1);
			dup2(nothing, 2);
		}
		umask(0077); /* as the trace: only its owner may read it */
		setpriority(PRIO_PROCESS, 0, priority);
		execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	return pid;
}

static void summary_write_one(void)
{
	uint64_t began_ns = dw_clock_ns(CLOCK_REALTIME);
	struct rusage usage = { .ru_nvcsw = 0 };
	char slow[64];
	int status = -1;
	pid_t pid;

	snprintf(slow, sizeof slow, "%llu:%llu", (unsigned long long)summary.looked_ns, (unsigned long long)summary.slow_bytes);
	pid = summary_start((const char *[]){ "dwell", "summarize", summary.trace, "-o", summary.path,
	                                      summary.slow_bytes ? "--slow-steps" : NULL, slow, NULL }, 10);
	if (pid > 0 && wait4(pid, &status, 0, &usage) != pid)
		status = -1;
	/* Before the first steps there is nothing to summarise. */
	summary.took_ms = status ? 0 : (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	                                   (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	summary.looked_ns = began_ns;
	if (!status)
		dw_gather_summary();
}

#define SUMMARY_REST 1000u /* with --always summaries take at most this part of a CPU */

static uint64_t summary_next_ms(void)
{
	uint64_t rest_ms = summary.slow_bytes ? summary.took_ms * SUMMARY_REST : 0;

	return rest_ms > summary.every_ms ? rest_ms : summary.every_ms;
}

/* Captures what `dwell capture` asks for. Summaries are written meanwhile. */
static void summary_answer(void)
{
	const char *place = dw_gather_place() ? dw_gather_place() : summary.trace;
	static pid_t answering;

	if (answering > 0 && waitpid(answering, NULL, WNOHANG) == 0)
		return; /* what is asked for now, is asked for again when this has ended */
	answering = 0;
	if (dw_capture_is_asked(place, &summary.seen))
		answering = summary_start((const char *[]){ "dwell", "capture", "--answer", summary.trace, summary.program, place, NULL },
		                          0);
}

#define SUMMARY_LOOK_MS 1000u

static void *summary_loop(void *unused)
{
	static struct dw_still still;
	uint64_t passed = 0, next;

	dw_still_begin(&still, summary.trace);
	for (;;) {
		summary_answer();
		next = summary_next_ms() - passed < SUMMARY_LOOK_MS ? summary_next_ms() - passed : SUMMARY_LOOK_MS;
		if (!dw_background_sleep(&summary.background, next * 1000000u))
			break;
		passed += next;
		if (!dw_still_look(&still) && passed < summary_next_ms())
			continue;
		summary_write_one();
		passed = 0;
	}
	dw_still_end(&still);
	if (summary.slow_bytes)
		summary_write_one(); /* the last steps may be slow */
	return NULL;
}

void dw_run_summary_begin(const char *trace, pid_t program, uint64_t every_ms, uint64_t slow_bytes)
{
	if (!every_ms)
		return;
	snprintf(summary.trace, sizeof summary.trace, "%s", trace);
	snprintf(summary.path, sizeof summary.path, "%s.sum", trace);
	snprintf(summary.program, sizeof summary.program, "%d", (int)program);
	summary.every_ms = every_ms;
	summary.slow_bytes = slow_bytes;
	summary.looked_ns = summary.took_ms = 0;
	if (slow_bytes)
		unlink(summary.path); /* of an earlier run */
	summary.seen = (struct dw_capture_seen){ 0 };
	dw_background_begin(&summary.background, summary_loop, NULL);
}

void dw_run_summary_end(void)
{
	dw_background_end(&summary.background);
}

void dw_run_summary_write(const char *trace, bool will_move)
{
	struct dw_summary ranks = { .ranks = NULL };
	char path[4104], quoted[DW_QUOTED_BYTES], *paths[1] = { (char *)(uintptr_t)trace };
	mode_t mask = umask(0077);

	snprintf(path, sizeof path, "%s.sum", trace);
	/* With `dwell run --always` it has been continued to the end. A run without steps has none. */
	if (summary.slow_bytes && access(path, F_OK) == 0)
		paths[0] = path;
	if (dw_summaries_read(&ranks, paths, 1) == 0 && ranks.count &&
	    dw_summaries_write(&ranks, path) == 0 && !will_move)
		dw_say("summary of %zu rank%s in %s (dwell ranks %s)", ranks.count, ranks.count == 1 ? "" : "s", path,
		       dw_quote(path, quoted));
	dw_summary_reset(&ranks);
	umask(mask);
}
