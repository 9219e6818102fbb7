/*
 * Functions by CPU time; see hot.h.
 *
 * The functions of all frames are numbered first. Then each row of samples adds its weight to the
 * functions of its stack, each once. Memory: the functions, and a row for each combination asked for.
 */
#include "model/samples/hot.h"

#include <stdio.h>

#include "base/code/activity.h"
#include "base/code/demangle.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "base/text.h"

struct hot {
	const struct dw_source *source;
	const struct dw_hot_ask *ask;
	struct dw_hot *to;
	size_t capacity;
	struct dw_map rows;
	/* Lines of functions: the most self time of a row decides which one it shows. */
	struct line {
		uint32_t row, line;
		const char *symbol; /* in place of a line, of rows of libraries: then `line` is its hash */
		uint64_t weight;
	} *lines;
	size_t line_count, line_capacity;
	struct dw_map by_line;
	uint32_t *seen;      /* by row: number of the last sample that has it */
	size_t seen_count;
	uint32_t number;
	bool failed;
};

static const struct dw_source_function unread = { "(stack not read)", NULL, 0 },
                                       no_python = { "(no function of Python)", NULL, 0 };
static const char spins[] = "spins for other threads"; /* has a row for each line that waits so */

#define HOT_NAME_BYTES 400u

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *hot_shorten(const char *name, char *text, size_t size)
{
	dw_name_short(text, size, name);
	return text;
}

static bool hot_is(const struct hot *hot, const struct dw_hot_row *row, const struct dw_source_function *function,
                   const char *module, const struct dw_sample_row *place)
{
	unsigned by = hot->ask->by;

	return strcmp(row->name, function->name) == 0 && dw_text_same(row->file, function->file) &&
	       (row->file || dw_text_same(row->module, module)) &&
	       ((!(by & DW_HOT_LINES) && row->name != spins) || row->line == function->line) &&
	       (!(by & DW_HOT_HOLDERS) || row->place.holder == place->holder) &&
	       (!(by & DW_HOT_THREADS) || row->place.thread == place->thread) &&
	       (!(by & DW_HOT_RANGES) || row->place.range == place->range) &&
	       (!(by & DW_HOT_PHASES) || (row->place.share == place->share && row->place.named == place->named &&
	                                  row->place.where == place->where));
}

static uint32_t hot_hash(const struct hot *hot, const struct dw_source_function *function,
                         const struct dw_sample_row *place)
{
	unsigned by = hot->ask->by;
	uint32_t key[] = { by & DW_HOT_LINES || function->name == spins ? function->line : 0, by & DW_HOT_THREADS ? place->thread : 0,
		               by & DW_HOT_RANGES ? place->range : 0, by & DW_HOT_PHASES ? place->named : 0,
		               by & DW_HOT_PHASES ? place->share * 4u + place->where : 0, by & DW_HOT_HOLDERS ? place->holder : 0 };
	uint32_t hash = dw_map_hash_bytes(0, function->name, strlen(function->name));

	return dw_map_hash_bytes(hash, key, sizeof key);
}

/* Finds or adds a row. DW_MAP_NONE: out of memory. */
static uint32_t hot_row(struct hot *hot, const struct dw_source_function *function, const char *module,
                        const struct dw_sample_row *place)
{
	uint32_t hash = hot_hash(hot, function, place), index = (uint32_t)hot->to->count;
	uint32_t found = DW_MAP_FIND(&hot->rows, hash, i, hot_is(hot, &hot->to->rows[i], function, module, place));
	struct dw_hot_row *row;
	uint32_t *seen;

	if (found != DW_MAP_NONE)
		return found;
	row = DW_GROW(&hot->to->rows, &hot->capacity, hot->to->count);
	seen = row ? DW_GROW(&hot->seen, &hot->seen_count, hot->to->count) : NULL;
	if (!seen || !dw_map_add(&hot->rows, hash, index)) {
		hot->failed = true;
		return DW_MAP_NONE;
	}
	*row = (struct dw_hot_row){ .name = function->name, .file = function->file, .line = function->line,
		                        .module = module, .place = *place };
	hot->to->count++;
	return index;
}

/* Adds self time to the line of a row, or to a function of its library. */
static void hot_add_line(struct hot *hot, uint32_t row, uint32_t number, const char *symbol, uint64_t weight)
{
	uint32_t hash = dw_map_hash((uint64_t)row << 32 | number);
	uint32_t at = DW_MAP_FIND(&hot->by_line, hash, i, hot->lines[i].row == row && hot->lines[i].line == number);
	struct line *line;

	if (at == DW_MAP_NONE) {
		line = DW_GROW(&hot->lines, &hot->line_capacity, hot->line_count);
		if (!line || !dw_map_add(&hot->by_line, hash, (uint32_t)hot->line_count)) {
			hot->failed = true;
			return;
		}
		*line = (struct line){ row, number, symbol, 0 };
		at = (uint32_t)hot->line_count++;
	}
	hot->lines[at].weight += weight;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* `self`: no function of the stack has been added yet. `symbol`: of a row of a library, see hot_add_line(). */
static void hot_add_as(struct hot *hot, const struct dw_source_function *function, const char *module,
                       const struct dw_sample_row *from, bool self, const char *symbol)
{
	uint32_t at = hot_row(hot, function, module, from);
	struct dw_hot_row *row;

	if (at == DW_MAP_NONE)
		return;
	row = &hot->to->rows[at];
	if (self) {
		row->self += from->weight;
		row->self_ns += from->cpu_ns;
		row->self_samples += from->count;
		hot_add_line(hot, at, symbol ? dw_map_hash_bytes(0, symbol, strlen(symbol)) : function->line, symbol, from->weight);
	}
	if (hot->seen[at] == hot->number)
		return;
	hot->seen[at] = hot->number;
	row->total += from->weight;
	row->total_ns += from->cpu_ns;
	row->samples += from->count;
}

static void hot_add(struct hot *hot, const struct dw_source_function *function, const char *module, const struct dw_sample_row *from,
                    bool self)
{
	hot_add_as(hot, function, module, from, self, NULL);
}

/* A frame of Python has a source file and no module. */
static bool hot_wants_frame(const struct hot *hot, const struct dw_source_frame *frame)
{
	return frame && (!(hot->ask->by & DW_HOT_PYTHON) || (!frame->module && frame->functions->file));
}

/* Whether a function without a name has a caller with one in its library: its time is that function's, as the parts of a
 * printf() are to whoever called it. */
static bool hot_is_inner(const struct dw_sample_stack *stack, uint32_t at)
{
	const struct dw_source_frame *frame = dw_sample_stack_at(stack, at), *caller;

	if (!frame || !frame->module || !dw_code_is_nameless(frame->functions->name))
		return false;
	while ((caller = dw_sample_stack_at(stack, ++at)) != NULL && dw_text_same(caller->module, frame->module))
		if (!dw_code_is_nameless(caller->functions->name))
			return true;
	return false;
}

/* In place of a runtime's frames: the line that calls the runtime. */
static void hot_add_spin(struct hot *hot, const struct dw_sample_row *from, uint32_t within)
{
	const struct dw_source_function *own = dw_sample_own_function(hot->source, from, within);
	struct dw_source_function function = { spins, own ? own->file : NULL, own ? own->line : 0 };

	hot->to->spun_ns += from->cpu_ns;
	hot->to->spun_samples += from->count;
	if (!(hot->ask->by & DW_HOT_PYTHON))
		hot_add(hot, &function, NULL, from, true);
}

/* The library that a stack without a function of Python is shown under: the outermost one that does not belong to the system,
 * as the library that started the thread; if there is none, the innermost one. */
static const char *hot_library(const struct dw_sample_stack *stack)
{
	const struct dw_source_frame *frame;

	for (uint32_t i = stack->count; i-- > 0;)
		if ((frame = dw_sample_stack_at(stack, i)) != NULL && frame->module && frame->count &&
		    frame->activity != DW_ACTIVITY_STARTS && dw_sample_is_own(frame, frame->functions))
			return frame->module;
	frame = dw_sample_stack_at(stack, 0);
	return frame ? frame->module : NULL;
}

/* The innermost function of the library with a name; "": it has none. */
static const char *hot_symbol(const struct dw_sample_stack *stack, const char *library)
{
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct dw_source_frame *frame = dw_sample_stack_at(stack, i);

		if (frame && frame->count && dw_text_same(frame->module, library) && !dw_code_is_nameless(frame->functions->name))
			return frame->functions->name;
	}
	return "";
}

/* `spun`: the thread waits by spinning, `within` frames of a runtime. */
static void hot_add_row(struct hot *hot, const struct dw_sample_row *from, bool spun, uint32_t within)
{
	struct dw_sample_stack stack = dw_sample_stack_of(hot->source, from);
	uint32_t libc = hot->ask->waits && !spun;
	bool own = hot->ask->by & DW_HOT_OWN && dw_sample_own_function(hot->source, from, libc);
	bool self = !spun || hot->ask->by & DW_HOT_PYTHON;

	hot->number++;
	hot->to->samples += from->count;
	hot->to->weight += from->weight;
	hot->to->squares += from->squares;
	hot->to->cpu_ns += from->cpu_ns;
	if (spun)
		hot_add_spin(hot, from, within);
	for (uint32_t i = within; i < stack.count; i++) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, i);

		if (hot_is_inner(&stack, i))
			continue;
		for (uint32_t n = 0; hot_wants_frame(hot, frame) && n < frame->count; n++) {
			if (own && (i < libc || !dw_sample_is_own(frame, &frame->functions[n])))
				continue;
			hot_add(hot, &frame->functions[n], frame->module, from, self);
			self = false;
		}
	}
	if (self && stack.count)
		hot_add_as(hot, &no_python, hot_library(&stack), from, true, hot_symbol(&stack, hot_library(&stack)));
	else if (self)
		hot_add(hot, &unread, NULL, from, true);
}

/* ---- the result ------------------------------------------------------------------------------ */

DW_ORDER(hot_compare_lines, struct line, DW_UP(row) DW_DOWN(weight) DW_UP(line))
DW_ORDER(hot_compare_rows, struct dw_hot_row, DW_DOWN(self) DW_DOWN(total) DW_TEXT(name) DW_UP(line)
         DW_UP(place.thread) DW_UP(place.share) DW_UP(place.range) DW_UP(place.holder))

/* Finds functions of several libraries that have one short name. */
static void hot_compare_names(struct hot *hot)
{
	struct dw_map by_name = { .count = 0 };
	char name[HOT_NAME_BYTES], other[HOT_NAME_BYTES];

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < hot->to->count; i++) {
			struct dw_hot_row *row = &hot->to->rows[i], *first;
			uint32_t hash, at;

			hot_shorten(row->name, name, sizeof name);
			hash = dw_map_hash_bytes(0, name, strlen(name));
			at = DW_MAP_FIND(&by_name, hash, n, strcmp(hot_shorten(hot->to->rows[n].name, other, sizeof other), name) == 0);
			if (at == DW_MAP_NONE) {
				hot->failed |= !dw_map_add(&by_name, hash, (uint32_t)i);
				continue;
			}
			first = &hot->to->rows[at];
			first->in_several |= !dw_text_same(first->module, row->module);
			row->in_several = first->in_several;
		}
	dw_map_reset(&by_name);
}

static void hot_finish(struct hot *hot)
{
	DW_SORT(hot->lines, hot->line_count, hot_compare_lines);
	for (size_t i = 0; i < hot->line_count; i++)
		if (i == 0 || hot->lines[i].row != hot->lines[i - 1].row) {
			struct dw_hot_row *row = &hot->to->rows[hot->lines[i].row];

			row->line = hot->lines[i].symbol ? 0 : hot->lines[i].line;
			row->symbol = hot->lines[i].symbol;
			row->symbol_self = hot->lines[i].weight;
		}
	DW_SORT(hot->to->rows, hot->to->count, hot_compare_rows);
	hot_compare_names(hot);
}

bool dw_hot_make(struct dw_hot *to, struct dw_model *model, const struct dw_hot_ask *ask)
{
	const struct dw_samples *samples = ask->waits ? dw_model_wait_samples(model, NULL) : dw_model_samples(model, NULL);
	const struct dw_samples *spun = ask->waits ? dw_model_samples(model, NULL) : NULL;
	struct hot hot = { .source = dw_model_source(model), .ask = ask, .to = to };

	*to = (struct dw_hot){ .waits = ask->waits };
	for (size_t i = 0; samples && i < samples->count && !hot.failed; i++)
		if (!ask->wants || ask->wants(ask->context, &samples->rows[i]))
			hot_add_row(&hot, &samples->rows[i], false, 0);
	for (size_t i = 0; spun && i < spun->count && !hot.failed; i++) {
		uint32_t within;

		if (dw_sample_spins(hot.source, &spun->rows[i], &within) && (!ask->wants || ask->wants(ask->context, &spun->rows[i])))
			hot_add_row(&hot, &spun->rows[i], true, within);
	}
	if (!hot.failed)
		hot_finish(&hot);
	DW_FREE(hot.lines, hot.seen);
	dw_map_reset(&hot.rows);
	dw_map_reset(&hot.by_line);
	return samples && !hot.failed;
}

void dw_hot_reset(struct dw_hot *hot)
{
	free(hot->rows);
	*hot = (struct dw_hot){ .rows = NULL };
}

bool dw_hot_is_function(const struct dw_hot_row *row)
{
	return row->name != unread.name && row->name != no_python.name && row->name != spins;
}

const char *dw_hot_name(const struct dw_hot_row *row, char *text, size_t size)
{
	const char *slash = row->module ? strrchr(row->module, '/') : NULL;
	bool library = row->name == no_python.name && row->module, named = library && row->symbol && *row->symbol;
	size_t length = strlen(hot_shorten(named ? row->symbol : row->name, text, size));

	if (named)
		snprintf(text + length, size - length, "%s (%s)", row->symbol_self < row->self ? " and others" : "",
		         slash ? slash + 1 : row->module);
	else if (library)
		snprintf(text, size, "code of %s", slash ? slash + 1 : row->module);
	else if (row->in_several && row->module)
		snprintf(text + length, size - length, " (%s)", slash ? slash + 1 : row->module);
	return text;
}

const char *dw_hot_place(const struct dw_hot_row *row, char *text, size_t size)
{
	const char *slash = row->file ? strrchr(row->file, '/') : NULL;
	const char *file = slash && slash[1] ? slash + 1 : row->file;

	if (file && row->line)
		snprintf(text, size, "%s:%u", file, row->line);
	else
		snprintf(text, size, "%s", file ? file : "");
	return text;
}
