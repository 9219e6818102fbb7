/*
 * Merges names by content.
 *
 * Called once by model_create.c. Two processes may give the same content two ids, and two files always do;
 * the model has one symbol for each content. Rows merge further: all symbols of one category and
 * name are one row, whatever their shapes and call sites. Invariant: every id of every file has a
 * symbol and a row; ids that were never written share "(unknown)".
 */

#include "dwell/probe.h"
#include "base/map.h"
#include "base/text.h"
#include "model/core/model_data.h"

uint32_t dw_kind_of(uint32_t category)
{
	switch (category) {
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_PHASE:
	case DWELL_CATEGORY_ACTION:
	case DWELL_CATEGORY_DATA:
	case DWELL_CATEGORY_CHECKPOINT:
	case DWELL_CATEGORY_EVALUATION:
	case DWELL_CATEGORY_COMMUNICATION:
	case DWELL_CATEGORY_EVENT:
	case DWELL_CATEGORY_HANDLER:
		return 1; /* all ranges that the program names are one kind */
	default: return category < DW_KINDS - 2 ? category + 2 : 1;
	}
}

/* ---- a set of symbols ------------------------------------------------------------------ */

static uint32_t symbol_hash_text(uint32_t hash, const char *text)
{
	return dw_map_hash_bytes(hash + 1, text ? text : "", text ? strlen(text) : 0);
}

static uint32_t symbol_hash(const struct dw_symbol *symbol, bool by_name)
{
	const struct dw_entry_shapes *shapes = symbol->shapes;
	uint32_t hash = symbol_hash_text(symbol->category, symbol->name);

	if (by_name)
		return hash;
	hash = symbol_hash_text(symbol_hash_text(hash, symbol->detail), symbol->file) + symbol->line;
	if (shapes)
		hash = dw_map_hash_bytes(hash, shapes->tensors, shapes->entry.bytes - sizeof shapes->entry);
	return hash;
}

static bool symbol_same_shapes(const struct dw_entry_shapes *a, const struct dw_entry_shapes *b)
{
	return a == b || (a && b && a->entry.aux == b->entry.aux && a->entry.bytes == b->entry.bytes &&
	                  memcmp(a->tensors, b->tensors, a->entry.bytes - sizeof a->entry) == 0);
}

static bool symbol_equals(const struct dw_symbol *a, const struct dw_symbol *b, bool by_name)
{
	return a->category == b->category && dw_text_same(a->name, b->name) &&
	       (by_name ||
	        (dw_text_same(a->detail, b->detail) && dw_text_same(a->file, b->file) &&
	         a->line == b->line && symbol_same_shapes(a->shapes, b->shapes)));
}

/* Finds `symbol` in `items`, or adds it to the map as index `next`. Returns its index; DW_MAP_NONE:
 * out of memory. */
static uint32_t symbols_put(struct dw_map *map, const struct dw_symbol *items,
                            const struct dw_symbol *symbol, bool by_name, uint32_t next)
{
	uint32_t hash = symbol_hash(symbol, by_name);
	uint32_t found = DW_MAP_FIND(map, hash, i, symbol_equals(&items[i], symbol, by_name));

	if (found == DW_MAP_NONE && dw_map_add(map, hash, next))
		return next;
	return found;
}

/* ---- merging ------------------------------------------------------------------------------ */

/* Ids that are not of an OP record have this symbol. Comparing it needs no hash. */
static bool symbol_is_unknown(const struct dw_symbol *symbol)
{
	if (!symbol->name)
		return true;
	return symbol->category == 0 && strcmp(symbol->name, "(unknown)") == 0 && !symbol->detail &&
	       !symbol->file && !symbol->line && !symbol->shapes;
}

/* XLA's ranges have arguments in their names. One of them says what the range is of, others number it:
 * "XlaModule:#hlo_module=jit_step,program_id=1989#" becomes "XlaModule jit_step". NULL: out of memory. */
static const char *symbol_name_without_arguments(struct dw_model *model, const char *name)
{
	const char *arguments = strstr(name, ":#"), *value = arguments ? strchr(arguments, '=') : NULL;

	if (!value || name[strlen(name) - 1] != '#')
		return name;
	return dw_arena_printf(&model->arena, "%.*s %.*s", (int)(arguments - name), name, (int)strcspn(value + 1, ",#"),
	                       value + 1);
}

static int symbols_merge_files(struct dw_model *model, struct dw_map *map)
{
	const struct dw_source *source = model->source;

	model->symbols[0] = (struct dw_symbol){ .name = "(unknown)" };
	model->symbols[DW_OTHER_CALLS] = (struct dw_symbol){ .name = "(other calls)" };
	model->symbol_count = 2;
	for (uint32_t i = 0; i < 2; i++)
		if (symbols_put(map, model->symbols, &model->symbols[i], false, i) == DW_MAP_NONE)
			return -1;
	for (size_t f = 0; f < source->file_count; f++) {
		const struct dw_source_file *file = &source->files[f];
		uint32_t *by_id = dw_arena_alloc(&model->arena, (file->symbol_count + 1) * sizeof *by_id);

		if (!by_id)
			return -1;
		model->symbol_by_id[f] = by_id; /* zeroed: 0 is "(unknown)" */
		for (uint32_t id = 0; id < file->symbol_count; id++) {
			struct dw_symbol *symbol = &model->symbols[model->symbol_count];

			if (symbol_is_unknown(&file->symbols[id]))
				continue;
			*symbol = file->symbols[id];
			symbol->name = symbol_name_without_arguments(model, symbol->name);
			if (!symbol->name)
				return -1;
			by_id[id] = symbols_put(map, model->symbols, symbol, false, model->symbol_count);
			if (by_id[id] == DW_MAP_NONE)
				return -1;
			model->symbol_count += by_id[id] == model->symbol_count;
		}
	}
	return 0;
}

static int symbols_make_rows(struct dw_model *model, struct dw_map *map)
{
	model->symbol_row = dw_arena_alloc(&model->arena, model->symbol_count * sizeof *model->symbol_row);
	model->row_symbol = dw_arena_alloc(&model->arena, model->symbol_count * sizeof *model->row_symbol);
	if (!model->symbol_row || !model->row_symbol)
		return -1;
	for (uint32_t i = 0; i < model->symbol_count; i++) {
		uint32_t first = symbols_put(map, model->symbols, &model->symbols[i], true, i);

		if (first == DW_MAP_NONE)
			return -1;
		if (first == i) {
			model->row_symbol[model->row_count] = i;
			model->symbol_row[i] = model->row_count++;
		} else {
			model->symbol_row[i] = model->symbol_row[first];
		}
	}
	return 0;
}

static int symbols_make_ops(struct dw_model *model)
{
	for (size_t f = 0; f < model->source->file_count; f++) {
		uint32_t count = model->source->files[f].symbol_count;
		struct dw_op *ops = dw_arena_alloc(&model->arena, (count + 1) * sizeof *ops);

		if (!ops)
			return -1;
		for (uint32_t id = 0; id < count; id++) {
			uint32_t symbol = model->symbol_by_id[f][id];

			ops[id].row = model->symbol_row[symbol];
			ops[id].kind = dw_kind_of(model->symbols[symbol].category);
		}
		model->ops[f] = ops;
	}
	return 0;
}

int dw_symbols_merge(struct dw_model *model)
{
	const struct dw_source *source = model->source;
	struct dw_map symbols = { NULL, 0, 0 }, rows = { NULL, 0, 0 };
	size_t most = 3;
	int result = -1;

	for (size_t f = 0; f < source->file_count; f++)
		for (uint32_t id = 0; id < source->files[f].symbol_count; id++)
			most += !symbol_is_unknown(&source->files[f].symbols[id]);
	model->symbols = dw_arena_alloc(&model->arena, most * sizeof *model->symbols);
	model->symbol_by_id = dw_arena_alloc(&model->arena, source->file_count * sizeof *model->symbol_by_id);
	model->ops = dw_arena_alloc(&model->arena, source->file_count * sizeof *model->ops);
	if (model->symbols && model->symbol_by_id && model->ops &&
	    !symbols_merge_files(model, &symbols) && !symbols_make_rows(model, &rows) && !symbols_make_ops(model))
		result = 0;
	dw_map_reset(&symbols);
	dw_map_reset(&rows);
	return result;
}
