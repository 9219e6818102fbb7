/* `dwell capture JOB`: asks the ranks of a job for some steps; see capture_ask.h. */
#include <errno.h>
#include <glob.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/system/proc.h"
#include "base/text.h"
#include "capture/capture_job.h"
#include "import/import.h"
#include "job/summaries.h"
#include "say/output.h"
#include "say/say.h"
#include "watch/watch.h"
#include "watch/work.h"

#define JOB_LOOK_MS 100u
#define JOB_SPARE_MS 5000u /* beyond the time of recording, in which dwell run finds the request and stores the result */

/* A trace with ranks that are asked. */
struct job_trace {
	char *path;
	char ranks[100];      /* "rank 3 on node1", "ranks 8 to 15 on node1" */
	char host[64];
	uint32_t pid;         /* of its first rank */
	int64_t written;      /* its summary, in seconds since 1970 */
	double slowest_ns;    /* work in a step of its slowest rank, without communication */
	bool asked, answered;
};

struct job {
	const struct dw_capture_ask *ask;
	struct job_trace *traces;
	size_t count, capacity;
	size_t rank_count;
};

/* ---- the ranks --------------------------------------------------------------------------------------------- */

/* Whether a list of numbers has this one. */
static bool job_has_number(const char *list, int number)
{
	for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char *end;
		long value = strtol(at, &end, 10);

		if (end != at && (!*end || *end == ',') && value == number)
			return true;
	}
	return false;
}

static bool job_list_is_good(const char *list)
{
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t length = strcspn(at, ",");

		if (!length || (strspn(at, "0123456789") != length && (length != 7 || strncmp(at, "slowest", 7) != 0)))
			return false;
	}
	return true;
}

static void job_name_ranks(struct job_trace *trace, const struct dw_summary *summary)
{
	const struct dw_summary_rank *first = &summary->ranks[0], *last = &summary->ranks[summary->count - 1];

	if (first->rank < 0)
		snprintf(trace->ranks, sizeof trace->ranks, "process %u on %.60s", first->pid, first->host);
	else if (summary->count == 1)
		snprintf(trace->ranks, sizeof trace->ranks, "rank %d on %.60s", first->rank, first->host);
	else
		snprintf(trace->ranks, sizeof trace->ranks, "ranks %d to %d on %.60s", first->rank, last->rank, first->host);
	dw_text_disarm(trace->ranks, false);
}

/* Adds the trace of a summary. Its ranks are recorded together, because one control page is theirs. */
static void job_add(struct job *job, const char *path, int64_t written, const struct dw_summary *summary,
                    const char *ranks)
{
	struct job_trace *trace = summary->count ? DW_GROW(&job->traces, &job->capacity, job->count) : NULL;

	if (!trace)
		return;
	*trace = (struct job_trace){ .path = strdup(path), .written = written, .pid = summary->ranks[0].pid,
		                         .asked = !ranks };
	snprintf(trace->host, sizeof trace->host, "%s", summary->ranks[0].host);
	job_name_ranks(trace, summary);
	for (size_t i = 0; i < summary->count; i++) {
		const struct dw_summary_rank *rank = &summary->ranks[i];
		double work_ns = rank->steps ? (double)dw_watch_work(rank) / (double)rank->steps : 0;

		trace->asked |= job_has_number(ranks, rank->rank);
		trace->slowest_ns = work_ns > trace->slowest_ns ? work_ns : trace->slowest_ns;
	}
	job->rank_count += summary->count;
	job->count += trace->path != NULL;
}

/* `path` is that of a trace or of its summary. */
static void job_read(struct job *job, const char *path, const char *ranks)
{
	struct dw_summary summary = { .ranks = NULL };
	char trace[DW_CAPTURE_PATH], sum[DW_CAPTURE_PATH + 8];
	size_t length = strlen(path);
	char what[DW_FORM_TEXT];
	struct stat status;
	bool is_live;

	snprintf(trace, sizeof trace, "%.*s", (int)(length > 4 && strcmp(path + length - 4, ".sum") == 0 ? length - 4 : length),
	         path);
	snprintf(sum, sizeof sum, "%s.sum", trace);
	dw_form_of_path(path, what);
	if (*what)
		dw_say("%s is not a dwell trace: %s", path, what);
	else if (stat(sum, &status) != 0)
		dw_say("%s: it has no summary: capturing needs dwell run --summary-every", trace);
	else if (dw_summaries_read_one(&summary, sum, &is_live) == 0)
		job_add(job, trace, status.st_mtim.tv_sec, &summary, ranks);
	dw_summary_reset(&summary);
}

static void job_read_operand(struct job *job, const char *operand, const char *ranks)
{
	char pattern[DW_CAPTURE_PATH];
	struct stat status;
	glob_t found;

	if (stat(operand, &status) != 0 || !S_ISDIR(status.st_mode)) {
		job_read(job, operand, ranks);
		return;
	}
	snprintf(pattern, sizeof pattern, "%s/*.sum", operand);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			job_read(job, found.gl_pathv[i], ranks);
		globfree(&found);
	}
}

static void job_choose_slowest(struct job *job)
{
	struct job_trace *slowest = NULL;

	for (size_t i = 0; i < job->count; i++)
		if (!slowest || job->traces[i].slowest_ns > slowest->slowest_ns)
			slowest = &job->traces[i];
	if (slowest)
		slowest->asked = true;
}

/* ---- asking and answers ------------------------------------------------------------------------------------ */

static void job_ask(struct job *job, struct job_trace *trace)
{
	char line[200];

	snprintf(line, sizeof line, DW_CAPTURE_ASK, job->ask->id, job->ask->steps, job->ask->duration_ms, job->ask->what);
	if (dw_capture_write(trace->path, ".ask", line))
		return;
	printf("%s: not asked: cannot write %s.ask: %s\n", trace->ranks, trace->path, strerror(errno));
	trace->asked = false;
}

static bool job_read_answer(const struct job *job, const struct job_trace *trace, struct dw_capture_answer *answer)
{
	unsigned long long first, last, bytes;
	char path[DW_CAPTURE_PATH], line[700];
	FILE *file;
	bool good;

	snprintf(path, sizeof path, "%s.answer", trace->path);
	file = dw_regular_open(path);
	if (!file)
		return false;
	good = fgets(line, sizeof line, file) &&
	       sscanf(line, DW_CAPTURE_ANSWER_READ, answer->id, &answer->state, &first, &last, &bytes, answer->text) == 6 &&
	       strcmp(answer->id, job->ask->id) == 0;
	fclose(file);
	if (good) {
		answer->first_step = first;
		answer->last_step = last;
		answer->bytes = bytes;
		dw_text_disarm(answer->text, false);
		unlink(path);
	}
	return good;
}

/* "steps 706 to 710" */
static void job_print_steps(const struct dw_capture_answer *answer)
{
	unsigned long long first = answer->first_step, last = answer->last_step;

	if (last < first)
		printf("no whole step");
	else if (last == first)
		printf("step %llu", first);
	else
		printf("steps %llu to %llu", first, last);
}

/* Prints the file, and removes it. */
static void job_print_stacks(const struct job_trace *trace, const char *path)
{
	FILE *file = dw_regular_open(path);
	char line[4096];

	printf("== %s\n", trace->ranks);
	while (file && fgets(line, sizeof line, file)) {
		dw_text_disarm(line, true);
		fputs(line, stdout);
	}
	if (file)
		fclose(file);
	unlink(path);
}

static void job_print(const struct job *job, struct job_trace *trace, const struct dw_capture_answer *answer)
{
	char path[DW_CAPTURE_PATH];

	dw_capture_part_path(trace->path, job->ask, path);
	if (answer->state == DW_CAPTURE_FAILED) {
		printf("%s: %s\n", trace->ranks, answer->text);
		return;
	}
	if (job->ask->what & DW_CAPTURE_STACKS) {
		job_print_stacks(trace, path);
		trace->answered = true;
		return;
	}
	printf("%s: ", trace->ranks);
	job_print_steps(answer);
	printf(", %s in %s\n", dw_text_bytes((double)answer->bytes, " ").at, path);
	trace->answered = answer->state == DW_CAPTURE_DONE;
	if (!trace->answered)
		printf("%s: %u steps were asked for; fewer ended in %s, or the program ended\n", trace->ranks, job->ask->steps,
		       dw_text_ns(job->ask->duration_ms * 1e6, " ").at);
}

/* Why there may be no answer. */
static void job_print_silence(const struct job_trace *trace)
{
	long long age = (long long)time(NULL) - trace->written;
	char host[64] = "";

	gethostname(host, sizeof host - 1);
	printf("%s: no answer: ", trace->ranks);
	if (strcmp(host, trace->host) == 0 && !dw_proc_lives(trace->pid))
		printf("process %u has ended\n", trace->pid);
	else
		printf("the summary %s.sum was written %lld s ago by dwell run; if it ran without --summary-every, or does not "
		       "run any more, nobody answers\n", trace->path, age);
}

/* Looks for answers until all traces have one, or the time is over. */
static void job_wait(struct job *job, size_t left)
{
	struct timespec pause = { 0, JOB_LOOK_MS * 1000000 };
	volatile int *stopped = dw_stop_at_signals();
	unsigned most_ms = job->ask->duration_ms + JOB_SPARE_MS;
	struct dw_capture_answer answer;
	char path[DW_CAPTURE_PATH];

	for (unsigned passed = 0; left && passed < most_ms && !*stopped; passed += JOB_LOOK_MS) {
		nanosleep(&pause, NULL);
		for (size_t i = 0; i < job->count; i++) {
			struct job_trace *trace = &job->traces[i];

			if (!trace->asked || !job_read_answer(job, trace, &answer))
				continue;
			trace->asked = false;
			left--;
			job_print(job, trace, &answer);
		}
		fflush(stdout);
	}
	for (size_t i = 0; i < job->count; i++) {
		snprintf(path, sizeof path, "%s.ask", job->traces[i].path);
		unlink(path);
		if (job->traces[i].asked)
			job_print_silence(&job->traces[i]);
	}
}

static int job_run(struct job *job, const char *ranks)
{
	size_t asked = 0, left = 0, answered = 0;

	if (ranks && strstr(ranks, "slowest"))
		job_choose_slowest(job);
	for (size_t i = 0; i < job->count; i++)
		asked += job->traces[i].asked;
	if (!asked) {
		dw_say(job->count ? "none of the %zu ranks is asked for: give --ranks their numbers"
		                  : "no summary of a rank was found: dwell run --summary-every 10s writes them", job->rank_count);
		return DW_EXIT_BAD_INPUT;
	}
	for (size_t i = 0; i < job->count; i++)
		if (job->traces[i].asked)
			job_ask(job, &job->traces[i]);
	for (size_t i = 0; i < job->count; i++)
		left += job->traces[i].asked;
	job_wait(job, left);
	for (size_t i = 0; i < job->count; i++)
		answered += job->traces[i].answered;
	return answered == asked ? 0 : DW_EXIT_BAD_INPUT;
}

int dw_capture_job(const struct dw_capture_ask *ask, const char *ranks, char **operands, size_t count)
{
	struct dw_capture_ask named = *ask;
	struct job job = { .ask = &named };
	time_t now = time(NULL);
	struct tm broken;
	int status;

	if (ranks && !job_list_is_good(ranks)) {
		dw_say("--ranks %s: give numbers and 'slowest', with commas between, as 0,17,slowest", ranks);
		return DW_EXIT_USAGE;
	}
	gmtime_r(&now, &broken);
	snprintf(named.id + strftime(named.id, 32, "%Y%m%dT%H%M%S", &broken), 16, "-%d", (int)getpid());
	dw_stop_at_signals();
	for (size_t i = 0; i < count; i++)
		job_read_operand(&job, operands[i], ranks);
	status = job_run(&job, ranks);
	for (size_t i = 0; i < job.count; i++)
		free(job.traces[i].path);
	free(job.traces);
	return status;
}
