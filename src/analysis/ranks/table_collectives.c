/* The table of collectives: by group and operation, how long ranks wait in them and transfer. */

#include "base/text.h"
#include "ranks/ranks.h"

enum { GROUP, OPERATION, RANKS, COUNT, BYTES, TIME, WAIT, TRANSFER, RATE, LAST, LAST_SHARE, COMPARED };
static const struct dw_column columns[] = {
	[GROUP] = DW_COLUMN("group", "group", NONE, TEXT),
	[OPERATION] = DW_COLUMN("operation", "operation", NONE, TEXT),
	[RANKS] = DW_COLUMN("ranks", "ranks", COUNT, INT),
	[COUNT] = DW_COLUMN("count", "calls/rank", COUNT, REAL),
	[BYTES] = DW_COLUMN("bytes", "bytes", BYTES, REAL),
	[TIME] = DW_COLUMN("blocked_ns", "blocked", NS, REAL),
	[WAIT] = DW_COLUMN("wait_ns", "of it waits", NS, REAL),
	[TRANSFER] = DW_COLUMN("transfer_ns", "transfers", NS, REAL),
	[RATE] = DW_COLUMN("bytes_per_second", "bytes/s", BYTES, REAL, .wide_only = true),
	[LAST] = DW_COLUMN("last_rank", "last rank", NONE, INT),
	[LAST_SHARE] = DW_COLUMN("last_share", "last in", RATIO, REAL, .of = "the calls"),
	[COMPARED] = DW_COLUMN("compared", "compared", COUNT, INT, .data_only = true),
};

static void table_add_collective(struct dwell_table *table, const struct dw_ranks *ranks,
                                 const struct dw_collective_result *from)
{
	struct dw_cell *row = dw_table_row(table, 0);

	dw_cell_text(table, &row[GROUP], *from->group ? from->group : "(unknown)");
	dw_cell_text(table, &row[OPERATION], from->operation);
	dw_cell_int(&row[RANKS], (int64_t)from->ranks);
	dw_cell_real(&row[COUNT], from->count);
	dw_cell_real(&row[BYTES], from->bytes);
	dw_cell_real(&row[TIME], from->blocked_ns);
	dw_cell_int(&row[COMPARED], (int64_t)from->compared);
	if (from->compared <= 0)
		return;
	dw_cell_real(&row[WAIT], from->wait_ns);
	dw_cell_real(&row[TRANSFER], from->transfer_ns);
	if (from->transfer_ns > 0)
		dw_cell_real(&row[RATE], from->bytes / from->transfer_ns * 1e9);
	if (from->last_share <= 0)
		return;
	dw_cell_int(&row[LAST], ranks->results[from->last].rank->rank >= 0
	                            ? ranks->results[from->last].rank->rank : (int64_t)from->last);
	dw_cell_real(&row[LAST_SHARE], from->last_share);
}

struct dwell_table *dw_ranks_table_of_collectives(const struct dw_ranks *ranks)
{
	struct dwell_table *table = dw_table_create("ranks", columns, sizeof columns / sizeof *columns);

	if (!table)
		return NULL;
	table->part = "collectives";
	table->coverage = 1;
	dw_table_head(table, "Collectives, by the time that ranks are blocked in them");
	for (size_t i = 0; i < ranks->collective_count && i < 30; i++)
		table_add_collective(table, ranks, &ranks->collectives[i]);
	if (ranks->collective_count > 30)
		dw_table_note(table, "%zu more rows are left out.", ranks->collective_count - 30);
	dw_table_note(table,
	              "blocked: the time of a rank inside the calls of one collective. of it waits: until the last "
	              "rank entered it. last rank: the one that entered last most often.");
	if (ranks->clock_collectives)
		dw_table_note(table, "The clocks of the hosts were aligned by %zu common collectives, to %s.",
		              ranks->clock_collectives, dw_text_ns(ranks->clock_error_ns, " ").at);
	return table;
}
