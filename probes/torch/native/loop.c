/*
 * Steps and phases in a program of C++, from the functions of PyTorch that it calls.
 *
 * C++ compiles the model's own forward() into the program, where nothing shows its begin. The phase forward
 * begins with the first call of a module of torch::nn (or of a method of TorchScript) after a backward, an
 * optimizer's step, zero_grad or a batch, and lasts until the next of these: so it has the loss too. A
 * model that uses no module of torch::nn has no phase forward. Without gradients it is the phase
 * evaluation, until the program enables them again.
 *
 * Before an optimizer or a backward shows that the program trains, only methods of TorchScript make steps:
 * a module of torch::nn may be any part of the model.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../loop_threads.h"
#include "../held_blocks.h"
#include "../optimizers.h"
#include "format/keys.h"
#include "native.h"

DWP_SITE(inference_site, DWELL_CATEGORY_EVALUATION, DW_NAME_INFERENCE, NULL);
DWP_SITE(gradients_site, DWELL_CATEGORY_EVALUATION, DW_NAME_EVALUATION_GRADIENTS, NULL);
DWP_SITE(save_site, DWELL_CATEGORY_CHECKPOINT, "torch::save", NULL);
DWP_SITE(wait_site, DWELL_CATEGORY_DATA, "DataLoader", "wait for its threads");
DWP_SITE(parameter_site, DWELL_CATEGORY_ALLOCATION, "parameter", NULL);
DWP_SITE(load_site, DWELL_CATEGORY_CHECKPOINT, "torch::load", NULL);

/* Guards the state of all threads, and the numbers of optimizers. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define MOST_LOADERS 8u

/* What the calling thread is in. */
static __thread struct {
	const void *waited;  /* the condition variable of a wait, until it calls another of PyTorch's functions */
	const void *loaders[MOST_LOADERS]; /* those of DataLoaders with threads */
	unsigned loader_count;
	unsigned inside; /* calls that are open: steps of optimizers, backwards, methods */
	unsigned began;  /* the range of the open phase */
	bool open;       /* a phase forward or evaluation is open */
	bool grad;       /* it began with gradients */
} my __attribute__((tls_model("initial-exec")));

static enum steps_phase loop_report(const struct steps_input *input)
{
	enum steps_phase phase = STEPS_PHASE_NONE;
	struct loop_thread *thread;

	pthread_mutex_lock(&lock);
	thread = dwp_loop_thread();
	if (thread)
		phase = dwp_loop_report_of(thread, input);
	if (thread && thread->gate_changed)
		dwp_operators_follow_gate();
	if (thread)
		thread->gate_changed = false;
	pthread_mutex_unlock(&lock);
	return phase;
}

static void loop_report_event(enum steps_event event)
{
	loop_report(&(struct steps_input){ .event = event });
}

/* ---- --step-on --------------------------------------------------------------------------------- */

static char step_name[256]; /* a zone, or a module's class or path; "": not given */

static bool loop_is_step(const char *name)
{
	static bool noted; /* atomic */
	bool is = *step_name && strcmp(name, step_name) == 0;

	if (is && !__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED))
		dwell_meta(DW_KEY_TORCH_STEP_ON, "steps");
	return is;
}

static void loop_read_step_name(void)
{
	const char *options = getenv("DWELL_OPTIONS"), *value = options ? strstr(options, "step-on=") : NULL;

	if (value)
		snprintf(step_name, sizeof step_name, "%s", value + strlen("step-on="));
	dwp_loop_rules.named = *step_name;
}

/* ---- forward and evaluation -------------------------------------------------------------------- */

static bool loop_trains(void)
{
	return dwp_loop_rules.optimizers || dwp_loop_rules.trained;
}

static unsigned loop_begin_call(bool grad, bool training)
{
	enum steps_phase phase = loop_report(&(struct steps_input){
		.event = STEPS_FORWARD_BEGINS, .grad = grad, .training = training, .has_parameters = true });

	switch (phase) {
	case STEPS_PHASE_NONE: return DWELL_NOT_BEGUN;
	case STEPS_PHASE_FORWARD: return dwell_begin(&dwp_phase_forward);
	case STEPS_PHASE_EVALUATION:
		return dwell_begin(grad ? &gradients_site : training ? &inference_site : &dwp_phase_evaluation);
	case STEPS_PHASE_TENTATIVE: return dwell_begin(&dwp_phase_tentative);
	}
	return DWELL_NOT_BEGUN;
}

static void loop_close(void)
{
	if (!my.open)
		return;
	my.open = false;
	dwell_end(my.began);
	loop_report_event(STEPS_FORWARD_ENDS);
}

/* Ranges end in the opposite order of their begins. So a phase, which is no block of the program, is closed
 * before a zone of the program (RECORD_USER_SCOPE) begins or ends; the next module opens another. */
TORCH_START(loop_on_zone, loop_zone_begins)

static void loop_zone_begins(const char *function)
{
	loop_close();
	if (*step_name && loop_is_step(dwp_abi_name(function)))
		loop_report_event(STEPS_FUNCTION_BEGINS);
}

static void loop_zone_ends(const char *function, void *context)
{
	loop_close();
	if (*step_name && loop_is_step(dwp_abi_name(function)))
		loop_report_event(STEPS_FUNCTION_ENDS);
}

/* A module is called. Opens the phase that it begins, unless that is open. */
static void loop_see_layer(const void *module)
{
	bool grad;

	if (my.inside || !loop_trains())
		return;
	grad = dwp_native_grad_enabled();
	if (my.open && my.grad == grad)
		return;
	loop_close();
	my.began = loop_begin_call(grad, dwp_native_is_training(module));
	my.open = true;
	my.grad = grad;
}

/* A module without a name has that of its class. */
static void loop_begin_layer(struct native_seen *seen)
{
	struct dwell_site *site = seen->self ? dwp_native_layer_site(seen->self) : NULL;

	seen->outer = *step_name && (loop_is_step(seen->site->name) || (site && loop_is_step(site->name)));
	if (seen->outer)
		loop_report_event(STEPS_MODULE_BEGINS);
	seen->began = dwell_wants(1u << DWELL_CATEGORY_LAYER) ? dwell_begin(site ? site : seen->site) : DWELL_NOT_BEGUN;
}

/* ---- calls ---------------------------------------------------------------------------------------- */

static void loop_begin_inside(struct native_seen *seen, struct dwell_site *site)
{
	seen->began = site ? dwell_begin(site) : DWELL_NOT_BEGUN;
	my.inside++;
}

static void loop_end_inside(const struct native_seen *seen)
{
	my.inside--;
	dwell_end(seen->began);
}

/* Stores how many threads an operator may use. Programs set this before they make an optimizer. */
static void loop_note_threads(void)
{
	static int noted;
	int count = dwp_native_threads();
	char text[24];

	if (count <= 0 || __atomic_exchange_n(&noted, count, __ATOMIC_RELAXED) == count)
		return;
	snprintf(text, sizeof text, "%d", count);
	dwell_meta_json(DW_KEY_TORCH_THREADS, text);
}

static void loop_report_parameter(const void *address)
{
	dwp_held_show(address);
	dwell_alloc_is(&parameter_site, address);
}

static void loop_see_optimizer(const struct native_seen *seen)
{
	loop_report(&(struct steps_input){ .event = STEPS_OPTIMIZER_MADE, .optimizer = seen->self });
	if (dwell_wants(1u << DWELL_CATEGORY_ALLOCATION))
		dwp_native_parameters_of(seen->argument, loop_report_parameter);
	loop_note_threads();
}

/* A DataLoader with threads waits for a batch, and then asks for the indices of another one. So a condition variable
 * shows with its first wait whose it is; that wait has no range. */
static void loop_learn_loader(void)
{
	for (unsigned i = 0; i < MOST_LOADERS && my.loaders[i]; i++)
		if (my.loaders[i] == my.waited)
			return;
	if (my.waited)
		my.loaders[my.loader_count++ % MOST_LOADERS] = my.waited;
}

static void loop_wait(struct native_seen *seen)
{
	my.waited = seen->self;
	seen->began = DWELL_NOT_BEGUN;
	for (unsigned i = 0; i < MOST_LOADERS && !my.inside; i++)
		if (my.loaders[i] == seen->self) {
			loop_close();
			loop_report(&(struct steps_input){ .event = STEPS_BATCH, .grad = dwp_native_grad_enabled() });
			seen->began = dwell_begin(&wait_site);
			return;
		}
}

static void loop_before(struct native_seen *seen)
{
	bool outermost = !my.inside;

	if (seen->call == NATIVE_BATCH)
		loop_learn_loader();
	if (seen->call != NATIVE_WAIT)
		my.waited = NULL;
	switch (seen->call) {
	case NATIVE_LAYER:
		seen->self = dwp_native_module_of(seen->self);
		loop_see_layer(seen->self);
		loop_begin_layer(seen);
		break;
	case NATIVE_MODEL: dwp_native_name_modules(seen->self); break;
	case NATIVE_METHOD:
		loop_close();
		seen->outer = outermost;
		seen->began = outermost ? loop_begin_call(dwp_native_grad_enabled(), dwp_native_grad_enabled())
		                        : DWELL_NOT_BEGUN;
		my.inside++;
		break;
	case NATIVE_BACKWARD:
		if (outermost)
			loop_close();
		loop_report(&(struct steps_input){ .event = STEPS_BACKWARD_BEGINS, .accumulates = seen->flag });
		loop_begin_inside(seen, &dwp_phase_backward);
		break;
	case NATIVE_STEP:
		loop_close();
		loop_report_event(STEPS_OPTIMIZER_BEGINS);
		loop_begin_inside(seen, dwp_optimizer_site(seen->self));
		break;
	case NATIVE_ZERO_GRAD:
		loop_close();
		loop_report_event(STEPS_ZERO_GRAD);
		loop_begin_inside(seen, &dwp_phase_zero_grad);
		break;
	case NATIVE_SAVE:
	case NATIVE_LOAD:
		loop_close();
		loop_report_event(STEPS_CHECKPOINT);
		loop_begin_inside(seen, seen->call == NATIVE_SAVE ? &save_site : &load_site);
		break;
	case NATIVE_BATCH:
		loop_close();
		loop_report(&(struct steps_input){ .event = STEPS_BATCH, .grad = dwp_native_grad_enabled() });
		break;
	case NATIVE_WAIT: loop_wait(seen); break;
	case NATIVE_GRAD_MODE:
		if (my.open && my.grad != seen->flag)
			loop_close();
		break;
	case NATIVE_STORE_MADE:
	case NATIVE_GROUP_MADE:
	case NATIVE_COLLECTIVE:
	case NATIVE_WORK_WAIT:
	case NATIVE_REDUCE:
	case NATIVE_REDUCED: dwp_native_collectives_before(seen); break;
	case NATIVE_OPTIMIZER_MADE: break;
	}
}

static void loop_after(struct native_seen *seen)
{
	switch (seen->call) {
	case NATIVE_METHOD:
		my.inside--;
		dwell_end(seen->began);
		if (seen->outer)
			loop_report_event(seen->failed ? STEPS_FORWARD_FAILS : STEPS_FORWARD_ENDS);
		break;
	case NATIVE_BACKWARD:
		loop_end_inside(seen);
		loop_report_event(STEPS_BACKWARD_ENDS);
		break;
	case NATIVE_STEP:
		loop_end_inside(seen);
		loop_report(&(struct steps_input){ .event = seen->failed ? STEPS_OPTIMIZER_FAILS : STEPS_OPTIMIZER_ENDS,
			.optimizer = seen->self });
		break;
	case NATIVE_ZERO_GRAD:
	case NATIVE_SAVE:
	case NATIVE_LOAD: loop_end_inside(seen); break;
	case NATIVE_WAIT: dwell_end(seen->began); break;
	case NATIVE_OPTIMIZER_MADE:
		if (!seen->failed)
			loop_see_optimizer(seen);
		break;
	case NATIVE_LAYER:
		dwell_end(seen->began);
		if (seen->outer)
			loop_report_event(STEPS_MODULE_ENDS);
		break;
	case NATIVE_STORE_MADE:
	case NATIVE_GROUP_MADE:
	case NATIVE_COLLECTIVE:
	case NATIVE_WORK_WAIT:
	case NATIVE_REDUCE:
	case NATIVE_REDUCED: dwp_native_collectives_after(seen); break;
	case NATIVE_MODEL:
	case NATIVE_BATCH:
	case NATIVE_GRAD_MODE: break;
	}
}

const struct native_watch dwp_native_loop = { loop_before, loop_after };

/* ---- attaching -------------------------------------------------------------------------------------- */

static void loop_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	my.open = false;
}

/* The program ends, in its main thread. */
__attribute__((destructor)) static void loop_at_exit(void)
{
	if (!dwp_loop_current)
		return;
	loop_close();
	loop_report_event(STEPS_EXIT);
	dwp_bound_end();
}

void dwp_native_loop_attach(void)
{
	pthread_atfork(NULL, NULL, loop_after_fork);
	loop_read_step_name();
	if (dwp_abi_has_operators())
		dwp_abi_add_callback((torch_start *)loop_on_zone, loop_zone_ends, 1u << TORCH_USER, false);
	dwell_meta(DW_KEY_TORCH_GRADIENTS, "named");
	dwell_meta(DW_KEY_TORCH_INFERENCE, "named");
}
