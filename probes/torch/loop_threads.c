/*
 * The threads whose steps are found, and what the answers of the state machine do to the recorder.
 */
#include "loop_threads.h"
#include "format/keys.h"
#include "held_blocks.h"

#include <pthread.h>
#include <stdlib.h>

struct dwell_site dwp_phase_forward = { "forward", NULL, __FILE__, __LINE__, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_forward_bare = { "forward", DW_DETAIL_BARE, __FILE__, __LINE__, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_backward = { "backward", NULL, __FILE__, __LINE__, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_optimizer = { "optimizer", NULL, __FILE__, __LINE__, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_zero_grad = { "optimizer", DW_DETAIL_CLEARS, __FILE__, __LINE__, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_evaluation = { "evaluation", NULL, __FILE__, __LINE__, DWELL_CATEGORY_EVALUATION, 0 };
struct dwell_site dwp_phase_evaluation_bare = { "evaluation", DW_DETAIL_BARE, __FILE__, __LINE__, DWELL_CATEGORY_EVALUATION, 0 };
struct dwell_site dwp_phase_tentative = { "forward", NULL, __FILE__, __LINE__, DWELL_CATEGORY_PHASE, 0 };

struct steps_rules dwp_loop_rules;
void (*dwp_loop_forked)(void);
__thread struct loop_thread *dwp_loop_current __attribute__((tls_model("initial-exec")));

static struct loop_thread *all_threads;
/* Guards all_threads: a thread ends without the interpreter's lock. */
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_key;
static bool has_key;

static bool noted_found, noted_marked;

/* Stores what made a step of this process. */
static void loop_note_step(const struct loop_thread *thread)
{
	bool marked = thread->steps.state == STEPS_IN_PROGRAM, *noted = marked ? &noted_marked : &noted_found;

	if (*noted || (!marked && dwp_loop_rules.named))
		return;
	*noted = true;
	dwell_meta(DW_KEY_TORCH_STEPS, marked ? "marked" : "found");
}

/* Does what the state machine returned. The gate may change whenever a step begins or ends. */
static void loop_act(struct loop_thread *thread, enum steps_action action)
{
	switch (action) {
	case STEPS_DO_NOTHING: break;
	case STEPS_DO_KEEP:
		dwp_bound_choose();
		thread->kept = dwell_step_now();
		break;
	case STEPS_DO_FORGET: thread->kept = 0; break;
	case STEPS_DO_NOTE: thread->noted = dwell_ticks(); break;
	case STEPS_DO_BEGIN:
	case STEPS_DO_TRY:
	case STEPS_DO_INFER:
		dwp_bound_choose();
		(action == STEPS_DO_BEGIN ? dwell_step_begin_at : dwell_step_begin_tentative)(thread->kept);
		loop_note_step(thread);
		dwp_bound_begun();
		dwp_types_step();
		thread->kept = 0;
		break;
	case STEPS_DO_END:
		dwell_step_end();
		dwp_bound_choose();
		break;
	case STEPS_DO_END_NOTED:
		dwell_step_end_at(thread->noted);
		dwp_bound_choose();
		break;
	case STEPS_DO_CANCEL: dwell_step_cancel(); break;
	}
}

static uint64_t events;

uint64_t dwp_loop_events(void)
{
	return events;
}

enum steps_phase dwp_loop_report_of(struct loop_thread *thread, const struct steps_input *input)
{
	struct steps_answer answer = dwp_steps_event(&thread->steps, input);
	bool withdraws = answer.withdrawal != STEPS_WITHDRAW_NONE;

	__atomic_store_n(&events, events + 1, __ATOMIC_RELAXED);
	if (withdraws)
		dwell_steps_withdraw(answer.withdrawal == STEPS_WITHDRAW_PHASES ? &dwp_phase_tentative : NULL,
		                     &dwp_phase_evaluation);
	for (unsigned i = 0; i < STEPS_ACTIONS; i++) {
		bool begins = i + 1 < STEPS_ACTIONS && answer.actions[i + 1] == STEPS_DO_BEGIN;

		/* A step that begins ends the one before without time between them. */
		if (!(answer.actions[i] == STEPS_DO_END && begins && !thread->kept))
			loop_act(thread, answer.actions[i]);
	}
	thread->gate_changed |= withdraws || answer.actions[0] != STEPS_DO_NOTHING;
	return answer.phase;
}

static void loop_end_thread(void *place)
{
	struct loop_thread *thread = place, **at = &all_threads;

	dwp_loop_report_of(thread, &(struct steps_input){ .event = STEPS_THREAD_ENDS });
	pthread_mutex_lock(&threads_lock);
	while (*at && *at != thread)
		at = &(*at)->next;
	if (*at)
		*at = thread->next;
	pthread_mutex_unlock(&threads_lock);
	dwp_loop_current = NULL;
	dwp_held_steps = NULL;
	free(thread);
}

/* A child of fork has one thread, and its parent's open step is not its own. */
static void loop_forked(void)
{
	pthread_mutex_init(&threads_lock, NULL);
	while (all_threads) {
		struct loop_thread *next = all_threads->next;

		if (all_threads != dwp_loop_current)
			free(all_threads);
		all_threads = next;
	}
	all_threads = dwp_loop_current;
	noted_found = noted_marked = false;
	dwp_loop_rules.shared = false; /* this process may be the one that trains */
	dwp_loop_rules.withdrawn = dwp_loop_rules.optimizers || dwp_loop_rules.trained;
	dwp_bound_forked();
	dwp_types_forked();
	if (!dwp_loop_current)
		return;
	dwp_loop_current->next = NULL;
	dwp_loop_current->kept = 0;
	if (dwp_loop_forked)
		dwp_loop_forked();
	dwp_steps_leave(&dwp_loop_current->steps);
}

struct loop_thread *dwp_loop_thread(void)
{
	struct loop_thread *thread = dwp_loop_current;

	if (DWELL_LIKELY(thread != NULL))
		return thread;
	thread = calloc(1, sizeof *thread);
	if (!thread)
		return NULL;
	if (!has_key) {
		pthread_atfork(NULL, NULL, loop_forked);
		has_key = pthread_key_create(&thread_key, loop_end_thread) == 0;
	}
	if (has_key)
		pthread_setspecific(thread_key, thread);
	dwp_steps_init(&thread->steps, &dwp_loop_rules);
	pthread_mutex_lock(&threads_lock);
	thread->next = all_threads;
	all_threads = thread;
	pthread_mutex_unlock(&threads_lock);
	dwp_loop_current = thread;
	dwp_held_steps = &thread->steps;
	return thread;
}

void dwp_loop_report_to_all(const struct steps_input *input)
{
	pthread_mutex_lock(&threads_lock);
	for (struct loop_thread *thread = all_threads; thread; thread = thread->next)
		dwp_steps_event(&thread->steps, input);
	pthread_mutex_unlock(&threads_lock);
}
