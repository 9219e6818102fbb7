/*
 * Stacks: frames with the functions that they belong to.
 *
 * Called once by source_open.c after processes.c. A stack is a list of frame ids. A frame is a module and
 * an offset. Its functions come from SYMBOL entries, which `dwell run` appends when the program has
 * ended, or from the frame itself if its name was known when it was recorded. A trace without
 * SYMBOL entries (the program is still running, or started the recording itself) gets them from its
 * modules, if these are on this machine and have the same build-id. Invariant: every frame has at
 * least one function, so views need no check.
 */
#include <limits.h>

#include "base/code/demangle.h"
#include "base/code/elf_symbols.h"
#include "base/free.h"
#include "base/order.h"
#include "format/keys.h"
#include "read/read.h"

#define MOST_PLACE 200 /* bytes of a module's name within the names of its functions */

DW_ORDER(stacks_compare_modules, struct dw_read_module, DW_UP(id))

/* Uses binary search: the modules are sorted. */
static const struct dw_read_module *stacks_find_module(const struct dw_read_file *file, uint32_t id)
{
	const struct dw_read_module key = { .id = id };

	return file->module_count ? bsearch(&key, file->modules, file->module_count, sizeof key,
	                                    stacks_compare_modules) : NULL;
}

const char *dw_source_module_named(const struct dw_source *source, size_t file, const char *name)
{
	const struct dw_reader *reader = source->private_data;
	const struct dw_read_file *from = &reader->files[file];

	for (size_t i = 0; i < from->module_count; i++) {
		const char *path = dw_read_string(from, from->modules[i].path), *slash = path ? strrchr(path, '/') : NULL;

		if (slash && strcmp(slash + 1, name) == 0)
			return path;
	}
	return NULL;
}

/* A name such as "libx.so+0x12f0". */
static const char *stacks_place_name(struct dw_reader *reader, const struct dw_source_frame *frame, uint64_t offset)
{
	const char *name = frame->module ? strrchr(frame->module, '/') : NULL;

	if (!frame->module)
		return "[jit]";
	return dw_arena_printf(&reader->arena, "%.*s+0x%llx", MOST_PLACE, name ? name + 1 : frame->module,
	                       (unsigned long long)offset);
}

/* Innermost first: the outermost function of a frame has nesting 0. */
DW_ORDER(stacks_compare_symbols, struct dw_read_symbol, DW_UP(frame) DW_DOWN(nesting))

static const struct dw_read_symbol *stacks_first_symbol(const struct dw_read_file *file, uint32_t frame,
                                                        uint32_t *count)
{
	size_t low = DW_FIRST(i, 0, file->symbol_count, file->symbols[i].frame >= frame), end;

	for (end = low; end < file->symbol_count && file->symbols[end].frame == frame;)
		end++;
	*count = (uint32_t)(end - low);
	return *count ? &file->symbols[low] : NULL;
}

/* Since Python 3.12, the code of a comprehension is its function's. In traces of older versions, too. */
static const char *stacks_without_comprehension(struct dw_reader *reader, const char *name)
{
	static const char locals[] = ".<locals>.";
	const char *inner = strstr(name, locals);

	for (; inner; inner = strstr(inner + 1, locals)) {
		const char *what = inner + sizeof locals - 1;

		if (strncmp(what, "<listcomp>", 10) == 0 || strncmp(what, "<setcomp>", 9) == 0 || strncmp(what, "<dictcomp>", 10) == 0 ||
		    strncmp(what, "<genexpr>", 9) == 0)
			return dw_arena_text(&reader->arena, name, (size_t)(inner - name));
	}
	return name;
}

static int stacks_fill_frame(struct dw_reader *reader, const struct dw_read_file *file,
                             const struct dw_read_frame *entry, struct dw_source_frame *frame)
{
	const struct dw_read_module *module = stacks_find_module(file, entry->module);
	const struct dw_read_symbol *symbols;
	struct dw_source_function *functions;
	const char *name = dw_read_string(file, entry->function);
	uint32_t count;

	symbols = stacks_first_symbol(file, entry->id, &count);
	frame->module = module ? dw_read_string(file, module->path) : name && strcmp(name, DW_KERNEL) == 0 ? DW_KERNEL : NULL;
	frame->offset = entry->offset;
	frame->process = module ? 0 : entry->process;
	frame->count = count ? count : 1;
	functions = dw_read_take(reader, frame->count, sizeof *functions);
	if (name && !frame->module && !(name = stacks_without_comprehension(reader, name)))
		return -1;
	if (!functions)
		return -1;
	frame->functions = functions;
	functions[0] = (struct dw_source_function){ name, dw_read_string(file, entry->file), entry->line };
	frame->loop = symbols ? (enum dw_code_loop)symbols->loop : DW_CODE_OTHER;
	for (uint32_t i = 0; symbols && i < count; i++)
		functions[i] = (struct dw_source_function){ dw_read_string(file, symbols[i].function),
			dw_read_string(file, symbols[i].file), symbols[i].line };
	return 0;
}

/* ---- names from the modules on this machine ------------------------------------------- */

/* A frame without a name, and where its code is. */
struct nameless {
	const char *path;
	const struct dw_read_module *module;
	struct dw_source_frame *frame;
};

/* Sorts frames by the path of their module, because several modules may have the same file. */
static int stacks_compare_nameless(const void *left, const void *right)
{
	const struct nameless *a = left, *b = right;
	int order = a->path == b->path ? 0 : strcmp(a->path, b->path);

	if (order)
		return order;
	if (a->module->build_id_bytes != b->module->build_id_bytes)
		return a->module->build_id_bytes < b->module->build_id_bytes ? -1 : 1;
	return memcmp(a->module->build_id, b->module->build_id, sizeof a->module->build_id);
}

static bool stacks_trusted;

void dw_source_trust_modules(void)
{
	stacks_trusted = true;
}

static size_t stacks_collect_nameless(const struct dw_read_file *file, struct dw_source_frame *frames,
                                      struct nameless *list)
{
	size_t count = 0;

	for (size_t i = 0; i < file->frame_count; i++) {
		const struct dw_read_module *module = stacks_find_module(file, file->frames[i].module);
		const char *path = module ? dw_read_string(file, module->path) : NULL;

		if (path && (module->build_id_bytes || stacks_trusted) && !frames[i].functions->name && strnlen(path, PATH_MAX) < PATH_MAX)
			list[count++] = (struct nameless){ path, module, &frames[i] };
	}
	return count;
}

static int stacks_name_frame(struct dw_reader *reader, struct dw_elf_symbols *elf, struct dw_source_frame *frame)
{
	struct dw_source_function *function = (struct dw_source_function *)frame->functions;
	const char *name = dw_elf_find(elf, frame->offset);
	char *plain = name ? dw_demangle(name) : NULL;
	uint64_t start = name ? 0 : dw_elf_function_start(elf, frame->offset);

	frame->loop = dw_elf_loop(elf, frame->offset);
	if (start) { /* no symbol: all code of a function has the name of its begin */
		function->name = stacks_place_name(reader, frame, start);
		frame->nameless = true;
		frame->found = true;
		return function->name ? 0 : -1;
	}
	if (!name)
		return 0;
	if (plain)
		name = plain;
	function->name = dw_arena_text(&reader->arena, name, dw_plain_length(name));
	frame->found = true;
	free(plain);
	return function->name ? 0 : -1;
}

/* Opens each module file once. */
static int stacks_find_functions(struct dw_reader *reader, const struct dw_read_file *file,
                                 struct dw_source_frame *frames)
{
	struct nameless *list = malloc((file->frame_count + 1) * sizeof *list);
	uint64_t *near = malloc((file->frame_count + 1) * sizeof *near);
	size_t count, next;
	bool failed = !list || !near;

	if (failed) {
		DW_FREE(list, near);
		return -1;
	}
	count = stacks_collect_nameless(file, frames, list);
	DW_SORT(list, count, stacks_compare_nameless);
	for (size_t i = 0; i < count && !failed; i = next) {
		const struct dw_read_module *module = list[i].module;
		struct dw_elf_symbols elf;
		bool opened;

		for (next = i; next < count && stacks_compare_nameless(&list[i], &list[next]) == 0; next++)
			near[next - i] = list[next].frame->offset;
		opened = dw_elf_open(&elf, list[i].path, module->build_id, module->build_id_bytes, near, next - i) == 0;
		for (size_t n = i; n < next && opened && !failed; n++)
			failed = stacks_name_frame(reader, &elf, list[n].frame);
		if (opened)
			dw_elf_close(&elf);
	}
	DW_FREE(list, near);
	return failed ? -1 : 0;
}

/* Looks up what the code of a frame does, once its functions have names. */
static void stacks_judge_frame(const struct dw_read_module *module, struct dw_source_frame *frame)
{
	const struct dw_source_function *innermost = frame->functions;
	/* "train.py", "[vdso]" */
	struct dw_library library = module ? module->library : dw_library_of(innermost->file ? innermost->file : innermost->name);
	struct dw_library inlined = dw_library_of_function(library, innermost->name, innermost->file);

	frame->role = library.role;
	frame->activity = dw_activity_of_code(inlined, innermost->name, inlined.role == DW_LIBRARY_OWN);
}

static bool stacks_unnamed;

void dw_source_leave_stacks_unnamed(void)
{
	stacks_unnamed = true;
}

bool dw_source_names_stacks(const struct dw_source *source)
{
	bool all = true;

	for (size_t i = 0; i < source->file_count; i++) {
		const struct dw_source_file *file = &source->files[i];

		all &= file->frames && (!stacks_unnamed || (file->head && file->head->flags & DW_HEAD_FINISHED));
	}
	return all;
}

/* Whether a range has the name of a frame: a function that was recorded by address. */
static bool stacks_name_ranges(const struct dw_read_file *file)
{
	for (size_t i = 0; i < file->op_count; i++)
		if (!file->ops[i].name && file->ops[i].frame < file->id_count)
			return true;
	return false;
}

static int stacks_name_frames(struct dw_reader *reader, const struct dw_read_file *file, struct dw_source_frame *frames)
{
	bool wanted = !stacks_unnamed || stacks_name_ranges(file);

	if (wanted && file->module_count && !file->symbol_count && stacks_find_functions(reader, file, frames))
		return -1;
	for (size_t i = 0; i < file->frame_count; i++) {
		for (uint32_t f = 0; f < frames[i].count; f++) {
			struct dw_source_function *function = (struct dw_source_function *)&frames[i].functions[f];

			if (!function->name)
				function->name = stacks_place_name(reader, &frames[i], frames[i].offset);
			if (!function->name)
				return -1;
		}
		stacks_judge_frame(stacks_find_module(file, file->frames[i].module), &frames[i]);
	}
	return 0;
}

/* Functions that were recorded by address get the names of their frames. If the source file is not
 * known, the module takes its place. */
static void stacks_name_functions(const struct dw_read_file *file, struct dw_source_file *to)
{
	for (size_t i = 0; i < file->op_count; i++) {
		const struct dw_read_op *op = &file->ops[i];
		const struct dw_source_frame *frame = !op->name && op->frame < file->id_count ? to->frames[op->frame] : NULL;
		struct dw_symbol *symbol = (struct dw_symbol *)&to->symbols[op->id];

		if (!frame)
			continue;
		symbol->name = frame->functions[frame->count - 1].name;
		symbol->file = frame->functions[frame->count - 1].file;
		symbol->line = frame->functions[frame->count - 1].line;
		if (!symbol->file)
			symbol->file = frame->module;
	}
}

DW_ORDER(stacks_compare_frames, struct dw_read_frame, DW_UP(id) DW_UP(order))

/* Keeps the last frame of each id: stacks_fill_frame() lists the functions of an id for each frame. */
static void stacks_drop_doubles(struct dw_read_file *file)
{
	size_t kept = 0;

	DW_SORT(file->frames, file->frame_count, stacks_compare_frames);
	for (size_t i = 0; i < file->frame_count; i++)
		if (i + 1 == file->frame_count || file->frames[i + 1].id != file->frames[i].id)
			file->frames[kept++] = file->frames[i];
	file->frame_count = kept;
}

static int stacks_fill_file(struct dw_reader *reader, struct dw_read_file *file, struct dw_source_file *to)
{
	const struct dw_source_frame **by_id;
	struct dw_source_frame *frames;

	to->stacks = file->stacks;
	if (!file->frame_count)
		return 0;
	stacks_drop_doubles(file);
	DW_SORT(file->modules, file->module_count, stacks_compare_modules);
	for (size_t i = 0; i < file->module_count; i++)
		file->modules[i].library = dw_library_of(dw_read_string(file, file->modules[i].path));
	DW_SORT(file->symbols, file->symbol_count, stacks_compare_symbols);
	by_id = dw_read_take(reader, file->id_count, sizeof *by_id);
	frames = dw_read_take(reader, file->frame_count, sizeof *frames);
	if (!by_id || !frames)
		return -1;
	for (size_t i = 0; i < file->frame_count; i++) {
		if (stacks_fill_frame(reader, file, &file->frames[i], &frames[i]))
			return -1;
		by_id[file->frames[i].id] = &frames[i];
	}
	if (stacks_name_frames(reader, file, frames))
		return -1;
	to->frames = by_id;
	stacks_name_functions(file, to);
	return 0;
}

int dw_read_fill_stacks(struct dw_reader *reader)
{
	for (size_t i = 0; i < reader->file_count; i++)
		if (stacks_fill_file(reader, &reader->files[i], &reader->source.files[i]))
			return -1;
	return 0;
}
