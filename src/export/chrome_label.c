/*
 * Labels: what all events of one name have in common, escaped and formatted once.
 *
 * Called for every event; memory grows with the names that occur.
 */
#include <stdio.h>

#include "dwell/probe.h"
#include "export/chrome.h"

/* What tools for PyTorch's traces look for, where dwell's category means the same. */
static const char *category_name(uint32_t category, char buffer[24])
{
	switch (category) {
	case DWELL_CATEGORY_OPERATOR:
		return "cpu_op";
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_PHASE:
	case DWELL_CATEGORY_ACTION:
		return "user_annotation";
	}
#define X(name, value, text) \
	if (category == (value)) \
		return text;
	DWELL_CATEGORIES(X)
#undef X
	snprintf(buffer, 24, "category %u", category);
	return buffer;
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

static void write_sizes(struct dw_writer_out *out, const uint8_t *tensor)
{
	dw_out_text(out, "[");
	for (unsigned i = 0; i < tensor[1]; i++) {
		int64_t size;

		memcpy(&size, tensor + 8 + i * 8, sizeof size);
		dw_out_text(out, i ? "," : "");
		dw_out_i64(out, size);
	}
	dw_out_text(out, "]");
}

/* The source has checked the entry against its size. */
static void write_shapes(struct dw_writer_out *out, const struct dw_entry_shapes *shapes)
{
	const uint8_t *tensor = shapes->tensors;

	dw_out_text(out, "\"Input Dims\":[");
	for (uint32_t i = 0; i < shapes->entry.aux; i++, tensor += 8 + tensor[1] * 8) {
		dw_out_text(out, i ? "," : "");
		write_sizes(out, tensor);
	}
	dw_out_text(out, "],\"Input type\":[");
	tensor = shapes->tensors;
	for (uint32_t i = 0; i < shapes->entry.aux; i++, tensor += 8 + tensor[1] * 8) {
		dw_out_text(out, i ? "," : "");
		dw_out_string(out, type_name(tensor[0]));
	}
	dw_out_text(out, "]");
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
	dw_out_text(out, category_name(symbol->category, buffer));
	dw_out_text(out, "\",\"name\":");
	dw_out_string(out, symbol->name);
	label->head = take(chrome, &label->head_length);
	if (symbol->shapes)
		write_shapes(out, symbol->shapes);
	if (symbol->detail) {
		dw_out_text(out, symbol->shapes ? ",\"detail\":" : "\"detail\":");
		dw_out_string(out, symbol->detail);
	}
	label->args = take(chrome, &label->args_length);
	return label;
}
