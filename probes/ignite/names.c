/*
 * The events and handlers of an Ignite engine: their names and their numbers in the profiler.
 *
 * Called by fire.c. An event is identified by its key, a handler by its event and its place in the
 * event's list. The handler at a place is compared at each call, because handlers are added and
 * removed. The filter of a filtered handler is read from Ignite's wrapper, so that it can be called
 * separately.
 */
#include "recorder.h"

static char *names_copy_text(PyObject *text)
{
	const char *utf8 = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
	char *copy = utf8 ? strdup(utf8) : NULL;

	if (!copy && !PyErr_Occurred())
		PyErr_SetString(PyExc_TypeError, "an event's or handler's name is no text");
	return copy;
}

static char *name_of_event(PyObject *key)
{
	PyObject *name = PyUnicode_CheckExact(key) ? recorder_new_ref(key)
	                                           : PyObject_GetAttrString(key, "name");
	char *copy;

	if (!name) {
		PyErr_Clear();
		name = PyObject_Str(key);
	}
	copy = names_copy_text(name);
	Py_XDECREF(name);
	return copy;
}

struct event *recorder_event(struct recorder *recorder, PyObject *key)
{
	struct event *event, *more;

	for (Py_ssize_t i = 0; i < recorder->event_count; i++)
		if (recorder->events[i].key == key)
			return &recorder->events[i];
	for (Py_ssize_t i = 0; i < recorder->event_count; i++) {
		int same = PyObject_RichCompareBool(recorder->events[i].key, key, Py_EQ);

		if (same)
			return same < 0 ? NULL : &recorder->events[i];
	}
	more = realloc(recorder->events, (size_t)(recorder->event_count + 1) * sizeof *more);
	if (!more) {
		PyErr_NoMemory();
		return NULL;
	}
	recorder->events = more;
	event = &more[recorder->event_count];
	*event = (struct event){ .name = name_of_event(key) };
	if (!event->name)
		return NULL;
	event->key = recorder_new_ref(key);
	event->number = dwell_ignite_profiler_event(recorder->profiler, event->name);
	event->id = dwell_intern(DWELL_CATEGORY_EVENT, event->name, recorder->name);
	recorder->event_count++;
	return event;
}

/* Returns Ignite's name of a handler: its __qualname__, otherwise its class. */
static PyObject *name_of_handler(PyObject *function)
{
	PyObject *name = PyObject_GetAttrString(function, "__qualname__");

	if (name)
		return name;
	PyErr_Clear();
	return PyObject_GetAttrString((PyObject *)Py_TYPE(function), "__name__");
}

/* Reads the closure of Engine._handler_wrapper. */
static int names_open_filter(struct handler *handler)
{
	PyObject *function = handler->function, *closure, *code, *names;

	if (Py_TYPE(function) != &PyFunction_Type || !PyObject_HasAttrString(function, "_parent"))
		return 0;
	closure = PyFunction_GetClosure(function);
	code = PyFunction_GetCode(function);
	names = code ? PyObject_GetAttrString(code, "co_freevars") : NULL;
	if (!names)
		return -1;
	for (Py_ssize_t i = 0; closure && i < PyTuple_Size(names); i++) {
		const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
		PyObject *cell = PyCell_Get(PyTuple_GetItem(closure, i));
		PyObject **to = !name                               ? NULL
		                : strcmp(name, "event_filter") == 0 ? &handler->filter
		                : strcmp(name, "event_name") == 0   ? &handler->filtered_event
		                : strcmp(name, "handler") == 0      ? &handler->inner
		                                                    : NULL;

		if (to) {
			PyObject *before = *to;

			*to = recorder_new_ref(cell);
			Py_XDECREF(before);
		}
		Py_XDECREF(cell);
	}
	Py_DECREF(names);
	if (!handler->filter || !handler->filtered_event || !handler->inner) {
		/* A wrapper that is not Ignite's is an ordinary handler. */
		Py_CLEAR(handler->filter);
		Py_CLEAR(handler->filtered_event);
		Py_CLEAR(handler->inner);
	}
	return 0;
}

static void names_clear_handler(struct handler *handler)
{
	Py_CLEAR(handler->function);
	Py_CLEAR(handler->filter);
	Py_CLEAR(handler->filtered_event);
	Py_CLEAR(handler->inner);
}

/* Names the handler at `place` of the event's list: "log", and a different handler with the same
 * name "log #2". */
static int name_handler(struct recorder *recorder, struct event *event, Py_ssize_t place)
{
	struct handler *handler = &event->handlers[place];
	PyObject *text = name_of_handler(handler->function), *numbered = NULL;
	char *name, path[512];
	unsigned same = 1;

	if (!text)
		return -1;
	for (Py_ssize_t i = 0; i < place; i++) {
		PyObject *other = name_of_handler(event->handlers[i].function);

		if (!other) {
			Py_DECREF(text);
			return -1;
		}
		same += PyUnicode_Check(other) && PyUnicode_Check(text) &&
		        PyUnicode_Compare(other, text) == 0;
		Py_DECREF(other);
	}
	if (same > 1)
		numbered = PyUnicode_FromFormat("%U #%u", text, same);
	name = names_copy_text(numbered ? numbered : text);
	Py_DECREF(text);
	Py_XDECREF(numbered);
	if (!name)
		return -1;
	snprintf(path, sizeof path, "%.240s.%.240s", recorder->name, event->name);
	handler->row = dwell_ignite_profiler_handler(recorder->profiler, event->number, name);
	handler->id = dwell_intern(DWELL_CATEGORY_HANDLER, name, path);
	free(name);
	return 0;
}

struct handler *recorder_handler(struct recorder *recorder, struct event *event,
                                 Py_ssize_t place, PyObject *function)
{
	struct handler *more;

	if (place < event->count && event->handlers[place].function == function)
		return &event->handlers[place];
	if (place >= event->count) {
		more = realloc(event->handlers, (size_t)(place + 1) * sizeof *more);
		if (!more)
			return (struct handler *)PyErr_NoMemory();
		event->handlers = more;
		memset(&more[event->count], 0, (size_t)(place + 1 - event->count) * sizeof *more);
		event->count = place + 1;
	}
	names_clear_handler(&event->handlers[place]);
	event->handlers[place].function = recorder_new_ref(function);
	if (names_open_filter(&event->handlers[place]) || name_handler(recorder, event, place)) {
		names_clear_handler(&event->handlers[place]);
		return NULL;
	}
	return &event->handlers[place];
}

void recorder_clear_events(struct recorder *recorder)
{
	for (Py_ssize_t e = 0; e < recorder->event_count; e++) {
		for (Py_ssize_t i = 0; i < recorder->events[e].count; i++)
			names_clear_handler(&recorder->events[e].handlers[i]);
		free(recorder->events[e].handlers);
		free(recorder->events[e].name);
		Py_CLEAR(recorder->events[e].key);
	}
	free(recorder->events);
	recorder->events = NULL;
	recorder->event_count = 0;
}

int recorder_name_all(struct recorder *recorder)
{
	PyObject *lists = PyObject_GetAttrString(recorder->engine, "_event_handlers"), *allowed, *item;
	PyObject *iterator;
	int result = 0;

	allowed = lists ? PyObject_GetAttrString(recorder->engine, "_allowed_events") : NULL;
	iterator = allowed ? PyObject_GetIter(allowed) : NULL;
	while (iterator && !result && (item = PyIter_Next(iterator))) {
		struct event *event = recorder_event(recorder, item);
		PyObject *list = event ? PyDict_GetItemWithError(lists, item) : NULL;

		for (Py_ssize_t i = 0; list && PyList_Check(list) && i < PyList_Size(list); i++) {
			PyObject *entry = PyList_GetItem(list, i);

			if (!recorder_handler(recorder, event, i, PyTuple_GetItem(entry, 0)))
				break;
		}
		Py_DECREF(item);
		result = PyErr_Occurred() ? -1 : 0;
	}
	Py_XDECREF(iterator);
	Py_XDECREF(allowed);
	Py_XDECREF(lists);
	return PyErr_Occurred() ? -1 : result;
}
