/*
 * Finds names and lines for the frames of a trace; see symbolize.h.
 *
 * The reader finds names in the symbol tables of modules whose build-id is right. Lines and inlined
 * functions come from debug information, by elfutils, if dwell was built with it.
 */
#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "base/code/activity.h"
#include "process/lines.h"
#include "program/process_library.h"
#include "record/record.h"
#include "symbolize/symbolize_chosen.h"
#include "symbolize/symbolize_kernel.h"
#include "symbolize/symbolize_made.h"

static struct {
	__typeof__(dw_lines_open) *open;
	__typeof__(dw_lines_at) *at;
	__typeof__(dw_lines_function) *function;
	__typeof__(dw_lines_inlined_into) *into;
	__typeof__(dw_lines_close) *close;
} symbolize_lines;

/* What is known of the file that has the frames. */
struct symbolize_module {
	const char *path;
	struct dw_lines *lines; /* NULL: it has none, or nobody needs them */
	struct dw_lines *names; /* NULL: not opened, or there are none */
	bool has_tried;
};

/* Nobody needs lines inside the interpreter and the libraries of C and C++, and reading their debug information took longer
 * than all else here. */
static bool symbolize_wants_lines(const char *module)
{
	enum dw_library_role role = dw_library_role_of(module);

	return role != DW_LIBRARY_INTERPRETER && role != DW_LIBRARY_SYSTEM;
}

/* The library is loaded at the first frame, because elfutils is large. */
static struct dw_lines *symbolize_open(const char *path, bool for_names)
{
	static bool tried;
	void *library = tried ? NULL : dw_process_library(NULL);

	if (library) {
		unsetenv("DEBUGINFOD_URLS"); /* the end of a run waits for no server */
		*(void **)&symbolize_lines.open = dw_process_function(library, dw_lines_open);
		*(void **)&symbolize_lines.at = dw_process_function(library, dw_lines_at);
		*(void **)&symbolize_lines.function = dw_process_function(library, dw_lines_function);
		*(void **)&symbolize_lines.into = dw_process_function(library, dw_lines_inlined_into);
		*(void **)&symbolize_lines.close = dw_process_function(library, dw_lines_close);
	}
	tried = true;
	return path && symbolize_lines.open && symbolize_lines.at && symbolize_lines.function && symbolize_lines.into &&
	               symbolize_lines.close
	           ? symbolize_lines.open(path, for_names) : NULL;
}

static void symbolize_begin_module(struct symbolize_module *module, const char *path)
{
	*module = (struct symbolize_module){ .path = path };
	module->lines = path && symbolize_wants_lines(path) ? symbolize_open(path, false) : NULL;
}

static void symbolize_end_module(struct symbolize_module *module)
{
	if (module->lines)
		symbolize_lines.close(module->lines);
	if (module->names)
		symbolize_lines.close(module->names);
}

/* The name of a frame's function. "libc.so.6+0x167ac0" has none in its library, but may be what that chose for the processor, or
 * be in the symbol table that the distribution has in a package of its own, as libc6-dbg. */
static const char *symbolize_name(struct symbolize_module *module, const struct dw_source_frame *frame)
{
	const char *name = frame->functions[0].name, *begin = frame->nameless ? strrchr(name, '+') : NULL, *known;

	known = begin ? dw_chosen_name(frame->module, strtoull(begin + 1, NULL, 16)) : NULL;
	if (begin && !known && !module->has_tried) {
		module->has_tried = true;
		module->names = symbolize_open(module->path, true);
	}
	if (!known && module->names && begin)
		known = symbolize_lines.function(module->names, frame->offset);
	return known ? known : name;
}

static void symbolize_frame(struct symbolize_module *module, uint32_t id, const struct dw_source_frame *frame)
{
	struct dw_line inlined[DW_LINES_MOST];
	size_t count = module->lines ? symbolize_lines.at(module->lines, frame->offset, inlined) : 0;

	if (!count)
		dw_symbolize_put(id, 0, symbolize_name(module, frame), NULL, 0, frame->loop);
	/* The file's own symbols name the function itself. If it has none, those of its debug file do. */
	if (count && (!frame->nameless || !inlined[count - 1].function))
		inlined[count - 1].function = frame->functions[0].name;
	for (size_t i = 0; i < count; i++)
		dw_symbolize_put(id, (uint32_t)(count - 1 - i), inlined[i].function ? inlined[i].function : frame->functions[0].name,
		                 inlined[i].file, inlined[i].line, frame->loop);
}

static const struct dw_source_frame *const *symbolize_frames;

static int symbolize_compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = strcmp(symbolize_frames[a]->module, symbolize_frames[b]->module);

	return order ? order : a < b ? -1 : a > b;
}

/* Opens each module once. */
static void symbolize_file(const struct dw_source_file *file)
{
	uint32_t *ids = calloc(file->symbol_count + (size_t)1, sizeof *ids);
	struct symbolize_module module = { .path = NULL };
	size_t count = 0;

	for (uint32_t id = 0; ids && id < file->symbol_count; id++)
		if (file->frames[id] && file->frames[id]->found && file->frames[id]->module)
			ids[count++] = id;
	symbolize_frames = file->frames;
	if (count)
		qsort(ids, count, sizeof *ids, symbolize_compare);
	for (size_t i = 0; i < count; i++) {
		const struct dw_source_frame *frame = file->frames[ids[i]];

		if (i == 0 || strcmp(frame->module, module.path) != 0) {
			symbolize_end_module(&module);
			symbolize_begin_module(&module, frame->module);
		}
		symbolize_frame(&module, ids[i], frame);
	}
	symbolize_end_module(&module);
	free(ids);
}

void dw_symbolize(const struct dw_source *source)
{
	if (!source->files[0].frames)
		return;
	symbolize_file(&source->files[0]);
	dw_symbolize_made(source);
	dw_symbolize_kernel(&source->files[0]);
}

bool dw_symbolize_inlined_into(const char *path, const char *name, char *text, size_t size, size_t *count)
{
	struct dw_lines *lines = symbolize_open(path, false);

	*count = lines ? symbolize_lines.into(lines, name, text, size) : 0;
	if (lines)
		symbolize_lines.close(lines);
	return lines != NULL;
}
