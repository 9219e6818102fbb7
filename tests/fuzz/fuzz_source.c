/*
 * Property: whatever the bytes of a file, opening it and asking for every product
 * ends, within memory that the file's size bounds, without a fault; and what is
 * answered is consistent: shares sum to steps, steps and besides to the wall,
 * indices are valid.
 *
 * A file is blocks of 64 KiB that are mostly zeros, which no fuzzer gets through.
 * So an input is a file packed: for each block its length without the zeros at
 * its end (u16), then those bytes; the last block is not filled up, so that files
 * end anywhere. An input that begins like a trace is one (what users send).
 * pack.py packs.
 */
#include <string.h>

#include "bounds.h"
#include "file.h"
#include "model/collectives/collectives.h"
#include "model/device/sums.h"
#include "model/layers/layers.h"
#include "model/model.h"
#include "model/sequence/sequence.h"
#include "summary/summary.h"
#include "views/views.h"

#define MOST_BLOCKS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_event(void *context, const struct dw_event *event)
{
	const struct dw_source *source = context;

	demand(event->thread < source->thread_count && event->start_ns <= event->end_ns);
	return 0;
}

static void check_steps(const struct dw_source *source, const struct dw_steps *steps)
{
	uint64_t sum = 0;

	demand(steps != NULL);
	for (size_t i = 0; i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i];
		uint64_t shares = 0;

		demand(step->thread < source->thread_count && step->end_ns >= step->start_ns);
		for (unsigned share = 0; share < DW_SHARE_COUNT; share++)
			shares += step->share_ns[share];
		demand(shares == step->end_ns - step->start_ns);
		sum += shares;
	}
	demand(sum == steps->steps_ns);
	for (size_t i = 0; i < steps->beside_count; i++)
		sum += steps->besides[i].ns;
	demand(sum == steps->wall_ns);
}

/* A path is at most one below the one before; roots are threads. */
static void check_paths(const struct dw_source *source, const struct dw_paths *paths)
{
	demand(paths && (!paths->count || !paths->nodes[0].depth));
	for (size_t i = 0; i < paths->count; i++)
		demand(paths->nodes[i].depth ? paths->nodes[i].depth <= paths->nodes[i - 1].depth + 1 &&
		                                   paths->symbols[paths->nodes[i].symbol].name != NULL
		                             : paths->nodes[i].symbol < source->thread_count);
}

/* The device time of all rows of a view; 0 if it has no data in this trace. */
static uint64_t view_device_ns(struct dw_model *model, const char *view)
{
	const struct dwell_view_options options = { .size = sizeof options, .limit = SIZE_MAX };
	struct dwell_table *table = NULL;
	struct dwell_error error;
	int code = dw_view_run(dw_view_find(view, &error), model, &options, &table, &error);
	uint64_t ns = 0;

	demand(code == 0 || code == DWELL_E_NO_DATA);
	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct dw_cell *cell = &dw_table_at(table, i)[dw_table_column(table, "device_ns")];

		ns += cell->type == DW_CELL_INT ? (uint64_t)cell->integer : 0;
	}
	dw_table_destroy(table);
	return ns;
}

/* Device time by name, path and time is never more than that of all calls in scope. */
static void check_device(struct dw_model *model)
{
	const struct dw_calls_ask ask = { .named = true }, all = { .named = true, .all_ranges = true };
	const struct dw_layers_ask layers = { .operators = true };
	const struct dw_device_work *work = dw_model_device_work(model, NULL);
	const struct dw_device_sum *rows;
	uint64_t all_ns = 0, row_ns = 0;
	size_t symbols;

	if (!dw_model_has_device(model))
		return;
	rows = dw_model_device_by_row(model, UINT32_MAX, NULL);
	demand(work && rows);
	for (size_t i = 0; i < work->call_count; i++)
		all_ns += work->calls[i].in_scope ? work->calls[i].device_ns : 0;
	dw_model_symbols(model, &symbols);
	for (uint32_t i = 0; i < symbols; i++)
		if (dw_model_row_symbol(model, dw_model_symbol_row(model, i)) == i)
			row_ns += rows[dw_model_symbol_row(model, i)].self_ns;
	demand(row_ns <= all_ns && view_device_ns(model, "tree") <= all_ns && view_device_ns(model, "phases") <= all_ns);
	demand(dw_model_device_by_call(model, &ask, NULL) && dw_model_device_by_call(model, &all, NULL) && dw_model_layers(model, &layers, NULL));
}

/* A position has at most one call an iteration; blocks lie in order and apart. */
static void check_sequence(struct dw_model *model, uint64_t skip)
{
	struct dw_sequence_ask ask = { skip };
	const struct dw_sequence *sequence = dw_model_sequence(model, &ask, NULL);
	size_t symbols, from = 0;

	dw_model_symbols(model, &symbols);
	demand(sequence && sequence->count <= DW_SEQUENCE_POSITIONS);
	for (uint32_t i = 0; i < sequence->count; i++)
		demand(sequence->ops[i].symbol < symbols &&
		       sequence->ops[i].stat.count <= sequence->iterations &&
		       sequence->ops[i].stat.min_ns <= sequence->ops[i].stat.max_ns);
	for (uint32_t b = 0; b < sequence->block_count; b++) {
		const struct dw_sequence_block *block = &sequence->blocks[b];

		demand(block->first >= from && block->length && block->repeats > 1);
		from = block->first + (size_t)block->length * block->repeats;
		demand(from <= sequence->count);
	}
}

static void check_calls(struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_flat *flat = dw_model_flat(model, UINT32_MAX, NULL);
	size_t symbols;

	dw_model_symbols(model, &symbols);
	demand(flat != NULL);
	for (size_t i = 0; i < flat->count; i++)
		demand(flat->rows[i].symbol < symbols && flat->rows[i].stat.count &&
		       flat->rows[i].stat.min_ns <= flat->rows[i].stat.max_ns);
	demand(dw_model_events(model, check_event, (void *)(uintptr_t)source, NULL) == 0);
}

static void check_tree(struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_tree *tree = dw_model_tree(model, NULL);
	const struct dw_threads *threads = dw_model_threads(model, NULL);

	demand(tree && threads);
	for (size_t i = 0; i < tree->count; i++)
		demand(tree->nodes[i].thread < source->thread_count &&
		       (tree->nodes[i].parent == DW_NO_INDEX || tree->nodes[i].parent < i));
	for (size_t i = 0; i < threads->count; i++)
		demand(threads->rows[i].thread < source->thread_count);
}

static void check_whole(struct dw_model *model)
{
	size_t repairs;
	double coverage;

	check_steps(dw_model_source(model), dw_model_steps(model, NULL));
	demand(dw_model_repairs(model, &repairs) != NULL);
	coverage = dw_model_coverage(model);
	demand(coverage >= 0 && coverage <= 1);
}

/* Each collective has a process and a group, and is blocked only while it is under way. */
static void check_collectives(struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_collectives *collectives = dw_model_collectives(model, NULL);

	demand(collectives != NULL);
	for (size_t i = 0; i < collectives->count; i++) {
		const struct dw_collective *one = &collectives->collectives[i];

		demand(one->process < source->process_count && one->group < collectives->group_count &&
		       collectives->groups[one->group] && one->enter_ns <= one->leave_ns &&
		       one->blocked_ns <= one->leave_ns - one->enter_ns);
	}
}

/* What dwell ranks reads of a trace. */
static void check_summary(struct dw_model *model)
{
	struct dw_summary summary = { .ranks = NULL };

	demand(dw_summary_add_model(&summary, model, NULL) && dw_summary_finish(&summary, NULL));
	for (size_t i = 0; i < summary.count; i++) {
		const struct dw_summary_rank *rank = &summary.ranks[i];
		uint64_t steps = 0, ns = 0;

		for (size_t s = 0; s < rank->span_count; s++) {
			steps += rank->spans[s].steps;
			ns += rank->spans[s].ns;
		}
		demand(steps == rank->steps && ns == rank->ns);
	}
	dw_summary_reset(&summary);
}

static void check_model(struct dw_model *model, const uint8_t *data, size_t size)
{
	const struct dw_source *source = dw_model_source(model);

	if (bounds_asks(data, size, 0, 4))
		check_calls(model);
	if (bounds_asks(data, size, 1, 4))
		check_tree(model);
	if (bounds_asks(data, size, 2, 4))
		check_whole(model);
	if (bounds_asks(data, size, 3, 4))
		check_device(model);
	if (bounds_asks(data, size, 1, 4))
		check_collectives(model);
	if (bounds_asks(data, size, 2, 4))
		check_summary(model);
	if (!bounds_asks(data, size, 3, 4))
		return;
	check_paths(source, dw_model_paths(model, DW_PATHS_CALLS, NULL));
	check_paths(source, dw_model_paths(model, DW_PATHS_STACKS, NULL));
	check_sequence(model, 0);
	check_sequence(model, 1);
}

/* One block of a packed file at `*at`: its bytes and how many. */
static const uint8_t *unpack_block(const uint8_t **at, const uint8_t *end, size_t *bytes)
{
	const uint8_t *data = *at + 2;
	size_t length = (size_t)data[-2] | (size_t)data[-1] << 8, left = (size_t)(end - data);

	*bytes = length < left ? length : left;
	*at = data + *bytes;
	return data;
}

/* Fills the file with `data`, or with what its packed form means. Returns the size; 0: no file. */
static size_t unpack(const uint8_t *data, size_t size)
{
	const uint8_t *at = data, *end = data + size;
	size_t bytes = 0, length, offset;

	if (size && data[0] == 0x89) {
		file_begin(size);
		file_write(0, data, size);
		return size;
	}
	for (offset = 0; end - at >= 2 && offset < MOST_BLOCKS * (size_t)DW_BLOCK_BYTES;
	     offset += DW_BLOCK_BYTES) {
		unpack_block(&at, end, &length);
		bytes = offset + length;
	}
	if (!bytes)
		return 0;
	file_begin(bytes);
	at = data;
	for (offset = 0; offset < bytes; offset += DW_BLOCK_BYTES) {
		const uint8_t *block = unpack_block(&at, end, &length);

		file_write(offset, block, length);
	}
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_scope scopes[2] = { { .has_steps = false }, { .has_steps = true, .steps_to = 1 } };
	struct dw_source *source;
	const char *path = FILE_PATH;
	size_t bytes = unpack(data, size);

	if (!bytes)
		return 0;
	bounds_begin();
	if (dw_source_open(&source, &path, 1, NULL) == 0) {
		for (size_t i = 0; i < 1 + (source->step_count != 0); i++) {
			struct dw_model *model;

			if (dw_model_create(&model, source, &scopes[i], NULL) == 0)
				check_model(model, data, size);
			dw_model_destroy(model);
		}
		dw_source_close(source);
	}
	bounds_end(data, size, bytes);
	return 0;
}
