/*
 * Where the interpreter of Python 3.9 to 3.15 has its frames, for everybody that reads its memory: the reader of a
 * process from outside, and the sampler in the process itself. Free-threaded builds have other objects, and code of
 * which each thread has a copy: they are not known.
 *
 * From 3.13 on the interpreter publishes where its fields lie (_Py_DebugOffsets at the head of _PyRuntime). For older
 * versions the places are in a table: they are the same in all releases of a version, on 64-bit machines.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DW_PYTHON_NO_FIELD UINT32_MAX
#define DW_PYTHON_KNOWN "those of 3.9 to 3.15 with a global interpreter lock are"

/* Offsets of fields in bytes. */
struct dw_python_layout {
	uint32_t minor;
	uint32_t interpreters;                       /* in _PyRuntime: the first interpreter */
	uint32_t next_interpreter, first_thread;     /* in an interpreter */
	uint32_t next_thread, frame, id, native_id;  /* in a thread; native_id: DW_PYTHON_NO_FIELD before 3.11 */
	uint32_t loop_frame;                         /* `frame` is a record of the loop, and this its frame */
	uint32_t outer_loop;                         /* in a record of the loop: the record of the call around it (3.11) */
	uint32_t previous, code, instruction;        /* in a frame */
	uint32_t entry;                              /* in a frame: not 0 if it began a call of the loop (3.11) */
	uint32_t owner, least_loop;                  /* in a frame: from this value on, it only marks such a begin */
	uint32_t file, name, first_line, lines, bytes; /* in a code object; bytes: DW_PYTHON_NO_FIELD if a frame has an index */
	uint32_t text, wide_text;                    /* in a str: its characters if ASCII, and otherwise */
};

/* The layout of Python 3.`minor` before 3.13. False: not known. */
static inline bool dw_python_layout_of(uint32_t minor, struct dw_python_layout *layout)
{
#define NONE DW_PYTHON_NO_FIELD
	static const struct dw_python_layout known[] = {
		{ 9, 32, 0, 8, 8, 24, 176, NONE, NONE, NONE, 24, 32, 104, NONE, NONE, 0, 104, 112, 40, 120, NONE, 48, 72 },
		{ 10, 32, 0, 8, 8, 24, 176, NONE, NONE, NONE, 24, 32, 96, NONE, NONE, 0, 104, 112, 40, 120, NONE, 48, 72 },
		{ 11, 40, 0, 16, 8, 56, 152, 160, 8, 16, 48, 32, 56, 68, NONE, 0, 112, 128, 72, 136, 184, 48, 72 },
		{ 12, 40, 0, 72, 8, 56, 136, 144, 0, NONE, 8, 0, 56, NONE, 70, 3, 112, 128, 68, 136, 192, 40, 56 },
	};
#undef NONE

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].minor == minor) {
			*layout = known[i];
			return true;
		}
	return false;
}

#define DW_PYTHON_PUBLISHED 93 /* numbers of 8 bytes at the head of _PyRuntime; the third is not 0 if free-threaded */

static inline bool dw_python_publishes(const uint64_t *numbers)
{
	return memcmp(numbers, "xdebugpy", 8) == 0;
}

static inline uint32_t dw_python_published_minor(const uint64_t *numbers)
{
	return (uint32_t)(numbers[1] >> 16 & 255);
}

/* Reads the layout of the interpreter's structures from its _Py_DebugOffsets. False: this version, or its free-threaded build, is
 * not known here. */
static inline bool dw_python_layout_published(const uint64_t *numbers, struct dw_python_layout *layout)
{
	/* Numbers of the fields in _Py_DebugOffsets, in the layout's order. */
	static const struct {
		uint32_t minor, least_loop;
		uint8_t interpreters, next_interpreter, first_thread, next_thread, frame, id, native_id, previous, code, instruction,
			owner, file, name, first_line, lines, bytes, text;
	} known[] = {
		{ 13, 3, 5, 8, 9, 21, 23, 24, 25, 29, 30, 31, 33, 35, 37, 39, 38, 43, 70 },
		{ 14, 3, 5, 8, 9, 24, 26, 27, 28, 32, 33, 34, 36, 40, 42, 44, 43, 48, 80 },
		{ 15, 3, 5, 8, 9, 24, 26, 30, 31, 40, 41, 42, 44, 48, 49, 52, 51, 56, 92 },
	};
	uint32_t minor = dw_python_published_minor(numbers);

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (known[i].minor != minor || numbers[2])
			continue;
#define NUMBER(field) (uint32_t)numbers[known[i].field]
		*layout = (struct dw_python_layout){
			minor, NUMBER(interpreters), NUMBER(next_interpreter), NUMBER(first_thread), NUMBER(next_thread), NUMBER(frame),
			NUMBER(id), NUMBER(native_id), DW_PYTHON_NO_FIELD, DW_PYTHON_NO_FIELD, NUMBER(previous), NUMBER(code),
			NUMBER(instruction), DW_PYTHON_NO_FIELD, NUMBER(owner), known[i].least_loop, NUMBER(file), NUMBER(name),
			NUMBER(first_line), NUMBER(lines), NUMBER(bytes), NUMBER(text), NUMBER(text) + 16,
		};
#undef NUMBER
		return true;
	}
	return false;
}

/* Whether a code object belongs to the interpreter and not to the program. `head`: its first word, the reference count.
 *
 * From Python 3.12 on the interpreter puts a frame of its own between __init__() and its caller, once __init__() is called often. The
 * code object of this frame is immortal, which its reference count shows, and it has no first line. */
static inline bool dw_python_is_between(uint64_t head, int32_t first_line)
{
	return (int32_t)head < 0 && !first_line;
}

/* ---- texts ------------------------------------------------------------------------------------- */

#define DW_PYTHON_KIND_BIT 2 /* in the state of a str: bytes a character, of three bits; behind them: compact, ASCII */
#define DW_PYTHON_MOST_TEXT 400u /* characters that are read of a str */

/* Converts characters of 1, 2 or 4 bytes to UTF-8. Returns the length of what fits, without an end. */
static inline size_t dw_python_utf8(const uint8_t *bytes, uint32_t kind, uint64_t length, uint8_t *clear, size_t size)
{
	size_t used = 0;

	for (uint64_t i = 0; i < length && used + 4 < size; i++) {
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
	return used;
}

/* ---- lines ------------------------------------------------------------------------------------- */

#define DW_PYTHON_MOST_LINES 65536u /* bytes of a table of lines */

/* A number of six bits a byte, the lowest first. */
static inline uint32_t dw_python_varint(const uint8_t *bytes, size_t size, size_t *at)
{
	uint32_t value = 0, shift = 0, byte = 64;

	while (byte & 64 && *at < size && shift < 30) {
		byte = bytes[(*at)++];
		value |= (byte & 63) << shift;
		shift += 6;
	}
	return value;
}

static inline int dw_python_signed(const uint8_t *bytes, size_t size, size_t *at)
{
	uint32_t value = dw_python_varint(bytes, size, at);

	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* 3.11 and newer: each entry is a byte 1CCCCLLL, code C and L + 1 units of two bytes of code. */
static inline int dw_python_line_of_unit(const uint8_t *lines, size_t size, int line, int64_t unit)
{
	size_t at = 0;
	int64_t unit_at = 0;

	while (at < size && unit_at <= unit) {
		unsigned head = lines[at++], code = head >> 3 & 15;

		if (code == 14) {
			line += dw_python_signed(lines, size, &at);
			for (int i = 0; i < 3; i++)
				dw_python_varint(lines, size, &at);
		} else if (code == 13) {
			line += dw_python_signed(lines, size, &at);
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
static inline int dw_python_line_of_byte(const uint8_t *lines, size_t size, int line, int64_t offset, bool ranges)
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
