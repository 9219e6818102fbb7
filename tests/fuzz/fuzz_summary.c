/*
 * Property: whatever the bytes of a summary, reading it ends, within memory that its size and the
 * number of its ranks bound, without a fault. What is accepted is written and read again as the same
 * bytes, and the comparison of its ranks has figures within their ranges.
 *
 * The checksum is repaired: it finds damage, but does not keep anyone from making a file.
 */
#include <math.h>
#include <string.h>

#include "bounds.h"
#include "ranks/ranks.h"
#include "summary/fields.h"

#define RANK_BYTES 256u /* of input that a rank counts for beside its own: 4 KiB of memory */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ranks(const struct dw_summary *summary)
{
	for (size_t i = 0; i < summary->count; i++) {
		const struct dw_summary_rank *rank = &summary->ranks[i];

		demand(rank->span_count <= DW_SUMMARY_SPANS && rank->name_count <= DW_SUMMARY_NAMES &&
		       rank->layer_count <= DW_SUMMARY_LAYERS && rank->open_count <= DW_SUMMARY_OPEN &&
		       rank->collective_count <= DW_SUMMARY_COLLECTIVES && rank->span_log2 < 64);
		for (size_t s = 0; s < rank->span_count; s++)
			demand(rank->spans[s].steps && (!s || rank->spans[s].index > rank->spans[s - 1].index));
		for (size_t c = 0; c < rank->collective_count; c++)
			demand(rank->collectives[c].group && rank->collectives[c].operation);
	}
}

/* The file of a summary whose ranks are read again is the same. */
static void check_bytes(const struct dw_summary *summary)
{
	struct dw_proto first = { .bytes = NULL }, second = { .bytes = NULL };
	struct dw_summary again = { .ranks = NULL };

	dw_summary_encode(summary, &first);
	demand(!first.failed && dw_summary_decode(&again, "again", first.bytes, first.used, NULL) == 0 &&
	       again.count == summary->count && dw_summary_finish(&again, NULL));
	dw_summary_encode(&again, &second);
	demand(first.used == second.used && memcmp(first.bytes, second.bytes, first.used) == 0);
	dw_proto_reset(&first);
	dw_proto_reset(&second);
	dw_summary_reset(&again);
}

static void check_tables(const struct dw_ranks *ranks)
{
	static FILE *nothing;
	struct dwell_table *tables[2] = { dw_ranks_table(ranks), dw_ranks_table_of_stragglers(ranks) };

	if (!nothing)
		nothing = fopen("/dev/null", "w");
	for (unsigned i = 0; i < 2; i++) {
		demand(tables[i] != NULL);
		dw_table_destroy(tables[i]);
	}
	if (nothing)
		dw_ranks_picture(ranks, nothing);
}

static void check_comparison(struct dw_summary *summary)
{
	struct dw_ranks ranks;

	if (dw_ranks_compare(&ranks, summary, NULL)) {
		demand(ranks.count >= 2 && ranks.count <= summary->count && ranks.gain >= 0 && ranks.gain <= 1);
		for (size_t i = 0; i < ranks.count; i++) {
			const struct dw_rank_result *result = &ranks.results[i];

			demand(result->last >= 0 && result->last <= 1 + 1e-9 && result->wait_ns >= 0 &&
			       isfinite(result->excess) && result->part <= DW_RANKS_NO_PART);
		}
		for (size_t i = 0; i < ranks.slow_step_count; i++)
			demand(ranks.slow_steps[i].result < ranks.count && ranks.slow_steps[i].span < ranks.span_count);
		for (size_t i = 0; i < ranks.collective_count; i++)
			demand(ranks.collectives[i].last < ranks.count && ranks.collectives[i].wait_ns >= 0);
		check_tables(&ranks);
	}
	dw_ranks_reset(&ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_summary summary = { .ranks = NULL };
	size_t ranks = 0;
	uint8_t *file = malloc(size + 1);

	demand(file != NULL);
	memcpy(file, data, size);
	if (size >= HEAD_BYTES) {
		uint64_t sum = dw_summary_checksum(file + HEAD_BYTES, size - HEAD_BYTES);

		for (unsigned i = 0; i < 8; i++)
			file[16 + i] = (uint8_t)(sum >> 8 * i);
	}
	bounds_begin();
	if (dw_summary_decode(&summary, "input", file, size, NULL) == 0) {
		ranks = summary.count;
		check_ranks(&summary);
		demand(dw_summary_finish(&summary, NULL));
		check_ranks(&summary);
		check_bytes(&summary);
		check_comparison(&summary);
	}
	dw_summary_reset(&summary);
	bounds_end(data, size, size + ranks * RANK_BYTES);
	free(file);
	return 0;
}
