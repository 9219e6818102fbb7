/*
 * Facts that are not known because a library was not recorded by which ranks communicate: communication itself, and
 * time that no range explains, in which ranks may wait for each other.
 */
#include <string.h>

#include "facts/work.h"
#include "read/unrecorded.h"

void dw_facts_without_communication(struct dw_facts_work *work)
{
	static const enum dw_fact_id ids[] = {
		DW_FACT_LOOP_COMMUNICATION, DW_FACT_LOOP_COMMUNICATION_ALL, DW_FACT_STEP_COMMUNICATION,
		DW_FACT_STEP_IDLE,          DW_FACT_STEP_UNNAMED,           DW_FACT_STEP_PYTHON,
		DW_FACT_LOOP_UNNAMED,       DW_FACT_LOOP_PYTHON,            DW_FACT_LOOP_WAITING,
		DW_FACT_COMM_LAST_RANK,     DW_FACT_COMM_LAST_RANK_SHARE,   DW_FACT_COMM_LAST_RANK_EXCESS,
		DW_FACT_COMM_WAIT,
	};
	uint32_t process = work->source->threads[work->loop->thread].process;
	struct dw_unrecorded list[DW_UNRECORDED_MOST];
	size_t count = dw_source_unrecorded(work->source, process, list);
	const struct dw_fact *collectives = &work->facts->at[DW_FACT_COMM_COUNT];
	char text[512];

	if (collectives->measured && collectives->value > 0)
		return; /* another probe has recorded what ranks wait for */
	for (size_t i = 0; i < count; i++) {
		if (!dw_unrecorded_is_of_ranks(&list[i]) || list[i].partly)
			continue;
		dw_unrecorded_text(&list[i], text, sizeof text);
		for (size_t n = 0; n < sizeof ids / sizeof *ids; n++)
			dw_fact_miss(work, ids[n], dw_facts_text(work, text, strlen(text)));
		return;
	}
}
