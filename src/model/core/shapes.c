/* The shapes of an operator's arguments as text; see shapes.h. Called by views and layouts. */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "dwell/probe.h"
#include "model/core/shapes.h"

static const char *shapes_type_name(uint8_t dtype)
{
	static const char *const names[] = { "uint8", "int8", "int16", "int32", "int64", "float16",
		"float32", "float64", "complex32", "complex64", "complex128", "bool", "", "", "",
		"bfloat16" };

	return dtype < sizeof names / sizeof *names ? names[dtype] : "";
}

static void shapes_put_sizes(FILE *out, const uint8_t *tensor, const char *between)
{
	int64_t size;

	for (unsigned d = 0; d < tensor[1]; d++) {
		memcpy(&size, tensor + 8 + (size_t)d * 8, sizeof size);
		fprintf(out, "%s%lld", d ? between : "", (long long)size);
	}
}

static void shapes_put_as_torch(FILE *out, const uint8_t *tensor)
{
	fputc('[', out);
	if (tensor[0] != DWELL_ARG_INTS)
		shapes_put_sizes(out, tensor, ", ");
	fputc(']', out);
}

static void shapes_put_for_people(FILE *out, const uint8_t *tensor)
{
	bool ints = tensor[0] == DWELL_ARG_INTS;

	if (tensor[0] == DWELL_DTYPE_NONE) {
		fputc('-', out);
		return;
	}
	fprintf(out, "%s%c", ints ? "" : shapes_type_name(tensor[0]), ints ? '(' : '[');
	shapes_put_sizes(out, tensor, ",");
	fputc(ints ? ')' : ']', out);
}

char *dw_shapes_text(const struct dw_entry_shapes *shapes, enum dw_shapes_style style)
{
	const uint8_t *at = shapes ? shapes->tensors : NULL;
	bool torch = style == DW_SHAPES_AS_TORCH;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (torch)
		fputc('[', out);
	for (uint32_t i = 0, put = 0; shapes && i < shapes->entry.aux; i++) {
		if (at[0] != DWELL_ARG_WORK) {
			fputs(put++ ? ", " : "", out);
			(torch ? shapes_put_as_torch : shapes_put_for_people)(out, at);
		}
		at += 8 + (size_t)at[1] * 8;
	}
	if (torch)
		fputc(']', out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

uint8_t dw_shapes_type(const uint8_t *argument)
{
	static const uint8_t types[] = {
		[0] = DWELL_ARG_INTS,
		[DW_ARGUMENT_SINGLE] = DWELL_ARG_INT,
		[DW_ARGUMENT_TRUTH] = DWELL_ARG_BOOLS,
		[DW_ARGUMENT_SINGLE | DW_ARGUMENT_TRUTH] = DWELL_ARG_BOOL,
	};

	return argument[0] == DWELL_ARG_INTS ? types[argument[2] % 4] : argument[0];
}

/* The number of bytes of the sizes that PyTorch's form has of an argument. */
static size_t shapes_size_bytes(const uint8_t *tensor)
{
	return tensor[0] == DWELL_ARG_INTS || tensor[0] == DWELL_ARG_WORK ? 0 : (size_t)tensor[1] * 8;
}

bool dw_shapes_same_sizes(const struct dw_entry_shapes *a, const struct dw_entry_shapes *b)
{
	const uint8_t *at = a ? a->tensors : NULL, *other = b ? b->tensors : NULL;
	uint32_t count = a ? a->entry.aux : 0;

	if (a == b || count != (b ? b->entry.aux : 0))
		return a == b;
	for (uint32_t i = 0; i < count; i++) {
		size_t bytes = shapes_size_bytes(at);

		if (bytes != shapes_size_bytes(other) || memcmp(at + 8, other + 8, bytes) != 0)
			return false;
		at += 8 + (size_t)at[1] * 8;
		other += 8 + (size_t)other[1] * 8;
	}
	return true;
}

uint32_t dw_shapes_hash_sizes(uint32_t seed, const struct dw_entry_shapes *shapes)
{
	const uint8_t *at = shapes ? shapes->tensors : NULL;

	for (uint32_t i = 0; shapes && i < shapes->entry.aux; i++) {
		seed = dw_map_hash_bytes(seed + 1, at + 8, shapes_size_bytes(at));
		at += 8 + (size_t)at[1] * 8;
	}
	return seed;
}
