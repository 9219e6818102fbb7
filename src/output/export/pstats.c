/*
 * pstats: function calls in the format of cProfile, as Python's marshal data.
 *
 *     {(file, line, name): (primitive, calls, tottime, cumtime,
 *                           {caller: (calls, primitive, tottime, cumtime)})}
 *
 * `python3 -m pstats`, snakeviz and similar tools open it. Marshal is little-endian. Only its
 * oldest types are used, which all versions of Python can read.
 */
#include "base/order.h"
#include "export/export.h"
#include "export/out.h"
#include "base/error.h"
#include "model/time/function_calls.h"

static void pstats_put_u32(struct dw_writer_out *out, uint32_t value)
{
	char bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (char)(value >> 8 * i);
	dw_out_bytes(out, bytes, 4);
}

static void pstats_put_tuple(struct dw_writer_out *out, uint32_t count)
{
	dw_out_bytes(out, "(", 1);
	pstats_put_u32(out, count);
}

/* Writes an integer: up to 31 bits as an int, a larger one in digits of 15 bits. */
static void pstats_put_integer(struct dw_writer_out *out, uint64_t value)
{
	uint32_t digits = 0;

	if (value <= INT32_MAX) {
		dw_out_bytes(out, "i", 1);
		pstats_put_u32(out, (uint32_t)value);
		return;
	}
	for (uint64_t rest = value; rest; rest >>= 15)
		digits++;
	dw_out_bytes(out, "l", 1);
	pstats_put_u32(out, digits);
	for (; value; value >>= 15) {
		char bytes[2] = { (char)(value & 0xff), (char)(value >> 8 & 0x7f) };

		dw_out_bytes(out, bytes, 2);
	}
}

static void pstats_put_seconds(struct dw_writer_out *out, uint64_t ns)
{
	double value = (double)ns / 1e9;
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	dw_out_bytes(out, "g", 1);
	pstats_put_u32(out, (uint32_t)bits);
	pstats_put_u32(out, (uint32_t)(bits >> 32));
}

/* Returns the length of the UTF-8 character at `at`, or 0 if it is not well-formed. */
static size_t pstats_character_length(const unsigned char *at)
{
	size_t length = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 :
	                at[0] >= 0xe0 && at[0] < 0xf0 ? 3 : at[0] >= 0xf0 && at[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

/* Replaces bytes that are not UTF-8 by "?", because Python would not load the file. */
static void pstats_put_text(struct dw_writer_out *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	dw_out_bytes(out, "u", 1);
	pstats_put_u32(out, (uint32_t)strlen(text));
	while (*at) {
		size_t length = pstats_character_length(at);

		dw_out_bytes(out, length ? (const char *)at : "?", length ? length : 1);
		at += length ? length : 1;
	}
}

static void pstats_put_function(struct dw_writer_out *out, const struct dw_symbol *symbol)
{
	pstats_put_tuple(out, 3);
	pstats_put_text(out, symbol->file ? symbol->file : "~");
	pstats_put_integer(out, symbol->line);
	pstats_put_text(out, symbol->name);
}

static void pstats_put_counts(struct dw_writer_out *out, uint64_t first, uint64_t second,
                              const struct dw_function_row *row)
{
	pstats_put_integer(out, first);
	pstats_put_integer(out, second);
	pstats_put_seconds(out, row->self_ns);
	pstats_put_seconds(out, row->total_ns);
}

static int pstats_write(struct dw_model *model, const struct dwell_export_options *options,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	const struct dw_function_calls *calls = dw_model_function_calls(model, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);

	if (!calls)
		return DWELL_E_NOMEM;
	if (!calls->count)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no function calls here: record with --functions a program that "
		                    "carries the functions probe", dw_model_source(model)->files[0].path);
	dw_out_bytes(out, "{", 1);
	for (size_t i = 0; i < calls->count; i++) {
		const struct dw_function_row *row = &calls->rows[i];

		pstats_put_function(out, &symbols[row->symbol]);
		pstats_put_tuple(out, 5);
		pstats_put_counts(out, row->primitive, row->calls, row);
		dw_out_bytes(out, "{", 1);
		for (size_t e = DW_FIRST(k, 0, calls->edge_count, calls->edges[k].symbol >= row->symbol); /* sorted by symbol */
		     e < calls->edge_count && calls->edges[e].symbol == row->symbol; e++) {
			pstats_put_function(out, &symbols[calls->edges[e].caller]);
			pstats_put_tuple(out, 4);
			pstats_put_counts(out, calls->edges[e].calls, calls->edges[e].primitive, &calls->edges[e]);
		}
		dw_out_bytes(out, "0", 1);
	}
	dw_out_bytes(out, "0", 1);
	return 0;
}

const struct dw_export_format dw_export_pstats = {
	.name = "pstats", .what = "function calls for Python's pstats, snakeviz and the like", .write = pstats_write,
};
