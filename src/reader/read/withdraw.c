/*
 * Withdrawn steps: calls of models that turned out to be evaluation.
 *
 * Called by journal.c when all entries of a file are known, because those of threads interleave.
 * Time and memory are in proportion to the entries, whatever a file states.
 */
#include "base/free.h"
#include "read/read.h"

/* What the file's WITHDRAWAL entries state, by id. */
struct withdrawn {
	uint64_t *until;  /* of a PROCESS: its tentative steps from before were none */
	uint32_t *as;     /* of an OP: what its ranges are; 0 means what it says itself */
	uint32_t *places; /* of an OP: an entry in ops, from 1; 0 means there is none */
};

static void withdraw_take(const struct dw_read_file *file, const struct withdrawn *withdrawn)
{
	for (size_t i = 0; i < file->withdrawal_count; i++) {
		const struct dw_entry_withdrawal *from = &file->withdrawals[i];

		if (from->entry.id < file->id_count && withdrawn->until[from->entry.id] < from->ticks)
			withdrawn->until[from->entry.id] = from->ticks;
		if (from->op < file->id_count && from->as < file->id_count)
			withdrawn->as[from->op] = from->as;
	}
	for (size_t i = 0; i < file->op_count; i++)
		withdrawn->places[file->ops[i].id] = (uint32_t)i + 1;
}

static bool withdraw_has(const struct dw_read_file *file, const struct withdrawn *withdrawn,
                         uint32_t thread, uint64_t start_ticks)
{
	uint32_t place = dw_read_thread_of(file, thread);
	uint32_t process = place == DW_NO_INDEX ? 0 : file->threads[place].process;

	return process < file->id_count && start_ticks < withdrawn->until[process];
}

static void withdraw_steps(struct dw_read_file *file, const struct withdrawn *withdrawn)
{
	size_t kept = 0;

	for (size_t i = 0; i < file->step_count; i++) {
		const struct dw_read_step *step = &file->steps[i];

		if (!step->tentative || !withdraw_has(file, withdrawn, step->thread, step->start_ticks))
			file->steps[kept++] = *step;
	}
	file->step_count = kept;
	kept = 0;
	for (size_t i = 0; i < file->summary_count; i++) {
		const struct dw_read_summary *summary = &file->summaries[i];

		if (!summary->tentative || !withdraw_has(file, withdrawn, summary->thread, summary->start_ticks))
			file->summaries[kept++] = *summary;
	}
	file->summary_count = kept;
}

static void withdraw_names(struct dw_read_file *file, const struct withdrawn *withdrawn)
{
	for (size_t i = 0; i < file->op_count; i++) {
		struct dw_read_op *op = &file->ops[i];
		uint32_t id = op->id, place = withdrawn->places[withdrawn->as[id]];

		if (place && withdrawn->as[id]) {
			*op = file->ops[place - 1];
			op->id = id;
		}
	}
}

int dw_read_withdraw(struct dw_read_file *file)
{
	struct withdrawn withdrawn;
	int result = -1;

	if (!file->withdrawal_count)
		return 0;
	withdrawn.until = calloc(file->id_count, sizeof *withdrawn.until);
	withdrawn.as = calloc(file->id_count, sizeof *withdrawn.as);
	withdrawn.places = calloc(file->id_count, sizeof *withdrawn.places);
	if (withdrawn.until && withdrawn.as && withdrawn.places) {
		withdraw_take(file, &withdrawn);
		withdraw_steps(file, &withdrawn);
		withdraw_names(file, &withdrawn);
		result = 0;
	}
	DW_FREE(withdrawn.until, withdrawn.as, withdrawn.places);
	return result;
}
