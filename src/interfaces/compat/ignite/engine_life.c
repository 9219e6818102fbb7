/*
 * Creates and destroys engines, prints their state and keeps their metrics.
 */
#include "compat/ignite/engine.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------ */

static struct dwell_site engine_site(enum dwell_category category, const char *name, const char *detail)
{
	return (struct dwell_site){ .category = (uint32_t)category, .name = name, .detail = detail };
}

static int engine_init_events(struct dwell_ignite_engine *engine)
{
	const uint64_t *EPOCH = &engine->state.epoch, *ITERATION = &engine->state.iteration;
	const uint64_t *NONE = NULL;

#define INIT_EVENT(name, number, value)                                        \
	if (dw_event_init(&engine->builtin[number], #name, engine, value) != 0)    \
		return DWELL_E_NOMEM;
	DWELL_IGNITE_EVENTS(INIT_EVENT)
#undef INIT_EVENT
	for (unsigned i = 0; i < DWELL_IGNITE_EVENT_COUNT; i++)
		engine->builtin[i].number = i;
	return 0;
}

static int engine_init(struct dwell_ignite_engine *engine, const char *name)
{
	engine->name = strdup(name && *name ? name : "engine");
	if (!engine->name)
		return DWELL_E_NOMEM;
	if (asprintf(&engine->iteration_name, "%s.iteration", engine->name) < 0)
		engine->iteration_name = NULL;
	if (!engine->iteration_name || asprintf(&engine->epoch_name, "%s.epoch", engine->name) < 0) {
		engine->epoch_name = NULL;
		return DWELL_E_NOMEM;
	}
	engine->run_site = engine_site(DWELL_CATEGORY_ACTION, "run", engine->name);
	engine->nested_site = engine_site(DWELL_CATEGORY_EVALUATION, "run", engine->name);
	engine->epoch_site = engine_site(DWELL_CATEGORY_ACTION, "epoch", engine->name);
	engine->processing_site = engine_site(DWELL_CATEGORY_ACTION, "processing", engine->name);
	engine->dataflow_site = engine_site(DWELL_CATEGORY_DATA, "dataflow", engine->name);
	engine->restart_site = engine_site(DWELL_CATEGORY_DATA, "restart", engine->name);
	engine->iteration_site = engine_site(DWELL_CATEGORY_COUNTER, engine->iteration_name, NULL);
	engine->epoch_count_site = engine_site(DWELL_CATEGORY_COUNTER, engine->epoch_name, NULL);
	return engine_init_events(engine);
}

int dwell_ignite_engine_create(struct dwell_ignite_engine **engine, const char *name, dwell_ignite_process *process,
                               void *user, struct dwell_error *error)
{
	struct dwell_ignite_engine *made;

	*engine = NULL;
	if (!process)
		return dw_error_set(error, DWELL_E_ARGUMENT, "engine '%s' has no process function: give one", name ? name : "");
	made = calloc(1, sizeof *made);
	if (!made || engine_init(made, name) != 0) {
		dwell_ignite_engine_destroy(made);
		return dw_error_set(error, DWELL_E_NOMEM, "no memory for engine '%s'", name ? name : "");
	}
	made->process = process;
	made->user = user;
	made->steps = true;
	made->state.output = NAN;
	made->state.times.epoch_completed_s = made->state.times.completed_s = NAN;
	*engine = made;
	return 0;
}

void dwell_ignite_engine_destroy(struct dwell_ignite_engine *engine)
{
	if (!engine)
		return;
	assert(!engine->running);
	if (engine->profiler)
		dwell_ignite_profiler_detach(engine->profiler);
	for (int i = 0; i < DWELL_IGNITE_EVENT_COUNT; i++)
		dw_event_reset(&engine->builtin[i]);
	for (unsigned i = 0; i < engine->custom_count; i++) {
		dw_event_reset(engine->custom[i]);
		free(engine->custom[i]);
	}
	free(engine->custom);
	for (unsigned i = 0; i < engine->metric_count; i++)
		free(engine->metrics[i].name);
	free(engine->metrics);
	free(engine->iteration_name);
	free(engine->epoch_name);
	free(engine->name);
	free(engine);
}

const char *dwell_ignite_engine_name(const struct dwell_ignite_engine *engine)
{
	return engine->name;
}

void dwell_ignite_engine_set_steps(struct dwell_ignite_engine *engine, bool steps)
{
	engine->steps = steps;
}

/* ---- state ----------------------------------------------------------------------- */

struct dwell_ignite_state *dwell_ignite_engine_state(struct dwell_ignite_engine *engine)
{
	return &engine->state;
}

static struct dw_metric *engine_find_metric(const struct dwell_ignite_engine *engine, const char *name)
{
	for (unsigned i = 0; i < engine->metric_count; i++)
		if (strcmp(engine->metrics[i].name, name) == 0)
			return &engine->metrics[i];
	return NULL;
}

int dwell_ignite_engine_set_metric(struct dwell_ignite_engine *engine, const char *name, double value,
                                   struct dwell_error *error)
{
	struct dw_metric *metric = engine_find_metric(engine, name);

	if (!metric) {
		struct dw_metric *more = realloc(engine->metrics, (engine->metric_count + 1) * sizeof *more);
		char *copy = strdup(name);

		if (more)
			engine->metrics = more;
		if (!more || !copy) {
			free(copy);
			return dw_error_set(error, DWELL_E_NOMEM, "no memory for metric '%s'", name);
		}
		metric = &more[engine->metric_count++];
		metric->name = copy;
	}
	metric->value = value;
	return 0;
}

double dwell_ignite_engine_metric(const struct dwell_ignite_engine *engine, const char *name)
{
	const struct dw_metric *metric = engine_find_metric(engine, name);

	return metric ? metric->value : NAN;
}

/* The shortest decimal that reads back as the same number, as Python's repr. */
static void engine_print_number(FILE *out, const char *label, double value)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fprintf(out, "\t%s: %s\n", label, text);
}

static void engine_print_count(FILE *out, const char *label, uint64_t value, bool known)
{
	if (known)
		fprintf(out, "\t%s: %llu\n", label, (unsigned long long)value);
	else
		fprintf(out, "\t%s: <class 'NoneType'>\n", label);
}

void dwell_ignite_engine_print_state(const struct dwell_ignite_engine *engine, FILE *out)
{
	const struct dwell_ignite_state *state = &engine->state;

	/* Ignite prints numbers and texts as they are, and the type of anything else. */
	fprintf(out, "State:\n");
	engine_print_count(out, "iteration", state->iteration, true);
	engine_print_count(out, "epoch", state->epoch, true);
	engine_print_count(out, "epoch_length", state->epoch_length, state->epoch_length != 0);
	engine_print_count(out, "max_epochs", state->max_epochs, state->max_epochs != 0);
	engine_print_count(out, "max_iters", state->max_iters, state->max_iters != 0);
	if (!isnan(state->output))
		engine_print_number(out, "output", state->output);
	else
		fprintf(out, "\toutput: <class '%s'>\n", state->output_object ? "object" : "NoneType");
	fprintf(out, "\tbatch: <class '%s'>\n", state->batch ? "object" : "NoneType");
	fprintf(out, "\tmetrics: <class 'dict'>\n");
	fprintf(out, "\tdataloader: <class '%s'>\n", engine->data_name[0] ? engine->data_name : "NoneType");
	fprintf(out, "\tseed: <class 'NoneType'>\n\ttimes: <class 'dict'>\n");
}
