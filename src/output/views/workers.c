/*
 * workers: do the processes of a pool do as much work each, and for what do they wait?
 *
 * Workers are processes of one command, but for numbers in it, that one process began: those of multiprocessing, of an executor, of a
 * loader, of a server that forks. A row for them together, in the mean, and one for each. A process has the CPU by the
 * kernel's account of its threads, as of their last samples if it was killed; the waits are those of its main thread, by samples. What
 * is left is time for which it was ready and had no CPU, and waits that are not seen.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/free.h"
#include "base/text.h"
#include "model/samples/hot.h"
#include "views/columns.h"

#define EVEN 1.25 /* times the mean: what the busiest worker computes if work is even */
#define MOST_GROUPS 8u

struct workers_cells {
	struct dw_cell name, count, lived_ns, cpu_ns, busy, of_mean, waits_ns, most, wait;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct workers_cells, name, "workers", NONE, TEXT),
	DW_FIELD(struct workers_cells, count, "number", COUNT, INT),
	DW_FIELD(struct workers_cells, lived_ns, "lived", NS, INT),
	DW_FIELD(struct workers_cells, cpu_ns, "CPU", NS, INT),
	DW_FIELD(struct workers_cells, busy, "busy", RATIO, REAL, .of = "the time that it lived", .bar = true),
	DW_FIELD(struct workers_cells, of_mean, "of the mean", TIMES, REAL),
	DW_FIELD(struct workers_cells, waits_ns, "waits", NS, INT),
	DW_FIELD(struct workers_cells, most, "most of its CPU in", NONE, TEXT),
	DW_FIELD(struct workers_cells, wait, "most of its waits in", NONE, TEXT),
};

struct workers_process {
	uint32_t process; /* the last image of it, if it executed others of this command */
	const struct dw_source_process *of;
	uint64_t cpu_ns, sampled_ns, waits_ns;
};

/* Processes of one command and one parent; those of a group follow each other. */
struct workers_group {
	struct workers_process *first;
	size_t count;
	uint64_t lived_ns, cpu_ns, waits_ns, most_cpu_ns;
};

struct workers {
	struct dw_model *model;
	const struct dw_source *source;
	struct workers_process *all; /* by process, and then in order of groups */
	size_t count;
	struct workers_group *groups; /* by CPU time, descending */
	size_t group_count;
	uint32_t *number;            /* by process: of its group, from 1; 0: it is in none */
	uint32_t wanted;             /* whose samples are asked for */
};

/* Numbers are left out: those of descriptors, of ranks. */
static int workers_compare_commands(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	}
}

/* 0: of one group. */
static int workers_compare_kinds(const struct dw_source_process *a, const struct dw_source_process *b)
{
	int names;

	if (a->file != b->file || a->ppid != b->ppid)
		return a->file != b->file ? (a->file < b->file ? -1 : 1) : a->ppid < b->ppid ? -1 : 1;
	names = strcmp(a->label, b->label);
	return names ? names : workers_compare_commands(a->command, b->command);
}

static int workers_compare(const void *left, const void *right)
{
	const struct workers_process *a = left, *b = right;
	int kinds = workers_compare_kinds(a->of, b->of);

	if (kinds || a->of->pid != b->of->pid)
		return kinds ? kinds : a->of->pid < b->of->pid ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

static int workers_compare_groups(const void *left, const void *right)
{
	const struct workers_group *a = left, *b = right;

	return a->cpu_ns != b->cpu_ns ? (a->cpu_ns < b->cpu_ns ? 1 : -1) : workers_compare(a->first, b->first);
}

/* The process that began this one, if it is in the trace and a part of the program; or NULL. */
static const struct dw_source_process *workers_parent(const struct dw_source *source, const struct dw_source_process *of)
{
	const struct dw_source_process *found = NULL;

	for (size_t i = 0; i < source->process_count; i++)
		if (source->processes[i].file == of->file && source->processes[i].pid == of->ppid &&
		    !(source->processes[i].flags & DW_PROCESS_RUNNER) && source->processes[i].start_ns <= of->start_ns)
			found = &source->processes[i];
	return found;
}

static uint64_t workers_lived(const struct dw_source_process *process)
{
	return process->end_ns > process->start_ns ? process->end_ns - process->start_ns : 0;
}

/* Sorts them by groups, and makes one of the images of a process. */
static void workers_sort(struct workers *workers)
{
	size_t count = 0;

	qsort(workers->all, workers->count, sizeof *workers->all, workers_compare);
	for (size_t i = 0; i < workers->count; i++) {
		struct workers_process *before = count ? &workers->all[count - 1] : NULL, one = workers->all[i];

		if (before && before->of->pid == one.of->pid && workers_compare_kinds(before->of, one.of) == 0) {
			one.cpu_ns += before->cpu_ns;
			one.waits_ns += before->waits_ns;
			count--;
		}
		workers->all[count++] = one;
	}
	workers->count = count;
}

static void workers_group_up(struct workers *workers)
{
	size_t next;

	for (size_t i = 0; i < workers->count; i = next) {
		struct workers_group group = { .first = &workers->all[i] };

		for (next = i; next < workers->count && workers_compare_kinds(workers->all[i].of, workers->all[next].of) == 0; next++) {
			const struct workers_process *one = &workers->all[next];

			group.count++;
			group.lived_ns += workers_lived(one->of);
			group.cpu_ns += one->cpu_ns;
			group.waits_ns += one->waits_ns;
			group.most_cpu_ns = one->cpu_ns > group.most_cpu_ns ? one->cpu_ns : group.most_cpu_ns;
		}
		if (group.count > 1 && workers_parent(workers->source, group.first->of))
			workers->groups[workers->group_count++] = group;
	}
	qsort(workers->groups, workers->group_count, sizeof *workers->groups, workers_compare_groups);
	for (uint32_t g = 0; g < workers->group_count; g++)
		for (size_t i = 0; i < workers->groups[g].count; i++)
			workers->number[workers->groups[g].first[i].process] = g + 1;
}

static void workers_add_times(struct workers *workers)
{
	const struct dw_source *source = workers->source;
	const struct dw_samples *samples = dw_model_samples(workers->model, NULL), *waits = dw_model_wait_samples(workers->model, NULL);

	for (size_t i = 0; samples && i < samples->count; i++)
		workers->all[source->threads[samples->rows[i].thread].process].sampled_ns += samples->rows[i].cpu_ns;
	for (size_t i = 0; waits && i < waits->count; i++) {
		const struct dw_source_thread *thread = &source->threads[waits->rows[i].thread];

		if (thread->tid == source->processes[thread->process].pid)
			workers->all[thread->process].waits_ns += waits->rows[i].cpu_ns;
	}
	for (size_t i = 0; i < source->thread_count; i++) {
		const struct dw_source_thread *thread = &source->threads[i];

		workers->all[thread->process].cpu_ns += thread->cpu_ns > thread->sampled_cpu_ns ? thread->cpu_ns : thread->sampled_cpu_ns;
	}
	for (size_t i = 0; i < source->process_count; i++)
		if (workers->all[i].cpu_ns < workers->all[i].sampled_ns)
			workers->all[i].cpu_ns = workers->all[i].sampled_ns;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool workers_want(void *context, const struct dw_sample_row *row)
{
	const struct workers *workers = context;

	return workers->number[workers->source->threads[row->thread].process] == workers->wanted;
}

static bool workers_want_main(void *context, const struct dw_sample_row *row)
{
	const struct workers *workers = context;
	const struct dw_source_thread *thread = &workers->source->threads[row->thread];

	return workers_want(context, row) && thread->tid == workers->source->processes[thread->process].pid;
}

/* "work (pool.py:5)"; "": not known. */
static bool workers_put_most(struct workers *workers, bool waits, char text[720])
{
	struct dw_hot_ask ask = { .waits = waits, .wants = waits ? workers_want_main : workers_want, .context = workers };
	struct dw_hot hot = { .rows = NULL };
	char function[400], place[300];

	*text = '\0';
	ask.by = dw_view_is_python(workers->source) ? DW_HOT_PYTHON : waits ? DW_HOT_OWN : 0;
	if (!dw_hot_make(&hot, workers->model, &ask))
		return false;
	if (hot.count) {
		dw_hot_place(&hot.rows[0], place, sizeof place);
		snprintf(text, 720, "%s%s%s%s", dw_hot_name(&hot.rows[0], function, sizeof function), *place ? " (" : "", place,
		         *place ? ")" : "");
	}
	dw_hot_reset(&hot);
	return true;
}

static void workers_say(struct dwell_table *table, const struct workers *workers, const struct workers_group *group)
{
	const struct dw_source_process *parent = workers_parent(workers->source, group->first->of);
	double mean = (double)group->cpu_ns / (double)group->count, most = (double)group->most_cpu_ns;
	double busy = group->lived_ns ? 100 * (double)group->cpu_ns / (double)group->lived_ns : 0;
	char uneven[200] = "their work is even";

	if (!(mean > 0))
		return;
	if (most > EVEN * mean)
		snprintf(uneven, sizeof uneven, "the busiest one computed for %s, %.1f times the mean: with even work it has %s less",
		         dw_text_ns(most, " ").at, most / mean, dw_text_ns(most - mean, " ").at);
	dw_table_head(table, "%zu workers of %s[%u] used a CPU for %.0f%% of their time; %s.", group->count, parent->label,
	              parent->pid, busy, uneven);
}

static void workers_put_row(struct dwell_table *table, const struct workers *workers, const struct workers_process *one, double mean)
{
	const struct dw_source_process *of = one->of;
	char name[300];

	snprintf(name, sizeof name, "%.250s[%u]", of->label, of->pid);
	DW_TABLE_PUT(table, 1, struct workers_cells, .name = DW_STRING(name), .lived_ns = DW_INT(workers_lived(of)),
	             .cpu_ns = DW_INT(one->cpu_ns), .busy = DW_PART(one->cpu_ns, workers_lived(of)),
	             .of_mean = mean > 0 ? DW_REAL((double)one->cpu_ns / mean) : DW_EMPTY, .waits_ns = DW_INT(one->waits_ns));
}

static void workers_put_group(struct dwell_table *table, struct workers *workers, const struct workers_group *group)
{
	double mean = (double)group->cpu_ns / (double)group->count;
	char most[720], wait[720], name[300];

	workers->wanted = workers->number[group->first->process];
	table->failed |= !workers_put_most(workers, false, most) || !workers_put_most(workers, true, wait);
	workers_say(table, workers, group);
	snprintf(name, sizeof name, "%.250s, each", group->first->of->label);
	DW_TABLE_PUT(table, 0, struct workers_cells, .name = DW_STRING(name), .count = DW_INT(group->count),
	             .lived_ns = DW_INT(group->lived_ns / group->count), .cpu_ns = DW_INT(llround(mean)),
	             .busy = DW_PART(group->cpu_ns, group->lived_ns), .waits_ns = DW_INT(group->waits_ns / group->count),
	             .most = *most ? DW_STRING(most) : DW_EMPTY, .wait = *wait ? DW_STRING(wait) : DW_EMPTY);
	for (size_t i = 0; i < group->count; i++)
		workers_put_row(table, workers, &group->first[i], mean);
}

static struct dwell_table *workers_view(struct dw_model *model, const struct dwell_view_options *options, struct dwell_error *error)
{
	struct dwell_table *table = DW_VIEW_CHOOSE("workers", columns, 0, error);
	struct workers workers = { .model = model, .source = dw_model_source(model) };
	size_t count = workers.source->process_count;

	if (!table)
		return NULL;
	table->failed |= !DW_NEW(&workers.all, count + 1) || !DW_NEW(&workers.groups, count + 1) || !DW_NEW(&workers.number, count + 1);
	for (uint32_t i = 0; !table->failed && i < count; i++)
		workers.all[workers.count++] = (struct workers_process){ .process = i, .of = &workers.source->processes[i] };
	if (!table->failed) {
		workers_add_times(&workers);
		workers_sort(&workers);
		workers_group_up(&workers);
	}
	for (size_t i = 0; i < workers.group_count && i < MOST_GROUPS; i++)
		workers_put_group(table, &workers, &workers.groups[i]);
	if (workers.group_count > MOST_GROUPS)
		dw_table_note(table, "%zu further groups used less CPU time.", workers.group_count - MOST_GROUPS);
	DW_FREE(workers.all, workers.groups, workers.number);
	return table;
}

bool dw_view_has_workers(const struct dw_source *source)
{
	for (size_t i = 1; i < source->process_count; i++) {
		const struct dw_source_process *a = &source->processes[i - 1], *b = &source->processes[i];

		if (a->pid != b->pid && workers_compare_kinds(a, b) == 0 && workers_parent(source, a))
			return true;
	}
	return false;
}

const struct dw_view dw_view_workers = {
	.name = "workers", .question = "do the processes of a pool do as much work each, and for what do they wait?",
	.run = workers_view, .row_name = "name", .row_ns = "cpu_ns", .limit = 40,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.needs_workers = true, .needs = "workers", .remedy = "it is for programs of which a process begins two others of one command",
};
