/*
 * Labels: what all events of one name have in common, escaped and formatted once.
 *
 * Called for every event; memory grows with the names that occur.
 */
#include <stdio.h>

#include "dwell/probe.h"
#include "export/chrome.h"

static const char *own_name(uint32_t category, char buffer[24])
{
#define X(name, value, text) \
	if (category == (value)) \
		return text;
	DWELL_CATEGORIES(X)
#undef X
	snprintf(buffer, 24, "category %u", category);
	return buffer;
}

static bool is_annotation(uint32_t category)
{
	return category == DWELL_CATEGORY_ZONE || category == DWELL_CATEGORY_PHASE ||
	       category == DWELL_CATEGORY_LAYER || category == DWELL_CATEGORY_DATA ||
	       category == DWELL_CATEGORY_ACTION || category == DWELL_CATEGORY_HANDLER ||
	       category == DWELL_CATEGORY_CHECKPOINT || category == DWELL_CATEGORY_EVALUATION;
}

/* What tools for PyTorch's traces look for, where dwell's category means the same. What
 * people name themselves is an annotation; "Category" in its args says of which kind. */
const char *dw_chrome_category(uint32_t category, char buffer[24])
{
	switch (category) {
	case DWELL_CATEGORY_OPERATOR:
		return "cpu_op";
	case DWELL_CATEGORY_FUNCTION:
		return "python_function";
	case DWELL_CATEGORY_PROFILER:
		return "overhead";
	case DWELL_CATEGORY_MARK:
		return "cpu_instant_event";
	}
	if (is_annotation(category))
		return "user_annotation";
	return own_name(category, buffer);
}

/* As PyTorch writes its scalar types. */
static const char *type_name(uint8_t dtype)
{
	static const char *const names[] = {
		[DWELL_UINT8] = "unsigned char",
		[DWELL_INT8] = "signed char",
		[DWELL_INT16] = "short int",
		[DWELL_INT32] = "int",
		[DWELL_INT64] = "long int",
		[DWELL_FLOAT16] = "c10::Half",
		[DWELL_FLOAT32] = "float",
		[DWELL_FLOAT64] = "double",
		[DWELL_COMPLEX32] = "c10::complex<c10::Half>",
		[DWELL_COMPLEX64] = "c10::complex<float>",
		[DWELL_COMPLEX128] = "c10::complex<double>",
		[DWELL_BOOL] = "bool",
		[DWELL_BFLOAT16] = "c10::BFloat16",
	};

	if (dtype == DWELL_ARG_INTS)
		return "ScalarList";
	return dtype < sizeof names / sizeof *names && names[dtype] ? names[dtype] : "";
}

static const char DIMS[] = "\"Input Dims\":[", TYPES[] = ",\"Input type\":[",
                  VALUES[] = ",\"Concrete Inputs\":[";

static void write_sizes(struct dw_writer_out *out, const uint8_t *tensor, const char *comma)
{
	dw_out_text(out, "[");
	for (unsigned i = 0; i < tensor[1]; i++) {
		int64_t size;

		memcpy(&size, tensor + 8 + i * 8, sizeof size);
		dw_out_text(out, i ? comma : "");
		dw_out_i64(out, size);
	}
	dw_out_text(out, "]");
}

/* One of an operator's lists: an item for each argument. Integers that are no tensor have
 * no dimensions but a value. */
static void write_list(struct dw_writer_out *out, const struct dw_entry_shapes *shapes,
                       const char *key)
{
	const uint8_t *tensor = shapes->tensors; /* the source has checked their size */

	dw_out_text(out, key);
	for (uint32_t i = 0; i < shapes->entry.aux; i++, tensor += 8 + tensor[1] * 8) {
		bool ints = tensor[0] == DWELL_ARG_INTS;

		dw_out_text(out, i ? "," : "");
		if (key == DIMS && !ints) {
			write_sizes(out, tensor, ",");
		} else if (key == DIMS) {
			dw_out_text(out, "[]");
		} else if (key == TYPES) {
			dw_out_string(out, type_name(tensor[0]));
		} else {
			dw_out_text(out, "\"");
			if (ints)
				write_sizes(out, tensor, ", ");
			dw_out_text(out, "\"");
		}
	}
	dw_out_text(out, "]");
}

static bool has_ints(const struct dw_entry_shapes *shapes)
{
	const uint8_t *tensor = shapes->tensors;

	for (uint32_t i = 0; i < shapes->entry.aux; i++, tensor += 8 + tensor[1] * 8)
		if (tensor[0] == DWELL_ARG_INTS)
			return true;
	return false;
}

static void write_shapes(struct dw_writer_out *out, const struct dw_entry_shapes *shapes)
{
	write_list(out, shapes, DIMS);
	write_list(out, shapes, TYPES);
	if (has_ints(shapes))
		write_list(out, shapes, VALUES);
}

static const char *take(struct dw_chrome *chrome, uint32_t *length)
{
	struct dw_writer_out *scratch = &chrome->scratch;
	const char *text =
		scratch->error
			? NULL
			: dw_arena_text(&chrome->arena, scratch->used ? scratch->buffer : "", scratch->used);

	chrome->failed |= !text;
	*length = text ? (uint32_t)scratch->used : 0;
	scratch->used = 0;
	return text ? text : "";
}

const struct dw_chrome_label *dw_chrome_label(struct dw_chrome *chrome, uint32_t index)
{
	struct dw_chrome_label *label = &chrome->labels[index];
	const struct dw_symbol *symbol = &chrome->symbols[index];
	struct dw_writer_out *out = &chrome->scratch;
	char buffer[24];

	if (__builtin_expect(label->head != NULL, 1))
		return label;
	dw_out_text(out, "\"cat\":\"");
	dw_out_text(out, dw_chrome_category(symbol->category, buffer));
	dw_out_text(out, "\",\"name\":");
	dw_out_string(out, symbol->name);
	label->head = take(chrome, &label->head_length);
	if (symbol->shapes && symbol->category == DWELL_CATEGORY_OPERATOR)
		write_shapes(out, symbol->shapes);
	if (symbol->detail) {
		dw_out_text(out, out->used ? ",\"detail\":" : "\"detail\":");
		dw_out_string(out, symbol->detail);
	}
	if (is_annotation(symbol->category)) {
		dw_out_text(out, out->used ? ",\"Category\":\"" : "\"Category\":\"");
		dw_out_text(out, own_name(symbol->category, buffer));
		dw_out_text(out, "\"");
	}
	label->args = take(chrome, &label->args_length);
	return label;
}
