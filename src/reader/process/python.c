/*
 * Frames of Python, read from the interpreter's memory.
 *
 * format/python_frames.h knows where its fields lie. The process may change its memory meanwhile, so
 * every value is only followed, never trusted: what cannot be read ends the list. A walk reads whole
 * pages, because the frames of a thread lie together; names and lines are read later, and kept. By then an object may
 * be gone, and its memory used by another one: objects count if they have the right type, and if the code object still
 * names the same ones when their texts have been read.
 */
#include "process/inside.h"

#include <stdio.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"

#define PYTHON_MOST_THREADS 100000u
#define PYTHON_PAGE 4096u

/* A code object. */
struct python_code {
	uint64_t address, name_at, file_at, lines_at;
	int32_t first_line;
	const char *name, *file;
	uint8_t *lines;        /* the table of lines, or NULL */
	uint64_t line_bytes;
	bool readable;         /* it is a code object: a frame that begins or ends may have another address there */
	bool between;          /* dw_python_is_between(): no function of the program */
	bool changed;          /* while it was read: it is not kept */
};

struct python_named {
	uint32_t code;         /* number of the code object */
	int line;
	struct dw_place *place;
};

static bool python_read(const struct dw_python *python, uint64_t address, void *to, size_t size)
{
	return address && dw_process_memory(python->pid, address, to, size);
}

static uint64_t python_pointer(const struct dw_python *python, uint64_t address)
{
	uint64_t value;

	return python_read(python, address, &value, sizeof value) ? value : 0;
}

/* ---- the interpreter --------------------------------------------------------------------------- */

/* "python3.9", "libpython3.10.so.1.0": before 3.11 the interpreter does not publish its version. */
static uint32_t python_version_of(const struct dw_python *python, struct dw_unwind *unwind)
{
	const char *name, *three = python->module ? strstr(python->module, "python3.") : NULL;
	uint64_t at = dw_unwind_symbol(unwind, "python", "Py_Version", &name), version = 0;

	if (at && python_read(python, at, &version, sizeof version))
		return (uint32_t)(version >> 16 & 255);
	return three ? (uint32_t)strtoul(three + strlen("python3."), NULL, 10) : 0;
}

void dw_python_find(struct dw_python *python, struct dw_unwind *unwind)
{
	struct dw_process *process = unwind->process;
	uint64_t numbers[DW_PYTHON_PUBLISHED];
	const char *type_in;

	memset(python, 0, offsetof(struct dw_python, pages));
	python->pid = unwind->pid;
	python->runtime = dw_unwind_symbol(unwind, "python", "_PyRuntime", &python->module);
	if (!python->runtime)
		return;
	if (python_read(python, python->runtime, numbers, sizeof numbers) && dw_python_publishes(numbers)) {
		process->python = dw_python_published_minor(numbers);
		python->known = dw_python_layout_published(numbers, &python->layout);
	} else {
		numbers[2] = 0;
		process->python = python_version_of(python, unwind);
		python->known = dw_python_layout_of(process->python, &python->layout);
	}
	python->code_type = dw_unwind_symbol(unwind, "python", "PyCode_Type", &type_in);
	python->text_type = dw_unwind_symbol(unwind, "python", "PyUnicode_Type", &type_in);
	if (!python->known)
		process->problem = dw_arena_printf(&process->arena, "frames of %sPython 3.%u are not known; " DW_PYTHON_KNOWN,
		                                   numbers[2] ? "free-threaded " : "", process->python);
}

bool dw_python_list(struct dw_python *python)
{
	const struct dw_python_layout *layout = &python->layout;
	uint64_t interpreter = python->known ? python_pointer(python, python->runtime + layout->interpreters) : 0;

	python->count = 0;
	for (; interpreter; interpreter = python_pointer(python, interpreter + layout->next_interpreter)) {
		uint64_t state = python_pointer(python, interpreter + layout->first_thread);

		for (; state && python->count < PYTHON_MOST_THREADS; state = python_pointer(python, state + layout->next_thread)) {
			struct dw_python_thread *thread = DW_GROW(&python->threads, &python->capacity, python->count);
			bool native = layout->native_id != DW_PYTHON_NO_FIELD;
			uint64_t id;

			if (!thread)
				return false;
			python->count++;
			id = python_pointer(python, state + (native ? layout->native_id : layout->id));
			thread->tid = native ? (uint32_t)id : dw_holder_tid(python->pid, id);
			thread->state = state;
		}
	}
	return true;
}

/* ---- frames ------------------------------------------------------------------------------------ */

/* The page at the address, read at most once for each walk; NULL: it cannot be read. */
static const uint8_t *python_page(struct dw_python *python, uint64_t page)
{
	unsigned to;

	for (unsigned i = python->page_count < DW_PYTHON_PAGES ? python->page_count : DW_PYTHON_PAGES; i-- > 0;)
		if (python->page_at[i] == page)
			return python->pages[i];
	to = python->page_count++ % DW_PYTHON_PAGES;
	python->page_at[to] = python_read(python, page, python->pages[to], PYTHON_PAGE) ? page : 0;
	return python->page_at[to] ? python->pages[to] : NULL;
}

/* A number of `size` bytes in a frame; 0 if it cannot be read. */
static uint64_t python_field(struct dw_python *python, uint64_t address, size_t size)
{
	const uint8_t *page = address ? python_page(python, address & ~(uint64_t)(PYTHON_PAGE - 1)) : NULL;
	size_t at = address & (PYTHON_PAGE - 1);
	uint64_t value = 0;

	if (page && at + size <= PYTHON_PAGE)
		memcpy(&value, page + at, size);
	else if (page)
		python_read(python, address, &value, size);
	return value;
}

static int64_t python_instruction(struct dw_python *python, uint64_t frame)
{
	const struct dw_python_layout *layout = &python->layout;

	if (layout->bytes != DW_PYTHON_NO_FIELD)
		return (int64_t)python_field(python, frame + layout->instruction, 8);
	return (int32_t)python_field(python, frame + layout->instruction, 4);
}

size_t dw_python_walk(struct dw_python *python, uint32_t tid, struct dw_python_frame frames[DW_PYTHON_MOST_FRAMES])
{
	const struct dw_python_layout *layout = &python->layout;
	uint64_t frame = 0;
	size_t count = 0;

	python->page_count = 0;
	for (size_t i = 0; i < python->count && !frame; i++)
		if (python->threads[i].tid == tid)
			frame = python_field(python, python->threads[i].state + layout->frame, 8);
	if (frame && layout->loop_frame != DW_PYTHON_NO_FIELD)
		frame = python_field(python, frame + layout->loop_frame, 8);
	for (uint32_t i = 0; frame && i < DW_PYTHON_MOST_FRAMES; i++) {
		/* 3.14 marks references in the lowest bits. */
		uint64_t code = python_field(python, frame + layout->code, 8) & ~(uint64_t)7;
		bool owned = layout->owner != DW_PYTHON_NO_FIELD &&
		             python_field(python, frame + layout->owner, 1) >= layout->least_loop;

		if (owned) {
			if (count && !frames[count - 1].last) {
				frames[count - 1].last = true;
				frames[count - 1].loop = frame;
			}
		} else if (code) {
			bool entry = layout->entry != DW_PYTHON_NO_FIELD && python_field(python, frame + layout->entry, 1);

			frames[count++] = (struct dw_python_frame){ frame, code, python_instruction(python, frame),
				                                        entry || layout->minor < 11, 0 };
		}
		frame = python_field(python, frame + layout->previous, 8);
	}
	return count;
}

void dw_python_read_frame(struct dw_python *python, struct dw_python_frame *frame)
{
	python->page_count = 0;
	frame->code = python_field(python, frame->at + python->layout.code, 8) & ~(uint64_t)7;
	frame->instruction = python_instruction(python, frame->at);
}

/* ---- names and lines --------------------------------------------------------------------------- */

/* Whether an object has the type. It is the second word of each object. */
static bool python_has_type(const struct dw_python *python, uint64_t object, uint64_t type)
{
	return !type || python_pointer(python, object + 8) == type;
}

/* Whether the bytes are characters as a str has them: of one byte, all ASCII or not all; of four, none beyond Unicode.
 */
static bool python_is_text(const uint8_t *bytes, uint64_t length, uint32_t kind, bool ascii)
{
	bool high = false, beyond = false;

	for (uint64_t i = 0; i < length; i++) {
		high |= kind == 1 && bytes[i] >= 0x80;
		beyond |= kind == 4 && (bytes[4 * i + 3] || bytes[4 * i + 2] > 0x10);
	}
	return !beyond && !(ascii && (kind != 1 || high));
}

/* A str as UTF-8; "?" if it is empty, or if it cannot be read: then *readable is set to false. */
static const char *python_take_text(const struct dw_python *python, struct dw_arena *arena, uint64_t object, bool *readable)
{
	const struct dw_python_layout *layout = &python->layout;
	uint8_t bytes[DW_PYTHON_MOST_TEXT * 4], clear[DW_PYTHON_MOST_TEXT * 4 + 1];
	bool is_text = object && python_has_type(python, object, python->text_type);
	uint64_t all = is_text ? python_pointer(python, object + 16) : 0;
	uint64_t length = all < DW_PYTHON_MOST_TEXT ? all : DW_PYTHON_MOST_TEXT;
	uint32_t state = 0, again = 0, kind, ascii;

	*readable = *readable && is_text;
	if (!length)
		return "?";
	*readable = *readable && all <= INT32_MAX && python_read(python, object + 32, &state, sizeof state);
	if (!*readable)
		return "?";
	kind = state >> DW_PYTHON_KIND_BIT & 7;
	ascii = state >> (DW_PYTHON_KIND_BIT + 4) & 1;
	if ((kind != 1 && kind != 2 && kind != 4) ||
	    !python_read(python, object + (ascii ? layout->text : layout->wide_text), bytes, length * kind) ||
	    !python_is_text(bytes, length, kind, ascii) || !python_has_type(python, object, python->text_type) ||
	    python_pointer(python, object + 16) != all || !python_read(python, object + 32, &again, sizeof again) ||
	    again != state) {
		*readable = false;
		return "?";
	}
	return dw_arena_text(arena, (const char *)clear, dw_python_utf8(bytes, kind, length, clear, sizeof clear));
}

/* In these fields two code objects differ that had the same address, one after the other. */
static bool python_read_code(const struct dw_python *python, uint64_t address, struct python_code *code)
{
	const struct dw_python_layout *layout = &python->layout;
	uint8_t bytes[256];
	uint64_t head;

	if (layout->lines + 8 > sizeof bytes || layout->name + 8 > sizeof bytes || layout->file + 8 > sizeof bytes ||
	    layout->first_line + 4 > sizeof bytes || !python_read(python, address, bytes, layout->lines + 8) ||
	    (python->code_type && memcmp(bytes + 8, &python->code_type, 8) != 0))
		return false;
	*code = (struct python_code){ .address = address };
	memcpy(&code->name_at, bytes + layout->name, 8);
	memcpy(&code->file_at, bytes + layout->file, 8);
	memcpy(&code->lines_at, bytes + layout->lines, 8);
	memcpy(&code->first_line, bytes + layout->first_line, 4);
	memcpy(&head, bytes, sizeof head);
	code->between = dw_python_is_between(head, code->first_line);
	return true;
}

static bool python_is_code(const struct python_code *a, const struct python_code *b)
{
	return a->address == b->address && a->name_at == b->name_at && a->file_at == b->file_at &&
	       a->lines_at == b->lines_at && a->first_line == b->first_line;
}

/* Reads the table of lines of a code object. */
static void python_read_lines(const struct dw_python *python, struct python_code *code)
{
	code->line_bytes = code->lines_at ? python_pointer(python, code->lines_at + 16) : 0;
	if (code->line_bytes && code->line_bytes <= DW_PYTHON_MOST_LINES &&
	    (code->lines = malloc(code->line_bytes)) != NULL &&
	    !python_read(python, code->lines_at + 32, code->lines, code->line_bytes)) {
		free(code->lines);
		code->lines = NULL;
	}
}

/* The number of the code object; DW_MAP_NONE: out of memory. */
static uint32_t python_find_code(struct dw_python *python, struct dw_arena *arena, uint64_t address)
{
	uint32_t hash = dw_map_hash(address), at;
	struct python_code wanted = { .address = address }, again = { .address = 0 }, *code;
	bool readable = true;

	if (!python_read_code(python, address, &wanted))
		wanted = (struct python_code){ .address = address };
	at =
		DW_MAP_FIND(&python->by_code, hash, i, !python->codes[i].changed && python_is_code(&python->codes[i], &wanted));
	if (at != DW_MAP_NONE)
		return at;
	code = DW_GROW(&python->codes, &python->code_capacity, python->code_count);
	if (!code || !dw_map_add(&python->by_code, hash, (uint32_t)python->code_count))
		return DW_MAP_NONE;
	*code = wanted;
	code->name = python_take_text(python, arena, code->name_at, &readable);
	code->file = python_take_text(python, arena, code->file_at, &readable);
	python_read_lines(python, code);
	code->changed = !python_read_code(python, address, &again) || !python_is_code(&again, &wanted);
	code->readable = !code->changed && !code->between && readable;
	return code->name && code->file ? (uint32_t)python->code_count++ : DW_MAP_NONE;
}

static int python_find_line(const struct dw_python *python, const struct python_code *code, int64_t instruction)
{
	const struct dw_python_layout *layout = &python->layout;

	if (!code->lines)
		return code->first_line;
	if (layout->bytes != DW_PYTHON_NO_FIELD)
		return dw_python_line_of_unit(code->lines, code->line_bytes, code->first_line,
		                              (instruction - (int64_t)(code->address + layout->bytes)) / 2);
	return dw_python_line_of_byte(code->lines, code->line_bytes, code->first_line,
	                              layout->minor >= 10 ? 2 * instruction : instruction, layout->minor >= 10);
}

/* Stands for a function that ended while it was read. */
static const struct dw_place *python_make_changed(struct dw_arena *arena)
{
	static const struct dw_process_frame function = { .function = "(changed while it was read)" };
	struct dw_place *place = dw_arena_alloc(arena, sizeof *place);

	if (place)
		*place = (struct dw_place){ .functions = &function, .count = 1 };
	return place;
}

const struct dw_place *dw_python_place(struct dw_python *python, struct dw_arena *arena,
                                       const struct dw_python_frame *frame)
{
	static const struct dw_place unreadable;
	uint32_t code = python_find_code(python, arena, frame->code), hash, at;
	struct dw_process_frame *function;
	struct python_named *name;
	int line;

	if (code == DW_MAP_NONE)
		return NULL;
	if (python->codes[code].changed && python->codes[code].name_at)
		return python_make_changed(arena);
	if (!python->codes[code].readable)
		return &unreadable;
	line = python_find_line(python, &python->codes[code], frame->instruction);
	hash = dw_map_hash((uint64_t)code << 32 | (uint32_t)line);
	at = DW_MAP_FIND(&python->by_line, hash, i, python->names[i].code == code && python->names[i].line == line);
	if (at != DW_MAP_NONE)
		return python->names[at].place;
	name = DW_GROW(&python->names, &python->name_capacity, python->name_count);
	function = dw_arena_alloc(arena, sizeof *function);
	if (!name || !function || !(name->place = dw_arena_alloc(arena, sizeof *name->place)) ||
	    !dw_map_add(&python->by_line, hash, (uint32_t)python->name_count))
		return NULL;
	*function = (struct dw_process_frame){ .function = python->codes[code].name, .file = python->codes[code].file,
		                                   .line = line };
	*name->place = (struct dw_place){ .functions = function, .count = 1 };
	name->code = code;
	name->line = line;
	python->name_count++;
	return name->place;
}

void dw_python_reset(struct dw_python *python)
{
	for (size_t i = 0; i < python->code_count; i++)
		free(python->codes[i].lines);
	DW_FREE(python->codes, python->names, python->threads);
	dw_map_reset(&python->by_code);
	dw_map_reset(&python->by_line);
	memset(python, 0, offsetof(struct dw_python, pages));
}
