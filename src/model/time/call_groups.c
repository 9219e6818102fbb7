/*
 * Which calls share a row: classes of symbols, prefixes of stacks.
 *
 * A symbol is a name with its category, detail, shapes and call site; the request says which of
 * these distinguish rows. A stack is identified by its file and id. Its innermost frames are
 * written as text once for each id and compared as text, so that equal frames of several processes
 * are equal.
 */
#include <stdio.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/text.h"
#include "frameworks/torch.h"
#include "model/core/shapes.h"
#include "model/time/call_groups.h"

/* ---- classes of symbols ------------------------------------------------------------------------- */

static size_t groups_shape_bytes(const struct dw_entry_shapes *shapes)
{
	return shapes ? shapes->entry.bytes - sizeof shapes->entry : 0;
}

static bool groups_same_class(const struct dw_symbol *a, const struct dw_symbol *b, const struct dw_grouping *ask)
{
	bool annotation = (a->category == DWELL_CATEGORY_PHASE || a->category == DWELL_CATEGORY_DATA) &&
	                  (dw_torch_names_call(a->detail) || dw_torch_names_call(b->detail));

	if (a->category != b->category || strcmp(a->name, b->name) != 0 ||
	    ((ask->overload || (ask->annotations && annotation)) && !dw_text_same(a->detail, b->detail)))
		return false;
	if (ask->sizes)
		return dw_shapes_same_sizes(a->shapes, b->shapes);
	return !ask->shapes || (groups_shape_bytes(a->shapes) == groups_shape_bytes(b->shapes) &&
	                        (!a->shapes || (a->shapes->entry.aux == b->shapes->entry.aux &&
	                                        memcmp(a->shapes->tensors, b->shapes->tensors,
	                                               groups_shape_bytes(a->shapes)) == 0)));
}

static uint32_t groups_hash_class(const struct dw_symbol *symbol, const struct dw_grouping *ask)
{
	uint32_t hash = dw_map_hash_bytes(symbol->category + 1, symbol->name, strlen(symbol->name));

	if (ask->overload && symbol->detail)
		hash = dw_map_hash_bytes(hash, symbol->detail, strlen(symbol->detail));
	if (ask->sizes)
		hash = dw_shapes_hash_sizes(hash, symbol->shapes);
	else if (ask->shapes && symbol->shapes)
		hash = dw_map_hash_bytes(hash, symbol->shapes->tensors, groups_shape_bytes(symbol->shapes));
	return hash;
}

static bool groups_make_classes(struct dw_call_groups *groups, const struct dw_grouping *ask)
{
	const struct dw_model *model = groups->model;
	struct dw_map map = { NULL, 0, 0 };
	bool good;

	groups->classes = calloc(model->symbol_count + 1, sizeof *groups->classes);
	good = groups->classes != NULL;
	for (uint32_t i = 0; good && i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];
		uint32_t hash = groups_hash_class(symbol, ask), found;

		found = DW_MAP_FIND(&map, hash, k, groups_same_class(&model->symbols[k], symbol, ask));
		if (found == DW_MAP_NONE)
			good = dw_map_add(&map, hash, i);
		groups->classes[i] = found == DW_MAP_NONE ? i : found;
	}
	dw_map_reset(&map);
	return good;
}

/* ---- prefixes of stacks -------------------------------------------------------------------------- */

/* Returns text in the arena. NULL: out of memory. */
static char *groups_write_prefix(struct dw_call_groups *groups, const struct dw_source_file *file,
                                 const struct dw_source_stack *stack)
{
	uint32_t left = groups->frames;
	char *text = NULL, *copy;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < stack->count && left; i++) {
		uint32_t id = __atomic_load_n(&stack->frames[i], __ATOMIC_RELAXED);
		const struct dw_source_frame *frame = file->frames && id < file->symbol_count ? file->frames[id] : NULL;

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

static uint32_t groups_find_prefix(struct dw_call_groups *groups, const char *text)
{
	uint32_t hash = dw_map_hash_bytes(0, text, strlen(text)), found;
	const char **item;

	found = DW_MAP_FIND(&groups->by_text, hash, i, strcmp(groups->prefixes[i], text) == 0);
	if (found != DW_MAP_NONE)
		return found;
	item = DW_GROW(&groups->prefixes, &groups->prefix_capacity, groups->prefix_count);
	if (!item || !dw_map_add(&groups->by_text, hash, (uint32_t)groups->prefix_count))
		return DW_NO_INDEX;
	*item = text;
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
	text = groups_write_prefix(groups, from, &from->stacks[stack]);
	if (!text)
		return DW_NO_INDEX;
	*known = groups_find_prefix(groups, text) + 1;
	return *known - 1;
}

/* ---- classes and prefixes -------------------------------------------------------------------- */

bool dw_call_groups_make(struct dw_call_groups *groups, struct dw_model *model, const struct dw_grouping *ask)
{
	groups->model = model;
	groups->frames = ask->stack_frames;
	groups->prefix_by_id = calloc(model->source->file_count + 1, sizeof *groups->prefix_by_id);
	return groups->prefix_by_id && DW_GROW(&groups->prefixes, &groups->prefix_capacity, groups->prefix_count++) &&
	       groups_make_classes(groups, ask);
}

void dw_call_groups_reset(struct dw_call_groups *groups)
{
	for (size_t i = 0; groups->prefix_by_id && i < groups->model->source->file_count; i++)
		free(groups->prefix_by_id[i]);
	DW_FREE(groups->prefix_by_id, groups->classes, groups->prefixes);
	dw_map_reset(&groups->by_text);
	memset(groups, 0, sizeof *groups);
}
