/*
 * Registers the process: its PROCESS entry is the first of its journal, and names of earlier sessions follow.
 * process.c calls this before the first record of a session, under the process's lock.
 */
#include "record/about_process.h"
#include "record/entry.h"
#include "record/ids.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"

#include <string.h>

#include "base/system/system.h"

static void register_forget_session(void)
{
	DW_STORE(dw_process->id, 0);
	dw_process->window = 0;
	DW_STORE(dw_process->journal, 0);
	dw_process->journal_number = 0;
	DW_STORE(dw_process->times, 0);
	DW_STORE(dw_process->times_tries, 0);
	memset(dw_process->times_full, 0, sizeof dw_process->times_full);
	DW_STORE(dw_process->steps, 0);
	DW_STORE(dw_process->tentative_steps, 0);
	DW_STORE(dw_process->has_gate, false);
	DW_STORE(dw_process->reduced, false);
	DW_STORE(dw_process->device_burst, false);
}

/* Fills in what identifies this process; register_write_entry() adds its names. */
static void register_fill_identity(struct dw_entry_process *filled)
{
	struct dw_identity *self = &dw_process->identity;

	if (!self->pid)
		dw_identify(self);
	*filled = (struct dw_entry_process){
		.entry = { .bytes = sizeof *filled, .id = dw_process->new_id,
		           .aux = dw_session.parent_process },
		.pid = self->pid, .ppid = (uint32_t)dw_call(SYS_getppid), .start_ticks = dw_now(),
		.pid_namespace = self->pid_namespace, .birth = self->birth,
	};
}

/* The PROCESS entry is the first of the journal. `id` is published after the entry is written,
 * which readers and dw_file_finish() rely on. */
static bool register_write_entry(struct dw_entry_process *filled)
{
	struct dw_entry_process *entry = dw_journal_reserve(sizeof *entry);

	if (!entry)
		return false;
	/* Not earlier: a name that a signal handler interns must not come before this entry. */
	__atomic_store_n(&dw_process->registering, (uint32_t)dw_gettid(), __ATOMIC_RELAXED);
	dw_metadata_process(filled);
	*entry = *filled;
	dw_journal_commit(entry, DW_ENTRY_PROCESS);
	return true;
}

static bool register_process(void)
{
	struct dw_entry_process filled;
	bool done;

	if (dw_process->id && dw_process->generation == DW_LOAD(dw_session.generation))
		return true; /* another thread has registered the process */
	if (!dw_side_is_ready()) {
		DW_STORE(dw_process->refusal, DW_LOSS_DISK);
		return false;
	}
	if (dw_process->generation != DW_LOAD(dw_session.generation))
		register_forget_session();
	/* After id is 0: a thread that sees this generation does not see another session's id. */
	__atomic_store_n(&dw_process->generation, DW_LOAD(dw_session.generation), __ATOMIC_RELEASE);
	DW_STORE(dw_process->new_id, dw_new_id());
	if (!dw_process->new_id)
		return false;
	register_fill_identity(&filled);
	if (!dw_journal_open(&filled))
		return false;
	done = register_write_entry(&filled);
	if (done)
		dw_journal_clock();
	__atomic_store_n(&dw_process->registering, 0, __ATOMIC_RELAXED);
	if (!done)
		return false;
	dw_session.parent_process = dw_process->new_id;
	__atomic_store_n(&dw_process->id, dw_process->new_id, __ATOMIC_RELEASE);
	dw_account_register();
	return true;
}

const struct dw_process_calls dw_register_calls = { register_process, dw_intern_replay };
