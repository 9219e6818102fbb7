/*
 * Steps, and the gate that follows them.
 *
 * A step is an entry in the journal. It is written when the step begins and completed in place when
 * it ends. So a step in which the program was killed is in the trace, and steps are kept when the
 * chunks of their time are recycled. When the file is nearly full, or if it keeps the newest
 * records, older steps are summarised (summary.c). The gate is the word that probes test. It is in
 * the control page; each process that steps has its own, and a child of fork uses its parent's until
 * it begins a step itself. Its mask combines what the controller wants while the schedule keeps the
 * gate open, what open profiles want, and what a capture wants: see format/control.h.
 */
#include "record/about_process.h"
#include "record/chunks.h"
#include "record/entry.h"
#include "record/journal.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/stacks.h"
#include "record/steps.h"
#include "record/thread.h"
#include "record/usages.h"

#include "format/control.h"

/* ---- the gate ------------------------------------------------------------------- */

static void gate_compute_mask(struct dw_gate *gate)
{
	dw_control_compute(DW_LOAD(dw_session.control), gate, 1);
}

static __attribute__((noinline)) void gate_set_open(struct dw_gate *gate, uint32_t open)
{
	__atomic_store_n(&gate->open, open, __ATOMIC_SEQ_CST);
	gate_compute_mask(gate);
}

/* The masks of all open profiles of the process, combined. */
static uint32_t step_profiles_want(void)
{
	uint32_t mask = 0;

	for (unsigned bit = 0; bit < 32; bit++)
		mask |= (uint32_t)(__atomic_load_n(&dw_process->wants[bit], __ATOMIC_SEQ_CST) > 0) << bit;
	return mask;
}

static bool gate_claim(struct dw_gate *gate)
{
	uint32_t nobody = 0;

	return !DW_LOAD(gate->pid) &&
	       __atomic_compare_exchange_n(&gate->pid, &nobody, (uint32_t)dw_getpid(), false,
	                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Finds a gate that was never used, or else one that was released, or else the gate that all
 * processes share that never step. */
static struct dw_gate *gate_find(void)
{
	struct dw_control *control = DW_LOAD(dw_session.control);
	uint32_t index = __atomic_fetch_add(&dw_session_map()->next_gate, 1, __ATOMIC_RELAXED);

	if (index >= DW_GATES)
		__atomic_store_n(&dw_session_map()->next_gate, DW_GATES, __ATOMIC_RELAXED);
	else if (gate_claim(&control->gates[index]))
		return &control->gates[index];
	for (index = 1; index < DW_GATES; index++)
		if (gate_claim(&control->gates[index]))
			return &control->gates[index];
	return &control->gates[0];
}

/* Stores when this process began, so that whoever serves the trace does not mistake a later
 * process with the same id for this one. */
static void gate_note_birth(const struct dw_gate *gate)
{
	struct dw_control *control = DW_LOAD(dw_session.control);
	struct dw_identity self = dw_process->identity;

	if (!self.pid) /* a child of fork, which has not registered */
		dw_identify(&self);
	if (self.pid_namespace == dw_session_map()->creator_pid_namespace && self.birth <= UINT32_MAX)
		DW_STORE(control->gate_births[gate - control->gates], (uint32_t)self.birth);
}

static struct dw_gate *gate_take(uint32_t open)
{
	struct dw_gate *gate = gate_find();

	if (gate == DW_LOAD(dw_session.control)->gates)
		return gate;
	gate_note_birth(gate);
	__atomic_store_n(&gate->profiles, step_profiles_want(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&gate->step, 0, __ATOMIC_RELAXED);
	gate_set_open(gate, open);
	return gate;
}

static void gate_use(struct dw_gate *gate)
{
	__atomic_store_n(&dwell_gate, (const struct dwell_gate_word *)(const void *)gate,
	                 __ATOMIC_RELEASE);
}

void dw_step_join(void)
{
	gate_use(gate_take(!DW_LOAD(dw_session.control)->gated));
}

/*
 * Called when the process ends: another process may use its gate, because a file has only 2,048.
 * Not if the process ever forked, because a child that still runs may use its parent's gate.
 * Threads that still run use the gate of processes that never step.
 */
void dw_step_leave(void)
{
	struct dw_gate *gate =
		(struct dw_gate *)(uintptr_t)__atomic_load_n(&dwell_gate, __ATOMIC_ACQUIRE);
	struct dw_control *control = DW_LOAD(dw_session.control);

	if (!gate || !control || gate == control->gates || DW_LOAD(dw_process->forked) ||
	    DW_LOAD(gate->pid) != DW_LOAD(dw_process->pid))
		return;
	DW_STORE(dw_process->has_gate, false);
	gate_use(control->gates);
	gate_set_open(gate, 0);
	__atomic_store_n(&gate->profiles, 0, __ATOMIC_SEQ_CST);
	DW_STORE(control->gate_births[gate - control->gates], 0);
	__atomic_store_n(&gate->pid, 0, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) struct dw_gate *gate_make_own(struct dw_gate *gate)
{
	if (DW_LOAD(gate->pid) != (uint32_t)dw_getpid()) {
		gate = gate_take(DW_LOAD(gate->open));
		gate_use(gate);
	}
	DW_STORE(dw_process->has_gate, true);
	return gate;
}

/* The gate of this process. A child of fork uses its parent's until it begins a step itself. */
static inline struct dw_gate *gate_own(void)
{
	/* Acquire pairs with gate_use(): the gate is initialised. */
	struct dw_gate *gate =
		(struct dw_gate *)(uintptr_t)__atomic_load_n(&dwell_gate, __ATOMIC_ACQUIRE);

	if (!gate || DW_LOAD(dw_process->has_gate) || !dw_may_call())
		return gate;
	return gate_make_own(gate);
}

void dw_step_want(uint32_t mask, bool more)
{
	struct dw_gate *gate = gate_own();

	if (!gate)
		return;
	if (more)
		dw_stack_prepare(mask);
	for (unsigned bit = 0; bit < 32; bit++)
		if (mask >> bit & 1)
			__atomic_fetch_add(&dw_process->wants[bit], more ? 1 : UINT32_MAX, __ATOMIC_SEQ_CST);
	/* Two threads may store their results in the wrong order. The words themselves have the
	 * right sum, so each thread checks its result again. */
	do
		__atomic_store_n(&gate->profiles, step_profiles_want(), __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&gate->profiles, __ATOMIC_SEQ_CST) != step_profiles_want());
	gate_compute_mask(gate);
}

bool dw_step_gated(void)
{
	return DW_LOAD(dw_session.control)->gated;
}

static __attribute__((noinline)) bool step_is_chosen(const struct dw_control *control,
                                                     uint64_t number)
{
	struct dwell_schedule schedule;

	if (number < control->steps_from || number > control->steps_to)
		return false;
	schedule =
		(struct dwell_schedule){ control->skip_first, control->skip_first_wait, control->wait,
		                         control->warmup,     control->active,          control->repeat };
	return dwell_schedule_action(&schedule, number) >= DWELL_ACTION_RECORD;
}

/* What the gate's `open` is to be in this step. Steps that the user chose are never reduced. */
static inline uint32_t step_openness(uint64_t number)
{
	const struct dw_control *control = DW_LOAD(dw_session.control);

	if (DWELL_UNLIKELY(control->gated))
		return step_is_chosen(control, number);
	return DW_LOAD(dw_process->reduced) ? DW_CONTROL_REDUCED : 1;
}

static inline void step_move_gate(struct dw_gate *gate, uint64_t number)
{
	uint32_t open = step_openness(number);

	if (DW_LOAD(gate->open) != open)
		gate_set_open(gate, open);
}

bool dw_step_wanted_soon(uint32_t mask, unsigned steps)
{
	const struct dw_control *control = DW_LOAD(dw_session.control);
	uint64_t next = DW_LOAD(dw_process->steps);

	if (!control->gated || !(DW_LOAD(control->mask) & mask))
		return false;
	for (unsigned i = 0; i < steps; i++)
		if (step_is_chosen(control, next + i))
			return true;
	return false;
}

bool dw_step_asked(uint32_t mask)
{
	const struct dw_control *control = DW_LOAD(dw_session.control);
	const struct dw_gate *gate = (const void *)__atomic_load_n(&dwell_gate, __ATOMIC_ACQUIRE);
	uint32_t capture = (uint32_t)(DW_LOAD(control->capture) >> 32);

	return control->gated || (capture & mask) || (gate && DW_LOAD(gate->profiles) & mask);
}

static void (*step_change)(void); /* atomic */

void dwell_device_at_step(void (*change)(void))
{
	__atomic_store_n(&step_change, change, __ATOMIC_RELEASE);
}

void dwell_device_between_steps(void)
{
	/* Acquire pairs with the release above: what the change reads is there. */
	void (*change)(void) =
		DW_LOAD(step_change) ? __atomic_exchange_n(&step_change, NULL, __ATOMIC_ACQUIRE) : NULL;

	if (change)
		change();
}

/* ---- steps ---------------------------------------------------------------------- */

/* Functions on the path of each step: a call of them would cost more than what they do. */
#define STEP_PATH static inline __attribute__((always_inline))
#define LIBRARIES_STEP 2u  /* the step before which loaded libraries are listed */
#define RESERVED_STEPS 16u /* entries that a thread with short steps reserves at a time */
#define CPU_COST_SHARE 2000u

/* When a step begins now: after a reading of the usage, if one is due. */
STEP_PATH uint64_t step_now(struct dw_slot *slot)
{
	uint64_t now = dw_now();

	if (now < slot->usage_due)
		return now;
	dw_usage_read(slot);
	return dw_now();
}

static void step_count_lost(struct dw_slot *slot, enum dw_loss cause)
{
	dw_slot_lost(slot, dw_journal_loss(cause), 1);
}

/* Adds a step without an entry in the file to the summary. If there are entries of newer steps, which a signal
 * handler was changing, the step is lost, because the steps of a summary are consecutive. */
static __attribute__((noinline)) void step_end_hidden(struct dw_slot *slot, const struct dw_entry_step *step,
                                                      uint64_t now, uint64_t cpu_ns)
{
	enum dw_loss cause = DW_LOSS_BUSY;

	if (step->entry.aux & DW_STEP_CANCELLED)
		return;
	if (slot->ring.count || !dw_step_summary_add(slot, step, now, cpu_ns, &cause))
		step_count_lost(slot, cause);
}

/* Only in a file of the newest records steps stay in the ring: in others single steps come first. */
static __attribute__((noinline)) void step_leave_entry(struct dw_slot *slot, struct dw_entry_step *step)
{
	if (dw_session_map()->keep != DW_KEEP_NEWEST)
		dw_step_ring_free(slot, step);
}

/* Ends the step now, or at an earlier `moment` within it, for which no CPU time is known. Returns
 * when it ended; 0: no step was open. */
STEP_PATH uint64_t step_close_at(struct dw_slot *slot, uint64_t moment)
{
	uint64_t now, cpu = 0;

	if (!slot->step)
		return 0;
	now = dw_now();
	if (moment > slot->step->start_ticks && moment < now)
		now = moment;
	else if (slot->step_cpu_ns && dw_may_call())
		cpu = dw_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - slot->step_cpu_ns;
	slot->step_ticks = now - slot->step->start_ticks;
	slot->ended_start = slot->step->start_ticks;
	slot->ended_end = now;
	if (DWELL_UNLIKELY(slot->step == &slot->hidden_step)) {
		step_end_hidden(slot, slot->step, now, cpu);
	} else {
		slot->step->cpu_ns = cpu;
		/* Pairs with a reader's acquire of end_ticks: the step is complete. */
		__atomic_store_n(&slot->step->end_ticks, now, __ATOMIC_RELEASE);
		if (DWELL_UNLIKELY(slot->summarises))
			step_leave_entry(slot, slot->step);
	}
	slot->step = NULL;
	if (now >= slot->usage_due)
		dw_usage_read(slot);
	return now;
}

STEP_PATH uint64_t step_close(struct dw_slot *slot)
{
	return step_close_at(slot, 0);
}

void dw_step_close(struct dw_slot *slot)
{
	if (slot)
		step_close(slot);
}

STEP_PATH bool step_was_short(const struct dw_slot *slot)
{
	return slot->step_ticks && slot->step_ticks <= dw_session_map()->ticks_per_second / 5000;
}

/* The CPU time of the process when a step begins; 0: it is not read. A reading is a system call, and what it displaces from the
 * caches costs the program as much again. So a step has one if the time since the last such reading is CPU_COST_SHARE times what
 * one takes: the lesser of the last two, because another thread may run during one. */
static __attribute__((noinline)) uint64_t step_cpu_if_due(struct dw_slot *slot)
{
	uint64_t now = dw_now(), last = slot->cpu_cost, cpu_ns;

	if (now < slot->cpu_due || !dw_may_call())
		return 0;
	cpu_ns = dw_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	slot->cpu_cost = dw_now() - now;
	slot->cpu_due = now + CPU_COST_SHARE * (last && last < slot->cpu_cost ? last : slot->cpu_cost);
	return cpu_ns;
}

STEP_PATH uint64_t step_cpu(struct dw_slot *slot)
{
	return step_was_short(slot) ? 0 : step_cpu_if_due(slot);
}

/* Whether any kind of record is wanted; a choice of layers alone is not one. */
STEP_PATH bool gate_records(const struct dw_gate *gate)
{
	return DW_LOAD(gate->mask) & ~(DWELL_MASK_NONE | DWELL_DETAIL_LAYERS);
}

/* A profile or a capture may want the operators of a step that is reduced otherwise. */
STEP_PATH uint32_t step_flags(const struct dw_gate *gate)
{
	if (!gate || !gate_records(gate))
		return 0;
	if (DW_LOAD(gate->open) == DW_CONTROL_REDUCED && !(DW_LOAD(gate->mask) & DW_CONTROL_COSTLY))
		return DW_STEP_REDUCED;
	return DW_STEP_RECORDED;
}

/* Reserves space for the entry of one step; NULL (counted as lost) if there is none. While steps
 * are short it also reserves the entries of the next ones, because a reservation changes a word
 * that all threads share. Readers skip entries that were never completed. */
static __attribute__((noinline)) struct dw_entry_step *step_reserve(struct dw_slot *slot)
{
	uint32_t count = DW_LOAD(slot->reserving) || !step_was_short(slot) ? 1 : RESERVED_STEPS;
	enum dw_loss cause;
	struct dw_entry_step *first = dw_journal_try_times(count * sizeof *first, &cause);

	if (!first) {
		step_count_lost(slot, cause);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		first[i].entry.bytes = sizeof *first;
	if (count > 1) {
		DW_STORE(slot->reserving, true);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		slot->reserved = first + 1;
		slot->reserved_end = first + count;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		DW_STORE(slot->reserving, false);
	}
	return first;
}

/* The next reserved entry, or NULL. A signal handler that begins a step in the middle of this finds
 * `reserving` set and reserves an entry of its own. If it never returns, `reserving` stays set, and
 * each step reserves its own. */
static inline struct dw_entry_step *step_take_reserved(struct dw_slot *slot)
{
	struct dw_entry_step *entry = NULL;

	if (DW_LOAD(slot->reserving))
		return NULL;
	DW_STORE(slot->reserving, true);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slot->reserved != slot->reserved_end)
		entry = slot->reserved++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	DW_STORE(slot->reserving, false);
	return entry;
}

/* Writes an entry for one step; NULL (counted as lost) if there is no space. */
STEP_PATH struct dw_entry_step *step_write(struct dw_slot *slot, uint64_t number,
                                           uint64_t start_ticks, uint64_t end_ticks, uint32_t flags)
{
	struct dw_entry_step *entry = step_take_reserved(slot);

	if (!entry)
		entry = step_reserve(slot);
	if (!entry)
		return NULL;
	entry->entry.id = slot->thread;
	entry->entry.aux = flags;
	entry->number = number;
	entry->start_ticks = start_ticks;
	entry->end_ticks = end_ticks;
	dw_journal_commit(entry, DW_ENTRY_STEP);
	return entry;
}

/* Takes an entry of the ring for a step; NULL if there is none, or if this is a signal handler that
 * interrupted the same. */
static __attribute__((noinline)) struct dw_entry_step *
step_reuse(struct dw_slot *slot, uint64_t number, uint64_t start_ticks, uint64_t end_ticks, uint32_t flags)
{
	struct dw_entry_step *entry;

	if (DW_LOAD(slot->reserving))
		return NULL;
	DW_STORE(slot->reserving, true);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	entry = dw_step_ring_take(slot);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	DW_STORE(slot->reserving, false);
	if (!entry)
		return NULL;
	entry->number = number;
	entry->start_ticks = start_ticks;
	entry->cpu_ns = 0;
	__atomic_store_n(&entry->end_ticks, end_ticks, __ATOMIC_RELAXED);
	/* Pairs with a reader's acquire of aux: number and times belong to this step. */
	__atomic_store_n(&entry->entry.aux, flags, __ATOMIC_RELEASE);
	return entry;
}

/* A thread that summarises continues to do so, because the steps of a summary are consecutive.
 * Before that it uses the entries that it has reserved. */
STEP_PATH bool step_summarises(struct dw_slot *slot)
{
	const struct dw_head *head = dw_session_map();

	if (DWELL_UNLIKELY(!slot->summarises && slot->reserved == slot->reserved_end))
		slot->summarises = head->keep == DW_KEEP_NEWEST || dw_step_summary_needed(head);
	return slot->summarises;
}

/* The entry of a step that begins now, in the file if possible. */
static __attribute__((noinline)) struct dw_entry_step *
step_open_summarised(struct dw_slot *slot, uint64_t number, uint64_t start_ticks, uint32_t flags)
{
	struct dw_entry_step *entry = step_reuse(slot, number, start_ticks, 0, flags);

	if (entry)
		return entry;
	slot->hidden_step = (struct dw_entry_step){ .entry.aux = flags, .number = number, .start_ticks = start_ticks };
	return &slot->hidden_step;
}

/* start_ticks 0: the step begins now. `kind`: DW_STEP_TENTATIVE or 0. Returns when it began. */
STEP_PATH uint64_t step_open(struct dw_slot *slot, uint64_t start_ticks, uint32_t kind)
{
	uint64_t number = __atomic_fetch_add(&dw_process->steps, 1, __ATOMIC_RELAXED);
	struct dw_gate *gate = gate_own();

	if (DWELL_UNLIKELY(DW_LOAD(step_change) != NULL))
		dwell_device_between_steps();
	if (DWELL_UNLIKELY(DW_LOAD(DW_LOAD(dw_session.control)->capture)))
		dw_step_look();
	if (DWELL_UNLIKELY(number == LIBRARIES_STEP))
		dw_libraries_note();
	if (gate)
		step_move_gate(gate, number);
	if (gate)
		__atomic_store_n(&gate->step, number + 1, __ATOMIC_RELAXED);
	slot->step_cpu_ns = step_cpu(slot);
	if (!start_ticks)
		start_ticks = step_now(slot);
	dw_journal_look(start_ticks);
	if (kind)
		__atomic_fetch_add(&dw_process->tentative_steps, 1, __ATOMIC_RELAXED);
	if (step_summarises(slot))
		slot->step = step_open_summarised(slot, number, start_ticks, step_flags(gate) | kind);
	else
		slot->step = step_write(slot, number, start_ticks, 0, step_flags(gate) | kind);
	if (DWELL_UNLIKELY(slot->places != NULL))
		dw_places_step(slot, start_ticks);
	return start_ticks;
}

void dw_step_next(struct dw_slot *slot)
{
	step_open(slot, step_close(slot), 0);
}

void dwell_step_begin(void)
{
	dwell_step_begin_at(0);
}

/* Opens the gate here if the next step is to be recorded: what begins the step belongs to it. */
uint64_t dwell_step_now(void)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_session_head() ? dw_slot_here(NULL) : NULL;
	struct dw_gate *gate = slot ? gate_own() : NULL;
	uint64_t now = slot ? step_now(slot) : 0;

	if (gate && !DW_LOAD(gate->open))
		step_move_gate(gate, __atomic_load_n(&dw_process->steps, __ATOMIC_RELAXED));
	if (slot)
		slot->moment_cpu_ns = step_cpu(slot);
	return now;
}

STEP_PATH uint64_t step_begin(struct dw_slot *slot, uint64_t ticks, uint32_t kind)
{
	uint64_t closed = step_close(slot);
	uint64_t begun = step_open(slot, closed ? closed : ticks, kind);

	slot->marks_steps = true;
	if (ticks && !closed && slot->moment_cpu_ns)
		slot->step_cpu_ns = slot->moment_cpu_ns;
	return begun;
}

uint64_t dw_step_begin(struct dw_slot *slot, uint64_t ticks)
{
	return step_begin(slot, ticks, 0);
}

static void step_begin_here(uint64_t ticks, uint32_t kind)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_slot_here(NULL);

	if (slot)
		step_begin(slot, ticks, kind);
}

void dwell_step_begin_at(uint64_t ticks)
{
	step_begin_here(ticks, 0);
}

void dwell_step_begin_tentative(uint64_t ticks)
{
	step_begin_here(ticks, DW_STEP_TENTATIVE);
}

/* The thread has a slot if a step is open in it. */
void dwell_step_is(uint32_t what)
{
	struct dw_slot *slot = dw_session_head() ? dw_slot_here(NULL) : NULL;

	if (slot && slot->step)
		DW_STORE(slot->step->entry.aux, DW_LOAD(slot->step->entry.aux) | (what & DW_STEP_WHAT));
}

/* Ends the step and sets the gate for the next one: what comes in between belongs to the next. */
STEP_PATH uint64_t step_end_at(struct dw_slot *slot, uint64_t moment)
{
	uint64_t next = __atomic_load_n(&dw_process->steps, __ATOMIC_RELAXED);
	struct dw_gate *gate = gate_own();
	uint64_t ended = step_close_at(slot, moment);

	if (gate && DW_LOAD(gate->open) && !step_openness(next))
		gate_set_open(gate, 0);
	return ended;
}

uint64_t dw_step_end(struct dw_slot *slot)
{
	return step_end_at(slot, 0);
}

void dw_step_cancel(struct dw_slot *slot)
{
	struct dw_entry_step *step = slot->step;
	uint64_t after;

	if (!step)
		return;
	after = step->number + 1;
	__atomic_compare_exchange_n(&dw_process->steps, &after, step->number, false, __ATOMIC_RELAXED,
	                            __ATOMIC_RELAXED);
	DW_STORE(step->entry.aux, DW_LOAD(step->entry.aux) | DW_STEP_CANCELLED);
	dw_step_end(slot);
}

void dwell_step_cancel(void)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_slot_here(NULL);

	if (slot)
		dw_step_cancel(slot);
}

/* The numbers of withdrawn steps are used again if the process had no others. */
static void step_number_anew(uint64_t withdrawn)
{
	struct dw_gate *gate = gate_own();

	if (!__atomic_compare_exchange_n(&dw_process->steps, &withdrawn, 0, false, __ATOMIC_RELAXED,
	                                 __ATOMIC_RELAXED) ||
	    !gate)
		return;
	__atomic_store_n(&gate->step, 0, __ATOMIC_RELAXED);
	step_move_gate(gate, 0);
}

void dwell_steps_withdraw(struct dwell_site *site, struct dwell_site *as)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_session_head() ? dw_slot_here(NULL) : NULL;
	uint64_t steps =
		slot ? __atomic_exchange_n(&dw_process->tentative_steps, 0, __ATOMIC_RELAXED) : 0;
	struct dw_entry_withdrawal *entry = NULL;

	if (steps && (entry = dw_journal_reserve(sizeof *entry)) != NULL) {
		entry->entry.id = slot->process;
		entry->ticks = dw_now();
		entry->op = site ? dwell_site_id(site) : 0;
		entry->as = site ? dwell_site_id(as) : 0;
		dw_journal_commit(entry, DW_ENTRY_WITHDRAWAL);
		step_number_anew(steps);
	}
}

/* Records a step that is known to be one only at its end. */
void dw_step_past(struct dw_slot *slot, uint64_t start_ticks)
{
	uint32_t flags = step_flags(gate_own());
	uint64_t number = __atomic_fetch_add(&dw_process->steps, 1, __ATOMIC_RELAXED), now = dw_now();
	struct dw_entry_step step = { .entry.aux = flags, .number = number, .start_ticks = start_ticks }, *entry;

	if (!step_summarises(slot))
		step_write(slot, number, start_ticks, now, flags);
	else if ((entry = step_reuse(slot, number, start_ticks, now, flags)) != NULL)
		step_leave_entry(slot, entry);
	else
		step_end_hidden(slot, &step, now, 0);
}

void dwell_step_end(void)
{
	dwell_step_end_at(0);
}

void dwell_step_end_at(uint64_t moment)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_slot_here(NULL);

	if (slot && slot->step)
		step_end_at(slot, moment);
}

void dwell_step(void)
{
	dwell_step_begin();
}

void dwell_steps_reduce(bool reduce)
{
	DW_KEEP_ERRNO;
	struct dw_gate *gate = dw_session_head() ? gate_own() : NULL;

	if (gate) {
		DW_STORE(dw_process->reduced, reduce);
		if (DW_LOAD(gate->open))
			step_move_gate(gate, __atomic_load_n(&dw_process->steps, __ATOMIC_RELAXED));
	}
}

uint64_t dwell_steps_begun(void)
{
	return dw_session_head() ? __atomic_load_n(&dw_process->steps, __ATOMIC_RELAXED) : 0;
}
