/*
 * How much of a batch is padding: one value that fills the ends of rows of unlike length.
 *
 * The 2nd, 8th, 32nd ... batch of a loader is looked at, where it is in the memory of the process, and where there is no loader
 * the input of as many calls of a model: rows of whole numbers, as of tokens, and sequences of vectors, whose padding is zero.
 * Nothing is computed by PyTorch for that: its numbers are read where they are. Needs the interpreter's lock.
 */
#include "torch.h"

#include <stdio.h>
#include <string.h>

#include "format/keys.h"

#define FIRST 2u
#define MORE 4u               /* from one that is looked at to the next, times */
#define MOST_NUMBERS 1000000u /* of one tensor */
#define MOST_DEPTH 3u         /* of lists, tuples and dictionaries in a batch */
#define MOST_ITEMS 16

struct padding {
	PyObject *tensor_type;    /* torch.Tensor */
	uint64_t rows, width;     /* of the tensor with most padding; */
	uint64_t padded, longest; /* its numbers that are padding; the longest row without them */
};

static int64_t padding_number(PyObject *of, const char *method, long argument)
{
	PyObject *number = argument < 0 ? PyObject_CallMethod(of, method, NULL) : PyObject_CallMethod(of, method, "l", argument);
	int64_t value = number ? PyLong_AsLongLong(number) : -1;

	Py_XDECREF(number);
	PyErr_Clear();
	return value;
}

static bool padding_says(PyObject *tensor, const char *method)
{
	PyObject *said = PyObject_CallMethod(tensor, method, NULL);
	bool is_true = said == Py_True;

	Py_XDECREF(said);
	PyErr_Clear();
	return is_true;
}

static bool padding_is_near(PyObject *tensor)
{
	PyObject *device = PyObject_GetAttrString(tensor, "device"), *type = device ? PyObject_GetAttrString(device, "type") : NULL;
	const char *text = type ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
	bool near = text && strcmp(text, "cpu") == 0;

	Py_XDECREF(type);
	Py_XDECREF(device);
	PyErr_Clear();
	return near && padding_says(tensor, "is_contiguous");
}

/* The items of a row: numbers, or vectors of `pieces` numbers, which lie `apart` bytes apart. */
struct row {
	const char *first;
	uint64_t items, step; /* bytes from one item to the next */
	uint64_t pieces, apart, bytes;
};

/* Whether an item is the same as another one, or, of vectors, zero. */
static bool row_has(const struct row *row, uint64_t item, uint64_t other)
{
	static const char zeros[8];
	const char *at = row->first + item * row->step;

	for (uint64_t piece = 0; piece < row->pieces; piece++)
		if (memcmp(at + piece * row->apart, row->pieces > 1 ? zeros : row->first + other * row->step, row->bytes) != 0)
			return false;
	return true;
}

/* How many items at the end of the row are padding: of one value that nothing before them has, and that stands behind several other
 * ones. So masks, labels of 0 and 1 and dark pictures have none. */
static uint64_t row_padding(const struct row *row)
{
	uint64_t run = 0, last = row->items - 1, first_alike = 0;

	while (run < row->items && row_has(row, last - run, last))
		run++;
	for (uint64_t item = 0; item + run < row->items; item++) {
		if (row_has(row, item, last))
			return 0;
		first_alike += row_has(row, item, 0);
	}
	return run > 1 && first_alike + run < row->items ? run : 0;
}

/* `from`: bytes from one row to the next. Keeps what the tensor with most padding has. */
static void padding_of_rows(struct padding *to, struct row row, uint64_t rows, uint64_t from)
{
	struct padding found = { .tensor_type = to->tensor_type, .rows = rows, .width = row.items };

	for (uint64_t i = 0; i < rows; i++, row.first += from) {
		uint64_t run = row_padding(&row);

		found.padded += run;
		found.longest = row.items - run > found.longest ? row.items - run : found.longest;
	}
	if (found.padded > to->padded)
		*to = found;
}

static void padding_of_tensor(struct padding *to, PyObject *tensor)
{
	int64_t dimensions = padding_number(tensor, "dim", -1), bytes = padding_number(tensor, "element_size", -1), sizes[3] = { 0, 0, 1 };
	bool real = padding_says(tensor, "is_floating_point");
	uint64_t width, size = (uint64_t)bytes, all;
	const char *data;

	if (dimensions != (real ? 3 : 2) || bytes < 1 || bytes > 8 || !padding_is_near(tensor))
		return;
	for (int64_t i = 0; i < dimensions; i++)
		sizes[i] = padding_number(tensor, "size", (long)i);
	if (sizes[0] < 2 || sizes[1] < 2 || sizes[2] < 1 || sizes[0] > MOST_NUMBERS || sizes[1] > MOST_NUMBERS ||
	    (uint64_t)sizes[0] * (uint64_t)sizes[1] > MOST_NUMBERS / (uint64_t)sizes[2])
		return;
	width = (uint64_t)sizes[2];
	all = (uint64_t)sizes[1] * width * size;
	data = (const char *)(uintptr_t)padding_number(tensor, "data_ptr", -1);
	if (!data || data == (const char *)(uintptr_t)-1)
		return;
	/* (rows, numbers), or (rows, vectors, numbers of each) */
	padding_of_rows(to, (struct row){ data, (uint64_t)sizes[1], width * size, width, size, size }, (uint64_t)sizes[0], all);
	if (width > 1) /* (rows, numbers of each, vectors) */
		padding_of_rows(to, (struct row){ data, width, size, (uint64_t)sizes[1], width * size, size }, (uint64_t)sizes[0], all);
}

/* A batch, or a part of one. Of a subclass of a tensor the numbers may be elsewhere. */
static void padding_of(struct padding *to, PyObject *batch, unsigned depth)
{
	PyObject *values = NULL;

	if ((PyObject *)Py_TYPE(batch) == to->tensor_type)
		padding_of_tensor(to, batch);
	else if (depth < MOST_DEPTH && PyDict_Check(batch))
		values = PyDict_Values(batch);
	else if (depth < MOST_DEPTH && (PyList_Check(batch) || PyTuple_Check(batch)))
		values = PySequence_List(batch);
	for (Py_ssize_t i = 0; values && i < PyList_Size(values) && i < MOST_ITEMS; i++)
		padding_of(to, PyList_GetItem(values, i), depth + 1);
	Py_XDECREF(values);
	PyErr_Clear();
}

/* " collate (train.py:79)". False: it is no function of the program's. */
static bool padding_function(PyObject *function, char *text, size_t bytes)
{
	PyObject *code = function ? PyObject_GetAttrString(function, "__code__") : NULL;
	PyObject *name = code ? PyObject_GetAttrString(function, "__qualname__") : NULL;
	PyObject *file = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
	PyObject *line = code ? PyObject_GetAttrString(code, "co_firstlineno") : NULL;
	const char *name_text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
	const char *file_text = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
	const char *slash = file_text ? strrchr(file_text, '/') : NULL;

	bool known = name_text && file_text && line && !strstr(file_text, "/torch/");

	if (known)
		snprintf(text, bytes, " %.80s (%.80s:%ld)", name_text, slash ? slash + 1 : file_text, PyLong_AsLong(line));
	Py_XDECREF(line);
	Py_XDECREF(file);
	Py_XDECREF(name);
	Py_XDECREF(code);
	Py_XDECREF(function);
	PyErr_Clear();
	return known;
}

/* The program's function that makes a batch of samples, or else the one that makes a sample; "" if both are PyTorch's. */
static void padding_place(PyObject *iterator, char *text, size_t bytes)
{
	PyObject *data = PyObject_GetAttrString(iterator, "_dataset");

	*text = '\0';
	if (!padding_function(PyObject_GetAttrString(iterator, "_collate_fn"), text, bytes) && data)
		padding_function(PyObject_GetAttrString((PyObject *)Py_TYPE(data), "__getitem__"), text, bytes);
	Py_XDECREF(data);
	PyErr_Clear();
}

/* Whether nobody sees the calls of a tensor's methods: torch.jit.trace() would record them, and a mode for functions get them. */
static bool padding_is_unseen(PyObject *torch)
{
	PyObject *native = PyObject_GetAttrString(torch, "_C"), *tracing = native ? PyObject_CallMethod(native, "_is_tracing", NULL) : NULL;
	PyObject *modes = tracing == Py_False ? PyObject_CallMethod(native, "_len_torch_function_stack", NULL) : NULL;
	bool unseen = tracing == Py_False && !(modes && PyLong_AsLong(modes) != 0); /* before PyTorch 2.0 it cannot be asked */

	Py_XDECREF(modes);
	Py_XDECREF(tracing);
	Py_XDECREF(native);
	PyErr_Clear();
	return unseen;
}

/* `iterator`: of the loader, or NULL. */
static void padding_look(PyObject *iterator, PyObject *batch)
{
	PyObject *modules = PyImport_GetModuleDict(); /* borrowed, as the next one */
	PyObject *torch = modules ? PyDict_GetItemString(modules, "torch") : NULL;
	struct padding found = { .tensor_type = torch ? PyObject_GetAttrString(torch, "Tensor") : NULL };
	char place[200] = "", text[300];

	if (found.tensor_type && padding_is_unseen(torch))
		padding_of(&found, batch, 0);
	Py_XDECREF(found.tensor_type);
	PyErr_Clear();
	if (!iterator && !found.width)
		return;
	if (iterator)
		padding_place(iterator, place, sizeof place);
	snprintf(text, sizeof text, "%llu %llu %llu %llu%s", (unsigned long long)found.padded,
	         (unsigned long long)(found.rows * found.width), (unsigned long long)found.longest, (unsigned long long)found.width, place);
	dwell_meta(DW_KEY_TORCH_PADDING, text);
}

static uint64_t batches;

void dwp_padding_batch(PyObject *iterator, PyObject *batch)
{
	static uint64_t next = FIRST;

	if (++batches < next)
		return;
	next = MORE * batches;
	padding_look(iterator, batch);
}

void dwp_padding_input(PyObject *input)
{
	static uint64_t calls, next = FIRST;

	if (DWELL_LIKELY(batches || ++calls < next))
		return;
	next = MORE * calls;
	padding_look(NULL, input);
}
