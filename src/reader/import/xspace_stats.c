/*
 * The stats of an event: values that dwell understands, and the rest as JSON.
 *
 * Called by xspace_names.c and xspace_line.c. The value of a stat may be a reference to the name
 * of another stat, because XLA stores repeated texts this way.
 */
#include <math.h>
#include <stdio.h>

#include "base/order.h"
#include "import/xspace.h"

static const struct xs_stat_name *stats_find_name(const struct xspace *space, uint64_t id)
{
	size_t from = 0, to = space->stat_count;

	if (id && id <= to && space->stat_names[id - 1].id == id)
		return &space->stat_names[id - 1];
	from = DW_FIRST(i, from, to, space->stat_names[i].id >= id);
	return from < space->stat_count && space->stat_names[from].id == id ? &space->stat_names[from] : NULL;
}

static void stats_read_value(const struct xspace *space, const struct dw_proto_field *field, struct xs_value *value)
{
	const struct xs_stat_name *other;

	if (field->field == XS_STAT_DOUBLE && field->wire == DW_PROTO_FIXED64) {
		memcpy(&value->real, &field->number, sizeof value->real);
		value->is_double = true;
	} else if ((field->field == XS_STAT_UINT || field->field == XS_STAT_INT) &&
	           field->wire == DW_PROTO_VARINT) {
		value->number = field->number;
	} else if (field->field == XS_STAT_TEXT && field->wire == DW_PROTO_BYTES) {
		value->text = xs_text_of(field);
		value->is_text = true;
	} else if (field->field == XS_STAT_REF && field->wire == DW_PROTO_VARINT) {
		other = stats_find_name(space, field->number);
		value->is_text = other != NULL;
		if (other)
			value->text = other->name;
	}
}

bool xs_read_stat(const struct xspace *space, struct xs_text message, enum xs_stat *stat,
                  struct xs_text *name, struct xs_value *value)
{
	struct dw_proto_reader reader = dw_proto_read(message.bytes, message.length);
	const struct xs_stat_name *known = NULL;
	struct dw_proto_field field;

	*value = (struct xs_value){ .text = { "", 0 } };
	while (dw_proto_next(&reader, &field)) {
		if (field.field == XS_STAT_META && field.wire == DW_PROTO_VARINT)
			known = stats_find_name(space, field.number);
		else
			stats_read_value(space, &field, value);
	}
	value->bad = reader.bad;
	if (reader.bad || !known)
		return false;
	*stat = known->stat;
	*name = known->name;
	return true;
}

/* ---- as JSON ------------------------------------------------------------------------ */

static size_t stats_put_text(char *to, size_t room, struct xs_text text)
{
	size_t used = 0;

	if (room < text.length * 2 + 3)
		return 0;
	to[used++] = '"';
	for (size_t i = 0; i < text.length; i++) {
		unsigned char c = (unsigned char)text.bytes[i];

		if (c == '"' || c == '\\')
			to[used++] = '\\';
		to[used++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	to[used++] = '"';
	return used;
}

/* Appends a member to the JSON, unless the buffer is too small for all of it. */
static void stats_put_arg(struct xs_stats *stats, size_t *used, struct xs_text name, const struct xs_value *value)
{
	char *to = stats->args;
	size_t room = sizeof stats->args - 2, at = *used, more;
	int length;

	if (at + 2 > room)
		return;
	to[at] = at ? ',' : '{';
	more = stats_put_text(to + at + 1, room - at - 1, name);
	if (!more)
		return;
	at += 1 + more;
	if (at + 34 > room)
		return;
	to[at++] = ':';
	if (value->is_text) {
		more = stats_put_text(to + at, room - at, value->text);
		if (!more)
			return;
		at += more;
	} else {
		if (value->is_double && !isfinite(value->real))
			return;
		length = value->is_double ? snprintf(to + at, 32, "%.17g", value->real)
		                          : snprintf(to + at, 32, "%lld", (long long)value->number);
		at += (size_t)length;
	}
	*used = at;
}

void xs_read_stats(const struct xspace *space, const unsigned char *event, size_t length, struct xs_stats *stats)
{
	struct dw_proto_reader reader = dw_proto_read(event, length);
	struct dw_proto_field field;
	struct xs_value value;
	struct xs_text name;
	enum xs_stat stat;
	size_t used = 0;

	stats->has = 0;
	stats->bad = false;
	while (dw_proto_next(&reader, &field)) {
		if (field.field != XS_EVENT_STAT || field.wire != DW_PROTO_BYTES)
			continue;
		if (!xs_read_stat(space, xs_text_of(&field), &stat, &name, &value)) {
			stats->bad |= value.bad; /* without a name it is only unknown */
			continue;
		}
		if (stat == XS_OTHER) {
			stats_put_arg(stats, &used, name, &value);
		} else {
			stats->values[stat] = value;
			stats->has |= (uint64_t)1 << stat;
		}
	}
	if (used)
		stats->args[used++] = '}';
	stats->args[used] = '\0';
	if (stats->has >> XS_ARGS & 1 && stats->values[XS_ARGS].is_text) {
		struct xs_text text = stats->values[XS_ARGS].text;

		used = text.length < sizeof stats->args - 1 ? text.length : sizeof stats->args - 1;
		memcpy(stats->args, text.bytes, used);
		stats->args[used] = '\0';
	}
}
