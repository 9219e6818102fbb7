/*
 * Function calls as cProfile counts them: by function, and by caller and function.
 *
 * A call is primitive if no other call of its function is open; only primitive calls add to the
 * total time. Self time excludes called functions and nothing more: it includes operators and
 * zones. Streams are walked one after the other. A call that begins out of scope is no caller.
 */
#include "model/time/function_calls.h"

#include "base/order.h"
#include "model/core/call_paths.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"

#define NONE UINT32_MAX

/* A root counts the calls of a function, whoever calls it. Its children count those of the functions
 * that it calls. */
struct count {
	struct dw_call_path path; /* by symbol */
	uint32_t level;           /* number of open calls in the current stream */
	uint64_t calls, primitive, open;
	uint64_t self, total;     /* ticks in the current file; then added to self_ns and total_ns */
	uint64_t self_ns, total_ns;
};

struct frame {
	struct dw_frame frame; /* in the chain: functions in scope */
	uint32_t all, edge;    /* indexes of its counts; edge NONE: no caller */
};
#define CHAIN 1u

struct functions {
	struct dw_pass pass;
	const struct dw_symbol *symbols;
	struct dw_call_paths counts; /* of struct count */
	struct dw_frames frames;
};

static struct count *functions_count_at(const struct functions *functions, size_t index)
{
	return (struct count *)functions->counts.nodes + index;
}

/* ---- the walk ------------------------------------------------------------------------------ */

static void functions_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct functions *functions = state;
	struct frame *frame = place, *outer;
	uint32_t symbol = dw_walk_symbol(&functions->pass.walk, id), around = functions->pass.top[CHAIN];

	if (functions->symbols[symbol].category != DWELL_CATEGORY_FUNCTION || !dw_pass_in_scope(&functions->pass, ticks))
		return;
	outer = around ? (struct frame *)dw_pass_at(&functions->pass, sizeof *outer, around) : NULL;
	frame->all = dw_call_path_root(&functions->counts, symbol);
	frame->edge = outer ? dw_call_path_child(&functions->counts, outer->all, symbol) : NONE;
	if (functions->counts.failed)
		return;
	dw_pass_link(&functions->pass, &frame->frame, CHAIN);
	functions_count_at(functions, frame->all)->level++;
	if (frame->edge != NONE)
		functions_count_at(functions, frame->edge)->level++;
}

static void functions_add(struct count *count, uint64_t self, uint64_t total, bool open)
{
	count->calls++;
	count->open += open;
	count->self += self;
	if (--count->level == 0) {
		count->primitive++;
		count->total += total;
	}
}

static void functions_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct functions *functions = state;
	const struct frame *frame = place;
	uint64_t total = ticks - frame->frame.start, self = total - frame->frame.child;

	if (!frame->frame.chain)
		return;
	functions_add(functions_count_at(functions, frame->all), self, total, how != DW_LEAVE_END);
	if (frame->edge != NONE)
		functions_add(functions_count_at(functions, frame->edge), self, total, how != DW_LEAVE_END);
}

static const struct dw_pass_hooks functions_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true,
	.enter = functions_enter, .leave = functions_leave,
};
DW_PASS_DEFINE(functions, functions_hooks)

/* Converts the sums of a file's streams to ns. */
static void functions_settle(struct functions *functions, const struct dw_source_file *file)
{
	for (size_t i = 0; i < functions->counts.count; i++) {
		struct count *count = functions_count_at(functions, i);

		count->self_ns += dw_source_span_ns(&file->clock, count->self);
		count->total_ns += dw_source_span_ns(&file->clock, count->total);
		count->self = count->total = 0;
		count->level = 0;
	}
}

static void functions_walk_streams(struct functions *functions, struct dw_model *model)
{
	const struct dw_source *source = model->source;
	const struct dw_source_file *file = NULL;

	for (size_t i = 0; i < source->stream_count && !functions->counts.failed; i++) {
		const struct dw_source_stream *stream = &source->streams[i];

		if (!dw_scope_has_stream(model, stream))
			continue;
		/* Convert once for each file, to round each sum once. */
		if (file && file != &source->files[stream->file])
			functions_settle(functions, file);
		file = &source->files[stream->file];
		memset(&functions->pass, 0, sizeof functions->pass);
		dw_pass_init(&functions->pass, model, i, &functions->frames);
		functions_walk(&functions->pass);
		functions->counts.failed |= functions->pass.walk.failed;
	}
	if (file)
		functions_settle(functions, file);
}

/* ---- the product ------------------------------------------------------------------------------ */

DW_ORDER(functions_compare_rows, struct dw_function_row, DW_DOWN(total_ns) DW_DOWN(self_ns) DW_UP(symbol))

DW_ORDER(functions_compare_edges, struct dw_function_row, DW_UP(symbol) DW_UP(caller))

static bool functions_make_rows(struct dw_model *model, const struct functions *from, struct dw_function_calls *calls)
{
	size_t count = from->counts.count, functions = 0, edges = 0;
	struct dw_function_row *rows = dw_arena_alloc(&model->arena, (count + 1) * sizeof *rows);

	if (!rows)
		return false;
	for (size_t i = 0; i < count; i++)
		functions += !functions_count_at(from, i)->path.depth;
	calls->rows = rows;
	calls->edges = rows + functions;
	calls->count = functions;
	calls->edge_count = count - functions;
	functions = 0;
	for (size_t i = 0; i < count; i++) {
		const struct count *each = functions_count_at(from, i);
		bool edge = each->path.depth > 0;
		struct dw_function_row *to = edge ? &calls->edges[edges++] : &rows[functions++];

		*to = (struct dw_function_row){ .symbol = each->path.key, .calls = each->calls,
			.primitive = each->primitive, .self_ns = each->self_ns, .total_ns = each->total_ns };
		if (edge) {
			to->caller = functions_count_at(from, each->path.parent)->path.key;
			continue;
		}
		calls->calls += each->calls;
		calls->primitive += each->primitive;
		calls->self_ns += each->self_ns;
		calls->open += each->open;
	}
	if (calls->count)
		qsort(calls->rows, calls->count, sizeof *rows, functions_compare_rows);
	if (calls->edge_count)
		qsort(calls->edges, calls->edge_count, sizeof *rows, functions_compare_edges);
	return true;
}

static bool functions_compute(struct dw_model *model, const void *request, void *result)
{
	struct functions functions = { .symbols = model->symbols,
		.counts = { .node_bytes = sizeof(struct count), .most = DW_CALL_PATH_FOLDED, .deepest = 1 } };
	bool good;

	functions_walk_streams(&functions, model);
	good = !functions.counts.failed && functions_make_rows(model, &functions, result);
	dw_call_paths_reset(&functions.counts);
	dw_frames_reset(&functions.frames);
	return good;
}

DW_PRODUCT(function_calls, struct dw_function_calls, functions_compute, NULL);

DW_PRODUCT_GETTER(function_calls, struct dw_function_calls)
