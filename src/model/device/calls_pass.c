/*
 * Finds the host's calls that caused device events, and the ranges around them.
 *
 * One pass over the host's streams, in parallel. A range with a CORRELATION or EXTERNAL record is a
 * call if an event has that number, or if it waits for a device. Its owners are the ranges that are
 * open around it. An owner is stored when the first call in it is seen. So memory grows with the
 * number of ranges that caused device work, and not with the number of all ranges.
 *
 * Calls that the driver reported late are in no stream. The pass adds them by their time: before
 * the stack of open ranges changes, it gives the late calls of the thread that began earlier to the
 * ranges that are open.
 *
 * Each stream has lists of its own. They are appended in the order of the streams, so that the
 * result does not depend on which worker was first.
 */
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/device/calls_pass.h"

struct dw_device_key *dw_device_key_at(struct dw_device_build *build, uint32_t process, uint64_t id,
                                       enum dw_key_kind kind, bool add)
{
	uint32_t hash = dw_map_hash(id * 4 + kind + ((uint64_t)process << 48));
	uint32_t found = DW_MAP_FIND(&build->key_map, hash, i,
	                             build->keys[i].id == id && build->keys[i].process == process &&
	                                 build->keys[i].kind == kind);
	struct dw_device_key *key;

	if (found != DW_MAP_NONE)
		return &build->keys[found];
	key = add ? DW_GROW(&build->keys, &build->key_capacity, build->key_count) : NULL;
	if (!key || !dw_map_add(&build->key_map, hash, (uint32_t)build->key_count))
		return NULL;
	*key = (struct dw_device_key){ id, process, DW_NO_INDEX, kind, DW_NO_INDEX };
	build->key_count++;
	return key;
}

static uint64_t calls_ns(const struct dw_calls_pass *calls, uint64_t ticks)
{
	return dw_source_ns(&calls->pass->walk.file->clock, ticks);
}

static const struct dw_frame *calls_frame_at(const struct dw_calls_pass *calls, uint32_t place)
{
	return dw_pass_at(calls->pass, calls->frame_bytes, place);
}

static struct dw_calls_frame *calls_frame(const struct dw_calls_pass *calls, uint32_t place)
{
	return (void *)((char *)(uintptr_t)calls_frame_at(calls, place) + calls->frame_offset);
}

/* ---- owners and calls -------------------------------------------------------------------- */

static void calls_add_owner(struct dw_calls_pass *calls, uint32_t place, uint32_t parent)
{
	struct dw_device_part *part = calls->part;
	struct dw_calls_frame *frame = calls_frame(calls, place);

	if (DW_APPEND(&part->owners, &part->owner_capacity, &part->owner_count,
	              (struct dw_device_owner){ .start_ns = calls_ns(calls, calls_frame_at(calls, place)->start),
	                  .sequence = frame->sequence, .forward_thread = frame->forward_thread, .parent = parent,
	                  .forward = DW_NO_INDEX, .symbol = frame->symbol, .thread = calls->pass->walk.thread,
	                  .stack = frame->stack, .in_scope = frame->in_scope }))
		frame->owner = (uint32_t)part->owner_count - 1;
	else
		calls->failed = true;
}

/* The owner for the innermost range at places up to `place`. Adds it, and its parents before it, if
 * they are not stored yet. */
static uint32_t calls_owner(struct dw_calls_pass *calls, uint32_t place)
{
	uint32_t from, owner = DW_NO_INDEX;

	place = place < DW_DEVICE_DEEPEST ? place : DW_DEVICE_DEEPEST;
	from = place;
	while (from && calls_frame(calls, from)->owner == DW_NO_INDEX)
		from--;
	if (from)
		owner = calls_frame(calls, from)->owner;
	for (uint32_t at = from + 1; at <= place; at++) {
		if (calls_frame(calls, at)->is_call)
			continue; /* a call is no owner */
		calls_add_owner(calls, at, owner);
		owner = calls_frame(calls, at)->owner;
	}
	return owner;
}

/* The call has the key. `added`: this is how it was found, so that a second one is a duplicate. */
static void calls_use_key(struct dw_calls_pass *calls, const struct dw_device_key *key, uint32_t call, bool added)
{
	struct dw_device_part *part = calls->part;

	calls->failed |= !DW_APPEND(&part->uses, &part->use_capacity, &part->use_count,
	                            (struct dw_key_use){ (uint32_t)(key - calls->build->keys), call, added });
}

/* Adds a call. `key` may be NULL. Returns its index. */
static uint32_t calls_add(struct dw_calls_pass *calls, const struct dw_device_key *key,
                          const struct dw_device_call *from)
{
	struct dw_device_part *part = calls->part;
	uint32_t at = (uint32_t)part->call_count;

	if (!DW_APPEND(&part->calls, &part->call_capacity, &part->call_count, *from)) {
		calls->failed = true;
		return DW_NO_INDEX;
	}
	if (key)
		calls_use_key(calls, key, at, true);
	return at;
}

/* Takes a CORRELATION or EXTERNAL record, which belongs to the innermost range. */
static void calls_take_number(struct dw_calls_pass *calls, uint64_t id, bool external)
{
	const struct dw_pass *pass = calls->pass;
	const bool *waits = calls->build->waits;
	struct dw_calls_frame *frame;
	struct dw_device_key *key;

	if (!pass->depth || pass->folded)
		return;
	frame = calls_frame(calls, pass->depth);
	key = dw_device_key_at(calls->build, pass->walk.stream->process, id,
	                       external ? DW_KEY_OF_PROGRAM : DW_KEY_OF_DRIVER, false);
	if (frame->call != DW_NO_INDEX) {
		if (key)
			calls_use_key(calls, key, frame->call, false);
		return;
	}
	if (!key && !waits[frame->symbol])
		return;
	frame->call = calls_add(calls, key, &(struct dw_device_call){
		.start_ns = calls_ns(calls, calls_frame_at(calls, pass->depth)->start),
		.symbol = frame->symbol, .thread = pass->walk.thread,
		.owner = calls_owner(calls, frame->is_call ? pass->depth - 1 : pass->depth),
		.in_scope = frame->in_scope, .synchronises = waits[frame->symbol],
		.correlation = external ? 0 : (uint32_t)id,
	});
}

static void calls_add_place(struct dw_calls_pass *calls, const struct dw_late_call *late)
{
	const struct dw_device_build *build = calls->build;
	uint32_t process = calls->pass->walk.stream->process;
	const struct dw_device_key *key = dw_device_key_at(calls->build, process, late->node, DW_KEY_OF_NODE, false);
	struct dw_device_part *part = calls->part;

	if (!key || calls->pass->folded)
		return;
	calls->failed |= !DW_APPEND(&part->places, &part->place_capacity, &part->place_count,
	                            (struct dw_node_place){ calls_ns(calls, late->start_ticks), calls_ns(calls, late->end_ticks),
	                                (uint32_t)(key - build->keys), late->thread, calls_owner(calls, calls->pass->depth) });
}

/* Adds the late calls of this thread that began before `ticks`: the ranges that are open now are
 * their owners. */
void dw_calls_take_lates(struct dw_calls_pass *calls, uint64_t ticks)
{
	const struct dw_device_build *build = calls->build;
	struct dw_pass *pass = calls->pass;
	uint32_t thread = pass->walk.thread;

	if (pass->walk.stream->nested)
		return; /* they belong to the thread's own stream */
	if (calls->late_thread != thread) {
		calls->late_thread = thread;
		for (calls->late = 0; calls->late < build->late_count && build->lates[calls->late].thread != thread;)
			calls->late++;
	}
	while (calls->late < build->late_count && build->lates[calls->late].thread == thread &&
	       build->lates[calls->late].at_ticks < ticks) {
		const struct dw_late_call *late = &build->lates[calls->late++];

		if (late->node) {
			calls_add_place(calls, late);
			continue;
		}
		uint32_t symbol = dw_walk_symbol(&pass->walk, late->id);
		struct dw_device_key *key = dw_device_key_at(calls->build, pass->walk.stream->process,
		                                             late->correlation, DW_KEY_OF_DRIVER, false);

		if (!key && !build->waits[symbol])
			continue;
		calls_add(calls, key, &(struct dw_device_call){
			.start_ns = calls_ns(calls, late->start_ticks),
			.end_ns = calls_ns(calls, late->end_ticks), .symbol = symbol, .thread = thread,
			.owner = pass->folded ? DW_NO_INDEX : calls_owner(calls, pass->depth),
			.in_scope = dw_pass_in_scope(pass, late->start_ticks),
			.synchronises = build->waits[symbol], .correlation = late->correlation, .late = true,
		});
	}
}

/* ---- a stream ------------------------------------------------------------------------------ */

bool dw_calls_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from)
{
	struct dw_device_build *build = sums;

	*(struct dw_calls_pass *)pass = (struct dw_calls_pass){ .pass = from->pass, .build = build,
		.part = &build->parts[from->segment->stream], .frame_bytes = from->frame_bytes,
		.frame_offset = from->frame_offset, .late_thread = DW_NO_INDEX,
		.long_ticks = (uint64_t)(DW_LAUNCH_NS / from->pass->walk.file->clock.ns_per_tick) };
	return true;
}

void dw_calls_end(void *pass)
{
	struct dw_calls_pass *calls = pass;

	dw_calls_take_lates(calls, UINT64_MAX);
	calls->part->failed |= calls->failed || calls->pass->walk.failed;
}

/* A range that is an owner, a call, named by the program, or long ends. */
void dw_calls_close(struct dw_calls_pass *calls, const struct dw_frame *frame,
                    const struct dw_calls_frame *own, uint64_t ticks)
{
	struct dw_device_part *part = calls->part;

	if (own->owner != DW_NO_INDEX)
		part->owners[own->owner].end_ns = calls_ns(calls, ticks);
	if (own->call != DW_NO_INDEX)
		part->calls[own->call].end_ns = calls_ns(calls, ticks);
	if ((!own->is_named && ticks - frame->start <= calls->long_ticks) || !own->in_scope || calls->pass->walk.stream->nested)
		return;
	calls->failed |= !DW_APPEND(&part->ranges, &part->range_capacity, &part->range_count,
	                            (struct dw_device_range){ .start_ns = calls_ns(calls, frame->start),
	                                .end_ns = calls_ns(calls, ticks), .thread = calls->pass->walk.thread,
	                                .symbol = own->symbol, .depth = calls->pass->depth });
}

static void calls_take_link(struct dw_calls_pass *calls, const struct dw_record *record)
{
	const struct dw_source_file *file = calls->pass->walk.file;
	struct dw_calls_frame *frame;

	if (!calls->pass->depth || calls->pass->folded)
		return;
	frame = calls_frame(calls, calls->pass->depth);
	frame->sequence = dw_record_u64(record, 0);
	frame->forward_thread = record->payload[2] && record->payload[2] < file->symbol_count
	                            ? file->thread_by_id[record->payload[2]] : DW_NO_INDEX;
	if (frame->owner != DW_NO_INDEX) {
		calls->part->owners[frame->owner].sequence = frame->sequence;
		calls->part->owners[frame->owner].forward_thread = frame->forward_thread;
	}
}

void dw_calls_note(void *pass, uint64_t ticks, const struct dw_record *record)
{
	struct dw_calls_pass *calls = pass;

	if (record->kind == DW_EXT && record->id == (DW_EXT_CORRELATION << DW_EXT_TYPE_SHIFT | DW_CORRELATION_WORDS))
		calls_take_number(calls, record->payload[0], false);
	else if (record->kind == DW_EXT && record->id == (DW_EXT_EXTERNAL << DW_EXT_TYPE_SHIFT | DW_EXTERNAL_WORDS))
		calls_take_number(calls, dw_record_u64(record, 2), true);
	else if (record->kind == DW_LINK)
		calls_take_link(calls, record);
	else if (record->kind == DW_STACK && calls->pass->depth && !calls->pass->folded)
		calls_frame(calls, calls->pass->depth)->stack = record->id;
}

/* ---- a walk for the calls alone ----------------------------------------------------------- */

#define LOOP device_calls_alone
#define LOOP_HOOKS
#define LOOP_PARTS(PART) PART(calls, ALWAYS)
#define LOOP_DROPS_ROWS
#include "model/core/loop.h"

bool dw_device_find_calls(struct dw_device_build *build)
{
	struct dw_part_sums sums = { .calls = build };

	return device_calls_alone_walk_all(build->model, &sums, NULL, NULL);
}

/* ---- all streams --------------------------------------------------------------------------- */

static uint64_t calls_apart_ns(const struct dw_device_work *work, uint32_t one, uint32_t other)
{
	uint64_t a = work->calls[one].start_ns, b = work->calls[other].start_ns;

	return a < b ? b - a : a - b;
}

/* False: out of memory. */
static bool calls_put_key(struct dw_device_build *build, const struct dw_key_use *use, uint32_t first_call)
{
	struct dw_device_key *key = &build->keys[use->key];
	uint32_t call = first_call + use->call;

	if (key->call == DW_NO_INDEX)
		key->call = call;
	else if (use->added && calls_apart_ns(build->work, key->call, call) < DW_NUMBERS_AGAIN_NS)
		build->work->duplicates++;
	else if (use->added)
		return DW_APPEND(&build->agains, &build->again_capacity, &build->again_count,
		                 (struct dw_call_again){ use->key, call, build->work->calls[call].start_ns });
	return true;
}

static bool calls_take_part(struct dw_device_build *build, const struct dw_device_part *part)
{
	struct dw_device_work *work = build->work;
	uint32_t first_call = (uint32_t)work->call_count, first_owner = (uint32_t)work->owner_count;

	for (size_t i = 0; i < part->owner_count; i++) {
		struct dw_device_owner owner = part->owners[i];

		owner.parent += owner.parent == DW_NO_INDEX ? 0 : first_owner;
		if (!DW_APPEND(&work->owners, &build->owner_capacity, &work->owner_count, owner))
			return false;
	}
	for (size_t i = 0; i < part->call_count; i++) {
		struct dw_device_call call = part->calls[i];

		call.owner += call.owner == DW_NO_INDEX ? 0 : first_owner;
		if (!DW_APPEND(&work->calls, &build->call_capacity, &work->call_count, call))
			return false;
	}
	for (size_t i = 0; i < part->range_count; i++)
		if (!DW_APPEND(&work->ranges, &build->range_capacity, &work->range_count, part->ranges[i]))
			return false;
	for (size_t i = 0; i < part->place_count; i++) {
		struct dw_node_place place = part->places[i];

		place.owner += place.owner == DW_NO_INDEX ? 0 : first_owner;
		if (build->keys[place.key].place != DW_NO_INDEX)
			continue;
		build->keys[place.key].place = (uint32_t)build->place_count;
		if (!DW_APPEND(&build->places, &build->place_capacity, &build->place_count, place))
			return false;
	}
	for (size_t i = 0; i < part->use_count; i++)
		if (!calls_put_key(build, &part->uses[i], first_call))
			return false;
	return !part->failed;
}

void dw_device_part_reset(struct dw_device_part *part)
{
	DW_FREE(part->owners, part->calls, part->uses, part->ranges, part->places);
	*part = (struct dw_device_part){ .owners = NULL };
}

DW_ORDER(calls_compare_agains, struct dw_call_again, DW_UP(key) DW_UP(start_ns))

/* An outer range comes before the ranges in it. */
DW_ORDER(calls_compare_ranges, struct dw_device_range, DW_UP(thread) DW_UP(start_ns) DW_DOWN(end_ns) DW_UP(depth))

bool dw_device_take_parts(struct dw_device_build *build)
{
	bool good = true;

	for (size_t i = 0; good && i < build->model->source->stream_count; i++) {
		struct dw_device_part *part = &build->parts[i];

		good = calls_take_part(build, part);
		dw_device_part_reset(part);
	}
	DW_SORT(build->work->ranges, build->work->range_count, calls_compare_ranges);
	DW_SORT(build->agains, build->again_count, calls_compare_agains);
	return good;
}
