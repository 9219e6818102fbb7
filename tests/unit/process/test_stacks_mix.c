/* Frames of the interpreter's loop are replaced by those of Python, also where no stack pointers are known. */
#include "../check.h"

#include <unistd.h>

#include "process/inside.h"

/* Stand for functions of a stack: only their places count. */
static void called_by_loop(void) {}
static void _PyEval_EvalFrameDefault(void) {}
static void caller_of_loop(void) {}

static struct dw_process process;
static struct dw_unwind unwind;
static struct dw_python python;
static struct dw_thread_read thread;

static void mix_stack(const uint64_t stack_pointers[3], uint64_t loop)
{
	void (*const functions[])(void) = { called_by_loop, _PyEval_EvalFrameDefault, caller_of_loop };

	thread.native_count = 3;
	for (size_t i = 0; i < 3; i++)
		thread.native[i] = (struct dw_native){ (uintptr_t)functions[i], stack_pointers[i] };
	/* No code object is there, so this frame itself has no function. */
	thread.python_count = 1;
	thread.python[0] = (struct dw_python_frame){ .last = true, .loop = loop };
	CHECK(dw_stacks_mix(&thread, &unwind, &python));
	REQUIRE(thread.count == 2);
	CHECK_STR(thread.mixed[0].place->functions->function, "called_by_loop");
	CHECK_STR(thread.mixed[1].place->functions->function, "caller_of_loop");
}

TEST(the_loop_is_found_by_its_record_or_by_its_name)
{
	struct dwell_error error;

	process.pid = python.pid = (uint32_t)getpid();
	REQUIRE(dw_unwind_open(&unwind, &process, &error) == 0);
	mix_stack((uint64_t[]){ 1000, 2000, 3000 }, 2500);
	mix_stack((uint64_t[]){ 1000, 2000, 3000 }, 0);
	mix_stack((uint64_t[]){ 0, 0, 0 }, 2500);
	dw_unwind_close(&unwind);
	dw_python_reset(&python);
	dw_arena_reset(&process.arena);
}

CHECK_MAIN
