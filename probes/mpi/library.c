/* The MPI libraries of this process; see library.h. */
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "format/keys.h"

#define MOST_LIBRARIES 16u
#define CALLERS 4096u /* places in code from which MPI is called */
#define PLACES 16u    /* where one of them may be; a caller that finds none free is searched for at each call */

static const char *const names[DWM_CALLS] = {
#define NAME(name, parameters, arguments, size, largest) [DWM_##name] = "PMPI_" #name,
#define COLLECTIVE NAME
#define STARTED NAME
#define POINT NAME
#define SENT NAME
#define RECEIVED NAME
#define EXCHANGED NAME
#define TO_SEND NAME
#define TO_RECEIVE NAME
#include "calls.def"
#undef NAME
#define NAME(name, parameters, arguments, size, largest) [DWM_##name##_c] = "PMPI_" #name "_c",
#define COLLECTIVE NAME
#define STARTED NAME
#define POINT NAME
#define SENT NAME
#define RECEIVED NAME
#define EXCHANGED NAME
#define TO_SEND NAME
#define TO_RECEIVE NAME
#define LARGE_COUNTS
#include "calls.def"
#undef NAME
	[DWM_Wait] = "PMPI_Wait",
	[DWM_Waitall] = "PMPI_Waitall",
	[DWM_Waitany] = "PMPI_Waitany",
	[DWM_Test] = "PMPI_Test",
	[DWM_Init] = "PMPI_Init",
	[DWM_Init_thread] = "PMPI_Init_thread",
	[DWM_Initialized] = "PMPI_Initialized",
	[DWM_Finalize] = "PMPI_Finalize",
	[DWM_Comm_free] = "PMPI_Comm_free",
	[DWM_Comm_size] = "PMPI_Comm_size",
	[DWM_Comm_rank] = "PMPI_Comm_rank",
	[DWM_Comm_group] = "PMPI_Comm_group",
	[DWM_Type_size] = "PMPI_Type_size",
	[DWM_Group_translate_ranks] = "PMPI_Group_translate_ranks",
	[DWM_Group_free] = "PMPI_Group_free",
};

static struct {
	pthread_mutex_t lock;
	struct dwm_library libraries[MOST_LIBRARIES];
	unsigned count;
	struct {
		const void *caller; /* atomic; written last */
		struct dwm_library *library;
	} callers[CALLERS];
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A call that cannot be passed on fails, as a call of MPI may: the program decides what follows. */
static int library_fail(void)
{
	return DWM_ERR_OTHER;
}

/* The library of callers whose own one was not found. All its functions fail. */
static struct dwm_library missing;

/* Says once for each function that its calls fail. */
static void library_say(const char *name)
{
	fprintf(
		stderr,
		"dwell: this program's MPI has no %s, so the call fails; dwell run --no-mpi records the program without MPI\n",
		name);
}

/* An extension of Python that is linked to MPI is not in the program's own scope, nor is MPI. */
static void *library_find_near(const char *name, const void *caller)
{
	Dl_info found;
	void *handle, *symbol;

	if (!dladdr(caller, &found) || !found.dli_fname)
		return NULL;
	handle = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	symbol = handle ? dlsym(handle, name) : NULL;
	if (handle)
		dlclose(handle);
	return symbol;
}

/* ---- what it is ------------------------------------------------------------------------------- */

/* The first line of what the library says of itself, without what follows a comma. */
static void library_version(void *handle, char text[DW_MPI_VERSION_BYTES])
{
	int (*version)(char *text, int *length) = NULL;
	int length = 0;

	text[0] = '\0';
	*(void **)&version = dlsym(handle, "PMPI_Get_library_version");
	if (!version || version(text, &length) != DWM_SUCCESS)
		text[0] = '\0';
	text[DW_MPI_VERSION_BYTES - 1] = '\0';
	text[strcspn(text, ",\n")] = '\0';
	for (char *at = text; *at; at++)
		if (*at == '\t')
			*at = ' ';
}

static uintptr_t library_world(void *handle, enum dw_mpi_abi abi)
{
	/* A program may have a copy of Open MPI's variable, which is then the one that MPI uses; so the whole program is
	 * searched. */
	void *variable = abi == DW_MPI_OPEN ? dlsym(RTLD_DEFAULT, DW_MPI_OPEN_WORLD) : NULL;

	if (abi == DW_MPI_OPEN)
		return (uintptr_t)(variable ? variable : dlsym(handle, DW_MPI_OPEN_WORLD));
	return abi == DW_MPI_MPICH ? DW_MPI_MPICH_WORLD : DW_MPI_STANDARD_WORLD;
}

/* States in the trace what is recorded, and what is not. */
static void library_note(const struct dwm_library *library, const char *version)
{
	const char *slash = strrchr(library->path, '/'), *file = slash ? slash + 1 : library->path;
	char text[400];

	if (library->recorded) {
		snprintf(text, sizeof text, "%.200s (%.100s)", *version ? version : "MPI", file);
		dwell_meta(DW_KEY_MPI, text);
	} else if (library->abi == DW_MPI_UNKNOWN) {
		snprintf(text, sizeof text, "the probe does not know this MPI library: %.100s, which says that it is %.200s", file,
		         *version ? version : "of no version");
		dwell_meta(DW_KEY_MPI_LACKS, text);
	} else {
		snprintf(text, sizeof text, "this process has two MPI libraries; the calls of %.100s (%.200s) are not recorded",
		         file, version);
		dwell_meta(DW_KEY_MPI_LACKS, text);
	}
}

/* Needs the lock. */
static struct dwm_library *library_add(void *handle, const char *path)
{
	static char version[DW_MPI_VERSION_BYTES];
	struct dwm_library *library = &state.libraries[state.count];

	library_version(handle, version);
	library->handle = handle;
	library->path = path;
	library->abi = dw_mpi_abi_of(path, version, dlsym(handle, DW_MPI_OPEN_WORLD) != NULL);
	library->world = library_world(handle, library->abi);
	library->lacks_large_counts = !dlsym(handle, "PMPI_Send_c");
	library->recorded = library->abi != DW_MPI_UNKNOWN;
	for (unsigned i = 0; i < state.count; i++)
		library->recorded &= !state.libraries[i].recorded;
	library_note(library, version);
	state.count++;
	return library;
}

/* ---- which one -------------------------------------------------------------------------------- */

/* Needs the lock. The order is the loader's: what the whole program sees, then what the caller's file is linked to. */
static struct dwm_library *library_search(const void *caller)
{
	void *symbol = dlsym(RTLD_NEXT, "PMPI_Init"), *handle;
	Dl_info found;

	if (!symbol)
		symbol = library_find_near("PMPI_Init", caller);
	if (!symbol || !dladdr(symbol, &found) || !found.dli_fname)
		return &missing;
	handle = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return &missing;
	for (unsigned i = 0; i < state.count; i++)
		if (state.libraries[i].handle == handle) {
			dlclose(handle);
			return &state.libraries[i];
		}
	if (state.count == MOST_LIBRARIES) {
		dlclose(handle);
		return &missing;
	}
	return library_add(handle, found.dli_fname);
}

struct dwm_library *dwm_library_of(const void *caller)
{
	uint32_t first = (uint32_t)((uintptr_t)caller * 0x9e3779b97f4a7c15u >> 40) % CALLERS, at = first;
	struct dwm_library *library;

	for (uint32_t i = 0; i < PLACES; i++, at = (at + 1) % CALLERS) {
		/* Acquire: pairs with the release below; the library of this caller is complete. */
		const void *known = __atomic_load_n(&state.callers[at].caller, __ATOMIC_ACQUIRE);

		if (DWELL_LIKELY(known == caller))
			return state.callers[at].library;
		if (!known)
			break;
	}
	pthread_mutex_lock(&state.lock);
	library = library_search(caller);
	at = first;
	for (uint32_t i = 0; i < PLACES; i++, at = (at + 1) % CALLERS) {
		if (state.callers[at].caller == caller)
			break;
		if (state.callers[at].caller)
			continue;
		state.callers[at].library = library;
		__atomic_store_n(&state.callers[at].caller, caller, __ATOMIC_RELEASE);
		break;
	}
	pthread_mutex_unlock(&state.lock);
	return library;
}

void *dwm_find(struct dwm_library *library, enum dwm_call call)
{
	/* Without a handle dlsym() would find the probe's own functions. */
	void *function = library->handle ? dlsym(library->handle, names[call]) : NULL;
	size_t length = strlen(names[call]);
	char small[48];

	/* A program asks whether there is an MPI_NAME_c, finds the probe's, and calls it. An int count is in the same
	 * register, or in the same 8 bytes of the stack; the caller has checked that it is not too large. */
	if (!function && library->lacks_large_counts && length > 2 && strcmp(names[call] + length - 2, "_c") == 0) {
		snprintf(small, sizeof small, "%.*s", (int)length - 2, names[call]);
		function = dlsym(library->handle, small);
	}
	if (!function) {
		int (*fail)(void) = library_fail;

		library_say(names[call]);
		memcpy(&function, &fail, sizeof function);
	}
	__atomic_store_n(&library->functions[call], function, __ATOMIC_RELEASE);
	return function;
}
