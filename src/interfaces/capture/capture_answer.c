/* What `dwell run` does when `dwell capture` asks for some steps of a rank; see capture_ask.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "capture/capture_answer.h"
#include "capture/capture_ask.h"
#include "capture/pack_part.h"
#include "say/say.h"
#include "serve/control.h"

#define ANSWER_LOOK_MS 20u
#define ANSWER_MOST_MS 600000u
#define ANSWER_STEPS_MS 1000u /* after the asked steps, the recorder may enable itself this late */

/* Only this user and root may ask. */
static bool answer_read_ask(const char *place, struct dw_capture_ask *ask)
{
	char path[DW_CAPTURE_PATH], line[200] = "";
	struct stat status;
	bool good;
	int fd;

	snprintf(path, sizeof path, "%s.ask", place);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (status.st_uid == geteuid() || !status.st_uid) &&
	       read(fd, line, sizeof line - 1) > 0 &&
	       sscanf(line, DW_CAPTURE_ASK_READ, ask->id, &ask->steps, &ask->duration_ms, &ask->what) == 4;
	close(fd);
	if (ask->duration_ms > ANSWER_MOST_MS)
		ask->duration_ms = ANSWER_MOST_MS;
	return good;
}

/* ---- recording --------------------------------------------------------------------------------------------- */

struct answering {
	const char *trace, *place; /* `place`: of a trace in the folder where it was asked for */
	struct dw_capture_ask ask;
	struct dw_serve_control control;
	struct dw_pack_window window;
	uint64_t *begun; /* by gate: the steps that its process had begun; UINT64_MAX: none */
	uint32_t gates, more; /* `more`: steps to wait for beyond those that are asked for */
	struct dw_capture_answer answer;
};

/* Looks at all processes that step, and sets the steps that all of them have recorded. Returns whether a living process
 * has not ended all steps that were asked for. */
static bool answer_look(struct answering *at)
{
	struct dw_capture_answer *answer = &at->answer;
	uint64_t steps, first = 0, least = UINT64_MAX;
	bool open = false, all = true, none;

	for (uint32_t i = 0; i < at->gates; i++) {
		bool lives = dw_serve_gate_steps(&at->control, i, &steps);

		if (at->begun[i] == UINT64_MAX)
			continue;
		first = at->begun[i] > first ? at->begun[i] : first; /* the step that was under way is not whole */
		least = steps < least ? steps : least;
		if (steps < at->begun[i] + at->ask.steps + 1 + at->more) {
			open |= lives;
			all = false;
		}
	}
	none = least == UINT64_MAX || least < first + 2;
	answer->first_step = none ? 1 : first;
	answer->last_step = none ? 0 : least - 2;
	answer->state = at->ask.steps && (!all || none) ? DW_CAPTURE_PART : DW_CAPTURE_DONE;
	return open || !at->ask.steps || none; /* without steps: until the time is over */
}

static void answer_find_gates(struct answering *at)
{
	uint64_t steps;

	at->gates = dw_serve_gate_count(&at->control);
	at->begun = malloc((at->gates + 1) * sizeof *at->begun);
	for (uint32_t i = 0; at->begun && i < at->gates; i++)
		at->begun[i] = dw_serve_gate_steps(&at->control, i, &steps) && steps ? steps : UINT64_MAX;
}

static void answer_wait(struct answering *at, uint64_t end_ms)
{
	struct timespec pause = { 0, ANSWER_LOOK_MS * 1000000 };

	while (answer_look(at) && dw_clock_monotonic_ms() < end_ms && dw_serve_is_alive(&at->control))
		nanosleep(&pause, NULL);
	at->window.to_ticks = dw_serve_ticks(&at->control);
}

/* Ends the window with the last of the steps that were asked for. */
static void answer_end_window(struct answering *at, const struct dw_source *source)
{
	uint64_t end_ticks = 0;

	at->answer.last_step = at->answer.first_step + at->ask.steps - 1;
	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (!step->open && step->number <= at->answer.last_step && step->end_ticks > end_ticks)
			end_ticks = step->end_ticks;
	}
	if (end_ticks < at->window.to_ticks)
		at->window.to_ticks = end_ticks;
}

/* Sets the steps that the stored part has of all processes: a step may end after the last look, and before the window
 * ends. Without entries of single steps, what was seen by looks stays. */
static void answer_count_steps(struct answering *at, const struct dw_source *source)
{
	uint64_t first = 0, last = UINT64_MAX;

	for (uint32_t process = 0; process < source->process_count; process++) {
		uint64_t least = UINT64_MAX, most = 0;

		for (size_t i = 0; i < source->step_count; i++) {
			const struct dw_source_step *step = &source->steps[i];

			if (source->threads[step->thread].process != process || step->open ||
			    step->start_ticks < at->window.from_ticks || step->end_ticks > at->window.to_ticks)
				continue;
			least = step->number < least ? step->number : least;
			most = step->number > most ? step->number : most;
		}
		if (least == UINT64_MAX)
			continue;
		first = least > first ? least : first;
		last = most < last ? most : last;
	}
	if (last == UINT64_MAX)
		return;
	at->answer.first_step = first;
	at->answer.last_step = last;
	if (at->ask.steps && last + 1 < first + at->ask.steps)
		at->answer.state = DW_CAPTURE_PART;
	else if (at->ask.steps)
		answer_end_window(at, source);
}

/* Records until all steps that are asked for are in the trace. The first one may have begun before the window: where a step
 * begins is known only later in some programs. Then one more is recorded. Returns the trace; NULL: it cannot be read. */
static struct dw_source *answer_record(struct answering *at, struct dwell_error *error)
{
	uint64_t end_ms = dw_clock_monotonic_ms() + at->ask.duration_ms;
	struct dw_source *source;

	for (;; at->more++) {
		answer_wait(at, end_ms);
		if (dw_source_open(&source, &at->trace, 1, error))
			return NULL;
		answer_count_steps(at, source);
		if (at->answer.state == DW_CAPTURE_DONE || at->more || dw_clock_monotonic_ms() >= end_ms ||
		    !dw_serve_is_alive(&at->control))
			return source;
		dw_source_close(source);
	}
}

static int answer_capture(struct answering *at, struct dwell_error *error)
{
	uint32_t mask = DWELL_MASK_DEFAULT;
	char path[DW_CAPTURE_PATH];
	struct dw_source *source;

	if (at->ask.what & DW_CAPTURE_FUNCTIONS)
		mask |= 1u << DWELL_CATEGORY_FUNCTION | DWELL_DETAIL_C_FUNCTIONS;
	if (dw_serve_control_open(&at->control, at->trace, error))
		return -1;
	at->window.from_ticks = dw_serve_ticks(&at->control);
	if (!dw_serve_arm(&at->control, mask, at->ask.duration_ms + ANSWER_STEPS_MS)) {
		snprintf(error->message, sizeof error->message, "another capture is under way");
		return -1;
	}
	answer_find_gates(at); /* from here on each step that begins is in the window, and recorded */
	if (!at->begun) {
		dw_serve_disarm(&at->control);
		snprintf(error->message, sizeof error->message, "out of memory");
		return -1;
	}
	source = answer_record(at, error);
	dw_serve_disarm(&at->control);
	if (!source)
		return -1;
	dw_capture_part_path(at->place, &at->ask, path);
	at->answer.bytes = dw_pack_store_part(source, &at->window, path, error);
	dw_source_close(source);
	return at->answer.bytes ? 0 : -1;
}

/* ---- stacks ------------------------------------------------------------------------------------------------ */

/* `dwell stacks` in a process of its own. A program that cannot be read is no failure: what could be read is stored. */
static int answer_stacks(struct answering *at, const char *pid, struct dwell_error *error)
{
	char path[DW_CAPTURE_PATH];
	struct stat status;
	pid_t child;

	dw_capture_part_path(at->place, &at->ask, path);
	child = fork();
	if (child == 0) {
		umask(0077);
		execl("/proc/self/exe", "dwell", "stacks", pid, "-o", path, (char *)NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	if (child < 0 || stat(path, &status) != 0) {
		snprintf(error->message, sizeof error->message,
		         "the stacks of process %.20s cannot be read; dwell stacks %.20s on its machine says why", pid, pid);
		return -1;
	}
	at->answer.first_step = 1;
	at->answer.bytes = (uint64_t)status.st_size;
	return 0;
}

int dw_capture_answer(const char *trace, const char *pid, const char *place)
{
	struct answering at = { .trace = trace, .place = place };
	struct dwell_error error = { 0, "" };
	char line[700];
	int code;

	if (!answer_read_ask(place, &at.ask))
		return DW_EXIT_BAD_INPUT;
	memcpy(at.answer.id, at.ask.id, sizeof at.answer.id);
	code = at.ask.what & DW_CAPTURE_STACKS ? answer_stacks(&at, pid, &error) : answer_capture(&at, &error);
	if (code) {
		at.answer.state = DW_CAPTURE_FAILED;
		snprintf(at.answer.text, sizeof at.answer.text, "%.399s", error.message);
	}
	dw_serve_control_close(&at.control);
	free(at.begun);
	snprintf(line, sizeof line, DW_CAPTURE_ANSWER, at.answer.id, at.answer.state,
	         (unsigned long long)at.answer.first_step, (unsigned long long)at.answer.last_step,
	         (unsigned long long)at.answer.bytes, *at.answer.text ? at.answer.text : "-");
	return dw_capture_write(place, ".answer", line) ? 0 : DW_EXIT_BAD_INPUT;
}
