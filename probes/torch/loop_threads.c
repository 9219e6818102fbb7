/* The threads whose steps are found; see loop_threads.h. */
#include "loop_threads.h"
#include "format/keys.h"
#include "held_blocks.h"
#include "optimizers.h"

#include <pthread.h>
#include <stdlib.h>

struct dwell_site dwp_phase_forward = { "forward", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_forward_bare = { "forward", DW_DETAIL_BARE, NULL, 0, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_backward = { "backward", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_zero_grad = { "optimizer", DW_DETAIL_CLEARS, NULL, 0, DWELL_CATEGORY_PHASE, 0 };
struct dwell_site dwp_phase_evaluation = { "evaluation", NULL, NULL, 0, DWELL_CATEGORY_EVALUATION, 0 };
struct dwell_site dwp_phase_evaluation_bare = {
	"evaluation", DW_DETAIL_BARE, NULL, 0, DWELL_CATEGORY_EVALUATION, 0
};
struct dwell_site dwp_phase_tentative = { "forward", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 };

struct steps_rules dwp_loop_rules;
void (*dwp_loop_forked)(void);
const struct loop_watch *dwp_loop_watch;
__thread struct loop_thread *dwp_loop_current __attribute__((tls_model("initial-exec")));

static struct loop_thread *all_threads;
/* Guards all_threads: a thread ends without the interpreter's lock. */
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_key;
static bool has_key;

static void loop_say(struct loop_thread *thread, uint32_t what)
{
	dwell_step_is(what | (thread->brief ? DWELL_STEP_BRIEF : 0));
	thread->brief = false;
	if ((what & DWELL_STEP_KIND) == DWELL_STEP_UPDATE)
		dwp_bound_updated(what / DWELL_STEP_OPTIMIZER(1) & 15, what & DWELL_STEP_BATCH);
}

/* Whether a begin or an end is that of a test's first step. */
static bool loop_is_silent(struct loop_thread *thread, enum steps_action action)
{
	bool begins = action == STEPS_DO_BEGIN || action == STEPS_DO_TRY, was = thread->silent;

	thread->silent = begins && thread->trial;
	if (begins)
		thread->trial = false;
	if (thread->silent)
		thread->kept = 0;
	return thread->silent || (was && !begins);
}

/* Does what is answered. The gate may change whenever a step begins or ends. */
static void loop_act(struct loop_thread *thread, enum steps_action action, uint32_t what)
{
	if (action > STEPS_DO_NOTE && loop_is_silent(thread, action))
		return;
	switch (action) {
	case STEPS_DO_KEEP:
		dwp_bound_choose();
		thread->kept = dwell_step_now();
		break;
	case STEPS_DO_FORGET:
		thread->kept = 0;
		thread->brief = false;
		break;
	case STEPS_DO_NOTE:
		thread->noted = dwell_ticks();
		break;
	case STEPS_DO_BEGIN:
	case STEPS_DO_TRY:
		dwp_bound_choose();
		(action == STEPS_DO_BEGIN ? dwell_step_begin_at : dwell_step_begin_tentative)(thread->kept);
		dwp_bound_begun();
		dwp_types_step();
		thread->kept = 0;
		break;
	case STEPS_DO_END:
	case STEPS_DO_END_NOTED:
		if (what || thread->brief)
			loop_say(thread, what);
		dwell_step_end_at(action == STEPS_DO_END ? 0 : thread->noted);
		dwp_bound_choose();
		break;
	case STEPS_DO_CANCEL:
		thread->brief = false;
		dwell_step_cancel();
		break;
	}
}

void dwp_loop_do(struct loop_thread *thread, const struct steps_answer *answer)
{
	for (uint32_t i = 0; i < answer->count; i++) {
		bool begins = i + 1 < answer->count && answer->actions[i + 1] == STEPS_DO_BEGIN;
		bool at_once = answer->actions[i] == STEPS_DO_END && begins && !thread->kept && !thread->silent;

		/* A step that begins ends the one before without time between them. */
		if (at_once && (answer->what || thread->brief))
			loop_say(thread, answer->what);
		else if (!at_once)
			loop_act(thread, answer->actions[i], answer->what);
	}
}

static uint64_t events;

uint64_t dwp_loop_events(void)
{
	return events;
}

enum steps_phase dwp_loop_report_of(struct loop_thread *thread, const struct steps_input *input)
{
	struct steps_input numbered = *input;
	struct steps_answer answer;

	if (dwp_loop_watch && dwp_loop_watch->before(thread, input))
		return STEPS_PHASE_NONE;
	if (input->event == STEPS_OPTIMIZER_MADE)
		dwp_optimizer_made(input->optimizer);
	if (input->optimizer)
		numbered.number = dwp_optimizer_number(input->optimizer);
	thread->trial &= input->event < STEPS_FUNCTION_BEGINS || input->event > STEPS_PROGRAM_LEAVES; /* what is said is a step */
	answer = dwp_steps_event(&thread->steps, &numbered);
	__atomic_store_n(&events, events + 1, __ATOMIC_RELAXED);
	if (answer.trains)
		dwell_steps_withdraw(answer.forward ? NULL : &dwp_phase_tentative, &dwp_phase_evaluation);
	dwp_loop_do(thread, &answer);
	if (dwp_loop_watch)
		dwp_loop_watch->after(thread, input, &answer);
	thread->gate_changed |= answer.trains || answer.count;
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
	free(thread->last);
	free(thread);
}

/* A child of fork has one thread, and its parent's open step is not its own. */
static void loop_forked(void)
{
	pthread_mutex_init(&threads_lock, NULL);
	while (all_threads) {
		struct loop_thread *next = all_threads->next;

		if (all_threads != dwp_loop_current) {
			free(all_threads->last);
			free(all_threads);
		}
		all_threads = next;
	}
	all_threads = dwp_loop_current;
	dwp_loop_rules.shared = false; /* this process may be the one that trains */
	dwp_loop_rules.shown = dwp_loop_rules.optimizers || dwp_loop_rules.trained || dwp_loop_rules.functional;
	dwp_bound_forked();
	dwp_types_forked();
	if (!dwp_loop_current)
		return;
	dwp_loop_current->next = NULL;
	dwp_loop_current->kept = 0;
	dwp_loop_current->brief = false;
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
