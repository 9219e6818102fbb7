/*
 * A recorder: the replacement of an Ignite engine's `_fire_event`.
 *
 *   recorder_type.c  the Python type: creation, runs, results
 *   fire.c           one firing: calls, times and records the handlers
 *   names.c          the engine's events and handlers: their names, their filters
 *
 * Uses only dwell's public headers and Python's C API: the limited API and a few functions that all
 * versions export, so that one build works with every CPython from 3.9 on. All functions need the
 * GIL, and an engine runs in one thread at a time.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <dwell/compat/ignite.h>
#include <dwell/probe.h>

/* Every CPython since 3.9 exports these, but they are not part of its limited API. */
PyAPI_FUNC(PyObject *) PyObject_VectorcallDict(PyObject *callable, PyObject *const *arguments,
                                               size_t count, PyObject *by_name);
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size);
PyAPI_DATA(PyTypeObject) PyFunction_Type;
PyAPI_FUNC(PyObject *) PyFunction_GetCode(PyObject *function);
PyAPI_FUNC(PyObject *) PyFunction_GetClosure(PyObject *function);
PyAPI_FUNC(PyObject *) PyCell_Get(PyObject *cell);
#define RECORDER_FASTCALL 0x0080 /* METH_FASTCALL, of the limited API from 3.10 on */

/* A further reference to an object, or NULL: Python has such functions from 3.10 on. */
static inline PyObject *recorder_new_ref(PyObject *object)
{
	Py_XINCREF(object);
	return object;
}

/* A handler as it was last seen at its place in the engine's list. */
struct handler {
	PyObject *function; /* strong reference; compared at each call */
	/* The parts of a handler with an event filter, otherwise NULL. */
	PyObject *filter, *filtered_event, *inner;
	int row;            /* its number in the profiler */
	uint32_t id;        /* its id in traces */
};

struct event {
	PyObject *key;      /* strong reference: Events.STARTED, "my_event" */
	char *name;
	int number;         /* its number in the profiler */
	uint32_t id;
	struct handler *handlers;
	Py_ssize_t count;
};

struct recorder {
	PyObject_HEAD
	PyObject *engine;
	char *name, *iteration_name, *epoch_name;
	struct dwell_ignite_profiler *profiler;
	bool keeps_times, runs;
	struct event *events;
	Py_ssize_t event_count;
	struct dwell_site run_site, nested_site, processing_site, dataflow_site, iteration_site,
	    epoch_site;

	/* The position of the run. */
	uint64_t iteration, epoch;    /* current */
	uint64_t iteration_told, epoch_told;
	bool fetches;                 /* between GET_BATCH_STARTED and ITERATION_STARTED */
	bool processing, dataflow;    /* whether the range is open */
	uint64_t processing_start_ns, dataflow_start_ns;
	unsigned processing_began, dataflow_began, run_began;
};

/* recorder._fire_event(event, *args, **kwargs) */
PyObject *recorder_fire(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *names);
/* Ends ranges that a run left open. */
void recorder_close(struct recorder *recorder);

/* ---- names.c ---- NULL or -1 with a Python exception --------------------------------- */

/* Returns the entry of an event; a new one is named. Valid until the next new event. */
struct event *recorder_event(struct recorder *recorder, PyObject *key);
/* Returns the entry of the handler at `place` of the event's list, which is `function` now. */
struct handler *recorder_handler(struct recorder *recorder, struct event *event,
                                 Py_ssize_t place, PyObject *function);
/* Names all events and handlers, called or not. */
int recorder_name_all(struct recorder *recorder);
/* Removes all events; their handlers are looked up again. */
void recorder_clear_events(struct recorder *recorder);
