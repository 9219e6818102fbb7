/*
 * sequence: which operators does a step run, in order, and what does each take?
 *
 * There is one row per position. Repeated blocks are folded into one, with the time of all
 * repetitions. With --sort, and in CSV and JSON, every position has a row of its own.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "model/device/device.h"
#include "model/sequence/sequence.h"
#include "views/columns.h"

struct sequence_cells {
	struct dw_cell name, op_id, phase, repeats, iterations, mean_ns, min_ns, max_ns, p99_ns, std_ns, share, drift,
		device_ns, device_events;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct sequence_cells, name, "operator", NONE, TEXT, .total_text = "all operators"),
	DW_FIELD(struct sequence_cells, op_id, "OP_ID", NONE, INT),
	DW_FIELD(struct sequence_cells, phase, "phase", NONE, TEXT, .data_only = true),
	DW_FIELD(struct sequence_cells, repeats, "repeats", COUNT, INT, .data_only = true),
	DW_FIELD(struct sequence_cells, iterations, "iterations", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct sequence_cells, mean_ns, "mean", NS, REAL, .total = DW_TOTAL_OWN),
	DW_FIELD(struct sequence_cells, min_ns, "min", NS, INT, .wide_only = true),
	DW_FIELD(struct sequence_cells, max_ns, "max", NS, INT, .wide_only = true),
	DW_FIELD(struct sequence_cells, p99_ns, "p99", NS, INT),
	DW_FIELD(struct sequence_cells, std_ns, "std", NS, REAL),
	DW_FIELD(struct sequence_cells, share, "of a step", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct sequence_cells, drift, "drift", RATIO, REAL, .of = "its median time"),
	/* only if the run has events of devices: an iteration's, of all that the operator called */
	DW_FIELD(struct sequence_cells, device_ns, "device", NS, REAL, .only = DW_HAS_DEVICE, .total = DW_TOTAL_OWN),
	DW_FIELD(struct sequence_cells, device_events, "device events", COUNT, REAL, .only = DW_HAS_DEVICE,
	         .total = DW_TOTAL_OWN, .wide_only = true),
};

struct answer {
	struct dwell_table *table;
	const struct dw_sequence *sequence;
	const struct dw_symbol *symbols;
	bool device; /* the run has events of devices */
};

/* ---- rows ---------------------------------------------------------------------------- */

static double sequence_share_of(const struct dw_sequence *sequence, double ns)
{
	return ns / (sequence->iteration_ns * (double)sequence->iterations);
}

/* What an iteration has of a sum; `iterations`: how many timed iterations have it, with all repetitions. */
static struct dw_cell sequence_per_iteration(uint64_t sum, uint64_t events, double iterations)
{
	return events ? DW_REAL((double)sum / iterations) : DW_EMPTY;
}

static void sequence_put_op(struct answer *answer, const struct dw_sequence_op *op, uint32_t id,
                            uint32_t repeats, int depth)
{
	static const char *const phases[] = { NULL, "forward", "backward", "other" };
	const char *name = answer->symbols[op->symbol].name;

	/* A repeated block of one operator has no heading: its own row shows the count. */
	if (repeats > 1 && !depth)
		name = dw_arena_printf(&answer->table->arena, "%s x%u", name, repeats);
	DW_TABLE_PUT(answer->table, depth, struct sequence_cells, .name = DW_STRING(name ? name : ""), .op_id = DW_INT(id),
	             .phase = DW_STRING(phases[op->phase]), .repeats = DW_INT(repeats),
	             .iterations = DW_INT(op->stat.count / repeats), .mean_ns = DW_REAL(op->mean_ns),
	             .min_ns = DW_INT(op->stat.min_ns), .max_ns = DW_INT(op->stat.max_ns),
	             .p99_ns = DW_INT(op->stat.p99_ns), .std_ns = DW_REAL(op->std_ns),
	             .share = DW_REAL(sequence_share_of(answer->sequence, (double)op->stat.total_ns)),
	             .drift = op->drifts ? DW_REAL(op->drift) : DW_EMPTY,
	             .device_ns = sequence_per_iteration(op->device_ns, op->device_events, (double)op->stat.count),
	             .device_events = sequence_per_iteration(op->device_events, op->device_events, (double)op->stat.count));
}

static void sequence_put_block(struct answer *answer, const struct dw_sequence_block *block)
{
	struct dwell_table *table = answer->table;
	double mean_ns = 0, total_ns = 0;
	uint64_t device_ns = 0, device_events = 0;
	const char *name;

	if (!block->ops[0].stat.count)
		return; /* this part is about skipped iterations */
	if (block->length == 1) {
		sequence_put_op(answer, &block->ops[0], block->first, block->repeats, 0);
		return;
	}
	for (uint32_t i = 0; i < block->length; i++) {
		mean_ns += block->ops[i].mean_ns;
		total_ns += (double)block->ops[i].stat.total_ns;
		device_ns += block->ops[i].device_ns;
		device_events += block->ops[i].device_events;
	}
	name = dw_arena_printf(&table->arena, "x%u: %u operators", block->repeats, block->length);
	DW_TABLE_PUT(table, 0, struct sequence_cells, .name = DW_STRING(name ? name : ""), .op_id = DW_INT(block->first),
	             .repeats = DW_INT(block->repeats), .mean_ns = DW_REAL(mean_ns),
	             .share = DW_REAL(sequence_share_of(answer->sequence, total_ns)),
	             .device_ns = sequence_per_iteration(device_ns, device_events, (double)block->ops[0].stat.count),
	             .device_events =
	                 sequence_per_iteration(device_events, device_events, (double)block->ops[0].stat.count));
	for (uint32_t i = 0; i < block->length; i++)
		sequence_put_op(answer, &block->ops[i], block->first + i, block->repeats, 1);
}

static void sequence_fill_row(struct answer *answer, bool folded)
{
	const struct dw_sequence *sequence = answer->sequence;
	uint32_t block = 0;

	for (uint32_t i = 0; i < sequence->count;) {
		if (folded && block < sequence->block_count && i == sequence->blocks[block].first) {
			sequence_put_block(answer, &sequence->blocks[block]);
			i += sequence->blocks[block].length * sequence->blocks[block].repeats;
			block++;
			continue;
		}
		if (sequence->ops[i].stat.count)
			sequence_put_op(answer, &sequence->ops[i], i, 1, 0);
		i++;
	}
}

static void sequence_fill_totals(struct answer *answer)
{
	const struct dw_sequence *sequence = answer->sequence;
	uint64_t device_ns = 0, device_events = 0;
	double total_ns = 0;

	for (uint32_t i = 0; i < sequence->count; i++) {
		total_ns += (double)sequence->ops[i].stat.total_ns;
		device_ns += sequence->ops[i].device_ns;
		device_events += sequence->ops[i].device_events;
	}
	DW_TABLE_PUT_TOTALS(answer->table, struct sequence_cells, .iterations = DW_INT(sequence->iterations),
	                    .mean_ns = DW_REAL(total_ns / (double)sequence->iterations),
	                    .share = DW_REAL(sequence_share_of(sequence, total_ns)),
	                    .device_ns = sequence_per_iteration(device_ns, device_events, (double)sequence->iterations),
	                    .device_events =
	                        sequence_per_iteration(device_events, device_events, (double)sequence->iterations));
}

/* ---- sentences ----------------------------------------------------------------------- */

static void sequence_say_iterations(struct dwell_table *table, const struct dw_sequence *sequence)
{
	char skipped[80] = "";

	if (sequence->skipped == 1)
		snprintf(skipped, sizeof skipped, "; the first one is left out");
	else if (sequence->skipped)
		snprintf(skipped, sizeof skipped, "; the first %s are left out", dw_text_count((int64_t)sequence->skipped).at);
	dw_table_head(table, "%s iteration%s of %s on average from begin to end%s.", dw_text_count((int64_t)sequence->iterations).at,
	              dw_text_plural(sequence->iterations), dw_text_ns(sequence->iteration_ns, " ").at, skipped);
}

/* There is one sequence per process, that of one thread. */
static void sequence_note_threads(struct dwell_table *table, const struct dw_model *model,
                                  const struct dw_sequence *sequence)
{
	const struct dw_source *source = dw_model_source(model);
	bool *steps = calloc(source->thread_count + 1, sizeof *steps);
	size_t threads = 0;

	for (size_t i = 0; steps && i < source->step_count; i++) {
		threads += !steps[source->steps[i].thread];
		steps[source->steps[i].thread] = true;
	}
	table->failed |= !steps;
	free(steps);
	if (threads > sequence->process_count && !dw_model_scope(model)->thread)
		dw_table_note(table,
		              "%zu threads have steps; these are the iterations of %s. --thread NAME "
		              "shows those of another one.", threads,
		              sequence->process_count == 1 ? "the one with most steps"
		                                           : "one in each process");
}

static void sequence_note_drifts(struct dwell_table *table, const struct dw_sequence *sequence,
                                 const struct dw_symbol *symbols)
{
	const struct dw_sequence_op *most = NULL;
	uint64_t drifting = 0;

	for (uint32_t i = 0; i < sequence->count; i++) {
		const struct dw_sequence_op *op = &sequence->ops[i];

		drifting += op->drifts;
		if (op->drifts && (!most || fabs(op->drift) > fabs(most->drift)))
			most = op;
	}
	if (most)
		dw_table_note(table, "drift: how much a time changes from the first iteration to the last, where it "
		              "goes one way. %s operator%s; most: OP_ID %td, %s.",
		              dw_text_count((int64_t)drifting).at, drifting == 1 ? " does" : "s do",
		              most - sequence->ops, symbols[most->symbol].name);
	if (sequence->drifts)
		dw_table_note(table, "The whole iteration drifts too: it takes %s %s at the end.",
		              dw_text_percent(fabs(sequence->drift)).at, sequence->drift < 0 ? "less" : "more");
}

static void sequence_note_changes(struct dwell_table *table, const struct dw_sequence *sequence)
{
	uint64_t partly = 0, skipped = 0;

	for (uint32_t i = 0; i < sequence->count; i++) {
		skipped += sequence->ops[i].stat.count == 0;
		partly += sequence->ops[i].stat.count > 0 && sequence->ops[i].stat.count < sequence->iterations;
	}
	if (partly)
		dw_table_note(table, "The graph changes: %s of %s operators %s not in every iteration; a mean is "
		              "over those that have it.", dw_text_count((int64_t)partly).at,
		              dw_text_count((int64_t)(sequence->count - skipped)).at, partly == 1 ? "is" : "are");
	if (skipped)
		dw_table_note(table, "%s operator%s only in iterations that are left out.",
		              dw_text_count((int64_t)skipped).at, skipped == 1 ? " is" : "s are");
}

static void sequence_note_rest(struct dwell_table *table, const struct dw_sequence *sequence)
{
	if (sequence->incomplete)
		dw_table_note(table, "%s iteration%s not whole (open, lost or overwritten in part): not "
		              "counted.", dw_text_count((int64_t)sequence->incomplete).at,
		              sequence->incomplete == 1 ? " is" : "s are");
	if (sequence->left_out)
		dw_table_note(table, "%s call%s beyond the first %u positions are not counted.",
		              dw_text_count((int64_t)sequence->left_out).at,
		              dw_text_plural(sequence->left_out), DW_SEQUENCE_POSITIONS);
	if (sequence->process_count > 1)
		dw_table_note(table, "Iterations of %u processes are shown as one sequence; --thread NAME "
		              "shows those of one.", sequence->process_count);
}

/* ---- the view ------------------------------------------------------------------------ */

static struct dwell_table *sequence_make_table(struct answer *answer, bool folded, struct dwell_error *error)
{
	answer->table = DW_VIEW_CHOOSE("sequence", columns, answer->device ? DW_HAS_DEVICE : 0, error);
	if (!answer->table)
		return NULL;
	sequence_fill_row(answer, folded);
	sequence_fill_totals(answer);
	return answer->table;
}

static struct dwell_table *sequence_view(struct dw_model *model, const struct dwell_view_options *options,
                                         struct dwell_error *error)
{
	struct dw_sequence_ask ask = { .skip = options->skip_iteration };
	const struct dw_sequence *sequence = dw_model_sequence(model, &ask, error);
	struct answer answer = { NULL, sequence, dw_model_symbols(model, NULL),
		                     dw_model_has_device(model) };
	bool machine = options->limit == SIZE_MAX && !options->sort;
	struct dwell_table *table;

	if (!sequence || dw_sequence_check(sequence, &ask, error))
		return NULL;
	table = sequence_make_table(&answer, !options->sort, error);
	if (table && machine) {
		table->summary = true;
		table->next = sequence_make_table(&answer, false, error);
		if (!table->next) {
			dw_table_destroy(table);
			return NULL;
		}
		table->next->part = "positions";
		table->next->heads_only = true;
	}
	if (table) {
		sequence_say_iterations(table, sequence);
		sequence_note_threads(table, model, sequence);
		sequence_note_changes(table, sequence);
		sequence_note_drifts(table, sequence, answer.symbols);
		sequence_note_rest(table, sequence);
	}
	return table;
}

const struct dw_view dw_view_sequence = {
	.name = "sequence", .question = "which operators does a step run, in order, and what does each take?",
	.run = sequence_view, .takes = DW_VIEW_TAKES(skip_iteration), .row_name = "name", .row_ns = "mean_ns", .limit = 60,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.categories = DW_VIEW_CATEGORY(OPERATOR) | DW_VIEW_CATEGORY(COMMUNICATION), .needs_steps = true,
	.needs = "operators in steps", .remedy = "mark them with DWELL_OP(\"name\") and each iteration with DWELL_STEP()",
};
