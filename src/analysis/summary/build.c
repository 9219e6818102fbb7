/* Makes the summary of a run: one entry for each of its processes that has steps. */

#include <signal.h>
#include <stdio.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/order.h"
#include "format/keys.h"
#include "model/collectives/rounds.h"
#include "model/joint/joint.h"
#include "model/memory/memory.h"
#include "summary/summary.h"

#define MOST_TEXT 255u /* bytes of a name */

/* Four buckets an octave; the bounds within an octave are 2^(k/4), as fractions of 2^63. */
static unsigned build_bucket(uint64_t ns)
{
	static const uint64_t quarters[] = { 0x9837f0518db8a96fu, 0xb504f333f9de6484u, 0xd744fccad69d6af4u };
	unsigned octave, bucket;
	uint64_t fraction;

	if (ns < 256)
		return 0;
	octave = 63u - (unsigned)__builtin_clzll(ns);
	fraction = ns << (63u - octave);
	bucket = (octave - 8) * 4;
	for (unsigned i = 0; i < 3; i++)
		bucket += fraction >= quarters[i];
	return bucket < DW_SUMMARY_BUCKETS ? bucket : DW_SUMMARY_BUCKETS - 1;
}

static const char *build_text(struct dw_summary *summary, const char *text)
{
	return dw_summary_text(summary, text, MOST_TEXT);
}

/* ---- spans --------------------------------------------------------------------------------------
 */

static void span_add(struct dw_summary_span *span, const struct dw_divided_step *divided, uint64_t between_ns)
{
	uint64_t ns = divided->step->end_ns - divided->step->start_ns;

	span->steps++;
	span->ns += ns;
	span->between_ns += between_ns;
	if (ns > span->longest_ns) {
		span->longest_ns = ns;
		span->longest = divided->step->number;
	}
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		span->part_ns[p] += divided->part_ns[p];
}

/* How many steps a span must have so that there are at most DW_SUMMARY_SPANS. */
static unsigned build_width(const struct dw_divided_loop *loop)
{
	uint64_t first = UINT64_MAX, last = 0;
	unsigned log2 = 0;

	for (size_t i = 0; i < loop->count; i++) {
		uint64_t number = loop->steps[i].step->number;

		if (loop->steps[i].alone)
			continue;
		first = number < first ? number : first;
		last = number > last ? number : last;
	}
	while (loop->count && (last >> log2) - (first >> log2) >= DW_SUMMARY_SPANS)
		log2++;
	return log2;
}

DW_ORDER(build_span_compare, struct dw_summary_span, DW_UP(index))

/* Steps of a thread are in order of time, and almost always of number too. */
static void build_spans(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_divided_loop *loop,
                        const uint64_t *between_ns, uint64_t from)
{
	size_t most = loop->count < DW_SUMMARY_SPANS ? loop->count : DW_SUMMARY_SPANS;
	struct dw_summary_span *spans = dw_arena_alloc(&summary->arena, (most + 1) * sizeof *spans);

	summary->failed |= !spans;
	rank->span_log2 = build_width(loop);
	rank->spans = spans;
	for (size_t i = 0; spans && i < loop->count; i++) {
		uint64_t index = loop->steps[i].step->number >> rank->span_log2;
		size_t at = rank->span_count;

		if (loop->steps[i].warm_up || loop->steps[i].alone || loop->steps[i].step->number < from)
			continue; /* not in the sums */
		while (at && spans[at - 1].index != index && spans[at - 1].index > index)
			at--;
		if (!at || spans[at - 1].index != index) {
			at = rank->span_count++;
			spans[at].index = index;
			span_add(&spans[at], &loop->steps[i], between_ns[i]);
			if (at && spans[at - 1].index > index)
				DW_SORT(spans, rank->span_count, build_span_compare);
		} else {
			span_add(&spans[at - 1], &loop->steps[i], between_ns[i]);
		}
	}
}

/* The longest steps without operators, from step `from` on. Their communication is known, so that it is known which rank others
 * waited for. */
static void build_alone(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_divided_loop *loop,
                        const uint64_t *between_ns, uint64_t from)
{
	const size_t space = 2 * (size_t)DW_SUMMARY_ALONE;

	rank->alone = dw_arena_alloc(&summary->arena, space * sizeof *rank->alone);
	summary->failed |= !rank->alone;
	for (size_t i = 0; rank->alone && i < loop->count; i++) {
		struct dw_summary_span *span;

		if (!loop->steps[i].alone || loop->steps[i].step->number < from)
			continue;
		if (rank->alone_count == space)
			dw_summary_thin_alone(rank);
		span = &rank->alone[rank->alone_count];
		*span = (struct dw_summary_span){ .index = loop->steps[i].step->number };
		span_add(span, &loop->steps[i], between_ns[i]);
		rank->alone_count++;
	}
	dw_summary_thin_alone(rank);
}

/* ---- names --------------------------------------------------------------------------------------
 */

DW_ORDER(build_row_compare, struct dw_loop_row, DW_DOWN(ns) DW_UP(symbol))

/* The time of the program's own ranges in the counted steps, as far as no operator, layer or phase has it, by symbol.
 * In the mean step, times the usual steps, of which the operators are sums. */
static size_t build_add_ranges(struct dw_loop_row *rows, size_t count, const struct dw_divided_loop *divided,
                               uint64_t steps, size_t symbol_count)
{
	uint64_t *ns = calloc(symbol_count + 1, sizeof *ns), counted = 0;

	for (size_t i = 0; ns && i < divided->count; i++) {
		const struct dw_step *step = divided->steps[i].step;

		if (divided->steps[i].warm_up || divided->steps[i].alone)
			continue;
		counted++;
		for (uint32_t part = 0; part < step->part_count; part++)
			ns[step->parts[part].symbol] += step->parts[part].ns;
	}
	for (uint32_t symbol = 0; ns && counted && symbol < symbol_count; symbol++)
		if (ns[symbol])
			rows[count++] = (struct dw_loop_row){
				.symbol = symbol, .ns = (uint64_t)((double)ns[symbol] / (double)counted * (double)steps), .count = steps
			};
	free(ns);
	return count;
}

static void build_names(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_divided_loop *divided,
                        const struct dw_symbol *symbols, size_t symbol_count)
{
	const struct dw_loop *loop = divided->loop;
	size_t count = loop->operator_count;
	struct dw_loop_row *rows = calloc(count + symbol_count + 1, sizeof *rows);

	rank->named_steps = loop->usual_count ? loop->usual_count : rank->steps;
	rank->names = dw_arena_alloc(&summary->arena, (DW_SUMMARY_NAMES + 1) * sizeof *rank->names);
	summary->failed |= !rank->names || !rows;
	if (rows && count)
		memcpy(rows, loop->operators, count * sizeof *rows);
	if (rows)
		count = build_add_ranges(rows, count, divided, rank->named_steps, symbol_count);
	if (rows)
		DW_SORT(rows, count, build_row_compare);
	for (size_t i = 0; rank->names && rows && i < count; i++) {
		const struct dw_loop_row *row = &rows[i];

		if (i >= DW_SUMMARY_NAMES) {
			rank->other_ns += row->ns;
			continue;
		}
		rank->names[rank->name_count++] =
			(struct dw_summary_name){ build_text(summary, symbols[row->symbol].name),
			                          symbols[row->symbol].category == DWELL_CATEGORY_COMMUNICATION, row->count,
			                          row->ns };
	}
	free(rows);
}

DW_ORDER(build_place_compare, struct dw_summary_name, DW_DOWN(self_ns) DW_TEXT(name))

/* The pairs of lines of the loop's thread with the most time between them. */
static void build_places(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_source *source,
                         uint32_t thread)
{
	struct dw_summary_name *all = calloc(source->place_count + 1, sizeof *all);
	char text[DW_PLACE_TEXT];
	size_t count = 0;

	rank->places = dw_arena_alloc(&summary->arena, DW_SUMMARY_PLACES * sizeof *rank->places);
	summary->failed |= !all || !rank->places;
	for (size_t i = 0; all && i < source->place_count; i++) {
		const struct dw_source_place *place = &source->places[i];

		if (place->thread != thread || place->kind != DW_PLACE_BETWEEN || !place->from)
			continue;
		dw_facts_place_text(place, text);
		all[count++] = (struct dw_summary_name){ build_text(summary, text), false, place->count,
			                                     (uint64_t)dw_facts_place_ns(place) };
	}
	DW_SORT(all, count, build_place_compare);
	for (size_t i = 0; rank->places && i < count && i < DW_SUMMARY_PLACES; i++)
		rank->places[rank->place_count++] = all[i];
	free(all);
}

/* ---- a rank -------------------------------------------------------------------------------------
 */

static void build_durations(struct dw_summary *summary, struct dw_summary_rank *rank, const uint64_t *counts)
{
	rank->durations = dw_arena_alloc(&summary->arena, DW_SUMMARY_BUCKETS * sizeof *rank->durations);
	summary->failed |= !rank->durations;
	for (uint32_t bucket = 0; rank->durations && bucket < DW_SUMMARY_BUCKETS; bucket++)
		if (counts[bucket])
			rank->durations[rank->duration_count++] = (struct dw_summary_bucket){ bucket, counts[bucket] };
}

/* Steps with numbers below `from` were counted before. */
static void build_steps(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_divided_loop *divided,
                        const struct dw_step *all, uint64_t from)
{
	const struct dw_loop *loop = divided->loop;
	uint64_t counts[DW_SUMMARY_BUCKETS] = { 0 }, counted = 0, begun = 0, first = UINT64_MAX;

	for (size_t i = 0; i < divided->count; i++) {
		uint64_t ns = divided->steps[i].step->end_ns - divided->steps[i].step->start_ns;

		if (divided->steps[i].step->number < from || divided->steps[i].alone)
			continue;
		counted++;
		if (divided->steps[i].warm_up) {
			rank->warm_up_steps++;
			rank->warm_up_ns += ns;
			continue;
		}
		rank->steps++;
		rank->ns += ns;
		counts[build_bucket(ns)]++;
	}
	build_durations(summary, rank, counts);
	for (size_t i = 0; i < loop->count; i++) {
		const struct dw_step *step = &all[loop->first_step + i];

		begun += step->number >= from;
		first = step->number >= from && step->number < first ? step->number : first;
		if (step->number >= rank->last_step) {
			rank->last_step = step->number;
			rank->last_open = step->open;
		}
	}
	/* Of a run that was summarised before, those that have left the trace since are missing, too. */
	rank->missing_steps = begun - counted + (from && begun ? first - from : 0);
	rank->wall_ns = loop->end_ns - loop->start_ns;
}

/* How the process ended, if dwell run started it. Of a launcher's processes it is known that none failed if the
 * launcher did not. */
static void build_end(struct dw_summary_rank *rank, const struct dw_source *source,
                      const struct dw_source_process *process)
{
	for (size_t i = 0; i < source->meta_count; i++) {
		const struct dw_source_meta *meta = &source->metas[i];
		unsigned number, pid;

		if (strcmp(meta->key, DW_KEY_STATUS) != 0 || source->processes[meta->process].file != process->file)
			continue;
		if (sscanf(meta->value, "{\"signal\":%u,\"pid\":%u}", &number, &pid) == 2)
			rank->failed = pid == process->pid ? DW_SUMMARY_SIGNAL + number : 0;
		else if (sscanf(meta->value, "{\"exit\":%u,\"pid\":%u}", &number, &pid) != 2)
			continue;
		else if (pid == process->pid)
			rank->failed = number;
		if (meta->value[2] == 'e' && !number)
			rank->well = pid == process->pid ? DW_WELL_ITSELF : DW_WELL_LAUNCHER;
		else if (pid != process->pid)
			rank->well = DW_WELL_LAUNCHER_FAILED;
	}
}

struct dw_summary_failure dw_summary_failure(uint32_t failed)
{
	struct dw_summary_failure text = { "" };

	if (failed > DW_SUMMARY_SIGNAL)
		snprintf(text.at, sizeof text.at, ", by signal %u (%s)", failed - DW_SUMMARY_SIGNAL,
		         strsignal((int)(failed - DW_SUMMARY_SIGNAL)));
	else if (failed)
		snprintf(text.at, sizeof text.at, ", with exit status %u", failed);
	return text;
}

unsigned dw_summary_failure_order(uint32_t failed)
{
	if (failed == DW_SUMMARY_SIGNAL + SIGTERM)
		return 2;
	return failed > DW_SUMMARY_SIGNAL ? 0 : 1;
}

static void build_process(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_source *source,
                          uint32_t process)
{
	const struct dw_source_process *from = &source->processes[process];
	const struct dw_head *head = source->files[from->file].head;
	char host[sizeof head->hostname + 1] = "";

	if (head)
		memcpy(host, head->hostname, sizeof head->hostname);
	*rank = (struct dw_summary_rank){ .job = build_text(summary, from->job),
		                              .host = build_text(summary, host),
		                              .command = build_text(summary, from->label),
		                              .rank = from->rank,
		                              .local_rank = from->local_rank,
		                              .world_size = from->world_size,
		                              .pid = from->pid,
		                              .start_ns = source->realtime_start_ns + from->start_ns };
	build_end(rank, source, from);
	for (size_t i = 0; i < source->thread_count; i++)
		for (unsigned cause = 0; source->threads[i].process == process && cause < DW_LOSS_SLOTS; cause++)
			rank->lost[cause] += source->threads[i].lost[cause];
}

static void build_unrecorded(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_source *source,
                             uint32_t process)
{
	rank->unrecorded = dw_arena_alloc(&summary->arena, DW_UNRECORDED_MOST * sizeof *rank->unrecorded);
	summary->failed |= !rank->unrecorded;
	if (rank->unrecorded)
		rank->unrecorded_count = dw_source_unrecorded(source, process, rank->unrecorded);
	for (size_t i = 0; i < rank->unrecorded_count; i++)
		rank->unrecorded[i].why = build_text(summary, rank->unrecorded[i].why);
}

/* The pools of a process have their peaks at different times, so this is an upper bound if it has
 * several. The heap contains what others on the CPU have, and comes last. Nothing is walked if no allocation is
 * recorded. */
static bool build_memory(struct dw_summary_rank *rank, struct dw_model *model, uint32_t process,
                         struct dwell_error *error)
{
	const struct dw_memory *memory;
	const struct dw_symbol *symbols;
	size_t count, at = 0;

	symbols = dw_model_symbols(model, &count);
	while (at < count && symbols[at].category != DWELL_CATEGORY_ALLOCATION)
		at++;
	if (at == count)
		return true;
	memory = dw_model_memory(model, error);
	for (size_t i = 0; memory && i < memory->pool_count; i++)
		if (memory->pools[i].process == process && !(memory->pools[i].sampled && rank->memory_peak_bytes)) {
			const struct dw_memory_pool *pool = &memory->pools[i];

			rank->memory_peak_bytes += pool->all.at_peak_bytes;
			rank->allocated_bytes += pool->all.allocated_bytes;
			rank->input_bytes += pool->kinds[DW_MEMORY_INPUT].allocated_bytes;
		}
	return memory != NULL;
}

/* Where no step ended, one that did not end is counted, too. An earlier summary has steps that ended. */
static void build_drop_open(struct dw_divided_loop *divided)
{
	size_t kept = 0;

	for (size_t i = 0; i < divided->count; i++)
		if (!divided->steps[i].step->open)
			divided->steps[kept++] = divided->steps[i];
	divided->count = kept;
}

/* `ranks`: by thread, the rank of the thread's loop in the summary. */
static bool build_loop(struct dw_summary *summary, struct dw_model *model, uint32_t *ranks,
                       struct dw_divided_loop *divided, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	uint32_t process = source->threads[divided->loop->thread].process;
	const struct dw_summary_rank *before;
	const struct dw_symbol *symbols;
	struct dw_summary_rank *rank;
	uint64_t *between_ns, from;
	size_t symbol_count;
	bool good;

	for (size_t i = 0; i < source->thread_count; i++)
		if (ranks[i] != DW_NO_INDEX && source->threads[i].process == process)
			return true; /* a process has one main loop */
	rank = DW_GROW(&summary->ranks, &summary->capacity, summary->count);
	if (!rank)
		return false;
	ranks[divided->loop->thread] = (uint32_t)summary->count++;
	build_process(summary, rank, source, process);
	build_unrecorded(summary, rank, source, process);
	before = dw_summary_before(summary->before, rank);
	from = before ? dw_summary_next_step(before) : 0;
	if (before && before->steps)
		build_drop_open(divided);
	build_steps(summary, rank, divided, steps->steps, from);
	rank->loop_end_ns = source->realtime_start_ns + divided->loop->end_ns;
	between_ns = calloc(divided->count + 1, sizeof *between_ns);
	good = between_ns && dw_summary_find_between(model, process, divided, steps->steps, between_ns, error);
	if (good)
		build_spans(summary, rank, divided, between_ns, from);
	if (good)
		build_alone(summary, rank, divided, between_ns, from);
	free(between_ns);
	symbols = dw_model_symbols(model, &symbol_count);
	build_names(summary, rank, divided, symbols, symbol_count);
	build_places(summary, rank, source, divided->loop->thread);
	return good && build_memory(rank, model, process, error) &&
	       dw_summary_add_layers(summary, rank, model, divided, error) &&
	       dw_summary_add_functions(summary, rank, model, divided->loop, error) &&
	       dw_summary_add_collectives(summary, rank, model, process, divided->loop, error) && !summary->failed;
}

/* Whether the job may have been killed or may hang: a step or the recording did not end, or dwell run says so. */
static bool build_is_cut(const struct dw_source *source)
{
	bool cut = false;

	for (size_t i = 0; i < source->step_count; i++)
		cut |= source->steps[i].open;
	for (size_t i = 0; i < source->file_count; i++)
		cut |= source->files[i].head && !(source->files[i].head->flags & DW_HEAD_FINISHED);
	for (size_t i = 0; i < source->meta_count; i++)
		cut |= strcmp(source->metas[i].key, DW_KEY_STATUS) == 0 && strncmp(source->metas[i].value, "{\"exit\":0,", 10) != 0;
	return cut;
}

/* Adds the loops of a model that has steps. `rounds`: these are rounds; or NULL. */
static bool build_loops(struct dw_summary *summary, struct dw_model *model, const struct dw_rounds *rounds, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	uint32_t *ranks = malloc((source->thread_count + 1) * sizeof *ranks);
	size_t loops = 1, before = summary->count;
	bool good = ranks && dw_model_steps(model, error);

	for (size_t i = 0; ranks && i < source->thread_count; i++)
		ranks[i] = DW_NO_INDEX;
	/* Loops come by descending number of steps: the first of a process is its main loop. */
	for (size_t i = 0; good && i < loops; i++) {
		struct dw_divided_loop divided;

		good = dw_facts_divide_loop(model, i, &divided, error);
		loops = divided.loop_count;
		if (good && divided.loop)
			good = build_loop(summary, model, ranks, &divided, error);
		free(divided.steps);
	}
	for (size_t i = 0; good && rounds && i < source->thread_count; i++)
		if (ranks[i] != DW_NO_INDEX)
			summary->ranks[ranks[i]].round_collectives = rounds->widths[source->threads[i].process];
	if (good && summary->count > before && build_is_cut(source))
		good = dw_summary_add_where(summary, model, ranks, error);
	free(ranks);
	return good;
}

bool dw_summary_add_model(struct dw_summary *summary, struct dw_model *model, struct dwell_error *error)
{
	const struct dw_rounds *rounds = NULL;
	bool good;

	if (summary->before) /* where ranks are now may be after all steps */
		dw_model_extend_scope(model);
	good = !dw_model_compute_ranks_together(model, error);
	if (good) {
		rounds = dw_model_rounds(model, error);
		good = rounds != NULL;
	}
	if (good && rounds->model)
		model = rounds->model;
	else
		rounds = NULL;
	if (good && !dw_model_source(model)->step_count)
		model = NULL;
	if (good && model)
		good = build_loops(summary, model, rounds, error);
	if (!good)
		dw_error_set(error, DWELL_E_NOMEM, "no memory for a summary");
	return good;
}
