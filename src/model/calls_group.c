/*
 * What makes calls one row: classes of symbols, prefixes of stacks.
 *
 * A symbol is a name with its category, detail, shapes and call site; which of those
 * count is asked for. A stack is known by its file and id; its innermost frames are
 * written out once an id and told apart as text, so that the same frames of several
 * processes are the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/calls_inside.h"

/* ---- classes of symbols ------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	while (bytes--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash;
}

static size_t shape_bytes(const struct dw_entry_shapes *shapes)
{
	return shapes ? shapes->entry.bytes - sizeof shapes->entry : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_class(const struct dw_symbol *a, const struct dw_symbol *b,
                       const struct dw_grouping *ask)
{
	if (a->category != b->category || strcmp(a->name, b->name) != 0 ||
	    (ask->overload && !same_text(a->detail, b->detail)))
		return false;
	return !ask->shapes ||
	       (shape_bytes(a->shapes) == shape_bytes(b->shapes) &&
	        (!a->shapes || (a->shapes->entry.aux == b->shapes->entry.aux &&
	                        memcmp(a->shapes->tensors, b->shapes->tensors, shape_bytes(a->shapes)) == 0)));
}

static uint64_t class_hash(const struct dw_symbol *symbol, const struct dw_grouping *ask)
{
	uint64_t hash = hash_bytes(symbol->category + 1, symbol->name, strlen(symbol->name));

	if (ask->overload && symbol->detail)
		hash = hash_bytes(hash, symbol->detail, strlen(symbol->detail));
	if (ask->shapes && symbol->shapes)
		hash = hash_bytes(hash, symbol->shapes->tensors, shape_bytes(symbol->shapes));
	return hash ^ hash >> 31;
}

static bool make_classes(struct dw_call_groups *groups, const struct dw_grouping *ask)
{
	const struct dw_model *model = groups->model;
	size_t mask = 1024;
	uint32_t *slots;

	while (mask < (size_t)model->symbol_count * 2)
		mask *= 2;
	slots = calloc(mask--, sizeof *slots);
	groups->classes = calloc(model->symbol_count + 1, sizeof *groups->classes);
	if (!slots || !groups->classes) {
		free(slots);
		return false;
	}
	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];
		size_t at = class_hash(symbol, ask) & mask;

		while (slots[at] && !same_class(&model->symbols[slots[at] - 1], symbol, ask))
			at = (at + 1) & mask;
		if (!slots[at])
			slots[at] = i + 1;
		groups->classes[i] = slots[at] - 1;
	}
	free(slots);
	return true;
}

/* ---- prefixes of stacks -------------------------------------------------------------------------- */

/* The arena's; NULL when out of memory. */
static char *write_prefix(struct dw_call_groups *groups, const struct dw_source_file *file,
                          const struct dw_source_stack *stack)
{
	uint32_t left = groups->frames;
	char *text = NULL, *copy;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < stack->count && left; i++) {
		uint32_t id = stack->frames[i];
		const struct dw_source_frame *frame =
		    file->frames && id < file->symbol_count ? file->frames[id] : NULL;

		for (uint32_t f = 0; frame && f < frame->count && left; f++, left--) {
			const struct dw_source_function *function = &frame->functions[f];

			if (left != groups->frames)
				fputc('\n', out);
			if (function->file)
				fprintf(out, "%s(%u): %s", function->file, function->line, function->name);
			else
				fputs(function->name, out);
		}
	}
	copy = fclose(out) == 0 ? dw_arena_text(&groups->model->arena, text, size) : NULL;
	free(text);
	return copy;
}

static bool widen(struct dw_call_groups *groups)
{
	size_t size = groups->slots ? (groups->mask + 1) * 2 : 256;
	uint32_t *slots = calloc(size, sizeof *slots);

	if (!slots)
		return false;
	free(groups->slots);
	groups->slots = slots;
	groups->mask = size - 1;
	for (size_t i = 1; i < groups->prefix_count; i++) {
		size_t at = hash_bytes(1, groups->prefixes[i], strlen(groups->prefixes[i])) & groups->mask;

		while (slots[at])
			at = (at + 1) & groups->mask;
		slots[at] = (uint32_t)i + 1;
	}
	return true;
}

static uint32_t find_prefix(struct dw_call_groups *groups, const char *text)
{
	const char **item;
	size_t at;

	if ((!groups->slots || groups->prefix_count * 2 >= groups->mask) && !widen(groups))
		return DW_NO_INDEX;
	for (at = hash_bytes(1, text, strlen(text)) & groups->mask; groups->slots[at];
	     at = (at + 1) & groups->mask)
		if (strcmp(groups->prefixes[groups->slots[at] - 1], text) == 0)
			return groups->slots[at] - 1;
	item = DW_GROW(&groups->prefixes, &groups->prefix_capacity, groups->prefix_count);
	if (!item)
		return DW_NO_INDEX;
	*item = text;
	groups->slots[at] = (uint32_t)groups->prefix_count + 1;
	return (uint32_t)groups->prefix_count++;
}

uint32_t dw_call_prefix(struct dw_call_groups *groups, uint32_t file, uint32_t stack)
{
	const struct dw_source_file *from = &groups->model->source->files[file];
	uint32_t *known;
	const char *text;

	groups->any_stack |= stack != 0;
	if (!stack || !groups->frames || !from->stacks || stack >= from->symbol_count)
		return 0;
	if (!groups->prefix_by_id[file])
		groups->prefix_by_id[file] = calloc(from->symbol_count, sizeof *groups->prefix_by_id[file]);
	if (!groups->prefix_by_id[file])
		return DW_NO_INDEX;
	known = &groups->prefix_by_id[file][stack];
	if (*known)
		return *known - 1;
	text = write_prefix(groups, from, &from->stacks[stack]);
	if (!text)
		return DW_NO_INDEX;
	*known = find_prefix(groups, text) + 1;
	return *known - 1;
}

/* ---- both ------------------------------------------------------------------------------------------- */

bool dw_call_groups_make(struct dw_call_groups *groups, struct dw_model *model,
                         const struct dw_grouping *ask)
{
	groups->model = model;
	groups->frames = ask->stack_frames;
	groups->prefix_by_id = calloc(model->source->file_count + 1, sizeof *groups->prefix_by_id);
	return groups->prefix_by_id &&
	       DW_GROW(&groups->prefixes, &groups->prefix_capacity, groups->prefix_count++) &&
	       make_classes(groups, ask);
}

void dw_call_groups_reset(struct dw_call_groups *groups)
{
	for (size_t i = 0; groups->prefix_by_id && i < groups->model->source->file_count; i++)
		free(groups->prefix_by_id[i]);
	free(groups->prefix_by_id);
	free(groups->classes);
	free(groups->prefixes);
	free(groups->slots);
	memset(groups, 0, sizeof *groups);
}
