/* The copies of ggml in this process; see library.h. */
#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>

#include "format/keys.h"

#define MOST_LIBRARIES 8u
#define MOST_FUNCTIONS 64u

static struct {
	pthread_mutex_t lock;
	struct dwg_library libraries[MOST_LIBRARIES];
	unsigned count;
	struct {
		const void *real; /* atomic; written last */
		struct dwg_library *library;
	} functions[MOST_FUNCTIONS];
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- functions that are recorded --------------------------------------------------------------- */

/* Opens the file that has this address; it is loaded already. */
static void *library_open(const void *address, const char **path)
{
	Dl_info found;

	if (!dladdr(address, &found) || !found.dli_fname)
		return NULL;
	*path = found.dli_fname;
	return dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* A library that was loaded for itself, as Python loads extensions, is in no other's scope: what the caller's
 * file is linked to is searched. */
static void *library_find_near(const char *name, const void *caller)
{
	const char *path;
	void *handle = library_open(caller, &path), *real = handle ? dlsym(handle, name) : NULL;

	if (handle)
		dlclose(handle);
	return real;
}

struct library_search {
	const char *name;
	void *real;
};

static int library_look(struct dl_phdr_info *info, size_t size, void *context)
{
	struct library_search *search = context;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	void *handle;

	if (!slash || strncmp(slash, "/libggml", 8) != 0)
		return 0;
	handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	search->real = handle ? dlsym(handle, search->name) : NULL;
	if (handle)
		dlclose(handle);
	return search->real != NULL;
}

/* ggml may load its backends itself: then they are in no one's scope. */
static void *library_find_loaded(const char *name)
{
	struct library_search search = { name, NULL };

	dl_iterate_phdr(library_look, &search);
	return search.real;
}

/* What a call does that cannot be passed on: it fails, and the program decides what follows. */
static void *library_fail_null(void)
{
	return NULL;
}

static int library_fail_status(void)
{
	return -1;
}

/* The caller's registers hold its arguments, whatever they are, so that both functions may take their place. */
static void *library_missing(const struct dwg_function *function)
{
	void *(*null)(void) = library_fail_null;
	int (*status)(void) = library_fail_status;
	void *fails;

	fprintf(stderr, "dwell: this program's ggml has no %s, so the call fails; dwell run --no-ggml records the program without ggml\n",
	        function->name);
	memcpy(&fails, function->has_status ? (const void *)&status : (const void *)&null, sizeof fails);
	return fails;
}

void *dwg_find(struct dwg_function *function, const void *caller)
{
	void *real;

	for (unsigned i = 0; i < sizeof function->near / sizeof *function->near; i++)
		/* Acquire: pairs with the release below. */
		if (__atomic_load_n(&function->near[i].caller, __ATOMIC_ACQUIRE) == caller)
			return function->near[i].real;
	real = dlsym(RTLD_NEXT, function->name);
	if (real) {
		__atomic_store_n(&function->real, real, __ATOMIC_RELEASE);
		return real;
	}
	real = library_find_near(function->name, caller);
	if (!real)
		real = library_find_loaded(function->name);
	dlerror(); /* of searches that found nothing: the program's call has succeeded */
	if (!real)
		real = library_missing(function);
	pthread_mutex_lock(&state.lock);
	for (unsigned i = 0; i < sizeof function->near / sizeof *function->near; i++) {
		if (function->near[i].caller)
			continue;
		function->near[i].real = real;
		__atomic_store_n(&function->near[i].caller, caller, __ATOMIC_RELEASE);
		break;
	}
	pthread_mutex_unlock(&state.lock);
	return real;
}

/* ---- where a tensor has its type, sizes and sources -------------------------------------------- */

static bool library_has(const struct ggml_tensor *tensor, uint32_t at, const void *bytes, size_t count)
{
	return memcmp((const char *)tensor + at, bytes, count) == 0;
}

/* ggml has no functions for these, and versions have them in different places. They are searched for in tensors
 * that ggml makes of known types, sizes and sources. */
static void library_find_offsets(struct dwg_library *ggml)
{
	enum { F32 = 0, F16 = 1, I32 = 26 };
	const int64_t first_sizes[] = { 12, 21, 1, 1 }, second_sizes[] = { 12, 35, 1, 1 };
	const int32_t types[] = { F32, F16, I32 };
	void *context = ggml->ggml_init((struct dwg_init){ 16384, NULL, true });
	size_t bytes = ggml->ggml_tensor_overhead();
	struct ggml_tensor *first, *second, *half, *whole, *product;
	unsigned found = 0;

	if (!context)
		return;
	first = ggml->ggml_new_tensor_2d(context, F32, first_sizes[0], first_sizes[1]);
	second = ggml->ggml_new_tensor_2d(context, F32, second_sizes[0], second_sizes[1]);
	half = ggml->ggml_new_tensor_2d(context, F16, 2, 2);
	whole = ggml->ggml_new_tensor_2d(context, I32, 2, 2);
	product = ggml->ggml_mul_mat(context, first, second);
	const struct ggml_tensor *sources[] = { first, second };
	/* The overhead counts a header before the tensor, so the last bytes are not read. */
	for (uint32_t at = 0; at + 64 <= bytes; at += 4) {
		if (!(found & 1) && library_has(first, at, &types[0], 4) && library_has(half, at, &types[1], 4) &&
		    library_has(whole, at, &types[2], 4))
			ggml->type_at = at, found |= 1;
		if (!(found & 2) && at % 8 == 0 && library_has(first, at, first_sizes, 32) &&
		    library_has(second, at, second_sizes, 32))
			ggml->sizes_at = at, found |= 2;
		if (!(found & 4) && at % 8 == 0 && library_has(product, at, sources, sizeof sources))
			ggml->sources_at = at, found |= 4;
	}
	ggml->has_offsets = found == 7;
	ggml->ggml_free(context);
}

/* ---- copies of ggml ----------------------------------------------------------------------------- */

static void library_note(const struct dwg_library *ggml, const char *path)
{
	const char *slash = strrchr(path, '/');
	char text[200];

	snprintf(text, sizeof text, "ggml %.60s (%.100s)", ggml->ggml_version ? ggml->ggml_version() : "of no version",
	         slash ? slash + 1 : path);
	dwell_meta(DW_KEY_GGML, text);
}

/* Needs the lock. */
static struct dwg_library *library_add(const void *real)
{
	struct dwg_library *ggml = &state.libraries[state.count];
	const char *path = "";
	void *handle = library_open(real, &path);

	if (!handle)
		return NULL;
	/* The files of one copy have the same function of these. */
	for (unsigned i = 0; i < state.count; i++)
		if (state.libraries[i].ggml_backend_name == dlsym(handle, "ggml_backend_name"))
			return &state.libraries[i];
	if (state.count == MOST_LIBRARIES)
		return NULL;
#define FIND(result, name, parameters) *(void **)&ggml->name = dlsym(handle, #name);
	DWG_CALLS(FIND)
#undef FIND
	ggml->has_graphs = ggml->ggml_graph_n_nodes && ggml->ggml_graph_node && ggml->ggml_get_name && ggml->ggml_op_desc;
	ggml->rules = DWG_ALL | DWG_NOT_EMPTY | DWG_FUSED;
	if (ggml->ggml_init && ggml->ggml_free && ggml->ggml_tensor_overhead && ggml->ggml_new_tensor_2d &&
	    ggml->ggml_mul_mat)
		library_find_offsets(ggml);
	library_note(ggml, path);
	state.count++;
	return ggml;
}

struct dwg_library *dwg_library_of(const void *real)
{
	struct dwg_library *ggml;
	unsigned i = 0;

	for (; i < MOST_FUNCTIONS; i++) {
		/* Acquire: pairs with the release below; the library is complete. */
		const void *known = __atomic_load_n(&state.functions[i].real, __ATOMIC_ACQUIRE);

		if (known == real)
			return state.functions[i].library;
		if (!known)
			break;
	}
	pthread_mutex_lock(&state.lock);
	ggml = library_add(real);
	for (; ggml && i < MOST_FUNCTIONS; i++)
		if (!state.functions[i].real) {
			state.functions[i].library = ggml;
			__atomic_store_n(&state.functions[i].real, real, __ATOMIC_RELEASE);
			break;
		}
	pthread_mutex_unlock(&state.lock);
	return ggml;
}
