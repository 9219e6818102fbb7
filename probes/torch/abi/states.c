/*
 * Skips changes of a thread's callback state that change nothing.
 *
 * Before and after each node of a backward, autograd sets the state of the thread that called
 * backward(). A part of this state are the callbacks of the thread's own, which
 * at::set_record_function_tls_() sets. PyTorch then makes its lists of callbacks again for all ten
 * kinds of RecordFunction, and copies the global callbacks under a lock. In a step of small
 * operators this is a third of the cost of a callback.
 *
 * The replacement returns at once if the probe's callbacks are registered and the new state equals
 * the old one: the thread has no callbacks of its own, and RecordFunction is enabled or disabled as
 * before. A global callback that is added or removed still takes effect, because PyTorch compares a
 * version at each operator.
 *
 * The state is a std::vector (begin, end, capacity) and a bool. This is verified at attach. If the
 * state is different, nothing is replaced.
 */
#include "private.h"

#include <dlfcn.h>

#define ENABLED 24u /* behind the vector's three pointers */

static const char *(*get_state)(void);
static void (*set_state)(const char *state);
static bool skipped; /* atomic: our callbacks are registered in PyTorch */

static inline bool states_is_empty(const char *state)
{
	return ABI_POINTER(state, 0) == ABI_POINTER(state, 8);
}

static void states_set_if_other(const char *state)
{
	if (DWELL_LIKELY(__atomic_load_n(&skipped, __ATOMIC_RELAXED))) {
		const char *now = get_state();

		if (states_is_empty(now) && states_is_empty(state) && now[ENABLED] == state[ENABLED])
			return;
	}
	set_state(state);
}

void dwp_abi_skip_states(bool skip)
{
	__atomic_store_n(&skipped, skip, __ATOMIC_RELAXED);
}

/* ---- the state's layout ------------------------------------------------------------------ */

TORCH_START(states_on_start, states_ignore)

static void states_ignore(const char *function)
{
}

static void states_on_end(const char *function, void *context)
{
}

/* Verifies the layout: adding a callback of the thread's own must make the vector longer, and
 * disabling callbacks must clear the bool. The added callback is for no kind of RecordFunction, so
 * that it is never called. */
static bool states_verify(void *library)
{
	struct torch_callback callback = { (torch_start *)states_on_start, states_on_end, 1.0, { 0 }, 0, 0, 0 };
	uint64_t (*add)(struct torch_callback callback);
	void (*enable)(bool enabled);
	bool right;

	*(void **)&add = dlsym(library, "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE");
	*(void **)&enable = dlsym(library, "_ZN2at20enableRecordFunctionEb");
	if (!add || !enable || !states_is_empty(get_state()) || get_state()[ENABLED] != 1)
		return false;
	uint64_t handle = add(callback);
	right = ABI_POINTER(get_state(), 8) > ABI_POINTER(get_state(), 0) &&
	        ABI_POINTER(get_state(), 16) >= ABI_POINTER(get_state(), 8) && get_state()[ENABLED] == 1;
	dwp_abi_remove_callback(handle);
	enable(false);
	right = right && states_is_empty(get_state()) && get_state()[ENABLED] == 0;
	enable(true);
	return right && states_is_empty(get_state()) && get_state()[ENABLED] == 1;
}

void dwp_abi_find_states(void *library, void *cpu)
{
	void **slot = dwp_abi_find_slot(cpu, "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE");

	*(void **)&get_state = dlsym(library, "_ZN2at24get_record_function_tls_Ev");
	*(void **)&set_state = dlsym(library, "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE");
	if (dwp_abi_breaks(DWP_ABI_STATES) || !slot || !get_state || !set_state || !states_verify(library) ||
	    !dwp_abi_replace(slot, (void *)(uintptr_t)states_set_if_other))
		dwp_abi_lacks(DWP_ABI_STATES);
}
