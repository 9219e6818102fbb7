/*
 * Finds the TorchScript functions that the calling thread is in, for operators that are recorded
 * with stacks.
 *
 * Called at the beginning of an operator that a script function called, in any thread. One function
 * of PyTorch returns the calls that its interpreter is in. Another one converts them to files and
 * lines, as for PyTorch's own profiler. Both return a vector by value. This file uses only what
 * libstdc++ keeps stable: a vector is three pointers; a string of either kind begins with a pointer
 * to its text, and a function of libstdc++ destroys it; the object of a shared_ptr has a count of
 * its owners.
 *
 * Two things differ between builds of PyTorch: the kind of strings, and the size of a call. Both
 * are found with one call of a script function that is made here: its name and its source must be
 * found in the vector. Otherwise stacks have no frames of TorchScript.
 */
#include "private.h"

#include <dlfcn.h>
#include <string.h>

struct vector {
	char *first, *last, *capacity;
};

/* Sizes in bytes and offsets with either kind of std::string. */
struct kind {
	const char *destroy;           /* std::string's destructor */
	size_t source;                 /* StackEntry: a string, a shared_ptr, numbers */
	size_t frame, line, function;  /* FileLineFunc: a string, a number, a string */
};

static const struct kind kinds[] = {
	{ "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev", 32, 72, 32, 40 },
	{ "_ZNSsD1Ev", 8, 24, 8, 16 },
};

static struct {
	void *library;                                       /* of PyTorch; NULL after the search */
	struct vector (*calls)(void);                        /* jit::currentCallstack() */
	struct vector (*frames)(const struct vector *calls); /* prepareCallstack() */
	void (*release)(void *memory);                       /* operator delete */
	void (*destroy)(void *string);
	size_t call_size;                                    /* of a StackEntry */
	const struct kind *kind; /* NULL: not known. Atomic: stored with release order after all other
	                          * members are set */
} script;

/* ---- what C++ leaves to its callers ------------------------------------------------------ */

/* Releases a shared_ptr's object as libstdc++ does. `counted` points to a pointer to a table of
 * functions, followed by the number of owners and the number of weak references. */
static void script_release_source(void **counted)
{
	int *owners = counted ? (int *)(void *)(counted + 1) : NULL;
	void (**functions)(void *);

	if (!owners || __atomic_fetch_sub(&owners[0], 1, __ATOMIC_ACQ_REL) != 1)
		return;
	functions = *counted;
	functions[2](counted);
	if (__atomic_fetch_sub(&owners[1], 1, __ATOMIC_ACQ_REL) == 1)
		functions[3](counted);
}

static void script_release_calls(const struct vector *calls)
{
	for (char *at = calls->first; at != calls->last; at += script.call_size) {
		script.destroy(at);
		script_release_source(*(void ***)(void *)(at + script.kind->source + 8));
	}
	if (calls->first)
		script.release(calls->first);
}

static void script_release_frames(const struct vector *frames)
{
	for (char *at = frames->first; at != frames->last; at += script.kind->frame) {
		script.destroy(at);
		script.destroy(at + script.kind->function);
	}
	if (frames->first)
		script.release(frames->first);
}

/* ---- the kind ------------------------------------------------------------------------------ */

#define KNOWN DWP_ABI_SCRIPT_NAME /* short enough to lie in a string itself, if the kind of string has that */

/* Whether the call has the known name, and a source that lies directly behind its reference counts,
 * as std::make_shared() places it. A supposed pointer may be any value: memory is read through the
 * kernel. */
static bool script_is_known(const char *call, const struct kind *kind)
{
	const char *text = ABI_POINTER(call, 0);
	const char *source = ABI_POINTER(call, kind->source), *counted = ABI_POINTER(call, kind->source + 8);
	char name[sizeof KNOWN], header[8];
	uint64_t length = 0;

	if (kind == &kinds[0])
		length = text == call + 16 ? ABI_WORD(call, 8) : 0;
	else if (dwp_abi_read(header, text - 24, sizeof header) == sizeof header)
		length = ABI_WORD(header, 0); /* before the text */
	return length == sizeof KNOWN - 1 && dwp_abi_read(name, text, sizeof name) == sizeof name &&
	       memcmp(name, KNOWN, sizeof KNOWN) == 0 && counted && source == counted + 16;
}

static __thread bool looking;
static const struct kind *seen;

TORCH_START(script_on_start, script_watch_call)

static void script_watch_call(const char *function)
{
	if (!looking || strcmp(dwp_abi_name(function), "aten::neg") != 0)
		return;
	looking = false;
	struct vector calls = script.calls();
	script.call_size = (size_t)(calls.last - calls.first);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !seen; i++)
		if (script.call_size >= kinds[i].source + 16 && script.call_size < 256 && script_is_known(calls.first, &kinds[i]))
			seen = &kinds[i];
	/* The vector is not freed, because its layout may be unknown: about a hundred bytes, once. */
}

static void script_on_end(const char *function, void *context)
{
}

static void script_search(void)
{
	uint64_t handle;

	if (!dwp_abi_work_begin())
		return;
	handle = dwp_abi_add_callback((torch_start *)script_on_start, script_on_end, 1u << TORCH_FUNCTION, false);
	looking = true;
	dwp_abi_work(DWP_ABI_WORK_SCRIPT);
	looking = false;
	dwp_abi_remove_callback(handle);
	dwp_abi_work_end();
}

void dwp_abi_prepare_script(void *library)
{
	script.library = library;
}

void dwp_abi_find_script(void)
{
	void *library = script.library;

	if (!library || !dwp_abi_has_operators())
		return;
	script.library = NULL; /* search only once */
	*(void **)&script.calls = dlsym(library, "_ZN5torch3jit16currentCallstackEv");
	*(void **)&script.frames = dlsym(library, "_ZN5torch8profiler4impl16prepareCallstackERKSt6vectorI"
	                                          "NS_3jit10StackEntryESaIS4_EE");
	*(void **)&script.release = dlsym(library, "_ZdlPv");
	if (script.calls && script.frames && script.release)
		script_search();
	if (dwp_abi_breaks(DWP_ABI_SCRIPT))
		seen = NULL;
	if (seen)
		*(void **)&script.destroy = dlsym(library, seen->destroy);
	if (script.destroy)
		__atomic_store_n(&script.kind, seen, __ATOMIC_RELEASE);
	else
		dwp_abi_lacks(DWP_ABI_SCRIPT);
}

/* ---- frames -------------------------------------------------------------------------------- */

unsigned dwp_abi_script_frames(uint32_t *ids, unsigned capacity)
{
	struct vector calls, frames;
	unsigned count = 0;

	if (!__atomic_load_n(&script.kind, __ATOMIC_ACQUIRE))
		return 0;
	calls = script.calls();
	if (calls.first == calls.last) {
		script_release_calls(&calls);
		return 0;
	}
	frames = script.frames(&calls);
	script_release_calls(&calls);
	for (const char *at = frames.first; at != frames.last && count < capacity; at += script.kind->frame) {
		ids[count] = dwell_intern_frame(ABI_POINTER(at, script.kind->function), ABI_POINTER(at, 0),
		                                (uint32_t)ABI_WORD(at, script.kind->line));
		count += ids[count] != 0;
	}
	script_release_frames(&frames);
	return count;
}
