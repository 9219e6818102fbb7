/*
 * From the rows of a database to the events of chrome.h; see rows.h.
 */
#include "import/rows.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static struct dw_json_string rows_string(const char *text)
{
	return (struct dw_json_string){ text, (uint32_t)strlen(text), false };
}

struct chrome_id rows_id(int64_t number)
{
	return (struct chrome_id){ .given = true, .number = number };
}

void rows_begin(struct chrome *chrome, const struct dw_rows *rows, struct chrome_event *event,
                enum chrome_category category)
{
	int64_t end = dw_rows_integer(rows, ROW_END, 0);

	memset(event, 0, offsetof(struct chrome_event, values));
	event->cat.at = event->name.at = event->args.at = "";
	event->phase = 'X';
	event->category = category;
	event->has_start = dw_rows_type(rows, ROW_START) == DW_ROWS_INTEGER;
	event->has_length = dw_rows_type(rows, ROW_END) == DW_ROWS_INTEGER;
	event->wrong_type = dw_rows_type(rows, ROW_START) == DW_ROWS_OTHER || dw_rows_type(rows, ROW_END) == DW_ROWS_OTHER;
	event->start_ns = dw_rows_integer(rows, ROW_START, 0);
	if (event->has_length && __builtin_sub_overflow(end, event->start_ns, &event->length_ns)) {
		event->has_start = false;
		event->length_ns = 0;
	}
	chrome_limit_times(event);
	chrome->table = rows->table;
	chrome->row = rows->row;
}

void rows_set(struct chrome_event *event, enum chrome_arg arg, int64_t value)
{
	event->has |= 1u << arg;
	event->values[arg].kind = CHROME_NUMBER;
	event->values[arg].number = (struct dw_json_number){ .negative = value < 0,
		.digits = value < 0 ? -(uint64_t)value : (uint64_t)value };
}

void rows_set_from(const struct dw_rows *rows, unsigned column, struct chrome_event *event, enum chrome_arg arg)
{
	switch (dw_rows_type(rows, column)) {
	case DW_ROWS_INTEGER: rows_set(event, arg, dw_rows_integer(rows, column, 0)); break;
	case DW_ROWS_OTHER: event->wrong_type = true; break;
	case DW_ROWS_NONE: break;
	}
}

void rows_set_device(const struct dw_rows *rows, struct chrome_event *event)
{
	rows_set_from(rows, ROW_DEVICE, event, CHROME_DEVICE);
	rows_set_from(rows, ROW_CONTEXT, event, CHROME_CONTEXT);
	rows_set_from(rows, ROW_CORRELATION, event, CHROME_CORRELATION);
	if (dw_rows_integer(rows, ROW_STREAM, 0) != ROWS_NO_ID)
		rows_set_from(rows, ROW_STREAM, event, CHROME_STREAM);
}

void rows_set_launch(const struct dw_rows *rows, unsigned column, struct chrome_event *event,
                     struct dw_launch_shape *shape)
{
	uint32_t *const to[] = { &shape->grid[0], &shape->grid[1], &shape->grid[2], &shape->block[0],
		&shape->block[1], &shape->block[2], &shape->registers, &shape->static_shared_bytes,
		&shape->dynamic_shared_bytes, &shape->local_bytes };
	int64_t value;

	memset(shape, 0, sizeof *shape);
	for (unsigned i = 0; i < sizeof to / sizeof *to; i++) {
		value = dw_rows_integer(rows, column + i, i < 6 ? -1 : 0);
		if (value < 0 || value > UINT32_MAX)
			return;
		*to[i] = (uint32_t)value;
	}
	event->shape = shape;
}

/* ---- names ----------------------------------------------------------------------------------------- */

static const char *rows_memory(int64_t kind, const char *const *memories)
{
	for (int64_t i = 0; kind >= 0 && memories[i]; i++)
		if (i == kind)
			return memories[i];
	return "Unknown";
}

struct dw_json_string rows_copy_name(char *text, size_t size, int64_t kind, int64_t from, int64_t to,
                                     const char *const *memories)
{
	static const char *const ways[] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA",
		"DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD" };
	const char *way = kind >= 0 && kind < (int64_t)(sizeof ways / sizeof *ways) ? ways[kind] : *ways;

	snprintf(text, size, "Memcpy %s (%s -> %s)", way, rows_memory(from, memories), rows_memory(to, memories));
	return rows_string(text);
}

struct dw_json_string rows_set_name(char *text, size_t size, int64_t memory, const char *const *memories)
{
	snprintf(text, size, "Memset (%s)", rows_memory(memory, memories));
	return rows_string(text);
}

void rows_set_sync(const struct dw_rows *rows, struct chrome_event *event, int64_t type, int64_t waited)
{
	static const char *const kinds[] = { "Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
		"Context Sync" };

	event->name = rows_string(type > 0 && type < 5 ? kinds[type] : *kinds);
	if (waited >= 0 && waited < ROWS_NO_ID)
		rows_set(event, CHROME_WAIT_EVENT, waited);
}

struct dw_json_string rows_call_name(struct dw_json_string name)
{
	uint32_t end = name.length;

	while (end && isdigit((unsigned char)name.at[end - 1]))
		end--;
	if (end > 2 && end < name.length && name.at[end - 1] == 'v' && name.at[end - 2] == '_')
		name.length = end - 2;
	return name;
}

/* ---- ranges of NVTX --------------------------------------------------------------------------------- */

/* The number in "step 7", "iter_7", "Iteration #7" and such; false: the name is another one. */
static bool rows_step_number(const struct dw_json_string *name, int64_t *number)
{
	static const char *const words[] = { "iteration", "iter", "step" };
	uint32_t at = 0;

	for (size_t i = 0; i < sizeof words / sizeof *words && !at; i++)
		if (name->length > strlen(words[i]) && strncasecmp(name->at, words[i], strlen(words[i])) == 0)
			at = (uint32_t)strlen(words[i]);
	while (at && at < name->length && strchr(" _#:-", name->at[at]) && name->at[at])
		at++;
	if (!at || at == name->length || name->length - at > 17)
		return false;
	for (*number = 0; at < name->length; at++) {
		if (!isdigit((unsigned char)name->at[at]))
			return false;
		*number = *number * 10 + (name->at[at] - '0');
	}
	return true;
}

/* The place of ", WHAT = " in a name of emit_nvtx(); NULL if it is not there. */
static const char *rows_member(const struct dw_json_string *name, const char *what, const char **value)
{
	const char *found = memmem(name->at, name->length, what, strlen(what));

	*value = found ? found + strlen(what) : NULL;
	return found;
}

/*
 * "aten::mul, seq = 3, op_id = 9, sizes = [[2, 3], []]" is an operator. The backward operator
 * "MulBackward0" has its number. Which thread was the forward thread is not in the file: PyTorch's
 * number 1 stands for it, as in a program whose forward pass is in one thread.
 */
static bool rows_set_operator(struct chrome *chrome, struct chrome_event *event, const struct dw_json_string *name)
{
	const char *sequence, *id, *sizes, *end = name->at + name->length, *cut;
	bool backward;

	cut = rows_member(name, ", seq = ", &sequence);
	if (!cut)
		cut = rows_member(name, ", op_id = ", &id);
	if (!cut || cut == name->at)
		return false;
	event->name.length = (uint32_t)(cut - name->at);
	event->category = CHROME_IS_OPERATOR;
	backward = memmem(name->at, event->name.length, "Backward", 8) != NULL;
	if (sequence && isdigit((unsigned char)*sequence)) {
		struct dw_json json = { .end = end, .last = true };

		if (dw_json_read_number(&json, sequence, &event->values[CHROME_SEQUENCE].number)) {
			event->values[CHROME_SEQUENCE].kind = CHROME_NUMBER;
			event->has |= 1u << CHROME_SEQUENCE;
			rows_set(event, CHROME_FORWARD_THREAD, backward);
		}
	}
	if (rows_member(name, ", sizes = ", &sizes) && *sizes == '[') {
		event->values[CHROME_DIMS].kind = CHROME_OTHER;
		event->values[CHROME_DIMS].text = (struct dw_json_string){ sizes, (uint32_t)(end - sizes), false };
		event->has |= 1u << CHROME_DIMS;
		chrome->json.end = end;
	}
	return true;
}

void rows_set_annotation(struct chrome *chrome, struct chrome_event *event, struct dw_json_string name,
                         char *text, size_t size)
{
	int64_t number;

	event->name = name;
	if (event->category != CHROME_IS_ANNOTATION || rows_set_operator(chrome, event, &name))
		return;
	if (rows_step_number(&name, &number)) {
		snprintf(text, size, "ProfilerStep#%" PRId64, number);
		event->name = rows_string(text);
	}
}

/* ---- notes -------------------------------------------------------------------------------------------- */

void rows_note(const struct dw_database *database, struct dw_arena *arena, struct dw_import_result *result)
{
	if (database->bad_tables)
		result->note = dw_arena_printf(arena, "%s%stable %s cannot be read to its end (%s); the rows before "
		                               "are here", result->note ? result->note : "",
		                               result->note ? "; " : "", database->bad_table, database->bad_why);
}
