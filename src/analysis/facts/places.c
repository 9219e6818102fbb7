/*
 * Facts of places: the lines of the program that a time belongs to.
 *
 * The recorder sums up, for each pair of lines, the times from an operator to the next one, and for
 * each line its long operators (PLACE in doc/reference/format.md). The sums are of the whole run. A pair's time is
 * Python's as far as its thread ran or waited for a CPU, and waiting otherwise.
 *
 * A fact gets the lines that most of it belongs to. If no pair of lines has half of its time, it gets none:
 * one of many places would mislead.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "facts/parts.h"
#include "facts/sampled.h"
#include "facts/work.h"

#define MOST_OF DW_SAMPLED_MOST /* of a fact's time, which the named place has at least */

#define NO_PLACES "lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators"

enum places_part { PLACES_PYTHON, PLACES_WAITING, PLACES_ALL };

/* What a reader may ask of the places of a loop's thread. */
struct places_query {
	uint32_t kind;          /* DW_PLACE_* */
	bool in_steps, outside; /* which of their times count */
	enum places_part part;
	uint32_t symbol;        /* of a DW_PLACE_OPERATOR; DW_NO_INDEX: any */
};

/* Samples in the steps whose innermost range is an operator. */
struct places_sampled {
	struct samples_part steps;
	uint32_t row; /* of the operator's name */
};

/* How long the thread waited for a CPU, for each ns that it ran. */
static double places_delay(const struct dw_facts_work *work)
{
	double cpu_ns = 0, delay_ns = 0;

	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_usage_of *usage = &work->usages[work->steady[i] - work->all];

		cpu_ns += usage->cpu_ns;
		delay_ns += usage->delay_known ? usage->delay_ns : 0;
	}
	return cpu_ns > 0 ? delay_ns / cpu_ns : 0;
}

/* The part of a place's time in which the thread ran or waited for a CPU. Where CPU time was not read,
 * all of it. */
static double places_running(const struct dw_facts_work *work, const struct dw_source_place *place)
{
	double running_ns = (double)place->cpu_ns * (1 + places_delay(work));

	if (!place->cpu_wall_ns || running_ns >= (double)place->cpu_wall_ns)
		return 1;
	return running_ns / (double)place->cpu_wall_ns;
}

double dw_facts_place_ns(const struct dw_source_place *place)
{
	double all = (double)(place->step_ns + place->other_ns), longest = (double)place->longest_ns;

	if (place->count < 3 || longest > all)
		return all;
	return (all - longest) * (double)place->count / (double)(place->count - 1);
}

static double places_time(const struct dw_facts_work *work, const struct dw_source_place *place,
                          const struct places_query *query)
{
	double all = (double)(place->step_ns + place->other_ns);
	double part = (query->in_steps ? (double)place->step_ns : 0) + (query->outside ? (double)place->other_ns : 0);
	double time = all > 0 ? dw_facts_place_ns(place) * part / all : 0;

	if (query->part == PLACES_ALL)
		return time;
	return time * (query->part == PLACES_PYTHON ? places_running(work, place) : 1 - places_running(work, place));
}

static bool places_fit(const struct dw_facts_work *work, const struct dw_source_place *place,
                       const struct places_query *query)
{
	const struct dw_source_file *file =
	    &work->source->files[work->source->processes[work->source->threads[place->thread].process].file];

	if (place->thread != work->loop->thread || place->kind != query->kind || !place->from)
		return false;
	if (query->symbol == DW_NO_INDEX)
		return true;
	return place->op < file->symbol_count && file->symbols[place->op].name && work->symbols[query->symbol].name &&
	       strcmp(file->symbols[place->op].name, work->symbols[query->symbol].name) == 0;
}

/* The place with the most time. NULL: there is none. */
static const struct dw_source_place *places_largest(const struct dw_facts_work *work,
                                                    const struct places_query *query, double *ns)
{
	const struct dw_source *source = work->source;
	const struct dw_source_place *largest = NULL;

	*ns = 0;
	for (size_t i = 0; i < source->place_count; i++) {
		double time = places_fit(work, &source->places[i], query) ? places_time(work, &source->places[i], query) : 0;

		if (time > *ns) {
			*ns = time;
			largest = &source->places[i];
		}
	}
	return largest;
}

static const char *places_file(const struct dw_source_function *at)
{
	const char *slash = at->file ? strrchr(at->file, '/') : NULL;

	return slash ? slash + 1 : at->file ? at->file : "?";
}

int dw_facts_place_text(const struct dw_source_place *place, char text[DW_PLACE_TEXT])
{
	int length = snprintf(text, DW_PLACE_TEXT / 2, "%.150s:%u", places_file(place->from), place->from->line);

	if (place->to && (place->to->line != place->from->line ||
	                  strcmp(places_file(place->to), places_file(place->from)) != 0))
		length += snprintf(text + length, DW_PLACE_TEXT / 2, " and %.150s:%u", places_file(place->to), place->to->line);
	return length;
}

/* The same as a text that the model owns. NULL: out of memory. */
static const char *places_text(struct dw_facts_work *work, const struct dw_source_place *place)
{
	char text[DW_PLACE_TEXT];

	return dw_facts_text(work, text, (size_t)dw_facts_place_text(place, text));
}

/* Gives a fact of `whole_ns` its place. */
static void places_put(struct dw_facts_work *work, enum dw_fact_id id, double whole_ns,
                       const struct places_query *query)
{
	struct dw_fact *fact = &work->facts->at[id];
	const struct dw_source_place *place;
	double ns;

	if (!fact->measured || fact->where || !(fact->value * whole_ns > 0))
		return;
	place = places_largest(work, query, &ns);
	if (place && ns >= MOST_OF * fact->value * whole_ns)
		fact->where = places_text(work, place);
}

/* What is moved for an operator is where the largest of those is that move it. */
static void places_put_moved(struct dw_facts_work *work)
{
	static const enum dw_fact_id ids[] = { DW_FACT_OPERATORS_LAYOUT, DW_FACT_OPERATORS_COPIES, DW_FACT_OPERATORS_CLEARS };
	const struct dw_fact *largest = &work->facts->at[ids[0]];

	for (size_t i = 1; i < sizeof ids / sizeof *ids; i++)
		if (work->facts->at[ids[i]].measured && !(work->facts->at[ids[i]].value <= largest->value))
			largest = &work->facts->at[ids[i]];
	work->facts->at[DW_FACT_OPERATORS_MOVED].where = largest->where;
}

/* ---- operators ------------------------------------------------------------------------------- */

static bool places_is_in_operator(void *context, const struct dw_sample_row *row)
{
	const struct places_sampled *of = context;

	return row->range != DW_NO_INDEX && dw_facts_sample_wanted((void *)&of->steps, row) &&
	       dw_model_symbol_row(of->steps.work->model, row->range) == of->row;
}

/* The self time of an operator of the usual steps. */
static double places_self_ns(const struct dw_facts_work *work, const char *name)
{
	for (size_t i = 0; i < work->loop->operator_count; i++)
		if (strcmp(work->symbols[work->loop->operators[i].symbol].name, name) == 0)
			return (double)work->loop->operators[i].ns;
	return 0;
}

/* Which operator the program calls at a line, if it is composed of others, and takes most of what the inner one takes. NULL: none. */
static const char *places_called(const struct dw_facts_work *work, const char *file, uint32_t line, double inner_ns)
{
	const struct places_query query = { .kind = DW_PLACE_OPERATOR, .in_steps = true, .part = PLACES_ALL, .symbol = DW_NO_INDEX };
	const char *called = NULL;
	double most_ns = MOST_OF * inner_ns, called_ns = 0;

	for (size_t i = 0; i < work->source->place_count; i++) {
		const struct dw_source_place *place = &work->source->places[i];
		const struct dw_source_file *of;
		double ns;

		if (!places_fit(work, place, &query) || place->from->line != line || !dw_text_same(place->from->file, file))
			continue;
		of = &work->source->files[work->source->processes[work->source->threads[place->thread].process].file];
		ns = places_time(work, place, &query);
		if (ns >= most_ns && place->op < of->symbol_count && of->symbols[place->op].name) {
			most_ns = called_ns = ns;
			called = of->symbols[place->op].name;
		}
	}
	return called && places_self_ns(work, called) < (1 - MOST_OF) * called_ns ? called : NULL;
}

/* "Index.search (serve.py:58), which calls aten::cosine_similarity": where an operator is called. NULL: out of memory. */
static const char *places_write_caller(struct dw_facts_work *work, const struct dw_fact *fact, double whole_ns,
                                       const struct dw_sampled_function *from)
{
	const char *called = places_called(work, from->file, from->line, fact->value * whole_ns);
	const char *place = dw_sampled_text(work, from);
	char text[DW_PLACE_TEXT];

	if (!called || !place || strcmp(called, fact->name) == 0)
		return place;
	return dw_facts_text(work, text, (size_t)snprintf(text, sizeof text, "%s, which calls %.60s", place, called));
}

/* By the lines that the recorder summed up, or by samples within the operator. */
static void places_put_operator(struct dw_facts_work *work, enum dw_fact_id id, double steps_ns)
{
	struct dw_fact *fact = &work->facts->at[id];
	struct places_query query = { .kind = DW_PLACE_OPERATOR, .in_steps = true, .part = PLACES_ALL, .symbol = fact->symbol };
	struct places_sampled of = { { work, true, false, UINT32_MAX, DW_NO_INDEX }, 0 };
	struct dw_sampled_function from = { .name = NULL };
	const struct dw_sampled_function *caller = &from;
	const struct dw_source_place *place;
	struct dw_sampled sampled;
	double ns;

	if (!fact->measured || fact->where || fact->symbol == DW_NO_INDEX || !work->python || !(fact->value * steps_ns > 0))
		return;
	place = places_largest(work, &query, &ns);
	if (place && place->from->file && ns >= MOST_OF * fact->value * steps_ns) {
		from = (struct dw_sampled_function){ .name = place->from->name, .file = place->from->file, .line = place->from->line };
	} else {
		of.row = dw_model_symbol_row(work->model, fact->symbol);
		dw_sampled_find(work, places_is_in_operator, &of, &sampled);
		caller = dw_sampled_caller(&sampled);
	}
	if (caller)
		fact->where = places_write_caller(work, fact, steps_ns, caller);
}

static void places_put_operators(struct dw_facts_work *work, double steps_ns)
{
	static const enum dw_fact_id ids[] = {
		DW_FACT_OPERATORS_LARGEST, DW_FACT_OPERATORS_UNCOMMON, DW_FACT_OPERATORS_SYNCHRONISING,
		DW_FACT_OPERATORS_LAYOUT,  DW_FACT_OPERATORS_COPIES, DW_FACT_OPERATORS_CLEARS,  DW_FACT_OPERATORS_ELEMENTWISE,
		DW_FACT_OPERATORS_FLOAT64,
	};

	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		places_put_operator(work, ids[i], steps_ns);
	places_put_moved(work);
}

/* ---- pairs of lines -------------------------------------------------------------------------- */

/* Facts of the pairs of lines themselves. */
static void places_put_largest(struct dw_facts_work *work)
{
	const struct places_query query = { .kind = DW_PLACE_BETWEEN, .in_steps = true, .outside = true,
		                                .part = PLACES_ALL, .symbol = DW_NO_INDEX };
	const struct dw_source_place *place;
	double largest_ns, all_ns = 0, counts = 0;
	struct dw_fact *fact;

	place = places_largest(work, &query, &largest_ns);
	if (!place || !(work->loop_ns > 0)) {
		for (unsigned id = DW_FACT_PLACES_BETWEEN; id <= DW_FACT_PLACES_PYTHON; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, place ? "only part of the run is in scope" : NO_PLACES);
		return;
	}
	for (size_t i = 0; i < work->source->place_count; i++)
		if (places_fit(work, &work->source->places[i], &query)) {
			all_ns += places_time(work, &work->source->places[i], &query);
			counts += (double)work->source->places[i].count;
		}
	dw_fact_set_share(work, DW_FACT_PLACES_BETWEEN, all_ns, work->loop_ns * work->sampled, (size_t)counts);
	fact = dw_fact_set_share(work, DW_FACT_PLACES_LARGEST, largest_ns, work->loop_ns * work->sampled,
	                         (size_t)place->count);
	fact->where = places_text(work, place);
	dw_fact_set(work, DW_FACT_PLACES_LARGEST_LONGEST, (double)place->longest_ns, 1);
}

/* The long times between operators in steps, in which the thread ran. */
static void places_put_python(struct dw_facts_work *work, double steps_ns)
{
	const struct places_query query = { DW_PLACE_BETWEEN, true, false, PLACES_PYTHON, DW_NO_INDEX };
	double ns = 0;

	if (!work->facts->at[DW_FACT_PLACES_BETWEEN].measured)
		return;
	for (size_t i = 0; i < work->source->place_count; i++)
		if (places_fit(work, &work->source->places[i], &query))
			ns += places_time(work, &work->source->places[i], &query);
	dw_fact_set_share(work, DW_FACT_PLACES_PYTHON, ns, steps_ns, work->loop->count);
}

/* In a C program a range has the line of its probe. In Python these are lines of dwell's own probes;
 * and of a function, the line is that of its definition. */
static void places_put_probe(struct dw_facts_work *work, struct dw_fact *fact)
{
	const struct dw_symbol *symbol = fact->symbol == DW_NO_INDEX ? NULL : &work->symbols[fact->symbol];
	struct dw_source_function line = { .name = "" };
	const struct dw_source_place place = { .from = &line };

	if (!fact->measured || fact->where || !symbol || !symbol->file || !symbol->line ||
	    symbol->category == DWELL_CATEGORY_FUNCTION)
		return;
	line.file = symbol->file;
	line.line = symbol->line;
	fact->where = places_text(work, &place);
}

void dw_facts_of_places(struct dw_facts_work *work)
{
	const struct places_query python = { DW_PLACE_BETWEEN, true, false, PLACES_PYTHON, DW_NO_INDEX };
	const struct places_query waiting = { DW_PLACE_BETWEEN, true, false, PLACES_WAITING, DW_NO_INDEX };
	const struct places_query python_outside = { DW_PLACE_BETWEEN, false, true, PLACES_PYTHON, DW_NO_INDEX };
	const struct places_query waiting_outside = { DW_PLACE_BETWEEN, false, true, PLACES_WAITING, DW_NO_INDEX };
	const struct places_query data = { DW_PLACE_DATA, true, false, PLACES_ALL, DW_NO_INDEX };
	const struct places_query operators = { DW_PLACE_OPERATOR, false, true, PLACES_ALL, DW_NO_INDEX };
	double steps_ns = 0, loop_ns = work->loop_ns * work->sampled;

	for (size_t i = 0; i < work->loop->count; i++)
		steps_ns += work->all[i].reduced ? 0 : (double)(work->all[i].end_ns - work->all[i].start_ns);
	places_put_largest(work);
	places_put_python(work, steps_ns);
	places_put(work, DW_FACT_STEP_PYTHON, steps_ns, &python);
	places_put(work, DW_FACT_STEP_IDLE, steps_ns, &waiting);
	places_put(work, DW_FACT_LOADER_IN_PROCESS, steps_ns, &data);
	places_put_operators(work, steps_ns);
	places_put(work, DW_FACT_LOOP_PYTHON, loop_ns, &python_outside);
	places_put(work, DW_FACT_LOOP_WAITING, loop_ns, &waiting_outside);
	places_put(work, DW_FACT_LOOP_OPERATORS, loop_ns, &operators);
	for (unsigned id = 0; !work->python && id < DW_FACT_COUNT; id++)
		places_put_probe(work, &work->facts->at[id]);
}
