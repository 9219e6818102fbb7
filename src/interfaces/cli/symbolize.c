/* Finds names for the frames of a trace; see symbolize.h. */
#include "cli/symbolize.h"

#include "read/source.h"
#include "record/record.h"

static void symbolize_name_frame(uint32_t frame, const char *name)
{
	uint32_t function = dw_intern_text(name);
	struct dw_entry_symbol *entry = function ? dw_journal_reserve(sizeof *entry) : NULL;

	if (!entry)
		return;
	entry->entry.id = frame;
	entry->function = function;
	dw_journal_commit(entry, DW_ENTRY_SYMBOL);
}

void dw_symbolize(void)
{
	const char *path = dw_session.path;
	const struct dw_source_file *file;
	struct dw_source *source;

	if (dw_source_open(&source, &path, 1, NULL) != 0)
		return;
	file = &source->files[0];
	for (uint32_t id = 0; file->frames && id < file->symbol_count; id++)
		if (file->frames[id] && file->frames[id]->found)
			symbolize_name_frame(id, file->frames[id]->functions[0].name);
	dw_source_close(source);
}
