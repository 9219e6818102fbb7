/*
 * One firing of an Ignite engine.
 *
 * Does what Engine._fire_event does: it iterates the live list and passes the engine as first
 * argument to handlers that take it. In addition it reads the clock once for each handler, and
 * records the event and the handlers as dwell's own engine does. The engine's lists are not
 * changed, so code that removes, searches or replaces a handler finds what it registered. The
 * filter of a filtered handler is called here, so that only calls that pass it count.
 */
#include "recorder.h"

#include <time.h>

#define MOST_ARGUMENTS 16

static uint64_t fire_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- state of the run ------------------------------------------------------------------ */

static void fire_append(struct recorder *recorder, enum dwell_ignite_time_of of, int number, uint64_t ns)
{
	dwell_ignite_profiler_add(recorder->profiler, of, number, recorder->epoch, recorder->iteration, ns);
}

static int fire_read_number(PyObject *state, const char *name, uint64_t *number)
{
	PyObject *value = PyObject_GetAttrString(state, name);

	if (!value)
		return -1;
	*number = PyLong_AsUnsignedLongLong(value);
	Py_DECREF(value);
	return PyErr_Occurred() ? -1 : 0;
}

static void fire_report(struct dwell_site *site, uint64_t *told, uint64_t value)
{
	if (*told == value || !dwell_wants(1u << DWELL_CATEGORY_COUNTER))
		return;
	dwell_counter(site, (double)value);
	*told = value;
}

static int fire_read_state(struct recorder *recorder, int event)
{
	PyObject *state = PyObject_GetAttrString(recorder->engine, "state");

	if (!state || fire_read_number(state, "epoch", &recorder->epoch) ||
	    fire_read_number(state, "iteration", &recorder->iteration)) {
		Py_XDECREF(state);
		return -1;
	}
	Py_DECREF(state);
	/* A fetch belongs to the next iteration. */
	if (event == DWELL_IGNITE_EVENT_GET_BATCH_STARTED)
		recorder->fetches = true;
	else if (event < DWELL_IGNITE_EVENT_COUNT && event != DWELL_IGNITE_EVENT_GET_BATCH_COMPLETED &&
	         event != DWELL_IGNITE_EVENT_DATALOADER_STOP_ITERATION)
		recorder->fetches = false;
	recorder->iteration += recorder->fetches;
	fire_report(&recorder->epoch_site, &recorder->epoch_told, recorder->epoch);
	fire_report(&recorder->iteration_site, &recorder->iteration_told, recorder->iteration);
	return 0;
}

void recorder_close(struct recorder *recorder)
{
	if (recorder->processing)
		dwell_end(recorder->processing_began);
	if (recorder->dataflow)
		dwell_end(recorder->dataflow_began);
	recorder->processing = recorder->dataflow = recorder->fetches = false;
}

/* Runs before an event's handlers: ends and begins the ranges that the event delimits. */
static int fire_enter(struct recorder *recorder, int event)
{
	if (event == DWELL_IGNITE_EVENT_STARTED) {
		/* A new run: the handlers are looked up again. */
		recorder_close(recorder);
		recorder_clear_events(recorder);
		dwell_ignite_profiler_start(recorder->profiler);
		recorder->epoch_told = recorder->iteration_told = UINT64_MAX;
		if (recorder_name_all(recorder))
			return -1;
	}
	if (event == DWELL_IGNITE_EVENT_ITERATION_COMPLETED && recorder->processing) {
		dwell_end(recorder->processing_began);
		recorder->processing = false;
		fire_append(recorder, DWELL_IGNITE_TIME_OF_PROCESSING, 0,
		            fire_now_ns() - recorder->processing_start_ns);
	} else if (event == DWELL_IGNITE_EVENT_GET_BATCH_COMPLETED && recorder->dataflow) {
		dwell_end(recorder->dataflow_began);
		recorder->dataflow = false;
		fire_append(recorder, DWELL_IGNITE_TIME_OF_DATAFLOW, 0,
		            fire_now_ns() - recorder->dataflow_start_ns);
	} else if (event < DWELL_IGNITE_EVENT_COUNT && event != DWELL_IGNITE_EVENT_DATALOADER_STOP_ITERATION) {
		recorder_close(recorder); /* ranges of an iteration that failed */
	}
	if (fire_read_state(recorder, event))
		return -1;
	if (event == DWELL_IGNITE_EVENT_GET_BATCH_STARTED) {
		recorder->dataflow = true;
		recorder->dataflow_began = dwell_begin(&recorder->dataflow_site);
		recorder->dataflow_start_ns = fire_now_ns();
	}
	return 0;
}

static void fire_leave(struct recorder *recorder, int event)
{
	if (event == DWELL_IGNITE_EVENT_ITERATION_STARTED) {
		recorder->processing = true;
		recorder->processing_began = dwell_begin(&recorder->processing_site);
		recorder->processing_start_ns = fire_now_ns();
	}
}

/* ---- calling --------------------------------------------------------------------------- */

/* Returns whether the handler passes its filter, -1 if the filter failed. */
static int fire_passes_filter(struct recorder *recorder, const struct handler *handler)
{
	PyObject *state = PyObject_GetAttrString(recorder->engine, "state"), *value, *result = NULL;
	PyObject *filter = recorder_new_ref(handler->filter), *event = recorder_new_ref(handler->filtered_event);
	int passed;

	value = state ? PyObject_CallMethod(state, "get_event_attrib_value", "O", event) : NULL;
	if (value)
		result = PyObject_CallFunctionObjArgs(filter, recorder->engine, value, NULL);
	passed = result ? PyObject_IsTrue(result) : -1;
	Py_DECREF(event);
	Py_DECREF(filter);
	Py_XDECREF(result);
	Py_XDECREF(value);
	Py_XDECREF(state);
	return passed;
}

/* Collects the arguments of a handler: the engine if the handler takes it, then those given with
 * the event, then those given with the handler. Returns -1 if it failed. */
static Py_ssize_t fire_collect(struct recorder *recorder, PyObject *stored,
                               PyObject *const *given, Py_ssize_t given_count, PyObject **to)
{
	Py_ssize_t stored_count = PyTuple_Size(stored), at = 0, from = 0;

	if (stored_count + given_count > MOST_ARGUMENTS) {
		PyErr_Format(PyExc_RuntimeError, "a handler takes more than %d arguments", MOST_ARGUMENTS);
		return -1;
	}
	if (stored_count && (PyWeakref_Check(PyTuple_GetItem(stored, 0)) ||
	                     PyTuple_GetItem(stored, 0) == recorder->engine)) {
		to[at++] = recorder->engine;
		from = 1;
	}
	for (Py_ssize_t i = 0; i < given_count; i++)
		to[at++] = given[i];
	for (Py_ssize_t i = from; i < stored_count; i++)
		to[at++] = PyTuple_GetItem(stored, i);
	return at;
}

/* Returns the entry of the handler at `place`. The pointer is invalid after Python code has run. */
static struct handler *fire_find_method(struct recorder *recorder, PyObject *key, Py_ssize_t place,
                                        PyObject *entry)
{
	struct event *event = recorder_event(recorder, key);

	return event ? recorder_handler(recorder, event, place, PyTuple_GetItem(entry, 0)) : NULL;
}

/* What an event is fired with, and the time at which its last handler ended. */
struct firing {
	PyObject *key;
	PyObject *const *given;
	Py_ssize_t given_count;
	PyObject *keywords;
	uint64_t clock_ns;
};

static int fire_call(struct recorder *recorder, struct firing *firing, Py_ssize_t place, PyObject *entry)
{
	struct handler *handler = fire_find_method(recorder, firing->key, place, entry);
	PyObject *arguments[MOST_ARGUMENTS + 1], *function, *result;
	PyObject *keywords = PyTuple_GetItem(entry, 2);
	int passed, row;
	uint64_t end_ns;
	unsigned began;
	Py_ssize_t count;

	if (!handler)
		return -1;
	if (handler->filter) {
		passed = fire_passes_filter(recorder, handler);
		firing->clock_ns = fire_now_ns();
		if (passed <= 0)
			return passed;
		handler = fire_find_method(recorder, firing->key, place, entry);
		if (!handler)
			return -1;
	}
	count = fire_collect(recorder, PyTuple_GetItem(entry, 1), firing->given, firing->given_count, arguments);
	if (count < 0)
		return -1;
	function = recorder_new_ref(handler->filter ? handler->inner : handler->function);
	row = handler->row;
	began = dwell_begin_id(handler->id, DWELL_CATEGORY_HANDLER);
	result = PyObject_VectorcallDict(function, arguments, (size_t)count,
	                                 PyDict_Size(keywords) ? keywords : NULL);
	dwell_end_id(began);
	Py_DECREF(function);
	end_ns = fire_now_ns();
	if (result)
		fire_append(recorder, DWELL_IGNITE_TIME_OF_HANDLER, row, end_ns - firing->clock_ns);
	firing->clock_ns = end_ns;
	Py_XDECREF(result);
	return result ? 0 : -1;
}

static int fire_call_all(struct recorder *recorder, struct firing *firing, PyObject *list)
{
	/* Handlers that are added during the firing are called too. */
	for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
		PyObject *entry = recorder_new_ref(PyList_GetItem(list, i));
		int result = firing->keywords ? PyDict_Update(PyTuple_GetItem(entry, 2), firing->keywords) : 0;

		if (!result)
			result = fire_call(recorder, firing, i, entry);
		Py_DECREF(entry);
		if (result)
			return -1;
	}
	return 0;
}

/* Writes Ignite's debug message, formatted only if the logger prints it. */
static int fire_log_firing(struct recorder *recorder, PyObject *key)
{
	PyObject *logger = PyObject_GetAttrString(recorder->engine, "logger"), *done;
	PyObject *wanted = logger ? PyObject_CallMethod(logger, "isEnabledFor", "i", 10) : NULL;
	int result = wanted ? 0 : -1;

	if (wanted && PyObject_IsTrue(wanted)) {
		PyObject *state = PyObject_GetAttrString(recorder->engine, "state");
		PyObject *epoch = state ? PyObject_GetAttrString(state, "epoch") : NULL;
		PyObject *iteration = epoch ? PyObject_GetAttrString(state, "iteration") : NULL;
		PyObject *line = iteration
		                     ? PyUnicode_FromFormat("%S | %S, Firing handlers for event %S", epoch,
		                                            iteration, key)
		                     : NULL;

		done = line ? PyObject_CallMethod(logger, "debug", "O", line) : NULL;
		result = done ? 0 : -1;
		Py_XDECREF(done);
		Py_XDECREF(line);
		Py_XDECREF(iteration);
		Py_XDECREF(epoch);
		Py_XDECREF(state);
	}
	Py_XDECREF(wanted);
	Py_XDECREF(logger);
	return result;
}

static PyObject *fire_keywords_of(PyObject *const *values, PyObject *names)
{
	PyObject *keywords = PyDict_New();

	for (Py_ssize_t i = 0; keywords && i < PyTuple_Size(names); i++)
		if (PyDict_SetItem(keywords, PyTuple_GetItem(names, i), values[i]))
			Py_CLEAR(keywords);
	return keywords;
}

static int fire(struct recorder *recorder, PyObject *key, PyObject *const *given,
                Py_ssize_t given_count, PyObject *keywords)
{
	struct event *event = recorder_event(recorder, key);
	int number = event ? event->number : -1, result = 0;
	struct firing firing = { key, given, given_count, keywords, 0 };
	PyObject *lists, *list;
	uint64_t start_ns = 0;
	unsigned began;

	if (!event || fire_enter(recorder, number) || fire_log_firing(recorder, key) ||
	    PyObject_SetAttrString(recorder->engine, "last_event_name", key))
		return -1;
	event = recorder_event(recorder, key);
	lists = event ? PyObject_GetAttrString(recorder->engine, "_event_handlers") : NULL;
	if (!lists)
		return -1;
	list = recorder_new_ref(PyDict_GetItemWithError(lists, key));
	Py_DECREF(lists);
	if (!list && PyErr_Occurred())
		return -1;
	began = dwell_begin_id(event->id, DWELL_CATEGORY_EVENT);
	if (list && PyList_Size(list)) {
		start_ns = firing.clock_ns = fire_now_ns();
		result = fire_call_all(recorder, &firing, list);
	}
	dwell_end_id(began);
	Py_XDECREF(list);
	fire_append(recorder, DWELL_IGNITE_TIME_OF_EVENT, number, firing.clock_ns - start_ns);
	fire_leave(recorder, result ? -1 : number);
	return result;
}

PyObject *recorder_fire(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *names)
{
	struct recorder *recorder = (struct recorder *)self;
	PyObject *keywords = NULL;
	int result;

	if (count < 1) {
		PyErr_SetString(PyExc_TypeError, "which event is to be fired?");
		return NULL;
	}
	if (!recorder->engine) {
		PyErr_SetString(PyExc_RuntimeError, "the engine is gone");
		return NULL;
	}
	if (names && PyTuple_Size(names)) {
		keywords = fire_keywords_of(arguments + count, names);
		if (!keywords)
			return NULL;
	}
	result = fire(recorder, arguments[0], arguments + 1, count - 1, keywords);
	Py_XDECREF(keywords);
	if (result)
		return NULL;
	Py_RETURN_NONE;
}
