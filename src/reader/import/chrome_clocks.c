/*
 * Several clocks in one file, which events of phase c tie together.
 *
 * A tracer asks another one to note a moment. It writes the moment's name ("sync_id"), when it asked ("issue_ts") and when the
 * answer came (ts); the other tracer writes the name and its own time. Each process has one clock for its events. The process
 * that asked first has the file's clock, to which the times of the others are moved. Of several moments of two processes the
 * one with the soonest answer counts: its middle is the time that the other noted.
 */
#include "import/chrome.h"

void chrome_take_clock_mark(struct chrome *chrome, const struct chrome_event *event)
{
	const struct chrome_value *id = &event->values[CHROME_SYNC_ID], *asked = &event->values[CHROME_ISSUE_TS];
	struct chrome_clock_mark mark = { .process = chrome_key_of(chrome, &event->pid), .middle_ns = event->start_ns };
	int64_t asked_ns;

	chrome_count(chrome, &chrome->clocks);
	if (chrome->clock_mark_count == CHROME_CLOCK_MARKS || !chrome_has(event, CHROME_SYNC_ID) || id->kind != CHROME_TEXT)
		return;
	mark.id = chrome_hash(chrome->names.seed, id->text.at, id->text.length);
	if (chrome_has(event, CHROME_ISSUE_TS) && asked->kind == CHROME_NUMBER && dw_json_fixed(&asked->number, 3, &asked_ns) &&
	    asked_ns >= 0 && asked_ns <= event->start_ns) {
		mark.asked = true;
		mark.length_ns = event->start_ns - asked_ns;
		mark.middle_ns = asked_ns + mark.length_ns / 2;
	}
	chrome->clock_marks[chrome->clock_mark_count++] = mark;
}

static void clocks_know(struct chrome *chrome, uint64_t process, int64_t moved_ns)
{
	for (size_t i = 0; i < chrome->clock_mark_count; i++)
		if (chrome->clock_marks[i].process == process) {
			chrome->clock_marks[i].known = true;
			chrome->clock_marks[i].moved_ns = moved_ns;
		}
}

/* Finds the clock of one more process. False: no moment ties a further process to one whose clock is known. */
static bool clocks_tie(struct chrome *chrome)
{
	const struct chrome_clock_mark *best = NULL, *best_of = NULL;

	for (size_t a = 0; a < chrome->clock_mark_count; a++)
		for (size_t b = 0; b < chrome->clock_mark_count; b++) {
			const struct chrome_clock_mark *one = &chrome->clock_marks[a], *other = &chrome->clock_marks[b];

			if (one->known && !other->known && one->id == other->id && one->asked != other->asked &&
			    (!best || one->length_ns + other->length_ns < best->length_ns + best_of->length_ns)) {
				best = one;
				best_of = other;
			}
		}
	if (best)
		clocks_know(chrome, best_of->process, best->moved_ns + best->middle_ns - best_of->middle_ns);
	return best != NULL;
}

void chrome_clocks_finish(struct chrome *chrome)
{
	int64_t first_ns = INT64_MAX;
	size_t asked = 0;

	while (asked < chrome->clock_mark_count && !chrome->clock_marks[asked].asked)
		asked++;
	if (asked == chrome->clock_mark_count)
		return;
	clocks_know(chrome, chrome->clock_marks[asked].process, 0);
	while (clocks_tie(chrome))
		chrome->clocks_tied++;
	for (size_t i = chrome->first_process; chrome->clocks_tied && i < chrome->process_count; i++) {
		struct chrome_process *process = &chrome->processes[i];
		bool known = false;

		for (size_t m = 0; m < chrome->clock_mark_count && !known; m++) {
			const struct chrome_clock_mark *mark = &chrome->clock_marks[m];

			known = mark->process == process->key && mark->known;
			process->moved_ns = known ? mark->moved_ns : 0;
		}
		chrome->clockless += !known;
		if (process->first_ns < INT64_MAX && (int64_t)chrome_moved_ns(process, process->first_ns) < first_ns)
			first_ns = (int64_t)chrome_moved_ns(process, process->first_ns);
	}
	/* Events of devices have the file's clock. */
	if (first_ns < chrome->first_ns || (first_ns < INT64_MAX && !chrome->devices.count))
		chrome->first_ns = first_ns;
}
