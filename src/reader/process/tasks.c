/*
 * Tasks of asyncio that wait, with the coroutines that await each other, read from the interpreter's memory.
 *
 * A frame of the package asyncio names the module asyncio.tasks in its global names, and that has the set of all tasks, up to
 * Python 3.13. Objects are known by the names of their types, so that what changes meanwhile is left out.
 */
#include "process/inside.h"

#include <stdio.h>

#include "base/error.h"
#include "base/grow.h"

#define TASKS_MOST 10000u
#define TASKS_DEEP 64u       /* coroutines that await each other */
#define TASKS_WORDS 40u      /* of a task */
#define TASKS_ENTRIES 65536u /* of a set */

/* Where a suspended coroutine has what it needs; in bytes. */
struct tasks_layout {
	uint32_t minor;
	uint32_t globals;            /* in a frame */
	uint32_t frame, state;       /* in a coroutine: its frame; before 3.11 a pointer to it, and `state` is in the frame */
	uint32_t stack_top, locals;  /* in a frame; before 3.11 `stack_top` is a pointer, or a number of words behind that at `locals` */
};

static const struct tasks_layout layouts[] = {
	{ 9, 48, 16, 116, 72, 0 }, { 10, 48, 16, 108, 80, 64 }, { 11, 8, 80, 75, 64, 72 },
	{ 12, 24, 72, 67, 64, 72 }, { 13, 24, 72, 67, 64, 72 },
};

static const struct tasks_layout *tasks_layout_of(const struct dw_python *python)
{
	for (size_t i = 0; python->known && i < sizeof layouts / sizeof *layouts; i++)
		if (layouts[i].minor == python->layout.minor)
			return &layouts[i];
	return NULL;
}

/* ---- the set of all tasks -------------------------------------------------------------------------- */

/* The set of a WeakSet. */
static uint64_t tasks_set_of(const struct dw_python *python, uint64_t object)
{
	const uint64_t found[] = {
		object, /* a set as it is */
		dw_object_attribute(python, object, "data"),
	};

	for (size_t i = 0; object && i < sizeof found / sizeof *found; i++)
		if (dw_object_is(python, found[i], "set"))
			return found[i];
	return 0;
}

/* ---- what a coroutine awaits ----------------------------------------------------------------------- */

/* A frame of a coroutine, or of a generator that is awaited. */
struct tasks_at {
	uint64_t frame;  /* 0: it has ended */
	bool runs, begun;
};

static struct tasks_at tasks_frame(const struct dw_python *python, const struct tasks_layout *layout, uint64_t coroutine)
{
	bool inside = layout->minor >= 11;
	uint64_t frame = inside ? coroutine + layout->frame : dw_object_word(python, coroutine + layout->frame);
	int32_t instruction = 0;
	int8_t state = 0;

	if (!frame || !dw_object_read(python, (inside ? coroutine : frame) + layout->state, &state, sizeof state))
		return (struct tasks_at){ 0 };
	if (layout->minor == 9) { /* whether it runs */
		dw_object_read(python, frame + python->layout.instruction, &instruction, sizeof instruction);
		return (struct tasks_at){ frame, state != 0, instruction >= 0 };
	}
	if (state > 0)
		return (struct tasks_at){ 0 };
	return (struct tasks_at){ frame, state == 0, state >= -1 || (layout->minor >= 13 && state == -2) };
}

/* The object on top of the frame's stack: what it awaits. */
static uint64_t tasks_awaited(const struct dw_python *python, const struct tasks_layout *layout, uint64_t frame)
{
	uint64_t top = dw_object_word(python, frame + layout->stack_top);

	if (layout->minor == 9)
		return top > 8 ? dw_object_word(python, top - 8) : 0;
	top &= 0xffffffff;
	if (!top || top > TASKS_ENTRIES)
		return 0;
	if (layout->minor == 10)
		return dw_object_word(python, dw_object_word(python, frame + layout->locals) + 8 * (top - 1));
	return dw_object_word(python, frame + layout->locals + 8 * (top - 1));
}

static bool tasks_is_coroutine(const struct dw_python *python, uint64_t object)
{
	return dw_object_is(python, object, "coroutine") || dw_object_is(python, object, "generator") ||
	       dw_object_is(python, object, "async_generator");
}

/* The coroutine that an object which is awaited stands for; else the object. */
static uint64_t tasks_behind(const struct dw_python *python, uint64_t object)
{
	static const char *const stand[] = { "coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "dwell.coroutine" };

	for (size_t i = 0; i < sizeof stand / sizeof *stand; i++)
		if (dw_object_is(python, object, stand[i]))
			return dw_object_word(python, object + 16);
	return object;
}

/* ---- a task ---------------------------------------------------------------------------------------- */

struct tasks {
	struct dw_process *process;
	struct dw_python *python;
	const struct tasks_layout *layout;
};

/* The number of the task's word that is its coroutine: what it waits for is before it, and its name behind it. 0: not found. */
static size_t tasks_find_coroutine(const struct dw_python *python, const uint64_t words[TASKS_WORDS])
{
	for (size_t i = 3; i + 1 < TASKS_WORDS; i++)
		if (words[i] && tasks_is_coroutine(python, tasks_behind(python, words[i])))
			return i;
	return 0;
}

static size_t tasks_read_words(const struct dw_python *python, uint64_t task, uint64_t words[TASKS_WORDS])
{
	memset(words, 0, TASKS_WORDS * sizeof *words);
	for (size_t i = 0; i < TASKS_WORDS && dw_object_read(python, task + 8 * i, &words[i], 8); i++)
		;
	return tasks_find_coroutine(python, words);
}

/* 3.13 keeps the number of "Task-7" until the name is asked for. */
static void tasks_name(const struct dw_python *python, uint64_t object, char name[64])
{
	uint32_t number = 0;

	if (dw_object_is(python, object, "int") && dw_object_read(python, object + 24, &number, sizeof number))
		snprintf(name, 64, "Task-%u", number);
	else
		dw_object_text(python, object, name);
}

static const char *tasks_wait(const struct tasks *tasks, uint64_t future)
{
	uint64_t words[TASKS_WORDS];
	char name[64];
	size_t at;

	if (dw_object_is(tasks->python, future, "_asyncio.FutureIter"))
		future = dw_object_word(tasks->python, future + 16);
	if (dw_object_is(tasks->python, future, "_GatheringFuture"))
		return "several tasks";
	if (!dw_object_is(tasks->python, future, "_asyncio.Task") || !(at = tasks_read_words(tasks->python, future, words)))
		return "an event";
	tasks_name(tasks->python, words[at + 1], name);
	return dw_arena_printf(&tasks->process->arena, "task %s", name);
}

/* Adds the frames of the coroutines, the outermost first. Returns what the innermost one awaits; 0: nothing. */
static uint64_t tasks_walk(struct tasks *tasks, struct dw_process_thread *task, uint64_t coroutine)
{
	const struct dw_python *python = tasks->python;

	while (task->count < TASKS_DEEP && tasks_is_coroutine(python, coroutine = tasks_behind(python, coroutine))) {
		struct tasks_at at = tasks_frame(python, tasks->layout, coroutine);
		struct dw_python_frame frame = { .at = at.frame };
		const struct dw_place *place;

		if (!at.frame || at.runs)
			return 0;
		dw_python_read_frame(tasks->python, &frame);
		place = frame.code ? dw_python_place(tasks->python, &tasks->process->arena, &frame) : NULL;
		if (!place || !place->count)
			return 0;
		task->frames[task->count++] = place->functions[0];
		coroutine = at.begun ? tasks_awaited(python, tasks->layout, at.frame) : 0;
	}
	return coroutine;
}

/* A task that runs is left out: its thread has its frames. False: out of memory. */
static bool tasks_add(struct tasks *tasks, uint64_t object)
{
	struct dw_process *process = tasks->process;
	struct dw_process_thread task = { .state = 'S' };
	uint64_t words[TASKS_WORDS], awaited;
	size_t at = tasks_read_words(tasks->python, object, words);

	task.frames = at ? calloc(TASKS_DEEP, sizeof *task.frames) : NULL;
	if (!task.frames)
		return !at;
	awaited = tasks_walk(tasks, &task, words[at]);
	task.waits = awaited ? tasks_wait(tasks, awaited) : "its turn";
	tasks_name(tasks->python, words[at + 1], task.name);
	for (size_t i = 0; 2 * i + 1 < task.count; i++) {
		struct dw_process_frame swap = task.frames[i];

		task.frames[i] = task.frames[task.count - 1 - i];
		task.frames[task.count - 1 - i] = swap;
	}
	if (task.count && DW_APPEND(&process->tasks, &process->task_capacity, &process->task_count, task))
		return true;
	free(task.frames);
	return !task.count;
}

static bool tasks_add_all(struct tasks *tasks, uint64_t set)
{
	const struct dw_python *python = tasks->python;
	uint64_t mask = dw_object_word(python, set + 32), table = dw_object_word(python, set + 40);

	for (uint64_t i = 0; set && i <= mask && i < TASKS_ENTRIES && tasks->process->task_count < TASKS_MOST; i++) {
		uint64_t item = dw_object_word(python, table + 16 * i);

		if (dw_object_is(python, item, "weakref") || dw_object_is(python, item, "weakref.ReferenceType"))
			item = dw_object_word(python, item + 16);
		if (dw_object_is(python, item, "_asyncio.Task") && !tasks_add(tasks, item))
			return false;
	}
	return true;
}

void dw_tasks_seen(struct dw_python *python, const struct dw_python_frame *frame, const char *file)
{
	const struct tasks_layout *layout = python->asyncio || !strstr(file, "/asyncio/") ? NULL : tasks_layout_of(python);
	uint64_t module = layout ? dw_object_lookup(python, dw_object_word(python, frame->at + layout->globals), "tasks") : 0;

	if (module && dw_object_is(python, module, "module"))
		python->asyncio = dw_object_word(python, module + 16);
}

bool dw_tasks_read(struct dw_process *process, struct dw_python *python)
{
	static const char *const sets[] = { "_all_tasks", "_scheduled_tasks", "_eager_tasks" };
	struct tasks tasks = { process, python, tasks_layout_of(python) };
	bool good = true;

	for (size_t i = 0; good && tasks.layout && python->asyncio && i < sizeof sets / sizeof *sets; i++)
		good = tasks_add_all(&tasks, tasks_set_of(python, dw_object_lookup(python, python->asyncio, sets[i])));
	return good;
}
