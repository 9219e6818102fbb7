/*
 * Frames of Python, read from the interpreter's memory.
 *
 * From 3.13 on the interpreter publishes where its fields lie (_Py_DebugOffsets at the head of
 * _PyRuntime). For older versions the places are in a table here: they are the same in all releases
 * of a version, on 64-bit machines. The process may change its memory meanwhile, so every value is
 * only followed, never trusted: what cannot be read ends the list.
 */
#include "process/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"

#define PYTHON_MOST_FRAMES 1024u
#define PYTHON_MOST_THREADS 100000u
#define PYTHON_MOST_TEXT 400u
#define PYTHON_MOST_LINES 65536u
#define NO_FIELD UINT32_MAX

/* Offsets of fields in bytes. */
struct dw_python_layout {
	uint32_t minor;
	uint32_t interpreters;                       /* in _PyRuntime: the first interpreter */
	uint32_t next_interpreter, first_thread;     /* in an interpreter */
	uint32_t next_thread, frame, id, native_id;  /* in a thread; native_id: NO_FIELD before 3.11 */
	uint32_t loop_frame;                         /* `frame` is a record of the loop, and this its frame */
	uint32_t previous, code, instruction;        /* in a frame */
	uint32_t entry;                              /* in a frame: not 0 if it began a call of the loop (3.11) */
	uint32_t owner, least_loop;                  /* in a frame: from this value on, it only marks such a begin */
	uint32_t file, name, first_line, lines, bytes; /* in a code object; bytes: NO_FIELD if a frame has an index */
	uint32_t text, wide_text;                    /* in a str: its characters if ASCII, and otherwise */
	uint32_t kind_bit;                           /* in the state of a str: 2; without the global lock from 3.14 on: 8 */
};

static const struct dw_python_layout python_layouts[] = {
	{ 9, 32, 0, 8, 8, 24, 176, NO_FIELD, NO_FIELD, 24, 32, 104, NO_FIELD, NO_FIELD, 0, 104, 112, 40, 120, NO_FIELD, 48, 72, 2 },
	{ 10, 32, 0, 8, 8, 24, 176, NO_FIELD, NO_FIELD, 24, 32, 96, NO_FIELD, NO_FIELD, 0, 104, 112, 40, 120, NO_FIELD, 48, 72, 2 },
	{ 11, 40, 0, 16, 8, 56, 152, 160, 8, 48, 32, 56, 68, NO_FIELD, 0, 112, 128, 72, 136, 184, 48, 72, 2 },
	{ 12, 40, 0, 72, 8, 56, 136, 144, 0, 8, 0, 56, NO_FIELD, 70, 3, 112, 128, 68, 136, 192, 40, 56, 2 },
};

/* Numbers of the fields in _Py_DebugOffsets, in the layout's order. */
static const struct python_published {
	uint32_t minor, least_loop;
	uint8_t interpreters, next_interpreter, first_thread, next_thread, frame, id, native_id, previous, code, instruction,
		owner, file, name, first_line, lines, bytes, text;
} python_published[] = {
	{ 13, 3, 5, 8, 9, 21, 23, 24, 25, 29, 30, 31, 33, 35, 37, 39, 38, 43, 70 },
	{ 14, 3, 5, 8, 9, 24, 26, 27, 28, 32, 33, 34, 36, 40, 42, 44, 43, 48, 80 },
};
#define PYTHON_PUBLISHED 81 /* numbers of 8 bytes */

static bool python_read(const struct dw_process *process, uint64_t address, void *to, size_t size)
{
	return address && dw_process_memory(process->pid, address, to, size);
}

static uint64_t python_pointer(const struct dw_process *process, uint64_t address)
{
	uint64_t value;

	return python_read(process, address, &value, sizeof value) ? value : 0;
}

/* ---- the interpreter --------------------------------------------------------------------------- */

static bool python_take_published(struct dw_python *python, struct dw_process *process, const uint64_t *numbers)
{
	struct dw_python_layout *layout = dw_arena_alloc(&process->arena, sizeof *layout);
	const struct python_published *at = NULL;
	uint32_t minor = (uint32_t)(numbers[1] >> 16 & 255);

	for (size_t i = 0; i < sizeof python_published / sizeof *python_published; i++)
		if (python_published[i].minor == minor)
			at = &python_published[i];
	process->python = minor;
	if (!at || !layout)
		return false;
#define NUMBER(field) (uint32_t)numbers[at->field]
	*layout = (struct dw_python_layout){
		minor, NUMBER(interpreters), NUMBER(next_interpreter), NUMBER(first_thread), NUMBER(next_thread), NUMBER(frame),
		NUMBER(id), NUMBER(native_id), NO_FIELD, NUMBER(previous), NUMBER(code), NUMBER(instruction), NO_FIELD,
		NUMBER(owner), at->least_loop, NUMBER(file), NUMBER(name), NUMBER(first_line), NUMBER(lines), NUMBER(bytes),
		NUMBER(text), NUMBER(text) + 16, minor >= 14 && numbers[2] ? 8 : 2,
	};
#undef NUMBER
	python->layout = layout;
	return true;
}

/* "python3.9", "libpython3.10.so.1.0": before 3.11 the interpreter does not publish its version. */
static uint32_t python_version_of(struct dw_unwind *unwind, const char *module)
{
	const char *name, *three = module ? strstr(module, "python3.") : NULL;
	uint64_t at = dw_unwind_symbol(unwind, "python", "Py_Version", &name), version = 0;

	if (at && python_read(unwind->process, at, &version, sizeof version))
		return (uint32_t)(version >> 16 & 255);
	return three ? (uint32_t)strtoul(three + strlen("python3."), NULL, 10) : 0;
}

bool dw_python_find(struct dw_python *python, struct dw_unwind *unwind)
{
	struct dw_process *process = unwind->process;
	uint64_t numbers[PYTHON_PUBLISHED];

	*python = (struct dw_python){ 0 };
	python->runtime = dw_unwind_symbol(unwind, "python", "_PyRuntime", &python->module);
	if (!python->runtime)
		return true;
	if (python_read(process, python->runtime, numbers, sizeof numbers) && memcmp(numbers, "xdebugpy", 8) == 0) {
		python_take_published(python, process, numbers);
	} else {
		process->python = python_version_of(unwind, python->module);
		for (size_t i = 0; i < sizeof python_layouts / sizeof *python_layouts; i++)
			if (python_layouts[i].minor == process->python)
				python->layout = &python_layouts[i];
	}
	if (!python->layout)
		process->problem = dw_arena_printf(&process->arena, "frames of Python 3.%u are not known; 3.9 to 3.14 are",
		                                   process->python);
	return true;
}

/* ---- texts and lines --------------------------------------------------------------------------- */

/* A str as UTF-8; "?" if it cannot be read. */
static const char *python_take_text(struct dw_python *python, struct dw_process *process, uint64_t object)
{
	const struct dw_python_layout *layout = python->layout;
	uint8_t bytes[PYTHON_MOST_TEXT * 4], clear[PYTHON_MOST_TEXT * 4 + 1];
	uint64_t length = python_pointer(process, object + 16);
	uint32_t state = 0, kind, ascii;
	size_t used = 0;

	if (!length || !python_read(process, object + 32, &state, sizeof state))
		return "?";
	length = length < PYTHON_MOST_TEXT ? length : PYTHON_MOST_TEXT;
	kind = state >> layout->kind_bit & 7;
	ascii = state >> (layout->kind_bit + 4) & 1;
	if ((kind != 1 && kind != 2 && kind != 4) ||
	    !python_read(process, object + (ascii ? layout->text : layout->wide_text), bytes, length * kind))
		return "?";
	for (uint64_t i = 0; i < length && used + 4 < sizeof clear; i++) {
		uint32_t c = kind == 1 ? bytes[i] : kind == 2 ? (uint32_t)(bytes[2 * i] | bytes[2 * i + 1] << 8)
		             : (uint32_t)bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 | (uint32_t)bytes[4 * i + 2] << 16;

		if (c < 0x80) {
			clear[used++] = (uint8_t)(c < 0x20 || c == 0x7f ? '?' : c);
		} else if (c < 0x800) {
			clear[used++] = (uint8_t)(0xc0 | c >> 6);
			clear[used++] = (uint8_t)(0x80 | (c & 63));
		} else {
			if (c >= 0x10000)
				clear[used++] = (uint8_t)(0xf0 | (c >> 18 & 7));
			clear[used++] = (uint8_t)(c >= 0x10000 ? 0x80 | (c >> 12 & 63) : 0xe0 | c >> 12);
			clear[used++] = (uint8_t)(0x80 | (c >> 6 & 63));
			clear[used++] = (uint8_t)(0x80 | (c & 63));
		}
	}
	return dw_arena_text(&process->arena, (const char *)clear, used);
}

/* A number of six bits a byte, the lowest first. */
static uint32_t python_take_varint(const uint8_t *bytes, size_t size, size_t *at)
{
	uint32_t value = 0, shift = 0, byte = 64;

	while (byte & 64 && *at < size && shift < 30) {
		byte = bytes[(*at)++];
		value |= (byte & 63) << shift;
		shift += 6;
	}
	return value;
}

static int python_take_signed(const uint8_t *bytes, size_t size, size_t *at)
{
	uint32_t value = python_take_varint(bytes, size, at);

	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* 3.11 and newer: each entry is a byte 1CCCCLLL, code C and L + 1 units of two bytes of code. */
static int python_line_of_unit(const uint8_t *lines, size_t size, int line, int64_t unit)
{
	size_t at = 0;
	int64_t unit_at = 0;

	while (at < size && unit_at <= unit) {
		unsigned head = lines[at++], code = head >> 3 & 15;

		if (code == 14) {
			line += python_take_signed(lines, size, &at);
			for (int i = 0; i < 3; i++)
				python_take_varint(lines, size, &at);
		} else if (code == 13) {
			line += python_take_signed(lines, size, &at);
		} else if (code >= 10 && code <= 12) {
			line += (int)code - 10;
			at += 2;
		} else if (code < 10) {
			at++;
		}
		unit_at += (head & 7) + 1;
	}
	return line;
}

/* 3.9: pairs of the growth of the offset and of the line. 3.10: of a range, and the line of the range. */
static int python_line_of_byte(const uint8_t *lines, size_t size, int line, int64_t offset, bool ranges)
{
	int64_t at = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t grows = (int8_t)lines[i + 1];

		if (ranges) {
			line += grows == -128 ? 0 : grows;
			at += lines[i];
			if (at > offset)
				return line;
		} else {
			at += lines[i];
			if (at > offset)
				return line;
			line += grows;
		}
	}
	return line;
}

static int python_find_line(struct dw_python *python, struct dw_process *process, uint64_t frame, uint64_t code)
{
	const struct dw_python_layout *layout = python->layout;
	uint64_t table = python_pointer(process, code + layout->lines), size = python_pointer(process, table + 16);
	int32_t first = 0, index = 0;
	uint8_t *lines;
	int line;

	if (!python_read(process, code + layout->first_line, &first, sizeof first) || !table || size > PYTHON_MOST_LINES)
		return 0;
	lines = malloc(size + 1);
	if (!lines || !python_read(process, table + 32, lines, size)) {
		free(lines);
		return first;
	}
	if (layout->bytes != NO_FIELD) {
		int64_t place = (int64_t)python_pointer(process, frame + layout->instruction);

		line = python_line_of_unit(lines, size, first, (place - (int64_t)(code + layout->bytes)) / 2);
	} else {
		python_read(process, frame + layout->instruction, &index, sizeof index);
		line = python_line_of_byte(lines, size, first, layout->minor >= 10 ? 2 * (int64_t)index : index, layout->minor >= 10);
	}
	free(lines);
	return line;
}

/* ---- frames ------------------------------------------------------------------------------------ */

static bool python_read_frames(struct dw_python *python, struct dw_process *process, struct dw_python_thread *thread,
                               uint64_t state)
{
	const struct dw_python_layout *layout = python->layout;
	uint64_t frame = python_pointer(process, state + layout->frame);

	if (layout->loop_frame != NO_FIELD)
		frame = python_pointer(process, frame + layout->loop_frame);
	for (uint32_t i = 0; frame && i < PYTHON_MOST_FRAMES; i++) {
		/* 3.14 marks references in the lowest bits. */
		uint64_t code = python_pointer(process, frame + layout->code) & ~(uint64_t)7;
		struct dw_python_frame *next;
		uint8_t owner = 0, entry = 0;

		if (layout->owner != NO_FIELD)
			python_read(process, frame + layout->owner, &owner, 1);
		if (layout->owner != NO_FIELD && owner >= layout->least_loop) {
			if (thread->count && !thread->frames[thread->count - 1].last) {
				thread->frames[thread->count - 1].last = true;
				thread->frames[thread->count - 1].loop = frame;
			}
		} else if (code) {
			next = DW_GROW(&thread->frames, &thread->capacity, thread->count);
			if (!next)
				return false;
			next->frame.function = python_take_text(python, process, python_pointer(process, code + layout->name));
			next->frame.file = python_take_text(python, process, python_pointer(process, code + layout->file));
			next->frame.line = python_find_line(python, process, frame, code);
			if (!next->frame.function || !next->frame.file)
				return false;
			if (layout->entry != NO_FIELD)
				python_read(process, frame + layout->entry, &entry, 1);
			next->last = entry || layout->minor < 11;
			thread->count++;
		}
		frame = python_pointer(process, frame + layout->previous);
	}
	return true;
}

/* glibc has the kernel's number of a thread in the structure that pthread_self() points to. */
static uint32_t python_tid_of_pthread(const struct dw_process *process, uint64_t pthread)
{
#ifdef __x86_64__
	const uint64_t offset = 720;
#else
	const uint64_t offset = 208;
#endif
	int32_t tid = 0;

	return python_read(process, pthread + offset, &tid, sizeof tid) && tid > 0 ? (uint32_t)tid : 0;
}

bool dw_python_read(struct dw_python *python, struct dw_process *process)
{
	const struct dw_python_layout *layout = python->layout;
	uint64_t interpreter = layout ? python_pointer(process, python->runtime + layout->interpreters) : 0;

	for (; interpreter; interpreter = python_pointer(process, interpreter + layout->next_interpreter)) {
		uint64_t state = python_pointer(process, interpreter + layout->first_thread);

		for (; state && python->count < PYTHON_MOST_THREADS; state = python_pointer(process, state + layout->next_thread)) {
			struct dw_python_thread *thread = DW_GROW(&python->threads, &python->capacity, python->count);
			uint64_t id;

			if (!thread)
				return false;
			python->count++;
			id = python_pointer(process, state + (layout->native_id != NO_FIELD ? layout->native_id : layout->id));
			thread->tid = layout->native_id != NO_FIELD ? (uint32_t)id : python_tid_of_pthread(process, id);
			if (!python_read_frames(python, process, thread, state))
				return false;
		}
	}
	return true;
}

const struct dw_python_thread *dw_python_thread_of(const struct dw_python *python, uint32_t tid)
{
	for (size_t i = 0; i < python->count; i++)
		if (python->threads[i].tid == tid && python->threads[i].count)
			return &python->threads[i];
	return NULL;
}

void dw_python_reset(struct dw_python *python)
{
	for (size_t i = 0; i < python->count; i++)
		free(python->threads[i].frames);
	free(python->threads);
	*python = (struct dw_python){ 0 };
}
