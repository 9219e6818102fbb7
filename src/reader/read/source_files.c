/*
 * The files of a source, with the dictionary of each.
 *
 * Called by source_open.c when all files are read.
 */

#include "dwell/probe.h"
#include "read/read.h"

static int files_fill_symbols(struct dw_reader *reader, const struct dw_read_file *from, struct dw_source_file *file)
{
	struct dw_symbol *symbols = dw_read_take(reader, from->id_count, sizeof *symbols);

	if (!symbols)
		return -1;
	for (size_t i = 0; i < from->op_count; i++) {
		const struct dw_read_op *op = &from->ops[i];
		struct dw_symbol *symbol = &symbols[op->id];
		const char *name = dw_read_string(from, op->name);

		*symbol = (struct dw_symbol){ .name = name ? name : "(unknown)", .detail = dw_read_string(from, op->detail),
			.file = dw_read_string(from, op->file), .line = op->line, .category = op->category,
			.shapes = op->shapes < from->id_count ? from->shapes[op->shapes] : NULL };
	}
	for (size_t i = 0; i < from->device_parts.launch_count; i++) {
		const struct dw_entry *launch = &from->device_parts.launches[i].entry;

		/* An OP cannot be a LAUNCH, so that the order of these copies does not matter. */
		if (launch->aux < from->id_count)
			symbols[launch->id] = symbols[launch->aux];
	}
	file->symbols = symbols;
	file->symbol_count = from->id_count;
	file->strings = from->strings;
	return 0;
}

static void files_read_control(struct dw_source *source, const struct dw_read_file *from, struct dw_source_file *file)
{
	struct dw_control control;

	if (from->size_bytes < DW_CONTROL_OFFSET + sizeof control)
		return;
	memcpy(&control, from->data + DW_CONTROL_OFFSET, offsetof(struct dw_control, gates));
	file->waits = control.gated;
	source->begins += control.begins;
	source->begins_ns += control.begins_ns;
}

/* A file without this list is older. The list may change while it is copied. */
static const char *files_copy_layers(struct dw_reader *reader, const struct dw_read_file *file)
{
	size_t at = DW_CONTROL_OFFSET + offsetof(struct dw_control, layers);
	const char *list = (const char *)file->data + at;
	uint32_t mask;
	char *copy;

	if (file->size_bytes < DW_BLOCK_BYTES)
		return NULL;
	memcpy(&mask, file->data + DW_CONTROL_OFFSET + offsetof(struct dw_control, mask), sizeof mask);
	copy = mask & DWELL_DETAIL_LAYERS ? dw_read_take(reader, DW_LAYERS_BYTES + 1, 1) : NULL;
	if (copy)
		memcpy(copy, list, DW_LAYERS_BYTES);
	return copy && *copy ? copy : NULL;
}

int dw_read_fill_files(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (dw_read_clocks(reader->files, reader->file_count, &source->realtime_start_ns))
		return -1;
	source->files = dw_read_take(reader, reader->file_count, sizeof *source->files);
	if (!source->files)
		return -1;
	source->file_count = reader->file_count;
	for (size_t i = 0; i < source->file_count; i++) {
		struct dw_read_file *from = &reader->files[i];
		struct dw_source_file *file = &source->files[i];

		file->path = from->path;
		/* `dwell import` names the other tool as the writer of its trace. */
		file->large = !from->unbacked && from->size_bytes >= DW_SOURCE_LARGE_BYTES;
		file->foreign = from->foreign || strncmp(from->head->writer, "dwell", 5) != 0;
		file->size_bytes = from->size_bytes;
		file->head = from->head;
		file->torn = from->torn;
		file->missing_bytes = from->missing_bytes;
		files_read_control(source, from, file);
		file->named_ends = from->head->flags & DW_HEAD_NAMED_ENDS;
		file->layers = files_copy_layers(reader, from);
		file->clock = (struct dw_source_clock){ from->head->start_ticks, dw_read_u64(from->start_ns),
			                                    from->ns_per_tick, from->error_ns, from->pieces, from->piece_count };
		file->clock_jumps = from->clock_jumps;
		file->clock_jump_ns = from->clock_jump_ns;
		if (files_fill_symbols(reader, from, file))
			return -1;
		for (unsigned cause = 0; cause < DW_LOSS_SLOTS; cause++)
			source->lost[cause] += from->head->lost[cause];
	}
	return 0;
}
