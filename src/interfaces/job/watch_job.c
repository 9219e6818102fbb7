/* Says when a running job hangs, loses a rank, or becomes slow; see watch_job.h. */
#include "job/watch_job.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/system/clock.h"
#include "base/system/listen.h"
#include "base/system/proc.h"
#include "base/text.h"
#include "format/layout.h"
#include "job/summaries.h"
#include "job/watch_mpi.h"
#include "job/watch_port.h"
#include "metrics/metrics.h"
#include "say/output.h"
#include "say/say.h"

#define WATCH_ENDING_NS UINT64_C(300000000000) /* dwell run ends within that time after its ranks */

/* A file of a summary that was read. */
struct watch_file {
	char *path;
	uint64_t written_ns;
	ino_t number;
	bool is_summary; /* otherwise it is read at each look */
};

/* What is known now. */
struct watch_state {
	const struct dw_watch_request *request;
	struct dw_watch_mpi mpi;
	char host[64];
	struct dw_watch *watches; /* by job */
	size_t watch_count, watch_capacity;
	const struct dw_watch *reported; /* the one whose events come now */
	uint64_t now_ns;
	struct dw_summary summary; /* of all files at this look, if figures are written; otherwise of traces */
	struct dw_glance glance;   /* of the rank that is read */
	uint64_t written_ns;       /* when the file that is read was written */
	const char *path;          /* of that file, if it is known later, too; NULL */
	unsigned char *buffer;
	size_t buffer_size;
	struct watch_file *files; /* the first sorted_count are sorted by path */
	size_t file_count, file_capacity, sorted_count;
	bool is_missing, says_missing; /* a file that was named; since an earlier look */
	char *metrics;             /* as text */
	size_t metrics_length;
	bool failed;               /* memory ran out */
	bool hung;                 /* a rank hung at the look before */
	/* What began at this look, for commands: the first event's text, and the ranks. */
	char texts[DW_WATCH_KINDS][400], ranks[DW_WATCH_KINDS][1000];
};

static volatile int *watch_stopped;

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool watch_lives(const struct watch_state *state, const struct dw_watched *watched)
{
	return strcmp(watched->host, state->host) != 0 || dw_proc_lives(watched->pid);
}

/* Whether dwell run, which made the trace beside a summary, still lives: when all its ranks have ended, it writes how. */
static bool watch_is_written(const struct dw_watch *watch, const char *path)
{
	size_t length = path ? strlen(path) : 0;
	struct dw_head head = { .creator_pid = 0 };
	char trace[4096];
	int fd;

	for (size_t i = 0; i < watch->count; i++)
		if (!watch->ranks[i].missed_ns && watch->ranks[i].path && path && strcmp(watch->ranks[i].path, path) == 0)
			return false;
	if (length >= sizeof trace)
		return false;
	snprintf(trace, sizeof trace, "%s", path ? path : "");
	if (length > 4 && strcmp(trace + length - 4, ".sum") == 0)
		trace[length - 4] = '\0';
	fd = open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head || memcmp(head.magic, DW_MAGIC, sizeof head.magic) != 0)
		head.creator_pid = 0;
	close(fd);
	return head.creator_pid && dw_proc_lives(head.creator_pid);
}

/* A launcher ends the other ranks soon after one has failed. How that one ended is known later if it was between two steps, so the
 * others of its file are not said to be lost before. */
static void watch_await_others(struct dw_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++) {
		struct dw_watched *watched = &watch->ranks[i];
		bool may = watched->missed_ns && !watched->failed && !watched->is[DW_WATCH_LOST] && watched->path;

		for (size_t k = 0; may && !watched->awaited && k < watch->count; k++)
			watched->awaited = watch->ranks[k].awaited && strcmp(watch->ranks[k].path, watched->path) == 0;
	}
}

/* Which processes of this machine do not live any more. dwell run has a few seconds to write how its program ended, and minutes
 * if all ranks of its file ended and it lives. */
static void watch_find_gone(const struct watch_state *state, struct dw_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++) {
		struct dw_watched *watched = &watch->ranks[i];

		watched->missed_ns = watch_lives(state, watched) ? 0 : watched->missed_ns ? watched->missed_ns : state->now_ns;
	}
	for (size_t i = 0; i < watch->count; i++) {
		struct dw_watched *watched = &watch->ranks[i];
		uint64_t missed_ns = watched->missed_ns ? state->now_ns - watched->missed_ns : 0;

		watched->awaited = watched->missed_ns && watched->finished && !watched->failed && !watched->last_open &&
		                   watched->well == DW_WELL_UNKNOWN && missed_ns < WATCH_ENDING_NS && !state->request->once &&
		                   watch_is_written(watch, watched->path); /* false without a path */
	}
	watch_await_others(watch);
	for (size_t i = 0; i < watch->count; i++) {
		struct dw_watched *watched = &watch->ranks[i];
		uint64_t missed_ns = watched->missed_ns ? state->now_ns - watched->missed_ns : 0;

		watched->gone = watched->missed_ns && !watched->awaited &&
		                (watched->finished || state->request->once || missed_ns >= DW_WATCH_EVERY_MS * UINT64_C(1000000)) &&
		                (watched->finished || missed_ns >= WATCH_ENDING_NS || !watch_is_written(watch, watched->path));
	}
}

static bool watch_puts_metrics(const struct dw_watch_request *request)
{
	return request->metrics || request->has_port;
}

/* The watch of a job, maybe a new one; NULL: memory ran out. A folder may have the files of several jobs, or of one that was
 * started again. */
static struct dw_watch *watch_find_job(struct watch_state *state, const char *name)
{
	struct dw_watch *watch;

	for (size_t i = state->watch_count; i--;)
		if (strcmp(state->watches[i].name, name) == 0)
			return &state->watches[i];
	watch = DW_GROW(&state->watches, &state->watch_capacity, state->watch_count);
	if (watch) {
		snprintf(watch->name, sizeof watch->name, "%s", name);
		dw_watch_begin_look(watch, state->now_ns);
		state->watch_count++;
	}
	return watch;
}

static void watch_take(void *context, const struct dw_glance *glance)
{
	struct watch_state *state = context;
	struct dw_watch *watch = watch_find_job(state, glance->job);

	if (watch)
		watch->path = state->path;
	state->failed |= !watch || !dw_watch_take_glance(watch, glance, state->written_ns, false);
}

/* Reads all of one file: of a trace, or for figures. A file that cannot be read was reported, and is tried again at the next
 * look. */
static void watch_read_whole(struct watch_state *state, const char *path)
{
	struct dw_summary file = { .ranks = NULL };
	bool is_live = false;

	if (dw_summaries_read_one(&file, path, &is_live) == 0) {
		state->written_ns = is_live ? state->now_ns : state->written_ns;
		for (size_t i = 0; i < file.count; i++) {
			dw_glance_take(&state->glance, &file.ranks[i]);
			watch_take(state, &state->glance);
		}
		dw_summary_add(&state->summary, &file);
	}
	dw_summary_reset(&file);
}

/* The bytes of a file in the state's buffer. False: it cannot be read. */
static bool watch_read_bytes(struct watch_state *state, int fd, size_t length)
{
	size_t used = 0;
	ssize_t read;

	if (length > state->buffer_size) {
		unsigned char *grown = realloc(state->buffer, length);

		if (!grown)
			return false;
		state->buffer = grown;
		state->buffer_size = length;
	}
	while (used < length && (read = pread(fd, state->buffer + used, length - used, (off_t)used)) > 0)
		used += (size_t)read;
	return used == length;
}

/* Takes what the watch needs of a summary. False: it is something else, or damaged. */
static bool watch_read_summary(struct watch_state *state, const char *path, const struct stat *status)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && watch_read_bytes(state, fd, (size_t)status->st_size) &&
	            dw_glance_read(&state->glance, state->buffer, (size_t)status->st_size, watch_take, state);

	if (fd >= 0)
		close(fd);
	return good;
}

DW_ORDER(watch_compare_files, struct watch_file, DW_TEXT(path))

/* What is known of a file that was read before, or a new place; NULL: memory ran out. New files are sorted in after the
 * look. */
static struct watch_file *watch_find_file(struct watch_state *state, const char *path)
{
	struct watch_file key = { .path = (char *)(uintptr_t)path };
	struct watch_file *file = state->sorted_count ? bsearch(&key, state->files, state->sorted_count, sizeof key, watch_compare_files)
	                                              : NULL;

	if (file)
		return file;
	file = DW_GROW(&state->files, &state->file_capacity, state->file_count);
	if (file)
		file->path = strdup(path);
	if (!file || !file->path)
		return NULL;
	state->file_count++;
	return file;
}

/* Takes the ranks of one file, if it was written since the look before. */
static void watch_read_file(struct watch_state *state, const char *path)
{
	struct watch_file *file;
	struct stat status;

	if (stat(path, &status) != 0) {
		if (!state->says_missing)
			dw_say("%s: %s", path, strerror(errno));
		state->is_missing = true;
		return;
	}
	state->written_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
	file = watch_find_file(state, path);
	state->failed |= !file;
	state->path = file ? file->path : NULL;
	if (watch_puts_metrics(state->request)) {
		watch_read_whole(state, path);
		return;
	}
	if (!file || (file->is_summary && file->written_ns == state->written_ns && file->number == status.st_ino))
		return;
	file->is_summary = S_ISREG(status.st_mode) && watch_read_summary(state, path, &status);
	file->written_ns = state->written_ns;
	file->number = status.st_ino;
	if (!file->is_summary)
		watch_read_whole(state, path);
}

/* The summary that is written next to a trace is read in its place: it is small. */
static void watch_read_operand(struct watch_state *state, char *path)
{
	char pattern[4096];
	struct stat status;
	glob_t found;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		snprintf(pattern, sizeof pattern, "%s/*.sum", path);
		/* Ranks keep the order in which they were found. */
		if (glob(pattern, state->sorted_count ? GLOB_NOSORT : 0, NULL, &found) == 0) {
			for (size_t i = 0; i < found.gl_pathc; i++)
				watch_read_file(state, found.gl_pathv[i]);
			globfree(&found);
		}
		return;
	}
	snprintf(pattern, sizeof pattern, "%s.sum", path);
	watch_read_file(state, stat(pattern, &status) == 0 ? pattern : path);
}

/* ---- what is said -------------------------------------------------------------------------------------- */

static void watch_put_json(const struct dw_watch_event *event, const char *when, const char *job)
{
	struct dw_writer_out out;

	dw_out_init_memory(&out);
	DW_OUT_JSON(&out, "{'time':#,'event':#,'over':", when, dw_watch_kind_name(event->kind));
	dw_out_text(&out, event->over ? "true" : "false");
	DW_OUT_JSON(&out, ",'job':#", job);
	if (event->watched->pid)
		DW_OUT_JSON(&out, ",'rank':#,'host':#,'pid':#", event->watched->rank, event->watched->host, event->watched->pid);
	DW_OUT_JSON(&out, ",'text':#}", event->text);
	fwrite(out.buffer, 1, out.used, stdout);
	fputc('\n', stdout);
	dw_out_reset(&out);
}

static void watch_put_text(const struct dw_watch_event *event, const char *when)
{
	const struct dw_watched *watched = event->watched;

	printf("%s %s%s: ", when, dw_watch_kind_name(event->kind), event->over ? " is over" : "");
	if (watched->pid && watched->rank >= 0)
		printf("rank %d on %s: ", watched->rank, watched->host);
	else if (watched->pid)
		printf("process %u on %s: ", watched->pid, watched->host);
	printf("%s\n", event->text);
}

/* The processes of the job on this machine, as words. */
static void watch_list_pids(const struct watch_state *state, char *text, size_t size)
{
	size_t length = 0;

	*text = '\0';
	for (size_t w = 0; w < state->watch_count; w++)
		for (size_t i = 0; i < state->watches[w].count && length < size - 16; i++) {
			const struct dw_watched *watched = &state->watches[w].ranks[i];

			if (!watched->gone && strcmp(watched->host, state->host) == 0)
				length += (size_t)snprintf(text + length, size - length, "%s%u", length ? " " : "", watched->pid);
		}
}

/* Runs the user's commands for what began at this look, and does not wait for them. */
static void watch_run_command(const struct watch_state *state, enum dw_watch_kind kind, const char *command)
{
	char pids[4096];

	watch_list_pids(state, pids, sizeof pids);
	fflush(stdout);
	if (fork() != 0)
		return;
	setenv("DWELL_EVENT", dw_watch_kind_name(kind), 1);
	setenv("DWELL_TEXT", state->texts[kind], 1);
	setenv("DWELL_RANKS", state->ranks[kind], 1);
	setenv("DWELL_PIDS", pids, 1);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Whether an event of this kind is not over for a rank. */
static bool watch_has(const struct watch_state *state, enum dw_watch_kind kind)
{
	for (size_t w = 0; w < state->watch_count; w++)
		for (size_t i = 0; i < state->watches[w].count; i++)
			if (state->watches[w].ranks[i].is[kind])
				return true;
	return false;
}

static bool watch_has_command(const struct dw_watch_request *request, enum dw_watch_kind kind)
{
	for (size_t i = 0; i < request->command_count; i++)
		if (request->commands[i].kind == kind)
			return true;
	return false;
}

/* The first operand that is a folder: ranks look there for requests. NULL: there is none. */
static const char *watch_folder(const struct dw_watch_request *request)
{
	struct stat status;

	for (size_t i = 0; i < request->path_count; i++)
		if (stat(request->paths[i], &status) == 0 && S_ISDIR(status.st_mode))
			return request->paths[i];
	return NULL;
}

/* Writes the stacks of all ranks when the first one hangs, if the user gave no command for it. Does not wait until the ranks
 * have answered. */
static void watch_write_stacks(const struct watch_state *state)
{
	const char *folder = watch_folder(state->request);
	char path[4096];
	int file;

	if (!folder || !*state->texts[DW_WATCH_HANG] || state->hung || state->request->once || state->request->has_mpi ||
	    watch_has_command(state->request, DW_WATCH_HANG))
		return;
	snprintf(path, sizeof path, "%s/hang-%llu.txt", folder, (unsigned long long)(state->now_ns / 1000000000));
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (file < 0) {
		dw_say("%s: %s; without it the stacks of the ranks are not written: --on hang='dwell capture --stacks %s > FILE'", path,
		       strerror(errno), folder);
		return;
	}
	dw_say("%s gets the stacks of all ranks", path);
	fflush(stdout);
	if (fork() == 0) {
		dup2(file, STDOUT_FILENO);
		dup2(file, STDERR_FILENO);
		execl("/proc/self/exe", "dwell", "capture", "--stacks", folder, (char *)NULL);
		_exit(127);
	}
	close(file);
}

static void watch_run_commands(struct watch_state *state)
{
	watch_write_stacks(state);
	for (size_t i = 0; i < state->request->command_count; i++)
		if (*state->texts[state->request->commands[i].kind])
			watch_run_command(state, state->request->commands[i].kind, state->request->commands[i].command);
	state->hung = watch_has(state, DW_WATCH_HANG);
	memset(state->texts, 0, sizeof state->texts);
	memset(state->ranks, 0, sizeof state->ranks);
}

static void watch_note(struct watch_state *state, const struct dw_watch_event *event)
{
	char *ranks = state->ranks[event->kind];
	size_t length = strlen(ranks);

	if (!*state->texts[event->kind])
		snprintf(state->texts[event->kind], sizeof state->texts[event->kind], "%s", event->text);
	if (event->watched->pid && length < sizeof state->ranks[0] - 16)
		snprintf(ranks + length, sizeof state->ranks[0] - length, "%s%d", length ? " " : "", event->watched->rank);
}

static void watch_report(void *context, const struct dw_watch_event *event)
{
	struct watch_state *state = context;
	time_t seconds = (time_t)(state->now_ns / 1000000000);
	struct tm broken;
	char when[32];

	gmtime_r(&seconds, &broken);
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &broken);
	if (state->request->json)
		watch_put_json(event, when, state->reported->name);
	else
		watch_put_text(event, when);
	fflush(stdout);
	if (!event->over)
		watch_note(state, event);
}

static int watch_put_metrics(struct watch_state *state)
{
	FILE *text;
	struct dw_output output;
	int status;

	free(state->metrics);
	state->metrics = NULL;
	text = open_memstream(&state->metrics, &state->metrics_length);
	if (!text)
		return 0;
	dw_metrics_write(&state->summary, state->watches, state->watch_count, text);
	fclose(text);
	if (!state->request->metrics)
		return 0;
	status = dw_output_open(&output, state->request->metrics);
	if (status)
		return status;
	fwrite(state->metrics, 1, state->metrics_length, output.file);
	return dw_output_close(&output, 0);
}

/* ---- looking ------------------------------------------------------------------------------------------- */

static int watch_look(struct watch_state *state)
{
	struct dwell_error error = { 0, "" };
	int status = 0;

	dw_summary_reset(&state->summary);
	state->now_ns = dw_clock_ns(CLOCK_REALTIME);
	for (size_t i = 0; i < state->watch_count; i++)
		dw_watch_begin_look(&state->watches[i], state->now_ns);
	for (size_t i = 0; i < state->request->path_count; i++)
		watch_read_operand(state, state->request->paths[i]);
	if (!dw_summary_finish(&state->summary, &error))
		return dw_say_error(&error, error.code);
	if (state->file_count > state->sorted_count)
		qsort(state->files, state->file_count, sizeof *state->files, watch_compare_files);
	state->sorted_count = state->file_count;
	state->says_missing = state->is_missing;
	for (size_t i = 0; i < state->watch_count; i++) {
		watch_find_gone(state, &state->watches[i]);
		state->reported = &state->watches[i];
		state->failed = !dw_watch_end_look(&state->watches[i], watch_report, state) || state->failed;
	}
	if (state->failed) {
		dw_say("no memory for the ranks of the job");
		return DW_EXIT_BAD_INPUT;
	}
	watch_run_commands(state);
	if (watch_puts_metrics(state->request))
		status = watch_put_metrics(state);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return status;
}

static bool watch_has_ended(const struct watch_state *state)
{
	for (size_t w = 0; w < state->watch_count; w++)
		for (size_t i = 0; i < state->watches[w].count; i++)
			if (!state->watches[w].ranks[i].gone)
				return false;
	return state->watch_count > 0;
}

static bool watch_has_event(const struct watch_state *state)
{
	bool has = false;

	for (size_t w = 0; w < state->watch_count; w++)
		has |= state->watches[w].job.is[DW_WATCH_SLOWER];
	for (unsigned kind = 0; kind < DW_WATCH_KINDS; kind++)
		has |= watch_has(state, (enum dw_watch_kind)kind);
	return has;
}

static void watch_wait(struct watch_state *state, int listener)
{
	const struct dw_watch_request *request = state->request;
	uint64_t until_ms = dw_clock_monotonic_ms() + request->every_ms, now_ms;

	while (!*watch_stopped && (now_ms = dw_clock_monotonic_ms()) < until_ms) {
		uint64_t ms = request->has_mpi && until_ms - now_ms > DW_WATCH_MPI_MS ? DW_WATCH_MPI_MS : until_ms - now_ms;

		if (listener < 0)
			nanosleep(&(struct timespec){ (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 }, NULL);
		else
			dw_watch_serve(listener, state->metrics ? state->metrics : "", state->metrics ? state->metrics_length : 0, (int)ms);
		if (request->has_mpi)
			dw_watch_mpi_take(&state->mpi);
	}
}

/* At the begin: what there is to watch. */
static void watch_say_begin(const struct watch_state *state)
{
	uint64_t steps = 0;
	size_t ranks = 0;

	for (size_t w = 0; w < state->watch_count; w++)
		for (size_t i = 0; i < state->watches[w].count; i++) {
			ranks++;
			if (state->watches[w].ranks[i].steps > steps)
				steps = state->watches[w].ranks[i].steps;
		}
	if (ranks)
		dw_say("%zu rank%s, %llu steps%s", ranks, dw_text_plural(ranks), (unsigned long long)steps,
		       watch_has_event(state) ? "" : ", all well");
	else if (!state->request->once)
		dw_say("no summary of a rank is there yet: dwell run --summary-every 10s writes them");
}

static int watch_loop(struct watch_state *state, int listener)
{
	const struct dw_watch_request *request = state->request;
	int status;

	if (request->has_mpi && request->once)
		dw_watch_mpi_take_rest(&state->mpi);
	else if (request->has_mpi)
		watch_wait(state, listener); /* so that the first look has all machines */
	status = watch_look(state);
	if (!status)
		watch_say_begin(state);
	while (!status && !state->request->once && !*watch_stopped && !watch_has_ended(state)) {
		watch_wait(state, listener);
		status = *watch_stopped ? 0 : watch_look(state);
	}
	if (!status && state->request->once && !state->watch_count) {
		dw_say("no summary of a rank was found: dwell run --summary-every 10s writes them");
		return DW_EXIT_BAD_INPUT;
	}
	return status ? status : watch_has_event(state) ? DW_EXIT_EVENT : 0;
}

static void watch_reset(struct watch_state *state)
{
	for (size_t i = 0; i < state->watch_count; i++)
		dw_watch_reset(&state->watches[i]);
	dw_summary_reset(&state->summary);
	for (size_t i = 0; i < state->file_count; i++)
		free(state->files[i].path);
	DW_FREE(state->watches, state->files, state->buffer, state->metrics);
}

/* Starts MPI. True: this process has ended, with *status. */
static bool watch_begin_mpi(struct watch_state *state, struct dw_watch_request *request, int *status)
{
	struct stat folder;

	if (request->path_count != 1 || stat(request->paths[0], &folder) != 0 || !S_ISDIR(folder.st_mode)) {
		dw_say("--mpi: give one folder, which each machine has");
		*status = DW_EXIT_USAGE;
		return true;
	}
	*status = dw_watch_mpi_begin(&state->mpi, request->paths[0]);
	watch_stopped = dw_stop_at_signals(); /* MPI has handlers of its own */
	if (*status)
		return true;
	if (state->mpi.process)
		dw_watch_mpi_send(&state->mpi, request->paths[0], request->every_ms, request->once, watch_stopped);
	request->paths = state->mpi.folders;
	request->path_count = state->mpi.folder_count;
	return state->mpi.process != 0;
}

int dw_watch_job(struct dw_watch_request *request)
{
	static struct watch_state state;
	struct dwell_error error = { 0, "" };
	int listener = -1, status;

	state.request = request;
	gethostname(state.host, sizeof state.host - 1);
	watch_stopped = dw_stop_at_signals();
	if (request->has_mpi && watch_begin_mpi(&state, request, &status))
		return status;
	if (request->has_port) {
		listener = dw_listen(DW_LISTEN_HERE, &request->port, &error);
		if (listener < 0) {
			if (request->has_mpi)
				dw_watch_mpi_end(&state.mpi);
			return dw_say_error(&error, error.code);
		}
		dw_say("metrics at http://127.0.0.1:%u/metrics", request->port);
	}
	status = watch_loop(&state, listener);
	watch_reset(&state);
	if (request->has_mpi)
		dw_watch_mpi_end(&state.mpi);
	if (listener >= 0)
		close(listener);
	return status;
}
