/*
 * Frames of Python, read from the interpreter's memory.
 *
 * format/python_frames.h knows where its fields lie. The process may change its memory meanwhile, so
 * every value is only followed, never trusted: what cannot be read ends the list.
 */
#include "process/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "format/python_frames.h"

#define PYTHON_MOST_FRAMES 1024u
#define PYTHON_MOST_THREADS 100000u

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
	uint64_t numbers[DW_PYTHON_PUBLISHED];

	*python = (struct dw_python){ 0 };
	python->runtime = dw_unwind_symbol(unwind, "python", "_PyRuntime", &python->module);
	if (!python->runtime)
		return true;
	if (python_read(process, python->runtime, numbers, sizeof numbers) && dw_python_publishes(numbers)) {
		process->python = dw_python_published_minor(numbers);
		python->known = dw_python_layout_published(numbers, &python->layout);
	} else {
		process->python = python_version_of(unwind, python->module);
		python->known = dw_python_layout_of(process->python, &python->layout);
	}
	if (!python->known)
		process->problem = dw_arena_printf(&process->arena, "frames of Python 3.%u are not known; 3.9 to 3.14 are",
		                                   process->python);
	return true;
}

/* ---- texts and lines --------------------------------------------------------------------------- */

/* A str as UTF-8; "?" if it cannot be read. */
static const char *python_take_text(struct dw_python *python, struct dw_process *process, uint64_t object)
{
	const struct dw_python_layout *layout = &python->layout;
	uint8_t bytes[DW_PYTHON_MOST_TEXT * 4], clear[DW_PYTHON_MOST_TEXT * 4 + 1];
	uint64_t length = python_pointer(process, object + 16);
	uint32_t state = 0, kind, ascii;

	if (!length || !python_read(process, object + 32, &state, sizeof state))
		return "?";
	length = length < DW_PYTHON_MOST_TEXT ? length : DW_PYTHON_MOST_TEXT;
	kind = state >> layout->kind_bit & 7;
	ascii = state >> (layout->kind_bit + 4) & 1;
	if ((kind != 1 && kind != 2 && kind != 4) ||
	    !python_read(process, object + (ascii ? layout->text : layout->wide_text), bytes, length * kind))
		return "?";
	return dw_arena_text(&process->arena, (const char *)clear, dw_python_utf8(bytes, kind, length, clear, sizeof clear));
}

static int python_find_line(struct dw_python *python, struct dw_process *process, uint64_t frame, uint64_t code)
{
	const struct dw_python_layout *layout = &python->layout;
	uint64_t table = python_pointer(process, code + layout->lines), size = python_pointer(process, table + 16);
	int32_t first = 0, index = 0;
	uint8_t *lines;
	int line;

	if (!python_read(process, code + layout->first_line, &first, sizeof first) || !table || size > DW_PYTHON_MOST_LINES)
		return 0;
	lines = malloc(size + 1);
	if (!lines || !python_read(process, table + 32, lines, size)) {
		free(lines);
		return first;
	}
	if (layout->bytes != DW_PYTHON_NO_FIELD) {
		int64_t place = (int64_t)python_pointer(process, frame + layout->instruction);

		line = dw_python_line_of_unit(lines, size, first, (place - (int64_t)(code + layout->bytes)) / 2);
	} else {
		python_read(process, frame + layout->instruction, &index, sizeof index);
		line = dw_python_line_of_byte(lines, size, first, layout->minor >= 10 ? 2 * (int64_t)index : index, layout->minor >= 10);
	}
	free(lines);
	return line;
}

/* ---- frames ------------------------------------------------------------------------------------ */

static bool python_read_frames(struct dw_python *python, struct dw_process *process, struct dw_python_thread *thread,
                               uint64_t state)
{
	const struct dw_python_layout *layout = &python->layout;
	uint64_t frame = python_pointer(process, state + layout->frame);

	if (layout->loop_frame != DW_PYTHON_NO_FIELD)
		frame = python_pointer(process, frame + layout->loop_frame);
	for (uint32_t i = 0; frame && i < PYTHON_MOST_FRAMES; i++) {
		/* 3.14 marks references in the lowest bits. */
		uint64_t code = python_pointer(process, frame + layout->code) & ~(uint64_t)7;
		struct dw_python_frame *next;
		uint8_t owner = 0, entry = 0;

		if (layout->owner != DW_PYTHON_NO_FIELD)
			python_read(process, frame + layout->owner, &owner, 1);
		if (layout->owner != DW_PYTHON_NO_FIELD && owner >= layout->least_loop) {
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
			if (layout->entry != DW_PYTHON_NO_FIELD)
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
	const struct dw_python_layout *layout = &python->layout;
	uint64_t interpreter = python->known ? python_pointer(process, python->runtime + layout->interpreters) : 0;

	for (; interpreter; interpreter = python_pointer(process, interpreter + layout->next_interpreter)) {
		uint64_t state = python_pointer(process, interpreter + layout->first_thread);

		for (; state && python->count < PYTHON_MOST_THREADS; state = python_pointer(process, state + layout->next_thread)) {
			struct dw_python_thread *thread = DW_GROW(&python->threads, &python->capacity, python->count);
			uint64_t id;

			if (!thread)
				return false;
			python->count++;
			id = python_pointer(process, state + (layout->native_id != DW_PYTHON_NO_FIELD ? layout->native_id : layout->id));
			thread->tid = layout->native_id != DW_PYTHON_NO_FIELD ? (uint32_t)id : python_tid_of_pthread(process, id);
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
