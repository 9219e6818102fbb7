/*
 * dlclose(): another library may come to the addresses of one that was unloaded. What is known of addresses is then no
 * longer true, and the recorder is told.
 */
#include "sampler.h"

#include <dlfcn.h>
#include <link.h>

#include "wrapped.h"

#define PUBLIC __attribute__((__visibility__("default"))) DWS_FRONT

PUBLIC int dlclose(void *handle)
{
	static struct dws_wrapped wrapped DWS_WRAPPED = { "dlclose", NULL, NULL, 0 };
	struct dws_stack range;
	int (*next)(void *), code;
	uintptr_t place = 0;

	*(void **)&next = dws_target(&wrapped);
	/* A handle is a struct link_map, whose second and third words are the library's name and its dynamic section. */
	if (dws_process.period_ns && (uintptr_t)handle % sizeof handle == 0 &&
	    dws_can_read((uintptr_t)&((struct link_map *)handle)->l_ld))
		place = (uintptr_t)((struct link_map *)handle)->l_ld;
	code = next(handle);
	if (place && !dws_cfi_module(place, &range))
		__atomic_fetch_add(dws_recorder->code_generation, 1, __ATOMIC_RELEASE);
	return code;
}
