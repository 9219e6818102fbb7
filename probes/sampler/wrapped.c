/*
 * The functions that this library is in front of. They are looked for before main(): the search takes the loader's lock,
 * which another thread may hold for long, and it clears the message of dlerror().
 */
#include "wrapped.h"

#include <dlfcn.h>
#include <stddef.h>

void *dws_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* glibc of x86-64 has two versions of conditions; programs use the newer one. */
void *dws_target_find(struct dws_wrapped *wrapped)
{
	void *target = wrapped->version ? dlvsym(RTLD_NEXT, wrapped->name, wrapped->version) : NULL;

	if (!target)
		target = dws_next(wrapped->name);
	__atomic_store_n(&wrapped->target, target, __ATOMIC_RELAXED);
	return target;
}

/* The linker's: begin and end of the section. */
extern struct dws_wrapped __start_dws_wrapped[] __attribute__((weak, visibility("hidden")));
extern struct dws_wrapped __stop_dws_wrapped[] __attribute__((weak, visibility("hidden")));

/* A function that this libc lacks is called by no program. The message that the search leaves is removed. */
void dws_targets_resolve(void)
{
	size_t count = ((uintptr_t)__stop_dws_wrapped - (uintptr_t)__start_dws_wrapped) / sizeof(struct dws_wrapped);

	for (size_t i = 0; i < count; i++)
		dws_target_find(&__start_dws_wrapped[i]);
	dlerror();
}
