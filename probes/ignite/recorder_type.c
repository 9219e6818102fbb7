/*
 * The module dwell._ignite: the type Recorder.
 *
 * Called by python/dwell/ignite.py, which replaces an engine's _fire_event by recorder.fire and
 * calls enter_run and leave_run before and after its run. Results are plain tuples, which Python
 * formats.
 */
#include "recorder.h"

#include <stdio.h>
#include <string.h>

/* The number of nested runs of this thread. */
static __thread unsigned depth;

static int recorder_failed(const struct dwell_error *error)
{
	if (error->code == DWELL_E_NOMEM)
		PyErr_NoMemory();
	else
		PyErr_SetString(error->code == DWELL_E_STATE ? PyExc_RuntimeError : PyExc_OSError,
		                error->message);
	return -1;
}

/* ---- creation and destruction ---------------------------------------------------------- */

static void recorder_set_site(struct dwell_site *site, enum dwell_category category, const char *name,
                              const char *detail)
{
	*site = (struct dwell_site){ .name = name, .detail = detail, .category = (uint32_t)category };
}

static int recorder_init_sites(struct recorder *self)
{
	if (asprintf(&self->iteration_name, "%s.iteration", self->name) < 0)
		self->iteration_name = NULL;
	if (asprintf(&self->epoch_name, "%s.epoch", self->name) < 0)
		self->epoch_name = NULL;
	if (!self->iteration_name || !self->epoch_name) {
		PyErr_NoMemory();
		return -1;
	}
	recorder_set_site(&self->run_site, DWELL_CATEGORY_ACTION, "run", self->name);
	recorder_set_site(&self->nested_site, DWELL_CATEGORY_EVALUATION, "run", self->name);
	recorder_set_site(&self->processing_site, DWELL_CATEGORY_ACTION, "processing", self->name);
	recorder_set_site(&self->dataflow_site, DWELL_CATEGORY_DATA, "dataflow", self->name);
	recorder_set_site(&self->iteration_site, DWELL_CATEGORY_COUNTER, self->iteration_name, NULL);
	recorder_set_site(&self->epoch_site, DWELL_CATEGORY_COUNTER, self->epoch_name, NULL);
	return 0;
}

static int recorder_init(struct recorder *self, PyObject *engine, const char *name, bool keep_times)
{
	struct dwell_error error;

	self->name = strdup(name);
	if (!self->name) {
		PyErr_NoMemory();
		return -1;
	}
	if (recorder_init_sites(self))
		return -1;
	if (dwell_ignite_profiler_create(&self->profiler, keep_times, &error))
		return recorder_failed(&error);
	self->keeps_times = keep_times;
	self->engine = recorder_new_ref(engine);
	return 0;
}

/* Not the slot tp_init: there would be recorders that it never saw. */
static PyObject *recorder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	PyObject *engine, *self;
	const char *name;
	int keep_times;

	(void)keywords;
	if (!PyArg_ParseTuple(arguments, "Osp", &engine, &name, &keep_times))
		return NULL;
	self = PyType_GenericNew(type, arguments, keywords);
	if (self && recorder_init((struct recorder *)self, engine, name, keep_times))
		Py_CLEAR(self);
	return self;
}

static int recorder_traverse(PyObject *object, visitproc visit, void *arg)
{
	struct recorder *self = (struct recorder *)object;

	Py_VISIT(Py_TYPE(object)); /* a type on the heap */
	Py_VISIT(self->engine);
	for (Py_ssize_t e = 0; e < self->event_count; e++) {
		Py_VISIT(self->events[e].key);
		for (Py_ssize_t i = 0; i < self->events[e].count; i++) {
			Py_VISIT(self->events[e].handlers[i].function);
			Py_VISIT(self->events[e].handlers[i].filter);
			Py_VISIT(self->events[e].handlers[i].filtered_event);
			Py_VISIT(self->events[e].handlers[i].inner);
		}
	}
	return 0;
}

static int recorder_clear(PyObject *object)
{
	struct recorder *self = (struct recorder *)object;

	Py_CLEAR(self->engine);
	recorder_clear_events(self);
	return 0;
}

static void recorder_dealloc(PyObject *object)
{
	struct recorder *self = (struct recorder *)object;
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_UnTrack(object);
	recorder_clear(object);
	dwell_ignite_profiler_destroy(self->profiler);
	/* Names are not freed: recorded sites point to them. */
	PyObject_GC_Del(object);
	Py_DECREF(type);
}

/* ---- runs ------------------------------------------------------------------------------ */

static PyObject *recorder_enter_run(PyObject *object, PyObject *unused)
{
	struct recorder *self = (struct recorder *)object;

	(void)unused;
	self->run_began = dwell_begin(depth++ ? &self->nested_site : &self->run_site);
	self->runs = true;
	Py_RETURN_NONE;
}

static PyObject *recorder_leave_run(PyObject *object, PyObject *unused)
{
	struct recorder *self = (struct recorder *)object;

	(void)unused;
	recorder_close(self);
	dwell_end(self->run_began);
	self->runs = false;
	depth--;
	Py_RETURN_NONE;
}

/* Keeps single durations from the next run on: for a profiler that is attached to an engine that is
 * already being recorded. */
static PyObject *recorder_keep_times(PyObject *object, PyObject *unused)
{
	struct recorder *self = (struct recorder *)object;
	struct dwell_ignite_profiler *profiler;
	struct dwell_error error;

	(void)unused;
	if (self->keeps_times)
		Py_RETURN_NONE;
	if (self->runs) {
		PyErr_SetString(PyExc_RuntimeError, "a profiler is attached between runs, not within one");
		return NULL;
	}
	if (dwell_ignite_profiler_create(&profiler, true, &error)) {
		recorder_failed(&error);
		return NULL;
	}
	recorder_clear_events(self); /* they have the numbers of the old profiler */
	dwell_ignite_profiler_destroy(self->profiler);
	self->profiler = profiler;
	self->keeps_times = true;
	Py_RETURN_NONE;
}

/* ---- results --------------------------------------------------------------------------- */

/* (count, total, min, its index, max, its index, mean, std): seconds. */
static PyObject *recorder_stat_tuple(const struct dwell_ignite_time_stat *stat)
{
	return Py_BuildValue("(KddKdKdd)", (unsigned long long)stat->count, stat->total_s, stat->min_s,
	                     (unsigned long long)stat->min_index, stat->max_s,
	                     (unsigned long long)stat->max_index, stat->mean_s,
	                     stat->std_s);
}

static PyObject *recorder_name_list(const char *const *names)
{
	PyObject *list = PyList_New(0);

	for (; list && names && *names; names++) {
		PyObject *name = PyUnicode_FromString(*names);

		if (!name || PyList_Append(list, name))
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	return list;
}

/* (processing, dataflow, {event: (stat, [names])}) */
static PyObject *recorder_basic_results(PyObject *object, PyObject *unused)
{
	static const char *const names[] = {
#define NAME(name, number, value) [number] = #name,
		DWELL_IGNITE_EVENTS(NAME)
#undef NAME
	};
	struct recorder *self = (struct recorder *)object;
	struct dwell_error error;
	const struct dwell_ignite_basic_results *results = dwell_ignite_profiler_basic(self->profiler, &error);
	PyObject *events;

	(void)unused;
	if (!results) {
		recorder_failed(&error);
		return NULL;
	}
	events = PyDict_New();
	for (int e = 0; events && e < DWELL_IGNITE_EVENT_COUNT; e++) {
		PyObject *item = Py_BuildValue("(NN)", recorder_stat_tuple(&results->events[e]),
		                               recorder_name_list(results->handlers[e]));

		if (!item || PyDict_SetItemString(events, names[e], item))
			Py_CLEAR(events);
		Py_XDECREF(item);
	}
	if (!events)
		return NULL;
	return Py_BuildValue("(NNN)", recorder_stat_tuple(&results->processing),
	                     recorder_stat_tuple(&results->dataflow), events);
}

/* (processing, dataflow, [(handler, event, stat)]) */
static PyObject *recorder_handlers_results(PyObject *object, PyObject *unused)
{
	struct recorder *self = (struct recorder *)object;
	struct dwell_error error;
	const struct dwell_ignite_handlers_results *results = dwell_ignite_profiler_handlers(self->profiler, &error);
	PyObject *rows;

	(void)unused;
	if (!results) {
		recorder_failed(&error);
		return NULL;
	}
	rows = PyList_New(0);
	for (size_t i = 0; rows && i < results->count; i++) {
		PyObject *row = Py_BuildValue("(ssN)", results->handlers[i].handler,
		                              results->handlers[i].event,
		                              recorder_stat_tuple(&results->handlers[i].stat));

		if (!row || PyList_Append(rows, row))
			Py_CLEAR(rows);
		Py_XDECREF(row);
	}
	if (!rows)
		return NULL;
	return Py_BuildValue("(NNN)", recorder_stat_tuple(&results->processing),
	                     recorder_stat_tuple(&results->dataflow), rows);
}

static PyObject *recorder_write_with(PyObject *object, PyObject *path,
                                     int (*write)(struct dwell_ignite_profiler *, const char *,
                                                  struct dwell_error *))
{
	struct recorder *self = (struct recorder *)object;
	struct dwell_error error;
	PyObject *bytes;
	int result;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	result = write(self->profiler, PyBytes_AsString(bytes), &error);
	Py_DECREF(bytes);
	if (result) {
		recorder_failed(&error);
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *recorder_write_basic(PyObject *object, PyObject *path)
{
	return recorder_write_with(object, path, dwell_ignite_profiler_write_basic);
}

static PyObject *recorder_write_handlers(PyObject *object, PyObject *path)
{
	return recorder_write_with(object, path, dwell_ignite_profiler_write_handlers);
}

/* ---- the module ------------------------------------------------------------------------ */

static PyMethodDef recorder_methods[] = {
	{ "fire", (PyCFunction)(void (*)(void))recorder_fire, RECORDER_FASTCALL | METH_KEYWORDS,
	  "fires an event as the engine's own _fire_event does, timed" },
	{ "enter_run", recorder_enter_run, METH_NOARGS, "the engine's run begins" },
	{ "leave_run", recorder_leave_run, METH_NOARGS, "... has ended, however" },
	{ "keep_times", recorder_keep_times, METH_NOARGS, "single times are wanted, for the files" },
	{ "basic", recorder_basic_results, METH_NOARGS, "(processing, dataflow, {event: (stat, names)})" },
	{ "handlers", recorder_handlers_results, METH_NOARGS, "(processing, dataflow, [(name, event, stat)])" },
	{ "write_basic", recorder_write_basic, METH_O, "CSV, a row an iteration" },
	{ "write_handlers", recorder_write_handlers, METH_O, "CSV, a row a call" },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot recorder_slots[] = {
	{ Py_tp_doc, "Recorder(engine, name, keep_times): times an Ignite engine's events and handlers" },
	{ Py_tp_new, (void *)recorder_new },
	{ Py_tp_traverse, (void *)recorder_traverse },
	{ Py_tp_clear, (void *)recorder_clear },
	{ Py_tp_dealloc, (void *)recorder_dealloc },
	{ Py_tp_methods, recorder_methods },
	{ 0, NULL },
};

static PyType_Spec recorder_spec = {
	.name = "dwell._ignite.Recorder",
	.basicsize = sizeof(struct recorder),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = recorder_slots,
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "dwell._ignite",
	.m_doc = "events and handlers of Ignite's engines, recorded by dwell",
	.m_size = -1,
};

PyMODINIT_FUNC PyInit__ignite(void);
PyMODINIT_FUNC PyInit__ignite(void)
{
	PyObject *made = PyModule_Create(&module);
	PyObject *type = made ? PyType_FromSpec(&recorder_spec) : NULL;

	if (made && (!type || PyModule_AddObject(made, "Recorder", type))) {
		Py_XDECREF(type);
		Py_CLEAR(made);
	}
	return made;
}
