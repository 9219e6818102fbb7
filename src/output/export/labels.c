/*
 * Labels: text that all events of one symbol have in common, formatted once; and call stacks.
 *
 * Called by the formats, through timeline.h. Memory grows with the number of symbols in use.
 */

#include "export/stacks.h"
#include "export/timeline.h"
#include "model/core/shapes.h"

static const char *label_own_category(uint32_t category, char buffer[24])
{
	if (dw_category_name(category))
		return dw_category_name(category);
	snprintf(buffer, 24, "category %u", category);
	return buffer;
}

static bool label_is_annotation(uint32_t category)
{
	return category == DWELL_CATEGORY_ZONE || category == DWELL_CATEGORY_PHASE ||
	       category == DWELL_CATEGORY_LAYER || category == DWELL_CATEGORY_DATA ||
	       category == DWELL_CATEGORY_ACTION || category == DWELL_CATEGORY_HANDLER ||
	       category == DWELL_CATEGORY_CHECKPOINT || category == DWELL_CATEGORY_EVALUATION;
}

/* A range that the program names is an annotation; "Category" in its args contains the kind of
 * range. */
const char *dw_label_category(uint32_t category, char buffer[24])
{
	switch (category) {
	case DWELL_CATEGORY_OPERATOR: return "cpu_op";
	case DWELL_CATEGORY_FUNCTION: return "python_function";
	case DWELL_CATEGORY_PROFILER: return "overhead";
	case DWELL_CATEGORY_MARK: return "cpu_instant_event";
	}
	if (label_is_annotation(category))
		return "user_annotation";
	return label_own_category(category, buffer);
}

/* PyTorch's name of a scalar type. */
static const char *label_type_name(uint8_t dtype)
{
	static const char *const names[] = {
		[DWELL_UINT8] = "unsigned char", [DWELL_INT8] = "signed char", [DWELL_INT16] = "short int",
		[DWELL_INT32] = "int", [DWELL_INT64] = "long int", [DWELL_FLOAT16] = "c10::Half", [DWELL_FLOAT32] = "float",
		[DWELL_FLOAT64] = "double", [DWELL_COMPLEX32] = "c10::complex<c10::Half>",
		[DWELL_COMPLEX64] = "c10::complex<float>", [DWELL_COMPLEX128] = "c10::complex<double>", [DWELL_BOOL] = "bool",
		[DWELL_BFLOAT16] = "c10::BFloat16",
	};

	if (dtype == DWELL_ARG_INTS || dtype == DWELL_ARG_BOOLS)
		return "ScalarList";
	if (dtype == DWELL_ARG_INT || dtype == DWELL_ARG_BOOL)
		return "Scalar";
	return dtype < sizeof names / sizeof *names && names[dtype] ? names[dtype] : "";
}

static const char DIMS[] = "\"Input Dims\":[", TYPES[] = ",\"Input type\":[", VALUES[] = ",\"Concrete Inputs\":[";

static void label_put_sizes(struct dw_writer_out *out, const uint8_t *tensor)
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

/* Writes integers as PyTorch writes them: 2, [2, 1], True, [True, False]. */
static void label_put_values(struct dw_writer_out *out, const uint8_t *argument)
{
	uint8_t type = dw_shapes_type(argument);
	bool list = type == DWELL_ARG_INTS || type == DWELL_ARG_BOOLS;

	dw_out_text(out, list ? "[" : "");
	for (unsigned i = 0; i < (list ? argument[1] : argument[1] > 0); i++) {
		int64_t value;

		memcpy(&value, argument + 8 + i * 8, sizeof value);
		dw_out_text(out, i ? ", " : "");
		if (type == DWELL_ARG_INT || type == DWELL_ARG_INTS)
			dw_out_i64(out, value);
		else
			dw_out_text(out, value ? "True" : "False");
	}
	dw_out_text(out, list ? "]" : "");
}

/* Writes one of an operator's lists, with an item for each argument. An argument of integers has a value and no
 * dimensions. */
static void label_put_list(struct dw_writer_out *out, const struct dw_entry_shapes *shapes, const char *key)
{
	const uint8_t *tensor = shapes->tensors; /* their size was checked when the trace was read */

	dw_out_text(out, key);
	for (uint32_t i = 0, put = 0; i < shapes->entry.aux; i++, tensor += 8 + tensor[1] * 8) {
		bool ints = tensor[0] == DWELL_ARG_INTS;

		if (tensor[0] == DWELL_ARG_WORK)
			continue;
		dw_out_text(out, put++ ? "," : "");
		if (key == DIMS && !ints) {
			label_put_sizes(out, tensor);
		} else if (key == DIMS) {
			dw_out_text(out, "[]");
		} else if (key == TYPES) {
			dw_out_string(out, label_type_name(dw_shapes_type(tensor)));
		} else {
			dw_out_text(out, "\"");
			if (ints)
				label_put_values(out, tensor);
			dw_out_text(out, "\"");
		}
	}
	dw_out_text(out, "]");
}

static bool label_has_ints(const struct dw_entry_shapes *shapes)
{
	const uint8_t *tensor = shapes->tensors;

	for (uint32_t i = 0; i < shapes->entry.aux; i++, tensor += 8 + tensor[1] * 8)
		if (tensor[0] == DWELL_ARG_INTS)
			return true;
	return false;
}

static void label_put_shapes(struct dw_writer_out *out, const struct dw_entry_shapes *shapes)
{
	label_put_list(out, shapes, DIMS);
	label_put_list(out, shapes, TYPES);
	if (label_has_ints(shapes))
		label_put_list(out, shapes, VALUES);
}

struct dw_label dw_label_take(struct dw_timeline *timeline)
{
	struct dw_writer_out *scratch = &timeline->scratch;
	struct dw_label label = { NULL, 0 };

	if (!scratch->error)
		label.text = dw_arena_text(&timeline->arena, scratch->used ? scratch->buffer : "", scratch->used);
	timeline->failed |= !label.text;
	label.length = label.text ? (uint32_t)scratch->used : 0;
	label.text = label.text ? label.text : "";
	scratch->used = 0;
	return label;
}

struct dw_label dw_label_args(struct dw_timeline *timeline, uint32_t index)
{
	struct dw_label *label = &timeline->args[index];
	const struct dw_symbol *symbol = &timeline->symbols[index];
	struct dw_writer_out *out = &timeline->scratch;
	char buffer[24];

	if (label->text)
		return *label;
	if (symbol->shapes && symbol->category == DWELL_CATEGORY_OPERATOR)
		label_put_shapes(out, symbol->shapes);
	if (symbol->detail) {
		dw_out_text(out, out->used ? ",\"detail\":" : "\"detail\":");
		dw_out_string(out, symbol->detail);
	}
	if (label_is_annotation(symbol->category)) {
		dw_out_text(out, out->used ? ",\"Category\":\"" : "\"Category\":\"");
		dw_out_text(out, label_own_category(symbol->category, buffer));
		dw_out_text(out, "\"");
	}
	*label = dw_label_take(timeline);
	return *label;
}

const char *dw_label_stack(struct dw_timeline *timeline, uint32_t thread, uint32_t stack)
{
	struct dw_writer_out *scratch = &timeline->scratch;

	scratch->used = 0;
	dw_stack_text(scratch, dw_stack_at(timeline->source, thread, stack));
	dw_out_bytes(scratch, "", 1);
	scratch->used = 0;
	timeline->failed |= scratch->error != 0;
	return scratch->error ? "" : scratch->buffer;
}
