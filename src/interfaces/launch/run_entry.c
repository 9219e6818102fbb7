/* What a user is told of `dwell run --step-on FUNCTION`, if no process has the function; see run_entry.h. */
#include "launch/run_entry.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code/demangle.h"
#include "base/code/elf_symbols.h"
#include "base/nearest.h"
#include "format/keys.h"
#include "format/symbol_match.h"
#include "program/executable.h"
#include "read/source.h"
#include "record/entry.h"
#include "symbolize/symbolize.h"

#if defined __x86_64__ || defined __aarch64__
#define STEPS_NATIVE true
#else
#define STEPS_NATIVE false
#endif

/* Whether the program's file has it. */
static bool entry_is_there(struct dw_elf_symbols *elf, const char *name)
{
	struct dw_symbol_last last;
	bool is = false;

	dw_symbol_last_word(name, &last);
	for (size_t i = 0; i < elf->count && !is; i++) {
		const char *symbol = dw_elf_name(elf, &elf->functions[i]);
		char *clear = dw_symbol_may_match(symbol, &last) ? dw_demangle(symbol) : NULL;

		is = elf->functions[i].sized && dw_symbol_rank(symbol, clear, name) > 0;
		free(clear);
	}
	return is;
}

/* The function of the program with the nearest name, in `to`; "" if none is near. */
static void entry_find_near(const char *wanted, struct dw_elf_symbols *elf, char to[DW_SYMBOL_NAME_BYTES])
{
	char name[DW_SYMBOL_NAME_BYTES], *tail;
	struct dw_nearest nearest;

	to[0] = '\0';
	dw_nearest_init(&nearest, wanted);
	for (size_t i = 0; i < elf->count; i++) {
		unsigned before = nearest.distance;
		bool had = nearest.best != NULL;

		if (!dw_symbol_name(dw_elf_name(elf, &elf->functions[i]), name))
			continue;
		tail = strrchr(name, ':');
		dw_nearest_try(&nearest, name);
		if (tail)
			dw_nearest_try(&nearest, tail + 1);
		if (nearest.best && (!had || nearest.distance != before))
			snprintf(to, DW_SYMBOL_NAME_BYTES, "%s", name);
	}
}

/* ---- before the run ------------------------------------------------------------------------------ */

/* What was looked for, for the end of the run. */
static struct {
	const char *name, *function; /* as the user wrote it; without FILE. NULL: nothing, or Python looks for it */
	size_t file_bytes;
	bool is_there; /* in the program's file */
	char path[PATH_MAX], near[DW_SYMBOL_NAME_BYTES];
	const char *problem;
} entry;

#define NOT_IN_FILE \
	"no file of this name that was loaded has this function, and no range of ITT or NVTX this name (FILE is its name in its folder " \
	"up to a dot, as libz.so; of a stripped file FILE+0xADDRESS is the function that begins there); or dwell was not loaded into " \
	"the program, as behind sudo and env -i: write dwell run behind them"

static bool entry_split(const char *name)
{
	const char *colon = strchr(name, ':'), *plus = strstr(name, "+0x");

	entry.name = entry.function = name;
	entry.file_bytes = 0;
	if (colon && colon[1] && colon[1] != ':') {
		entry.function = colon + 1;
		entry.file_bytes = (size_t)(colon - name);
	} else if (plus) {
		entry.file_bytes = (size_t)(plus - name);
	}
	return entry.file_bytes > 0;
}

const char *dw_run_set_entry(const struct dw_executable *executable, const char *name)
{
	static char problem[PATH_MAX + 1024];
	bool has_file = entry_split(name);
	struct dw_elf_symbols elf;

	setenv("DWELL_STEP_ENTRY", name, 1);
	if (!*executable->path || !realpath(executable->path, entry.path))
		return NULL;
	entry.problem = has_file ? NOT_IN_FILE : NULL;
	if (dw_executable_is_python(entry.path))
		return entry.problem;
	if (dw_elf_open(&elf, entry.path, NULL, 0, NULL, 0) != 0)
		return entry.problem ? entry.problem : executable->refusal;
	entry.is_there = entry_is_there(&elf, entry.function);
	if (!entry.is_there)
		entry_find_near(entry.function, &elf, entry.near);
	dw_elf_close(&elf);
	if (has_file && !entry.is_there)
		return entry.problem;
	if (entry.is_there)
		snprintf(problem, sizeof problem,
		         "%s has this function, and %s: dwell attach samples it, and DWELL_STEP() in its source marks steps",
		         entry.path,
		         STEPS_NATIVE ? "loaded no library of dwell (it may be static)"
		                      : "steps at native functions are on x86-64 and aarch64 only");
	else
		snprintf(problem, sizeof problem,
		         "no function of this name is in the symbol table of %s or of a library that it loaded", entry.path);
	return entry.problem = problem;
}

/* ---- after the run ------------------------------------------------------------------------------- */

#define MOST_FILES 12u

/* Files in which the function may be: what a process executed, and its own libraries, as far as samples show. */
struct entry_files {
	const char *paths[MOST_FILES];
	size_t count;
	bool is_sampled; /* code of one of them ran */
	bool is_made;    /* code ran that a process made at run time */
};

static void entry_add_file(struct entry_files *files, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (entry.file_bytes && (strncmp(name, entry.name, entry.file_bytes) != 0 ||
	                         (name[entry.file_bytes] && name[entry.file_bytes] != '.')))
		return;
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->paths[i], path) == 0)
			return;
	if (files->count < MOST_FILES)
		files->paths[files->count++] = path;
}

static void entry_find_files(const struct dw_source *source, struct entry_files *files)
{
	const struct dw_source_file *file = &source->files[0];

	if (!dw_executable_is_python(entry.path))
		entry_add_file(files, entry.path);
	for (uint32_t id = 0; file->frames && id < file->symbol_count; id++) {
		const struct dw_source_frame *frame = file->frames[id];

		files->is_made |= frame && !frame->module && frame->process;
		if (!frame || !frame->module || *frame->module != '/' || frame->role != DW_LIBRARY_OWN)
			continue;
		entry_add_file(files, frame->module);
		files->is_sampled = true;
	}
}

/* What is known of a file that has not the function, or in which it is not called. */
struct entry_look {
	bool is_stripped, has_lines;
	char into[800]; /* "step, main": the compiler put it into these; "": it did not, or it is not known */
	size_t count;
};

static void entry_look_into(const char *path, struct entry_look *look)
{
	struct dw_elf_symbols elf;

	*look = (struct entry_look){ .is_stripped = false };
	if (dw_elf_open(&elf, path, NULL, 0, NULL, 0) == 0) {
		look->is_stripped = !elf.strings[0].bytes;
		dw_elf_close(&elf);
	}
	look->has_lines = dw_symbolize_inlined_into(path, entry.function, look->into, sizeof look->into, &look->count);
}

/* Whether all that is known is that the function was not found, or, with `is_there`, not called. */
static bool entry_is_open(const struct dw_source *source, bool *is_there)
{
	const char *last = NULL;

	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, DW_KEY_NATIVE_STEP_ON) == 0) {
			last = source->metas[i].value;
			if (strcmp(last, "steps") == 0)
				return false;
		}
	*is_there = last && strcmp(last, "there") == 0;
	return *is_there || (last && entry.problem && strcmp(last, entry.problem) == 0);
}

#define UNLOADED \
	"; dwell was perhaps not loaded into the program that has it, as behind sudo and env -i: write dwell run behind them"

#define MADE \
	"; functions that the program makes at run time have no symbol: name one that calls it, or mark steps with DWELL_STEP()"

/* What may be the reason, of the files in which it is not. */
static void entry_say_missing(const struct entry_files *files, const struct entry_look *first)
{
	char text[PATH_MAX + 1900], reason[PATH_MAX + 300] = "";

	if (first->is_stripped)
		snprintf(reason, sizeof reason,
		         "%s is stripped: of its functions give FILE+0xADDRESS, as dwell report --view hot names them", files->paths[0]);
	else
		snprintf(reason, sizeof reason, "%s; dwell report --view hot lists functions that were called",
		         first->has_lines ? "it is inlined nowhere either"
		                          : "it may be inlined everywhere: compile with -g, and dwell says where");
	snprintf(text, sizeof text,
	         "no function of this name is in the symbol table of %s%s%.300s%s%s, and no range of ITT or NVTX has it%s%.300s; %s%s%s",
	         files->paths[0], files->count > 1 ? ", " : "", files->count > 1 ? files->paths[1] : "",
	         files->count > 2 ? ", ..." : "", entry.file_bytes ? "" : " or of a library that was loaded",
	         *entry.near ? "; a similar one of the program is " : "",
	         entry.near, reason, files->is_made ? MADE : "", files->is_sampled || files->is_made ? "" : UNLOADED);
	dwell_meta(DW_KEY_NATIVE_STEP_ON, text);
}

void dw_run_note_entry(const struct dw_source *source)
{
	struct entry_files files = { .count = 0 };
	struct entry_look first = { .is_stripped = false }, look;
	char text[PATH_MAX + 1200];
	bool is_there = false;

	if (!source || !entry.name || !entry_is_open(source, &is_there))
		return;
	entry_find_files(source, &files);
	for (size_t i = 0; i < files.count; i++) {
		entry_look_into(files.paths[i], &look);
		if (!i)
			first = look;
		if (!look.count)
			continue;
		snprintf(text, sizeof text,
		         "%s: the compiler put it into %s%s, so that it is %s; name %s, or compile it with __attribute__((noinline))",
		         files.paths[i], look.into, look.count > 3 ? " and others" : "",
		         is_there ? "never called" : "no function of its own",
		         look.count > 1 ? "one of these" : "that function");
		dwell_meta(DW_KEY_NATIVE_STEP_ON, text);
		return;
	}
	if (!is_there && files.count && !entry.is_there)
		entry_say_missing(&files, &first);
}
