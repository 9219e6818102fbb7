/*
 * Looks at a sampled stack; see look.h.
 *
 * The program's innermost function has called something, or runs itself. What the outermost function that it called is known
 * to do names the time: printf() that copies makes text. Of a wait it is the innermost one: what it waits for.
 */
#include "account/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code/demangle.h"
#include "base/grow.h"

/* The imports that a stack shows outside the program's own code, as far as it was looked at. */
struct look_import {
	bool found;
	const char *package, *module; /* `module`: the package of the outermost module's code. NULL: not known */
	size_t length, module_length;
};

/* Whether the code is of a library that was installed for Python. */
static bool look_is_installed(const struct dw_source_frame *frame)
{
	return frame->role == DW_LIBRARY_FRAMEWORK || frame->role == DW_LIBRARY_PACKAGE;
}

/* What the f-th function of a frame does. *own: it is the program's, also of a stripped or packed file. One whose name the system
 * reserves is none. */
static enum dw_activity look_activity(const struct dw_source_frame *frame, uint32_t f, bool *own)
{
	const struct dw_source_function *function = &frame->functions[f];
	const char *module = frame->module ? frame->module : function->file; /* code of Python is in no module */
	struct dw_library library = dw_library_of_function(dw_library_of(module), function->name, function->file);
	enum dw_activity activity;

	*own = frame->role == DW_LIBRARY_OWN && (frame->module || !dw_code_is_nameless(function->name)) && library.role == DW_LIBRARY_OWN;
	activity = f ? dw_activity_of_code(library, function->name, *own) : frame->activity;
	if (activity == DW_ACTIVITY_UNKNOWN && !frame->module && function->file)
		activity = look_is_installed(frame) ? DW_ACTIVITY_PACKAGE : DW_ACTIVITY_INTERPRETER;
	*own &= activity == DW_ACTIVITY_OWN || activity == DW_ACTIVITY_STARTS;
	return activity;
}

/* Whether the code is of a library that works for the program. What it looks up, or writes as text, it does for that work. */
static bool look_is_library(const struct dw_source_frame *frame)
{
	return frame->module && frame->role >= DW_LIBRARY_TEAM && frame->role != DW_LIBRARY_ALLOCATOR &&
	       frame->role != DW_LIBRARY_RECORDER && frame->role != DW_LIBRARY_INTERPRETER;
}

#define OF_PYTHON (DW_ACTIVITY_SET(INTERPRETER) | DW_ACTIVITY_SET(PACKAGE))
#define WEAK (OF_PYTHON | DW_ACTIVITY_SET(UNKNOWN) | DW_ACTIVITY_SET(OWN) | DW_ACTIVITY_SET(COUNTS)) /* the last reference frees */

/* Which of two activities names the time: the outer one, unless it only runs Python or what the inner one names. */
static enum dw_activity look_prefer(enum dw_activity inner, enum dw_activity outer, bool waits)
{
	bool python = dw_activity_in(inner, OF_PYTHON);
	bool weak = dw_activity_in(outer, WEAK);

	/* After any call that waits, Python waits for its own lock. */
	if (inner == DW_ACTIVITY_GIL)
		return inner;
	/* What waits for a pipe of a child process waits for that process. A condition of Python is built of locks, a lock of a
	 * semaphore. */
	if (waits && (outer == DW_ACTIVITY_CHILD ||
	              (dw_activity_in(inner, DW_ACTIVITIES_OF_THREADS) && dw_activity_in(outer, DW_ACTIVITIES_OF_THREADS))))
		return outer;
	/* Objects that are passed to another process are written to a pipe or a queue. */
	if (inner == DW_ACTIVITY_PICKLES && dw_activity_in(outer, DW_ACTIVITIES_OF_THREADS | DW_ACTIVITIES_OF_FILES))
		return inner;
	/* Text that is written to a file at once: the call of the system says more. */
	if (outer == DW_ACTIVITY_TEXT && dw_activity_in(inner, DW_ACTIVITIES_OF_FILES))
		return inner;
	/* A large block is mapped anew, and unmapped when it is freed. */
	if (dw_activity_in(outer, DW_ACTIVITIES_OF_MEMORY) && inner == DW_ACTIVITY_RETURNS)
		return inner;
	if (outer == DW_ACTIVITY_STARTS && inner != DW_ACTIVITY_UNKNOWN && !python)
		return inner;
	if (inner == DW_ACTIVITY_INTERPRETER && outer == DW_ACTIVITY_PACKAGE)
		return outer;
	if (inner == DW_ACTIVITY_UNKNOWN || (python && !weak))
		return outer == DW_ACTIVITY_OWN ? inner : outer;
	return weak || waits ? inner : outer;
}

/* Notes whether the function is of an import. Whatever is outside of it is met later: the last note is of the outermost
 * import. The code of a module is in no function; `starts` says so. */
static void look_at_import(struct look_import *import, const struct dw_source_function *function,
                           enum dw_activity activity)
{
	size_t length;
	const char *package =
		activity == DW_ACTIVITY_STARTS && function->file ? dw_package_of(function->file, &length) : NULL;

	if (activity == DW_ACTIVITY_IMPORTS) {
		import->found = true;
		import->package = import->module;
		import->length = import->module_length;
	} else if (package) {
		import->module = package;
		import->module_length = length;
	}
}

static void look_put_import(struct dw_look *look, const struct look_import *import)
{
	if (!import->found)
		return;
	look->activity = DW_ACTIVITY_IMPORTS;
	look->library = false;
	look->package = import->package;
	look->package_length = import->length;
}

/* Whether a program calls the function by its name: not a lambda, not one that its library keeps for itself, as "_M_find", and
 * of Python's interpreter no C function. */
static bool look_is_called(const struct dw_source_frame *frame, const struct dw_source_function *function, enum dw_activity activity)
{
	const char *name = function->name, *member = strrchr(name, '.');
	const struct dw_source_function *outer = &frame->functions[frame->count - 1];

	if (dw_code_is_nameless(name) || dw_activity_in(activity, DW_ACTIVITY_SET(STARTS) | DW_ACTIVITY_SET(IMPORTS)))
		return false;
	if (function != outer && strcmp(name, outer->name) == 0) /* inlined, of an unknown name */
		return false;
	if (*name == '_' || *name == '<' || strchr(name, '{') || (member && member[1] == '_' && member[2] != '_'))
		return false;
	if (!frame->module)
		return function->file && frame->role != DW_LIBRARY_FRAMEWORK;
	return frame->role != DW_LIBRARY_INTERPRETER && frame->role != DW_LIBRARY_FRAMEWORK && frame->role != DW_LIBRARY_TEAM &&
	       frame->role != DW_LIBRARY_KERNEL && frame->role != DW_LIBRARY_RECORDER;
}

/* Whether a child process of Python begins there: the frames outside are those of its parent, which forked it. */
static bool look_is_born(const struct dw_source_frame *frame, enum dw_activity activity)
{
	return activity == DW_ACTIVITY_STARTS && !frame->module && frame->role == DW_LIBRARY_INTERPRETER &&
	       strchr(frame->functions->name, '.'); /* a method, and no module's code */
}

/* What a child process does outside the program's own code, it does for its parent: it gets objects from it, or waits for them. */
static void look_for_parent(struct dw_look *look, bool waits)
{
	if (dw_activity_in(look->activity, DW_ACTIVITIES_OF_FILES | DW_ACTIVITY_SET(SOCKET) | DW_ACTIVITY_SET(THREAD)))
		look->activity = waits ? DW_ACTIVITY_CHILD : DW_ACTIVITY_PICKLES;
	look->callee = NULL;
}

/* Takes a function outside the program's own code into account. */
static void look_through(struct dw_look *look, const struct dw_source_frame *frame, const char *file, enum dw_activity activity,
                         bool waits)
{
	const dw_activity_set of_library = DW_ACTIVITY_SET(LOOK_UP) | DW_ACTIVITY_SET(TEXT) | DW_ACTIVITY_SET(MATCHES);

	if (look_is_library(frame) || look_is_installed(frame))
		look->from = file;
	if (look->library && dw_activity_in(activity, OF_PYTHON | DW_ACTIVITY_SET(STARTS)))
		return;
	look->activity = look_prefer(look->activity, activity, waits);
	if (waits || !look_is_library(frame))
		return;
	if (dw_activity_in(look->activity, of_library) && !dw_activity_in(activity, of_library))
		look->activity = DW_ACTIVITY_UNKNOWN;
	look->library |= look->activity == DW_ACTIVITY_UNKNOWN;
}

/* What making, copying and destroying an object does. */
#define OF_OBJECTS (DW_ACTIVITIES_OF_MEMORY | DW_ACTIVITIES_OF_COPIES | DW_ACTIVITY_SET(RETURNS) | DW_ACTIVITY_SET(FAULT))

static bool look_add(struct dw_look *look, const struct dw_source_frame *frame, const struct dw_source_function *function, bool root)
{
	return DW_APPEND(&look->functions, &look->capacity, &look->count, (struct dw_look_function){ function, frame->module, root });
}

/* What the program's own code does where it calls nothing. */
static enum dw_activity look_own(const struct dw_source_frame *frame, const struct dw_source_function *function, bool python)
{
	if (python && !frame->module && function->file)
		return DW_ACTIVITY_INTERPRETER;
	return frame->loop == DW_CODE_MOVES ? DW_ACTIVITY_COPIES : DW_ACTIVITY_OWN;
}

/* Whether a stack has a frame that is not Python's. */
static bool look_has_native(const struct dw_sample_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct dw_source_frame *frame = dw_sample_stack_at(stack, i);

		if (frame && frame->module)
			return true;
	}
	return false;
}

bool dw_look_reads_native(const struct dw_source *source, const struct dw_sample_row *row)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(source, row);

	return look_has_native(&stack);
}

/* Code that makes, copies or destroys a table is not counted as a look-up: its innermost function, as malloc(), says what it does. */
static bool look_makes_table(struct dw_look *look, const struct dw_source_function *function)
{
	if (look->activity != DW_ACTIVITY_LOOK_UP || !dw_name_is_of_object(function->name))
		return false;
	look->activity = look->inner == DW_ACTIVITY_LOOK_UP ? DW_ACTIVITY_COPIES : look->inner;
	look->called = DW_ACTIVITY_UNKNOWN;
	return true;
}

bool dw_look_at(struct dw_look *look, const struct dw_source *source, const struct dw_sample_row *row, bool waits)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(source, row);
	bool python = source->processes[source->threads[row->thread].process].flags & DW_PROCESS_PYTHON;
	bool own_above = false; /* a function of the program has been met */
	bool native = false;    /* the callee is no function of Python */
	bool born = false;      /* the frames are those of the parent process */
	struct look_import import = { .found = false };

	look->package = look->from = NULL;
	look->callee = NULL;
	look->activity = look->inner = look->called = DW_ACTIVITY_UNKNOWN;
	look->call = 0;
	look->library = look->native && python && !waits && !look_has_native(&stack);
	look->count = 0;
	if (waits && stack.count) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, 0);

		look->activity = dw_sample_wait_activity(&stack);
		look->callee = frame && !python && look_is_called(frame, frame->functions, look->activity) ? frame->functions : NULL;
	}
	for (uint32_t i = waits; i < stack.count; i++) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, i);

		for (uint32_t f = 0; frame && f < frame->count; f++) {
			const struct dw_source_function *function = &frame->functions[f];
			bool own;
			enum dw_activity activity = look_activity(frame, f, &own);

			if (!own_above && !born && look_is_born(frame, activity))
				look_for_parent(look, waits);
			born |= look_is_born(frame, activity);
			if (own && !own_above && look->activity == DW_ACTIVITY_UNKNOWN && !look->library && !waits)
				look->activity = look_own(frame, function, python);
			if (own && !own_above && native && !frame->module) /* Python calls it by another name */
				look->callee = NULL;
			if (own && !own_above && dw_activity_in(look->activity, OF_OBJECTS) && dw_name_is_of_object(function->name)) {
				look->callee = function;
				look->called = DW_ACTIVITY_UNKNOWN;
				continue;
			}
			own_above |= own;
			if (!own_above && !born && look_is_called(frame, function, activity)) {
				look->callee = function;
				look->called = activity;
				native = frame->module != NULL;
			}
			if (!own_above && !born && !waits && look->inner == DW_ACTIVITY_UNKNOWN)
				look->inner = activity;
			if (!own_above && look_makes_table(look, function))
				continue;
			if (!own_above && !born) {
				look_through(look, frame, frame->module ? frame->module : function->file, activity, waits);
				look_at_import(&import, function, activity);
			}
			if (own && !look_add(look, frame, function, activity == DW_ACTIVITY_STARTS))
				return false;
		}
	}
	look_put_import(look, &import);
	return true;
}

void dw_look_reset(struct dw_look *look)
{
	free(look->functions);
	*look = (struct dw_look){ .functions = NULL };
}
