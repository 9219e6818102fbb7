/* What ranks used and their traces do not have, and whether it is known how long they wait for each other. */
#include <string.h>

#include "ranks/ranks.h"

/* Lists the ranks that lack the same: "all ranks", "3", "0, 1, 2". */
static void recorded_put_ranks(const struct dw_ranks *ranks, const struct dw_unrecorded *what, char *text, size_t size)
{
	size_t count = 0, used = 0;

	for (size_t i = 0; i < ranks->count; i++)
		for (size_t n = 0; n < ranks->results[i].rank->unrecorded_count; n++)
			if (strcmp(ranks->results[i].rank->unrecorded[n].id, what->id) == 0 && count++ < 8)
				used += (size_t)snprintf(text + used, size - used, "%s%d", used ? ", " : "", dw_ranks_number(ranks, i));
	if (count == ranks->count)
		snprintf(text, size, "all ranks");
	else if (count > 8)
		snprintf(text + used, size - used, " and %zu more", count - 8);
}

/* What ranks communicate by is said above the table, the rest below it. */
static void recorded_add(struct dw_ranks *ranks, const struct dw_unrecorded *what)
{
	char list[120] = "", text[512];

	recorded_put_ranks(ranks, what, list, sizeof list);
	snprintf(text, sizeof text, "%s is %s (%s%s%s%s): %.220s. Missing: %s.", what->label,
	         what->partly ? "recorded in part" : "not recorded", what->file, *what->file ? ", " : "",
	         strcmp(list, "all ranks") == 0 ? "" : strchr(list, ',') ? "ranks " : "rank ", list, what->why, what->missing);
	if (dw_unrecorded_is_of_ranks(what) && ranks->unrecorded_count < DW_UNRECORDED_MOST)
		ranks->unrecorded[ranks->unrecorded_count++] = dw_arena_text(&ranks->arena, text, strlen(text));
	else
		dw_ranks_note(ranks, "%s", text);
}

/* Says of each library once which ranks lack it, and why, as the first of them says. */
static void recorded_say(struct dw_ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++)
		for (size_t n = 0; n < ranks->results[i].rank->unrecorded_count; n++) {
			const struct dw_unrecorded *what = &ranks->results[i].rank->unrecorded[n];
			bool said = false;

			for (size_t before = 0; before < i && !said; before++)
				for (size_t b = 0; b < ranks->results[before].rank->unrecorded_count; b++)
					said |= strcmp(ranks->results[before].rank->unrecorded[b].id, what->id) == 0;
			if (!said)
				recorded_add(ranks, what);
		}
}

/* Whether the rank has communication that it waits for. */
static bool recorded_communicates(const struct dw_summary_rank *rank)
{
	uint64_t ns = 0;

	for (size_t s = 0; s < rank->span_count; s++)
		ns += rank->spans[s].part_ns[DW_PART_COMMUNICATION];
	return ns || rank->collective_count;
}

void dw_ranks_check_recorded(struct dw_ranks *ranks)
{
	bool any = false, lacking = false;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;
		bool communicates = recorded_communicates(rank);

		any |= communicates;
		for (size_t n = 0; n < rank->unrecorded_count; n++)
			lacking |= !communicates && dw_unrecorded_is_of_ranks(&rank->unrecorded[n]);
	}
	ranks->waits_known = any && !lacking;
	recorded_say(ranks);
}
