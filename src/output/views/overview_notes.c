/* What an overview says below its tables: the rest of the run, the slowest step, how the program ended, and the commands to go on with. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/keys.h"
#include "views/overview_parts.h"
#include "views/stop.h"

#define SLOW_RATIO 1.5 /* of the median step */
#define MOST_NEXT 5u   /* views that the last line names */

/* ---- outside the loop ---------------------------------------------------------------------- */

/* What the threads with steps did before and after their loops. */
enum { AROUND_START, AROUND_EVALUATION, AROUND_CHECKPOINT, AROUND_AFTER, AROUND_COUNT };

static void notes_find_around(const struct dw_steps *steps, uint64_t ns[AROUND_COUNT])
{
	static const char *const names[AROUND_COUNT] = { "start-up", "evaluation", "checkpoint", "after the last step" };
	static const enum dw_share shares[AROUND_COUNT] = {
		[AROUND_EVALUATION] = DW_SHARE_EVALUATION, [AROUND_CHECKPOINT] = DW_SHARE_CHECKPOINT
	};

	for (size_t i = 0; i < steps->beside_count; i++)
		for (unsigned around = 0; around < AROUND_COUNT; around++)
			if (strcmp(steps->besides[i].name, names[around]) == 0)
				ns[around] = steps->besides[i].ns;
	for (size_t i = 0; i < steps->thread_count; i++)
		for (unsigned around = AROUND_EVALUATION; around <= AROUND_CHECKPOINT; around++) {
			uint64_t in_loop = steps->loops[i].outside_ns[shares[around]];

			ns[around] -= in_loop < ns[around] ? in_loop : ns[around];
		}
}

/* Of several loops the times are sums, as their steps are. */
void dw_overview_note_outside(struct dwell_table *table, const struct dw_overview *overview)
{
	static const char *const phrases[AROUND_COUNT] = { "of start-up", "of evaluation", "of checkpoints", "after the last step" };
	const struct dw_steps *steps = overview->steps;
	uint64_t ns[AROUND_COUNT] = { 0 };
	size_t count = 0, used = 0, shown = 0;
	char list[300] = "";

	notes_find_around(steps, ns);
	if (overview->has_start && steps->thread_count == 1)
		ns[AROUND_START] = 0; /* said above; of several loops that is of one, and this a sum */
	if (dw_view_stands_still(overview->model))
		ns[AROUND_AFTER] = 0;
	for (unsigned around = 0; around < AROUND_COUNT; around++)
		count += dw_overview_is_named(ns[around], steps);
	for (unsigned around = 0; around < AROUND_COUNT && used < sizeof list; around++) {
		if (!dw_overview_is_named(ns[around], steps))
			continue;
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %s", !shown ? "" : shown + 1 == count ? " and " : ", ",
		                         dw_text_ns((double)ns[around], " ").at, phrases[around]);
		shown++;
	}
	if (shown)
		dw_table_say_below(table, DW_LABEL_NOTE, "Outside the loop%s: %s.", steps->thread_count > 1 ? "s, as sums" : "", list);
}

/* ---- single steps, and the end ------------------------------------------------------------- */

static const struct dw_step *notes_slowest(const struct dw_steps *steps, bool recorded)
{
	const struct dw_step *slowest = NULL;

	for (size_t i = 0; i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i];

		if (step->open || (recorded && dw_view_step_lacks(step)))
			continue;
		if (!slowest || step->end_ns - step->start_ns > slowest->end_ns - slowest->start_ns)
			slowest = step;
	}
	return slowest;
}

const struct dw_step *dw_overview_slowest_step(const struct dw_steps *steps)
{
	return notes_slowest(steps, false);
}

static bool notes_is_slow(const struct dw_steps *steps, const struct dw_step *step)
{
	return step && steps->p50_ns && (double)(step->end_ns - step->start_ns) >= SLOW_RATIO * (double)steps->p50_ns;
}

/* "step 3 of rank 1 took 60 ms, 40 ms longer than usual in forward". */
static void notes_put_slow(const struct dw_overview *overview, const struct dw_view_slow *slow, const struct dw_step *step, char text[700])
{
	double ns = (double)(step->end_ns - step->start_ns), extra_ns;
	char thread[256], whose[300] = "";
	const char *reason;
	int used;

	if (overview->steps->thread_count > 1)
		snprintf(whose, sizeof whose, " of %s", dw_view_thread_name(overview->model, step->thread, false, thread));
	used = snprintf(text, 700, "step %llu%s took %s, ", (unsigned long long)step->number, whose, dw_text_ns(ns, " ").at);
	reason = dw_view_slow_reason(slow, step, &extra_ns);
	if (reason)
		snprintf(text + used, 700 - (size_t)used, "%s longer than usual in %s", dw_text_ns(extra_ns, " ").at, reason);
	else
		snprintf(text + used, 700 - (size_t)used, "%.1f times the median", ns / (double)overview->steps->p50_ns);
}

/* If what the slowest step did was not recorded, the slowest one of which it was follows. */
void dw_overview_note_slowest(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_steps *steps = overview->steps;
	const struct dw_step *slowest = notes_slowest(steps, false), *known = NULL;
	char text[700], other[700];
	struct dw_view_slow slow;
	const char *lacks;

	if (steps->count < 2 || !notes_is_slow(steps, slowest))
		return;
	dw_view_slow_begin(&slow, overview->model, steps);
	notes_put_slow(overview, &slow, slowest, text);
	lacks = dw_view_step_lacks(slowest);
	if (lacks && notes_is_slow(steps, notes_slowest(steps, true)))
		known = notes_slowest(steps, true);
	if (known)
		notes_put_slow(overview, &slow, known, other);
	if (known)
		dw_table_say_below(table, DW_LABEL_NOTE, "Slowest: %s (%s). Of steps recorded whole: %s (dwell report --view steps).", text,
		                   lacks, other);
	else
		dw_table_say_below(table, DW_LABEL_NOTE, "Slowest: %s (%s%sdwell report --view steps).", text, lacks ? lacks : "",
		                   lacks ? "; " : "");
}

/* How the program ended, if `dwell run` recorded it. */
void dw_overview_note_end(struct dwell_table *table, const struct dw_overview *overview)
{
	for (size_t i = 0; i < overview->source->meta_count; i++) {
		const struct dw_source_meta *meta = &overview->source->metas[i];
		int number;

		if (strcmp(meta->key, DW_KEY_STATUS) == 0 && sscanf(meta->value, "{\"signal\":%d}", &number) == 1)
			dw_table_say_below(table, DW_LABEL_NOTE, "The program was ended by signal %d (%s); %s range%s open.", number,
			                   number > 0 && number < 65 ? strsignal(number) : "?",
			                   dw_text_count((int64_t)overview->flat->open).at,
			                   overview->flat->open == 1 ? " was" : "s were");
	}
}

/* ---- the next commands ------------------------------------------------------------------------ */

/* Whether the view has something to show for this trace. */
static bool notes_has_view(const struct dw_overview *overview, const char *name)
{
	const struct dw_view *view = dw_view_find(name, &(struct dwell_error){ 0, "" });

	return view && (!view->needs_steps || overview->steps) && !dw_view_lacks(view, overview->source) &&
	       (!view->categories || dw_model_categories(overview->model) & view->categories) &&
	       (strcmp(name, "flops") != 0 || overview->has_shapes);
}

void dw_overview_say_next(struct dwell_table *table, const struct dw_overview *overview)
{
	/* The most useful first. */
	static const char *const names[] = { "stragglers", "steps", "dataloader", "device", "operators", "workers", "hot", "waits",
		"layers", "memory", "functions", "account", "heap", "actions", "phases", "tree", "threads" };
	const char *path = overview->source->file_count == 1 ? overview->source->files[0].path : "FILES";
	char views[120] = "";
	size_t used = 0;
	unsigned shown = 0;

	if (!overview->flat->records)
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names && shown < MOST_NEXT; i++)
		if (notes_has_view(overview, names[i]))
			used += (size_t)snprintf(views + used, sizeof views - used, "%s%s", shown++ ? "|" : "", names[i]);
	dw_table_say_below(table, DW_LABEL_NEXT, "dwell view %s (timeline); dwell report --format html -o r.html (a page), --limit 20, "
	                   "--view %s; all: dwell report --help", path, views);
}
