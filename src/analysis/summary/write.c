/*
 * Writes the file of a summary: 24 bytes, then a message of protocol buffers (doc/reference/summary.md).
 *
 * Fields are written in a fixed order, and zeros are left out, so that equal summaries are equal
 * bytes.
 */
#include <string.h>

#include "summary/fields.h"
#include "summary/summary.h"

static void write_word(unsigned char *to, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static void write_number(struct dw_proto *proto, uint32_t field, uint64_t value)
{
	if (value)
		dw_proto_u64(proto, field, value);
}

static void write_text(struct dw_proto *proto, uint32_t field, const char *text)
{
	if (*text)
		dw_proto_text(proto, field, text);
}

/* Pairs of index and value, for those that are not 0. */
static void write_pairs(struct dw_proto *proto, uint32_t field, const uint64_t *values, size_t count)
{
	size_t at = 0;
	bool opened = false;

	for (size_t i = 0; i < count; i++) {
		if (!values[i])
			continue;
		if (!opened)
			at = dw_proto_open(proto, field);
		opened = true;
		dw_proto_varint(proto, i);
		dw_proto_varint(proto, values[i]);
	}
	if (opened)
		dw_proto_close(proto, at);
}

static void write_durations(struct dw_proto *proto, const struct dw_summary_rank *rank)
{
	size_t at;

	if (!rank->duration_count)
		return;
	at = dw_proto_open(proto, RANK_DURATIONS);
	for (size_t i = 0; i < rank->duration_count; i++) {
		dw_proto_varint(proto, rank->durations[i].bucket);
		dw_proto_varint(proto, rank->durations[i].steps);
	}
	dw_proto_close(proto, at);
}

static void write_span(struct dw_proto *proto, const struct dw_summary_span *span)
{
	size_t at = dw_proto_open(proto, RANK_SPAN);

	dw_proto_varint(proto, span->index);
	dw_proto_varint(proto, span->steps);
	dw_proto_varint(proto, span->longest_ns);
	dw_proto_varint(proto, span->longest);
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		if (span->part_ns[p]) {
			dw_proto_varint(proto, p);
			dw_proto_varint(proto, span->part_ns[p]);
		}
	if (span->between_ns) {
		dw_proto_varint(proto, SPAN_BETWEEN);
		dw_proto_varint(proto, span->between_ns);
	}
	dw_proto_close(proto, at);
}

static void write_name(struct dw_proto *proto, uint32_t list, const struct dw_summary_name *name)
{
	size_t at = dw_proto_open(proto, list);

	write_text(proto, NAME_NAME, name->name);
	write_number(proto, NAME_COMMUNICATION, name->communication);
	write_number(proto, NAME_CALLS, name->calls);
	write_number(proto, NAME_SELF, name->self_ns);
	dw_proto_close(proto, at);
}

static void write_where(struct dw_proto *proto, const struct dw_summary_rank *rank)
{
	size_t at = dw_proto_open(proto, RANK_WHERE), inner;

	write_number(proto, WHERE_COLLECTIVES, rank->communications);
	write_number(proto, WHERE_SILENT, rank->silent_ns);
	for (size_t i = 0; i < rank->open_count; i++) {
		inner = dw_proto_open(proto, WHERE_OPEN);
		write_text(proto, OPEN_NAME, rank->open[i].name);
		write_number(proto, OPEN_COMMUNICATION, rank->open[i].communication);
		write_number(proto, OPEN_NS, rank->open[i].ns);
		write_number(proto, OPEN_PAUSE, rank->open[i].pause);
		dw_proto_close(proto, inner);
	}
	write_number(proto, WHERE_END, rank->end_ns);
	write_number(proto, WHERE_FOLLOWED, rank->followed);
	dw_proto_close(proto, at);
}

/* Arrivals are near to each other in time and number, so differences take fewer bytes. The difference of
 * two times wraps around if the second is earlier. */
static void write_collective(struct dw_proto *proto, const struct dw_summary_collective *row)
{
	size_t at = dw_proto_open(proto, RANK_COLLECTIVE), inner;
	uint64_t sequence = 0, enter_ns = 0;

	write_text(proto, COLLECTIVE_GROUP, row->group);
	write_text(proto, COLLECTIVE_OPERATION, row->operation);
	write_number(proto, COLLECTIVE_COUNT, row->count);
	write_number(proto, COLLECTIVE_BYTES, row->bytes);
	write_number(proto, COLLECTIVE_FLIGHT, row->flight_ns);
	write_number(proto, COLLECTIVE_BLOCKED, row->blocked_ns);
	write_number(proto, COLLECTIVE_LAST, row->last_sequence);
	write_number(proto, COLLECTIVE_OPEN, row->open);
	if (row->arrival_count) {
		inner = dw_proto_open(proto, COLLECTIVE_ARRIVALS);
		for (size_t i = 0; i < row->arrival_count; i++) {
			dw_proto_varint(proto, row->arrivals[i].sequence - sequence);
			dw_proto_varint(proto, row->arrivals[i].enter_ns - enter_ns);
			dw_proto_varint(proto, row->arrivals[i].flight_ns);
			dw_proto_varint(proto, row->arrivals[i].blocked_ns);
			sequence = row->arrivals[i].sequence;
			enter_ns = row->arrivals[i].enter_ns;
		}
		dw_proto_close(proto, inner);
	}
	dw_proto_close(proto, at);
}

static void write_unrecorded(struct dw_proto *proto, const struct dw_unrecorded *what)
{
	size_t at = dw_proto_open(proto, RANK_UNRECORDED);

	write_text(proto, UNRECORDED_ID, what->id);
	write_text(proto, UNRECORDED_FILE, what->file);
	write_number(proto, UNRECORDED_PARTLY, what->partly);
	write_text(proto, UNRECORDED_WHY, what->why);
	dw_proto_close(proto, at);
}

static void write_rank(struct dw_proto *proto, const struct dw_summary_rank *rank)
{
	size_t at = dw_proto_open(proto, SUMMARY_RANK);

	write_text(proto, RANK_JOB, rank->job);
	write_text(proto, RANK_HOST, rank->host);
	write_text(proto, RANK_COMMAND, rank->command);
	write_number(proto, RANK_RANK, (uint64_t)((int64_t)rank->rank + 1));
	write_number(proto, RANK_LOCAL_RANK, (uint64_t)((int64_t)rank->local_rank + 1));
	write_number(proto, RANK_WORLD_SIZE, (uint64_t)((int64_t)rank->world_size + 1));
	write_number(proto, RANK_PID, rank->pid);
	write_number(proto, RANK_START, rank->start_ns);
	write_number(proto, RANK_WALL, rank->wall_ns);
	write_number(proto, RANK_STEPS, rank->steps);
	write_number(proto, RANK_NS, rank->ns);
	write_number(proto, RANK_WARM_UP_STEPS, rank->warm_up_steps);
	write_number(proto, RANK_WARM_UP_NS, rank->warm_up_ns);
	write_number(proto, RANK_MISSING_STEPS, rank->missing_steps);
	write_number(proto, RANK_LAST_STEP, rank->last_step);
	write_number(proto, RANK_LAST_OPEN, rank->last_open);
	write_durations(proto, rank);
	write_number(proto, RANK_SPAN_LOG2, rank->span_log2);
	for (size_t i = 0; i < rank->span_count; i++)
		write_span(proto, &rank->spans[i]);
	write_number(proto, RANK_NAMED_STEPS, rank->named_steps);
	for (size_t i = 0; i < rank->name_count; i++)
		write_name(proto, RANK_NAME, &rank->names[i]);
	write_number(proto, RANK_OTHER, rank->other_ns);
	write_pairs(proto, RANK_LOST, rank->lost, DW_LOSS_SLOTS);
	if (rank->where_known)
		write_where(proto, rank);
	write_number(proto, RANK_MEMORY_PEAK, rank->memory_peak_bytes);
	for (size_t i = 0; i < rank->collective_count; i++)
		write_collective(proto, &rank->collectives[i]);
	write_number(proto, RANK_ARRIVAL_LOG2, rank->arrival_log2);
	write_number(proto, RANK_IN_FLIGHT, rank->in_flight_ns);
	write_number(proto, RANK_LAYER_STEPS, rank->layer_steps);
	for (size_t i = 0; i < rank->layer_count; i++)
		write_name(proto, RANK_LAYER, &rank->layers[i]);
	write_number(proto, RANK_OTHER_LAYERS, rank->other_layers_ns);
	write_number(proto, RANK_ALLOCATED, rank->allocated_bytes);
	write_number(proto, RANK_INPUT, rank->input_bytes);
	for (size_t i = 0; i < rank->unrecorded_count; i++)
		write_unrecorded(proto, &rank->unrecorded[i]);
	for (size_t i = 0; i < rank->place_count; i++)
		write_name(proto, RANK_PLACE, &rank->places[i]);
	write_number(proto, RANK_RESIDENT, rank->resident_bytes);
	write_number(proto, RANK_LEFT, rank->left_bytes);
	write_number(proto, RANK_LOOP_END, rank->loop_end_ns);
	write_number(proto, RANK_CPU, rank->cpu_ns);
	write_number(proto, RANK_FAILED, rank->failed);
	write_number(proto, RANK_WELL, rank->well);
	dw_proto_close(proto, at);
}

void dw_summary_encode(const struct dw_summary *summary, struct dw_proto *proto)
{
	size_t head = proto->used;

	/* Items without a key: bytes of the head. */
	for (unsigned i = 0; i < HEAD_BYTES; i++)
		dw_proto_varint(proto, 0);
	for (size_t i = 0; i < summary->count; i++)
		write_rank(proto, &summary->ranks[i]);
	if (proto->failed)
		return;
	memcpy(proto->bytes + head, MAGIC, sizeof MAGIC - 1);
	write_word(proto->bytes + head + 8, DW_SUMMARY_VERSION, 4);
	write_word(proto->bytes + head + 16,
	           dw_summary_checksum(proto->bytes + head + HEAD_BYTES, proto->used - head - HEAD_BYTES), 8);
}
