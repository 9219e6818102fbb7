/*
 * Functions of recorded stacks as symbols.
 *
 * Called once by call_tree.c, before its workers start: workers share the symbols, which must not
 * change then, and a node of the trie has only a symbol's number. A function is identified by its
 * name, in whatever file it is. A frame with several functions (inlined ones) has them in a row.
 */
#include <string.h>

#include "base/map.h"
#include "model/core/stack_functions.h"

static size_t functions_count(const struct dw_source *source)
{
	size_t count = 0;

	for (size_t f = 0; f < source->file_count; f++) {
		const struct dw_source_file *file = &source->files[f];

		for (uint32_t id = 0; file->frames && id < file->symbol_count; id++)
			count += file->frames[id] ? file->frames[id]->count : 0;
	}
	return count;
}

/* Finds or adds the symbol of a function. DW_MAP_NONE: out of memory. */
static uint32_t functions_put_name(struct dw_map *names, struct dw_symbol *symbols, uint32_t *count,
                                   const struct dw_source_function *function)
{
	uint32_t hash = dw_map_hash_bytes(0, function->name, strlen(function->name));
	uint32_t found = DW_MAP_FIND(names, hash, i, strcmp(symbols[i].name, function->name) == 0);

	if (found != DW_MAP_NONE)
		return found;
	if (!dw_map_add(names, hash, *count))
		return DW_MAP_NONE;
	symbols[*count] = (struct dw_symbol){ .name = function->name, .file = function->file,
		                                  .line = function->line, .category = DWELL_CATEGORY_FUNCTION };
	return (*count)++;
}

static bool functions_index_frames(struct dw_functions *functions, struct dw_model *model, struct dw_map *names)
{
	const struct dw_source *source = model->source;
	uint32_t symbol_count = model->symbol_count, used = 0;

	for (size_t f = 0; f < source->file_count; f++) {
		const struct dw_source_file *file = &source->files[f];

		if (!file->frames)
			continue;
		functions->by_frame[f] = dw_arena_alloc(&model->arena, (file->symbol_count + 1) * sizeof(uint32_t));
		if (!functions->by_frame[f])
			return false;
		for (uint32_t id = 0; id < file->symbol_count; id++) {
			const struct dw_source_frame *frame = file->frames[id];

			if (!frame)
				continue; /* a page without frames stays untouched */
			functions->by_frame[f][id] = used;
			for (uint32_t i = 0; i < frame->count; i++) {
				functions->list[used] = functions_put_name(names, functions->symbols, &symbol_count,
				                                           &frame->functions[i]);
				if (functions->list[used++] == DW_MAP_NONE)
					return false;
			}
		}
	}
	functions->symbol_count = symbol_count;
	return true;
}

bool dw_functions_init(struct dw_functions *functions, struct dw_model *model)
{
	size_t count = functions_count(model->source);
	struct dw_map names = { NULL, 0, 0 };
	bool good;

	functions->symbols = dw_arena_alloc(&model->arena, (model->symbol_count + count) * sizeof *functions->symbols);
	functions->list = dw_arena_alloc(&model->arena, (count + 1) * sizeof *functions->list);
	functions->by_frame = dw_arena_alloc(&model->arena, model->source->file_count * sizeof *functions->by_frame);
	good = functions->symbols && functions->list && functions->by_frame;
	if (good)
		memcpy(functions->symbols, model->symbols, model->symbol_count * sizeof *functions->symbols);
	good = good && functions_index_frames(functions, model, &names);
	dw_map_reset(&names);
	return good;
}
