/* Collectives of a run; see collectives.h. */
#include "model/collectives/collectives_pass.h"

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/core/scope.h"

#define MOST_GROUPS 4096u

struct result {
	struct dw_collectives view;
	struct dw_collective *all;
	size_t capacity, group_capacity;
	bool failed;
};

/* ---- a stream ------------------------------------------------------------------------------ */

bool dw_collectives_has_stream(const struct dw_model *model, size_t stream)
{
	const struct dw_source_stream *from = &model->source->streams[stream];
	const struct dw_head *head = model->source->files[from->file].head;

	return head && head->flags & DW_HEAD_COLLECTIVES && !from->nested && dw_scope_has_stream(model, from);
}

bool dw_collectives_begin(void *pass, void *all, void *worker, const struct dw_part_begin *from)
{
	const struct dw_collectives_sums *sums = all;
	const struct dw_model *model = sums->model;
	const struct dw_source_stream *stream = from->pass->walk.stream;
	const struct dw_source_file *file = from->pass->walk.file;

	*(struct dw_collectives_pass *)pass = (struct dw_collectives_pass){ .pass = from->pass,
		.frame_bytes = from->frame_bytes, .frame_offset = from->frame_offset, .process = stream->process,
		.clock = &file->clock, .symbol_count = file->symbol_count, .symbol_by_id = from->pass->walk.symbol_by_id,
		.stream = dw_collectives_has_stream(model, from->segment->stream) ? &sums->streams[from->segment->stream]
		                                                                  : NULL };
	return true;
}

__attribute__((noinline)) void dw_collectives_found(struct dw_collectives_pass *walk,
                                                    struct dw_collectives_frame *frame, const struct dw_record *record)
{
	struct dw_collectives_stream *stream = walk->stream;
	struct dw_collective_noted *noted;

	if (stream->count >= DW_MOST_COLLECTIVES) {
		stream->left_out++;
		return;
	}
	noted = DW_GROW(&stream->noted, &stream->capacity, stream->count);
	if (!noted) {
		stream->failed = true;
		return;
	}
	*noted = (struct dw_collective_noted){ .previous = frame->last, .group_id = record->payload[2] };
	noted->collective = (struct dw_collective){ .process = walk->process, .thread = walk->pass->walk.thread,
		.symbol = frame->symbol, .sequence = dw_record_u64(record, 3), .bytes = dw_record_u64(record, 5) };
	frame->last = (uint32_t)++stream->count;
}

void dw_collectives_end(struct dw_collectives_pass *walk, const struct dw_collectives_frame *frame,
                        uint64_t start_ticks, uint64_t end_ticks, enum dw_leave how)
{
	bool last = true;

	for (uint32_t at = frame->last; at; last = false) {
		struct dw_collective_noted *noted = &walk->stream->noted[at - 1];
		struct dw_collective *collective = &noted->collective;

		collective->enter_ns = dw_source_ns(walk->clock, start_ticks);
		collective->leave_ns = dw_source_ns(walk->clock, end_ticks);
		/* Of the collectives of a range the last one is waited for. */
		collective->blocked_ns = last ? collective->leave_ns - collective->enter_ns : 0;
		collective->open = how == DW_LEAVE_OPEN;
		at = noted->previous;
	}
}

/* ---- all streams --------------------------------------------------------------------------- */

/* The index of a group by its name. DW_NO_INDEX: there are too many groups, or no memory. */
static uint32_t collectives_group(struct result *result, const char *name)
{
	struct dw_collectives *view = &result->view;

	for (uint32_t i = 0; i < view->group_count; i++)
		if (strcmp(view->groups[i], name) == 0)
			return i;
	if (view->group_count == MOST_GROUPS)
		return DW_NO_INDEX;
	if (DW_APPEND(&view->groups, &result->group_capacity, &view->group_count, name))
		return view->group_count - 1;
	result->failed = true;
	return DW_NO_INDEX;
}

/* Appends what a stream has, and frees it. */
static void collectives_take(struct result *result, const struct dw_source_file *file,
                             struct dw_collectives_stream *stream)
{
	uint32_t known_id = UINT32_MAX, group = DW_NO_INDEX;

	for (size_t i = 0; i < stream->count && !result->failed; i++) {
		const struct dw_collective_noted *noted = &stream->noted[i];
		struct dw_collective *place = NULL;

		if (noted->group_id != known_id || !i) {
			const char *name = noted->group_id < file->symbol_count ? file->strings[noted->group_id] : NULL;

			group = collectives_group(result, name ? name : "");
			known_id = noted->group_id;
		}
		if (group == DW_NO_INDEX || result->view.count >= DW_MOST_COLLECTIVES) {
			result->view.left_out++;
			continue;
		}
		place = DW_GROW(&result->all, &result->capacity, result->view.count);
		if (!place) {
			result->failed = true;
			break;
		}
		*place = noted->collective;
		place->group = group;
		result->view.count++;
	}
	result->view.left_out += stream->left_out;
	result->failed |= stream->failed;
	free(stream->noted);
	*stream = (struct dw_collectives_stream){ .noted = NULL };
}

DW_ORDER(collectives_compare, struct dw_collective, DW_UP(process) DW_UP(group) DW_UP(sequence)
         DW_UP(enter_ns) DW_UP(leave_ns))

/* Makes one of the ranges of each collective. */
static void collectives_join(struct result *result)
{
	size_t kept = 0;

	DW_SORT(result->all, result->view.count, collectives_compare);
	for (size_t i = 0; i < result->view.count; i++) {
		const struct dw_collective *from = &result->all[i];
		struct dw_collective *into = kept ? &result->all[kept - 1] : NULL;

		if (!into || !from->sequence || into->process != from->process ||
		    into->group != from->group || into->sequence != from->sequence) {
			result->all[kept++] = *from;
			continue;
		}
		if (from->leave_ns > into->leave_ns)
			into->leave_ns = from->leave_ns;
		if (from->bytes > into->bytes)
			into->bytes = from->bytes;
		/* Ranges of one collective may surround each other. */
		into->blocked_ns += from->blocked_ns;
		if (into->blocked_ns > into->leave_ns - into->enter_ns)
			into->blocked_ns = into->leave_ns - into->enter_ns;
		into->open |= from->open;
	}
	result->view.count = kept;
	result->view.collectives = result->all;
}

bool dw_collectives_sums_init(struct dw_collectives_sums *sums, struct dw_model *model)
{
	sums->model = model;
	sums->streams = calloc(model->source->stream_count + 1, sizeof *sums->streams);
	return sums->streams != NULL;
}

void dw_collectives_sums_reset(struct dw_collectives_sums *sums)
{
	for (size_t i = 0; sums->streams && i < sums->model->source->stream_count; i++)
		free(sums->streams[i].noted);
	free(sums->streams);
}

bool dw_collectives_finish(struct dw_collectives_sums *sums, void *place)
{
	const struct dw_source *source = sums->model->source;
	struct result *result = place;

	for (size_t i = 0; i < source->stream_count; i++)
		collectives_take(result, &source->files[source->streams[i].file], &sums->streams[i]);
	if (!result->failed)
		collectives_join(result);
	return !result->failed;
}

/* ---- the product --------------------------------------------------------------------------- */

#define LOOP collectives_alone
#define LOOP_HOOKS .scoped = true
#define LOOP_PARTS(PART) PART(collectives, ALWAYS)
#define LOOP_DROPS_ROWS
#include "model/core/loop.h"

static bool collectives_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_collectives_sums own;
	struct dw_part_sums sums = { .collectives = &own };
	bool good = dw_collectives_sums_init(&own, model) &&
	            collectives_alone_walk_all(model, &sums, NULL, dw_collectives_has_stream) &&
	            dw_collectives_finish(&own, result);

	dw_collectives_sums_reset(&own);
	return good;
}

static void collectives_free(void *place)
{
	struct result *result = place;

	DW_FREE(result->all, result->view.groups);
}

DW_PRODUCT(collectives, struct result, collectives_compute, collectives_free);

const struct dw_collectives *dw_model_collectives(struct dw_model *model, struct dwell_error *error)
{
	const struct result *result = dw_product_get(model, &dw_product_collectives, 0, NULL, error);

	return result ? &result->view : NULL;
}
