/*
 * The open calls of a thread, and the ids of code objects. The id of a Python function is in an extra field of
 * its code object, so that it ends with the code object.
 */
#include "calls.h"

#include <stddef.h>
#include <string.h>

__thread struct dwp_calls *dwp_calls __attribute__((tls_model("initial-exec")));
struct dwp_known_code dwp_recent_codes[DWP_RECENT_CODES];

static struct dwp_code_field field = { .index = -1 };
static PyObject *ask_profile; /* sys.getprofile */

struct dwp_calls *dwp_calls_create(void)
{
	static struct dwp_thread_pool pool;
	struct dwp_calls *calls = dwp_thread_memory(&pool, sizeof *calls);

	if (calls) /* Clears what an ended thread left. `ids` need not be cleared: `depth` is 0. */
		memset(&calls->depth, 0,
		       offsetof(struct dwp_calls, ids) - offsetof(struct dwp_calls, depth));
	return dwp_calls = calls;
}

/* Whether a file belongs to the package dwell, whose functions are not recorded. */
static bool calls_is_own(const char *file)
{
	static char folder[1024]; /* ends with a slash; "": the package is not imported */
	PyObject *name = *folder ? NULL : PyUnicode_FromString("dwell");
	PyObject *package = name ? PyImport_GetModule(name) : NULL;
	char *slash = NULL;

	if (package) {
		dwp_python_text(package, "__file__", folder, sizeof folder);
		slash = strrchr(folder, '/');
	}
	if (slash)
		slash[1] = '\0';
	else if (package)
		folder[0] = '\0';
	Py_XDECREF(package);
	Py_XDECREF(name);
	PyErr_Clear();
	return *folder && strncmp(file, folder, strlen(folder)) == 0;
}

/* Whether a call of this code makes a generator, a coroutine or an asynchronous generator. */
static bool calls_makes_generator(PyObject *code)
{
	PyObject *flags = PyObject_GetAttrString(code, "co_flags");
	long bits = flags ? PyLong_AsLong(flags) : 0;

	Py_XDECREF(flags);
	PyErr_Clear();
	return bits & (0x20 | 0x80 | 0x200);
}

static uint32_t calls_new_id(PyObject *code)
{
	char name[256], file[1024];
	PyObject *line = PyObject_GetAttrString(code, "co_firstlineno");
	struct dwell_site site = { name, NULL, file, 0, DWELL_CATEGORY_FUNCTION, 0 };
	static const char item[] = "__getitem__";
	size_t length;
	uint32_t id;

	dwp_python_text(code, "co_qualname", name, sizeof name);
	if (!*name)
		dwp_python_text(code, "co_name", name, sizeof name);
	length = strlen(name);
	dwp_python_text(code, "co_filename", file, sizeof file);
	if (line)
		site.line = (uint32_t)PyLong_AsLong(line);
	Py_XDECREF(line);
	PyErr_Clear();
	if (calls_is_own(file))
		return DWP_UNSEEN;
	id = dwell_slow_site(&site);
	if (id && calls_makes_generator(code))
		id |= DWP_CODE_RESUMED;
	if (id && length >= strlen(item) && strcmp(name + length - strlen(item), item) == 0)
		id |= DWP_CODE_SUBSCRIPT;
	return id;
}

static void calls_forget_code(void *extra)
{
	struct dwp_known_code *known = extra;

	if (known && dwp_place_of_code(known->code)->code == known->code)
		*dwp_place_of_code(known->code) = (struct dwp_known_code){ NULL, 0 };
	PyMem_Free(known);
}

static uint32_t calls_find_code(PyObject *code)
{
	void *extra = NULL;
	struct dwp_known_code *known;
	uint32_t id;

	field.get(code, field.index, &extra);
	known = extra;
	if (known) {
		*dwp_place_of_code(code) = *known;
		return known->id;
	}
	id = calls_new_id(code);
	known = id ? PyMem_Malloc(sizeof *known) : NULL;
	if (!known)
		return 0;
	*known = (struct dwp_known_code){ code, id == DWP_UNSEEN ? 0 : id };
	id = known->id;
	if (field.set(code, field.index, known) == 0) {
		*dwp_place_of_code(code) = *known;
	} else {
		PyErr_Clear();
		PyMem_Free(known);
	}
	return id;
}

__attribute__((noinline)) uint32_t dwp_find_code(PyObject *code)
{
	PyObject *type, *value, *trace;
	uint32_t id;

	PyErr_Fetch(&type, &value, &trace);
	id = calls_find_code(code);
	PyErr_Restore(type, value, trace);
	return id;
}

/* ---- before the first call ----------------------------------------------------------------- */

bool dwp_calls_prepare(void)
{
	ask_profile = PySys_GetObject("getprofile");
	Py_XINCREF(ask_profile);
	return dwp_python_code_field(&field, calls_forget_code);
}

bool dwp_calls_profiled(void)
{
	PyObject *now = ask_profile ? PyObject_CallObject(ask_profile, NULL) : NULL;
	bool is = now && now != Py_None;

	Py_XDECREF(now);
	PyErr_Clear();
	return is;
}
