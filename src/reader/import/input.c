/* The bytes of a file, a window at a time; see input.h. */
#include "import/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#ifdef DW_HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/error.h"
#include "base/text.h"

#define FIRST_BYTES ((size_t)512 << 10)
#define GIVE_BACK_BYTES ((size_t)32 << 20)
#define PAGE_BYTES ((size_t)4096)
#define SPARE_BYTES ((size_t)32) /* for the NUL, and for scanners that read vectors */

/* ---- compressed data ---------------------------------------------------------------- */

#ifdef DW_HAVE_ZLIB
static int input_inflate_open(struct dw_input *input, struct dwell_error *error)
{
	z_stream *stream = calloc(1, sizeof *stream);

	if (!stream || inflateInit2(stream, 16 + MAX_WBITS) != Z_OK) {
		free(stream);
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", input->file->path);
	}
	input->inflater = stream;
	return 0;
}

static void input_inflate_close(struct dw_input *input)
{
	if (input->inflater)
		inflateEnd(input->inflater);
	free(input->inflater);
}

/* The file may consist of several compressed parts. */
static size_t input_inflate(struct dw_input *input, char *to, size_t space)
{
	const size_t size = input->file->size_bytes;
	z_stream *stream = input->inflater;
	unsigned char part[16384];
	size_t made = 0;

	while (made < space && !input->cut && !input->bomb) {
		size_t count = size - input->taken < sizeof part ? size - input->taken : sizeof part;
		int result;

		dw_copy_shared(part, input->file->data + input->taken, count);
		stream->next_in = part;
		stream->avail_in = (uInt)count;
		stream->next_out = (Bytef *)to + made;
		stream->avail_out = (uInt)(space - made);
		result = inflate(stream, Z_NO_FLUSH);
		input->taken += count - stream->avail_in;
		made = space - stream->avail_out;
		if (result == Z_STREAM_END && input->taken == size)
			break;
		if (result == Z_STREAM_END)
			input->cut = inflateReset(stream) != Z_OK;
		else if (result != Z_OK || (!count && stream->avail_out))
			input->cut = true;
		input->bomb = input->offset + made > DW_GUNZIP_SPARE + DW_GUNZIP_RATIO * (uint64_t)size;
	}
	return made;
}
#else
static int input_inflate_open(struct dw_input *input, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOT_TRACE,
	                    "%s is compressed with gzip, and this dwell was built without zlib: gunzip it first",
	                    input->file->path);
}

static void input_inflate_close(struct dw_input *input)
{
}

static size_t input_inflate(struct dw_input *input, char *to, size_t space)
{
	return 0;
}
#endif

/* ---- plain data ----------------------------------------------------------------------- */

static void input_give_back(struct dw_input *input)
{
	uintptr_t start = (uintptr_t)input->file->data;
	uintptr_t from = (start + input->given_back + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
	uintptr_t to = (start + input->taken) & ~(uintptr_t)(PAGE_BYTES - 1);

	if (input->taken - input->given_back < GIVE_BACK_BYTES || to <= from)
		return;
	madvise((void *)from, to - from, MADV_DONTNEED);
	input->given_back = input->taken;
}

static size_t input_copy(struct dw_input *input, char *to, size_t space)
{
	size_t count = input->file->size_bytes - input->taken;

	if (count > space)
		count = space;
	dw_copy_shared(to, input->file->data + input->taken, count);
	input->taken += count;
	return count;
}

/* ---- UTF-16 ----------------------------------------------------------------------------- */

#define NO_CHARACTER 0xfffdu

static uint32_t input_unit(const struct dw_input *input, const unsigned char *at)
{
	return (uint32_t)(at[input->wide - 1] | at[2 - input->wide] << 8);
}

/* The character at `at`; *units: how many units of two bytes it has. Half of a pair is none. */
static uint32_t input_character(const struct dw_input *input, const unsigned char *at, const unsigned char *end, size_t *units)
{
	uint32_t first = input_unit(input, at), second = end - at >= 4 ? input_unit(input, at + 2) : 0;

	*units = 1;
	if (first < 0xd800 || first > 0xdfff)
		return first;
	if (first > 0xdbff || second < 0xdc00 || second > 0xdfff)
		return NO_CHARACTER;
	*units = 2;
	return 0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00));
}

static size_t input_copy_wide(struct dw_input *input, char *to, size_t space)
{
	const size_t size = input->file->size_bytes;
	unsigned char part[8192];
	size_t made = 0;

	while (space - made >= 4 && size - input->taken >= 2) {
		size_t count = size - input->taken < sizeof part ? (size - input->taken) & ~(size_t)1 : sizeof part, used = 0, units;

		dw_copy_shared(part, input->file->data + input->taken, count);
		/* The last unit of a part may be the first of a pair: then it begins the next part. */
		while (used + (count == sizeof part ? 4 : 2) <= count && space - made >= 4) {
			made += dw_utf8_put(to + made, input_character(input, part + used, part + count, &units));
			used += units * 2;
		}
		input->taken += used;
	}
	if (size - input->taken == 1)
		input->taken = size;
	return made;
}

/* ---- the window -------------------------------------------------------------------------- */

static uint64_t input_newlines(const char *from, const char *to)
{
	uint64_t lines = 0;
	const char *at = from;

#ifdef __SSE2__
	const __m128i newline = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
	__m128i sums = zero;
	uint64_t halves[2];

	for (; to - at >= 16; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);

		bytes = _mm_sub_epi8(zero, _mm_cmpeq_epi8(bytes, newline));
		sums = _mm_add_epi64(sums, _mm_sad_epu8(bytes, zero));
	}
	memcpy(halves, &sums, sizeof halves);
	lines = halves[0] + halves[1];
#endif
	for (; at < to; at++)
		lines += *at == '\n';
	return lines;
}

static void input_count_lines(struct dw_input *input, const char *from, const char *to)
{
	uint64_t lines = input_newlines(from, to);
	const char *last;

	last = lines ? memrchr(from, '\n', (size_t)(to - from)) : NULL;
	input->lines += lines;
	if (last)
		input->line_offset = input->offset + (uint64_t)(last - input->buffer) + 1;
}

static bool input_make_space(struct dw_input *input)
{
	size_t used = (size_t)(input->at - input->buffer), left = (size_t)(input->end - input->at);

	if (used) {
		input_count_lines(input, input->buffer, input->at);
		memmove(input->buffer, input->at, left);
		input->offset += used;
	}
	if (left > input->capacity / 2) {
		char *grown = input->capacity < DW_INPUT_MOST_BYTES
		                  ? realloc(input->buffer, input->capacity * 2 + SPARE_BYTES) : NULL;

		input->failed |= !grown && input->capacity < DW_INPUT_MOST_BYTES;
		if (grown) {
			input->buffer = grown;
			input->capacity *= 2;
		}
	}
	input->at = input->buffer;
	input->end = input->buffer + left;
	input->buffer[left] = '\0';
	return left < input->capacity && !input->failed;
}

bool dw_input_more(struct dw_input *input)
{
	size_t left, count;

	if (input->last || !input_make_space(input))
		return false;
	left = (size_t)(input->end - input->at);
	count = input->inflater ? input_inflate(input, input->buffer + left, input->capacity - left)
	        : input->wide   ? input_copy_wide(input, input->buffer + left, input->capacity - left)
	                        : input_copy(input, input->buffer + left, input->capacity - left);
	input->end += count;
	input->buffer[left + count] = '\0';
	input->last = input->taken == input->file->size_bytes && count < input->capacity - left;
	input->last |= !count || input->cut || input->bomb;
	input_give_back(input);
	return count > 0;
}

int dw_input_open(struct dw_input *input, const struct dw_import_file *file, struct dwell_error *error)
{
	int result = 0;

	memset(input, 0, sizeof *input);
	input->file = file;
	input->capacity = FIRST_BYTES;
	input->buffer = malloc(FIRST_BYTES + SPARE_BYTES);
	if (!input->buffer)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", file->path);
	input->at = input->end = input->buffer;
	input->buffer[0] = '\0';
	if (file->size_bytes >= 2 && memcmp(file->data, "\x1f\x8b", 2) == 0)
		result = input_inflate_open(input, error);
	if (result) {
		dw_input_close(input);
		return result;
	}
	if (file->size_bytes >= 4 && (memcmp(file->data, "\xff\xfe", 2) == 0 || memcmp(file->data, "\xfe\xff", 2) == 0)) {
		input->wide = file->data[0] == '\xff' ? 1 : 2;
		input->taken = 2;
	}
	dw_input_more(input);
	return 0;
}

void dw_input_close(struct dw_input *input)
{
	input_inflate_close(input);
	free(input->buffer);
	memset(input, 0, sizeof *input);
}

uint64_t dw_input_offset(const struct dw_input *input, const char *at)
{
	return input->offset + (uint64_t)(at - input->buffer);
}

void dw_input_place(const struct dw_input *input, const char *at, uint64_t *line, uint64_t *column)
{
	const char *newline = memrchr(input->buffer, '\n', (size_t)(at - input->buffer));

	*line = input->lines + 1 + input_newlines(input->buffer, at);
	*column = newline ? (uint64_t)(at - newline) : dw_input_offset(input, at) - input->line_offset + 1;
}
