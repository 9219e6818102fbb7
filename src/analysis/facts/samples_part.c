/* Which samples facts are about; see samples_part.h. */
#include <stdio.h>
#include <string.h>

#include "base/code/demangle.h"
#include "facts/samples_part.h"

bool dw_facts_sample_wanted(void *context, const struct dw_sample_row *row)
{
	const struct samples_part *part = context;

	return row->thread == part->work->loop->thread && part->shares >> row->share & 1 &&
	       ((part->in_step && row->where == DW_SAMPLE_IN_STEP) || (part->between && row->where == DW_SAMPLE_BETWEEN)) &&
	       (part->named == DW_NO_INDEX || (row->named != DW_NO_INDEX &&
	                                       dw_model_symbol_row(part->work->model, row->named) == part->named));
}

bool dw_facts_sample_moves(const struct dw_facts_work *work, const struct dw_sample_row *row)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(work->source, row);
	const struct dw_source_frame *frame = dw_sample_stack_at(&stack, 0);

	return frame && frame->loop == DW_CODE_MOVES;
}

void dw_facts_name_sampled(struct dw_facts_work *work, struct dw_fact *fact, const struct dw_hot_row *row)
{
	char text[300];

	dw_name_short(text, sizeof text, row->name);
	fact->name = dw_facts_text(work, text, strlen(text));
	if (*dw_hot_place(row, text, sizeof text))
		fact->where = dw_facts_text(work, text, strlen(text));
}
