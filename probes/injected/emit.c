/*
 * The other direction: emits ranges as NVTX, for the tool that NVTX_INJECTION64_PATH names.
 *
 * This is NVTX's client: tables of places for functions, into which the tool writes its own. If the
 * variable names this library, the tool is the one that it named before (DWELL_NVTX_NEXT): dwell does
 * not record what it emits. The Python package calls these functions (dwell.emit_nvtx).
 */
#include "nvtx_types.h"
#include "table.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Loads the tool. Returns whether there is one that takes ranges. */
DWI_API int dwi_emit_open(void);
/* Ranges of the calling thread; ignored if there is no tool. */
DWI_API void dwi_emit_push(const char *name);
DWI_API void dwi_emit_pop(void);
/* Calls cudaProfilerStart or cudaProfilerStop if the program has loaded CUDA's runtime. Returns whether. */
DWI_API int dwi_emit_cuda(int start);

#define MODULES 7
#define MOST 17

static const unsigned emit_counts[MODULES] = { 0, CORE_FUNCTIONS, 9, 15, 7, CORE2_FUNCTIONS, 7 };
static nvtx_function emit_functions[MODULES][MOST];
static nvtx_function *emit_places[MODULES][MOST];
static void *emit_domain;

static int emit_get_module(int module, nvtx_function ***table, unsigned *count)
{
	if (module < 1 || module >= MODULES)
		return 0;
	for (unsigned i = 1; i < emit_counts[module]; i++)
		emit_places[module][i] = &emit_functions[module][i];
	*table = emit_places[module];
	*count = emit_counts[module];
	return 1;
}

static void emit_take_version(uint32_t version)
{
	(void)version;
}

static const void *emit_get_table(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof callbacks, emit_get_module };
	static const struct {
		size_t size;
		uint32_t version, reserved;
		void (*set)(uint32_t version);
	} version = { sizeof version, 3, 0, emit_take_version };

	return id == NVTX_TABLE_CALLBACKS ? (const void *)&callbacks : id == 3 ? (const void *)&version : NULL;
}

/* The tool's path, or NULL. */
static const char *emit_tool(void)
{
	static const char own[] = "libdwell-injected.so";
	const char *path = getenv("NVTX_INJECTION64_PATH"), *slash = path ? strrchr(path, '/') : NULL;

	if (path && strcmp(slash ? slash + 1 : path, own) == 0)
		path = getenv("DWELL_NVTX_NEXT");
	return path && *path ? path : NULL;
}

static void emit_load(void)
{
	const char *path = emit_tool();
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
	int (*initialize)(nvtx_get_table) = NULL;
	void *(*create)(const char *);

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	if (!initialize || initialize(emit_get_table) != 1) {
		memset(emit_functions, 0, sizeof emit_functions);
		return;
	}
	create = (void *(*)(const char *))emit_functions[NVTX_CORE2][CORE2_CREATE_A];
	emit_domain = create ? create("dwell") : NULL;
}

int dwi_emit_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, emit_load);
	return (emit_functions[NVTX_CORE2][CORE2_PUSH] && emit_functions[NVTX_CORE2][CORE2_POP]) ||
	       (emit_functions[NVTX_CORE][CORE_PUSH_A] && emit_functions[NVTX_CORE][CORE_POP]);
}

void dwi_emit_push(const char *name)
{
	int (*push)(void *, const void *) =
	    (int (*)(void *, const void *))emit_functions[NVTX_CORE2][CORE2_PUSH];
	int (*push_plain)(const char *) = (int (*)(const char *))emit_functions[NVTX_CORE][CORE_PUSH_A];
	int saved = errno;

	if (push) {
		struct nvtx_attributes attributes = { .version = 3, .size = sizeof attributes,
			                                  .message_type = NVTX_MESSAGE_ASCII };

		attributes.message.ascii = name;
		push(emit_domain, &attributes);
	} else if (push_plain) {
		push_plain(name);
	}
	errno = saved;
}

void dwi_emit_pop(void)
{
	int (*pop)(void *) = (int (*)(void *))emit_functions[NVTX_CORE2][CORE2_POP];
	int (*pop_plain)(void) = (int (*)(void))emit_functions[NVTX_CORE][CORE_POP];
	int saved = errno;

	if (emit_functions[NVTX_CORE2][CORE2_PUSH] && pop)
		pop(emit_domain);
	else if (pop_plain)
		pop_plain();
	errno = saved;
}

int dwi_emit_cuda(int start)
{
	static const char *const runtimes[] = { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0" };
	const char *name = start ? "cudaProfilerStart" : "cudaProfilerStop";
	int (*function)(void) = NULL;

	*(void **)&function = dlsym(RTLD_DEFAULT, name);
	for (size_t i = 0; !function && i < sizeof runtimes / sizeof *runtimes; i++) {
		void *runtime = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);

		if (runtime) /* stays open: the program has loaded it */
			*(void **)&function = dlsym(runtime, name);
	}
	if (function)
		function();
	return function != NULL;
}
