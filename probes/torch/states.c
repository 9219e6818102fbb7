/*
 * What PyTorch does for callbacks at each node of a backward, left out where it changes nothing.
 *
 * Before and after each node autograd sets the state of the thread that called backward():
 * with it the callbacks that are the thread's own, through at::set_record_function_tls_(). PyTorch
 * then makes its lists of callbacks anew for all ten kinds of RecordFunction, and copies the
 * global ones for it, under a lock. That takes a third of what a callback costs a step of small
 * operators. Here the call ends at once while our callbacks stand in PyTorch and the thread is to
 * have what it has: no callbacks of its own, and as many kinds enabled. A global callback that
 * comes or goes is seen all the same: PyTorch compares a version at each operator.
 *
 * The state is a std::vector (begin, end, capacity) and a bool. That it lies so is shown at
 * attach; else nothing is redirected.
 */
#include "torch.h"

#include <dlfcn.h>
#include <string.h>

#define ENABLED 24u /* behind the vector's three pointers */

static const char *(*get_state)(void);
static void (*set_state)(const char *state);
static bool left_out; /* atomic: our callbacks stand in PyTorch */

static inline bool is_empty(const char *state)
{
	return TORCH_POINTER(state, 0) == TORCH_POINTER(state, 8);
}

static void set_if_other(const char *state)
{
	if (DWELL_LIKELY(__atomic_load_n(&left_out, __ATOMIC_RELAXED))) {
		const char *now = get_state();

		if (is_empty(now) && is_empty(state) && now[ENABLED] == state[ENABLED])
			return;
	}
	set_state(state);
}

void dwp_states_leave_out(bool leave)
{
	__atomic_store_n(&left_out, leave, __ATOMIC_RELAXED);
}

/* ---- how the state lies ------------------------------------------------------------------ */

TORCH_START(on_nothing, nothing)

static void nothing(const char *function)
{
}

static void on_end(const char *function, void *context)
{
}

/* With a callback of the thread's own the vector must be seen to grow, with callbacks disabled
 * the bool to fall. A callback for no kind of RecordFunction is never called. */
static bool is_as_thought(void *library)
{
	struct torch_callback callback = { (torch_start *)on_nothing, on_end, 1.0, { 0 }, 0, 0, 0 };
	uint64_t (*add)(struct torch_callback callback);
	void (*enable)(bool enabled);
	bool right;

	*(void **)&add = dlsym(library, "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE");
	*(void **)&enable = dlsym(library, "_ZN2at20enableRecordFunctionEb");
	if (!add || !enable || !is_empty(get_state()) || get_state()[ENABLED] != 1)
		return false;
	uint64_t handle = add(callback);
	right = TORCH_POINTER(get_state(), 8) > TORCH_POINTER(get_state(), 0) &&
	        TORCH_POINTER(get_state(), 16) >= TORCH_POINTER(get_state(), 8) && get_state()[ENABLED] == 1;
	dwp_torch_layout.remove(handle);
	enable(false);
	right = right && is_empty(get_state()) && get_state()[ENABLED] == 0;
	enable(true);
	return right && is_empty(get_state()) && get_state()[ENABLED] == 1;
}

/* `library`: whose libraries have the functions; `cpu`: the one that calls them. */
void dwp_states_attach(void *library, void *cpu)
{
	void **slot = dwp_redirect_slot(cpu, "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE");

	*(void **)&get_state = dlsym(library, "_ZN2at24get_record_function_tls_Ev");
	*(void **)&set_state = dlsym(library, "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE");
	if (slot && get_state && set_state && is_as_thought(library))
		dwp_redirect(slot, (void *)(uintptr_t)set_if_other);
}
