/*
 * Notices that memory ended, in any code of this command.
 *
 * Tables and pages leave out what they have no memory for, at hundreds of places. So the linker (--wrap in meson.build)
 * puts these functions before libc's: if one of them found no memory, what was printed is not called whole.
 */

#include "say/say.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool memory_ended;

static void *memory_note(void *block, size_t size)
{
	if (!block && size)
		__atomic_store_n(&memory_ended, true, __ATOMIC_RELAXED);
	return block;
}

void *__wrap_malloc(size_t size)
{
	return memory_note(__real_malloc(size), size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return memory_note(__real_calloc(count, size), count * size);
}

void *__wrap_realloc(void *block, size_t size)
{
	return memory_note(__real_realloc(block, size), size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return memory_note(__real_aligned_alloc(alignment, size), size);
}

int dw_memory_status(int status)
{
	static bool said;

	if (!__atomic_load_n(&memory_ended, __ATOMIC_RELAXED))
		return status;
	if (!said && !(status && dw_has_said()))
		dw_say("memory ended: what is shown may lack something; give less (--steps, --rows), or more memory");
	said = true;
	return status ? status : DW_EXIT_BAD_INPUT;
}
