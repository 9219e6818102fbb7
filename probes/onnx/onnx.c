/*
 * libdwell-onnx: records C and C++ programs with ONNX Runtime. `dwell run` preloads it.
 *
 * A program gets ONNX Runtime's functions as a table from the one function that it is linked to, OrtGetApiBase(). Here
 * it gets a copy of the table with functions of the probe: each call of Run() or RunWithBinding() is a step. Calls of
 * RunAsync() overlap: each is a range from the call to its end in another thread, and no step. With `--shapes`, the nodes of
 * a run are operators in it (nodes.h). Versions before 1.25 write the nodes of a session to one file when it ends, and a
 * trace takes records when they happen: there that file lies next to the trace.
 *
 * The table only grows from version to version, so the places of its functions are known without its header.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/probe.h>

#include "format/keys.h"
#include "nodes.h"

#define DWO_API __attribute__((visibility("default")))
#define MOST_TABLES 4u
#define MOST_FUNCTIONS 1024u
#define NODES_VERSION 25u /* of the interface */
#define MOST_CALLS 256u /* of RunAsync() that are open */

/* Places in the table. */
enum {
	CREATE_SESSION = 7,
	CREATE_SESSION_FROM_ARRAY = 8,
	RUN = 9,
	CLONE_OPTIONS = 12,
	ENABLE_PROFILING = 14,
	GET_RUN_VERBOSITY = 43,
	RELEASE_OPTIONS = 100,
	RUN_WITH_BINDING = 133,
	RUN_ASYNC = 260,
	ENABLE_RUN_PROFILING = 415
};

typedef void *status; /* NULL: success */
typedef dwo_function function;
typedef const function *get_api(uint32_t version);

struct base {
	get_api *get;
	const char *(*version)(void);
};

/* Tables of one library, which may be of several versions; all have the same functions. */
static struct {
	pthread_mutex_t lock;
	struct base real, ours;
	const function *originals[MOST_TABLES];
	function copies[MOST_TABLES][MOST_FUNCTIONS];
	const function *real_table;
	bool profiles; /* atomic: the program uses the profiler itself */
	bool has_run_profiles;
} onnx = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- steps ------------------------------------------------------------------------------------------ */

static __thread unsigned running __attribute__((tls_model("initial-exec")));

/* A program that marks its steps itself, or has another probe that does, keeps those alone. */
static bool onnx_step_begin(void)
{
	static uint64_t begun; /* atomic: by this probe */

	if (!__atomic_load_n(&dwell_gate, __ATOMIC_RELAXED) ||
	    dwell_steps_begun() > __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED))
		return false;
	dwell_step_begin();
	return true;
}

static struct dwell_site run_site = { "Run", "ONNX Runtime", NULL, 0, DWELL_CATEGORY_OPERATOR, 0 };

/* A call of Run(). It ends with onnx_end(). */
struct onnx_call {
	bool stepping;
	unsigned began;
	struct dwo_nodes nodes;
};

/* `table`: of the library. Changes the options if the nodes are recorded. */
static struct onnx_call onnx_begin(const function *table, const void **options)
{
	struct onnx_call call = { .stepping = running++ == 0 && onnx_step_begin() };

	call.began = dwell_begin(&run_site);
	*options = dwo_nodes_begin(&call.nodes, running == 1 ? table : NULL, *options);
	return call;
}

static void onnx_end(struct onnx_call *call)
{
	dwo_nodes_end(&call->nodes);
	dwell_end(call->began);
	running--;
	if (call->stepping)
		dwell_step_end();
}

/* ONNX Runtime's table of functions, if this version can write a profile of each run and the program uses no profiler itself;
 * otherwise NULL. */
static const function *onnx_table_of_nodes(void)
{
	return onnx.has_run_profiles && !__atomic_load_n(&onnx.profiles, __ATOMIC_RELAXED) ? onnx.real_table : NULL;
}

static status onnx_run(void *session, const void *options, const char *const *input_names, const void *const *inputs,
                       size_t input_count, const char *const *output_names, size_t output_count, void **outputs)
{
	status (*real)(void *, const void *, const char *const *, const void *const *, size_t, const char *const *, size_t,
	               void **);
	struct onnx_call call = onnx_begin(onnx_table_of_nodes(), &options);
	status result;

	*(function *)&real = onnx.real_table[RUN];
	result = real(session, options, input_names, inputs, input_count, output_names, output_count, outputs);
	onnx_end(&call);
	return result;
}

static status onnx_run_with_binding(void *session, const void *options, const void *binding)
{
	status (*real)(void *, const void *, const void *);
	struct onnx_call call = onnx_begin(onnx_table_of_nodes(), &options);
	status result;

	*(function *)&real = onnx.real_table[RUN_WITH_BINDING];
	result = real(session, options, binding);
	onnx_end(&call);
	return result;
}

/* ---- runs that another thread completes ----------------------------------------------------------------- */

typedef void onnx_callback(void *user, void **outputs, size_t count, status failed);

static struct onnx_waiting {
	uint32_t used; /* atomic */
	onnx_callback *callback;
	void *user;
} waiting[MOST_CALLS];
static struct dwell_site async_site = { "RunAsync", "ONNX Runtime", NULL, 0, DWELL_CATEGORY_ZONE, 0 };

static struct onnx_waiting *onnx_take(void)
{
	for (size_t i = 0; i < MOST_CALLS; i++)
		if (!__atomic_exchange_n(&waiting[i].used, 1, __ATOMIC_ACQUIRE))
			return &waiting[i];
	dwell_probe_lost(2); /* a begin and an end */
	return NULL;
}

static void onnx_give_back(struct onnx_waiting *mine)
{
	dwell_async_end(&async_site, (uint64_t)(mine - waiting));
	__atomic_store_n(&mine->used, 0, __ATOMIC_RELEASE);
}

static void onnx_completed(void *mine, void **outputs, size_t count, status failed)
{
	struct onnx_waiting call = *(struct onnx_waiting *)mine;

	onnx_give_back(mine);
	call.callback(call.user, outputs, count, failed);
}

static status onnx_run_async(void *session, const void *options, const char *const *input_names,
                             const void *const *inputs, size_t input_count, const char *const *output_names,
                             size_t output_count, void **outputs, onnx_callback *callback, void *user)
{
	status (*real)(void *, const void *, const char *const *, const void *const *, size_t, const char *const *, size_t,
	               void **, onnx_callback *, void *);
	bool records = callback && __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED);
	struct onnx_waiting *mine = records ? onnx_take() : NULL;
	status failed;

	*(function *)&real = onnx.real_table[RUN_ASYNC];
	if (!mine)
		return real(session, options, input_names, inputs, input_count, output_names, output_count, outputs, callback,
		            user);
	mine->callback = callback;
	mine->user = user;
	dwell_async_begin(&async_site, (uint64_t)(mine - waiting));
	failed = real(session, options, input_names, inputs, input_count, output_names, output_count, outputs,
	              onnx_completed, mine);
	if (failed) /* the callback is not called */
		onnx_give_back(mine);
	return failed;
}

/* ---- sessions ------------------------------------------------------------------------------------------ */

static status onnx_enable_profiling(void *options, const char *prefix)
{
	status (*real)(void *, const char *);

	__atomic_store_n(&onnx.profiles, true, __ATOMIC_RELAXED);
	*(function *)&real = onnx.real_table[ENABLE_PROFILING];
	return real(options, prefix);
}

static status onnx_enable_run_profiling(void *options, const char *prefix)
{
	status (*real)(void *, const char *);

	__atomic_store_n(&onnx.profiles, true, __ATOMIC_RELAXED);
	*(function *)&real = onnx.real_table[ENABLE_RUN_PROFILING];
	return real(options, prefix);
}

/* A copy of the options with the profiler; NULL: as they are. */
static void *onnx_profiled(const void *options)
{
	status (*clone)(const void *, void **), (*enable)(void *, const char *);
	const char *trace = dwell_trace_path();
	void *copy = NULL;
	char prefix[4096];

	if (!options || !trace || onnx.has_run_profiles || !dwell_wants(DWELL_DETAIL_SHAPES) ||
	    __atomic_load_n(&onnx.profiles, __ATOMIC_RELAXED))
		return NULL;
	*(function *)&clone = onnx.real_table[CLONE_OPTIONS];
	*(function *)&enable = onnx.real_table[ENABLE_PROFILING];
	snprintf(prefix, sizeof prefix, "%.4000s.onnx", trace);
	if (clone(options, &copy) || !copy)
		return NULL;
	enable(copy, prefix);
	dwell_meta(DW_KEY_ONNX_FILES, prefix);
	return copy;
}

static void onnx_release(void *options)
{
	void (*release)(void *);

	*(function *)&release = onnx.real_table[RELEASE_OPTIONS];
	if (options)
		release(options);
}

static status onnx_create_session(const void *environment, const char *path, const void *options, void **session)
{
	static struct dwell_site site = { "CreateSession", NULL, NULL, 0, DWELL_CATEGORY_ZONE, 0 };
	status (*real)(const void *, const char *, const void *, void **);
	void *profiled = onnx_profiled(options);
	unsigned began = dwell_begin(&site);
	status result;

	*(function *)&real = onnx.real_table[CREATE_SESSION];
	result = real(environment, path, profiled ? profiled : options, session);
	dwell_end(began);
	onnx_release(profiled);
	return result;
}

static status onnx_create_session_from_array(const void *environment, const void *data, size_t bytes,
                                             const void *options, void **session)
{
	static struct dwell_site site = { "CreateSession", NULL, NULL, 0, DWELL_CATEGORY_ZONE, 0 };
	status (*real)(const void *, const void *, size_t, const void *, void **);
	void *profiled = onnx_profiled(options);
	unsigned began = dwell_begin(&site);
	status result;

	*(function *)&real = onnx.real_table[CREATE_SESSION_FROM_ARRAY];
	result = real(environment, data, bytes, profiled ? profiled : options, session);
	dwell_end(began);
	onnx_release(profiled);
	return result;
}

/* ---- the table ------------------------------------------------------------------------------------------- */

struct onnx_extent {
	uintptr_t at, end;
};

static int onnx_look(struct dl_phdr_info *info, size_t size, void *context)
{
	struct onnx_extent *extent = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && extent->at >= start && extent->at < end)
			extent->end = end;
	}
	return extent->end != 0;
}

/* Copies the table. How many functions it has is not known: what follows them in memory is copied too, and never
 * used. */
static const function *onnx_copy(const function *table)
{
	struct onnx_extent extent = { (uintptr_t)table, 0 };
	const function *result = table;
	size_t count;

	pthread_mutex_lock(&onnx.lock);
	for (unsigned i = 0; i < MOST_TABLES; i++) {
		if (onnx.originals[i] == table) {
			result = onnx.copies[i];
			break;
		}
		if (onnx.originals[i])
			continue;
		dl_iterate_phdr(onnx_look, &extent);
		count = extent.end ? (extent.end - extent.at) / sizeof *table : 0;
		if (count <= RELEASE_OPTIONS)
			break;
		memcpy(onnx.copies[i], table, (count < MOST_FUNCTIONS ? count : MOST_FUNCTIONS) * sizeof *table);
		onnx.real_table = table;
		onnx.copies[i][CREATE_SESSION] = (function)onnx_create_session;
		onnx.copies[i][CREATE_SESSION_FROM_ARRAY] = (function)onnx_create_session_from_array;
		onnx.copies[i][RUN] = (function)onnx_run;
		onnx.copies[i][RUN_WITH_BINDING] = (function)onnx_run_with_binding;
		onnx.copies[i][RUN_ASYNC] = (function)onnx_run_async;
		onnx.copies[i][ENABLE_PROFILING] = (function)onnx_enable_profiling;
		onnx.has_run_profiles = count > ENABLE_RUN_PROFILING && dwo_nodes_known(onnx.real.version ? onnx.real.version() : NULL);
		if (onnx.has_run_profiles)
			onnx.copies[i][ENABLE_RUN_PROFILING] = (function)onnx_enable_run_profiling;
		onnx.originals[i] = table;
		dwell_meta(DW_KEY_ONNX, onnx.real.version ? onnx.real.version() : "of unknown version");
		result = onnx.copies[i];
		break;
	}
	pthread_mutex_unlock(&onnx.lock);
	return result;
}

static const function *onnx_get(uint32_t version)
{
	const function *table = onnx.real.get(version);

	return table ? onnx_copy(table) : NULL;
}

static const struct base *(*onnx_next)(void); /* atomic; NULL: not found yet */

/* Before main() where the program is linked to the library, because the search clears the message of dlerror(); one that it
 * leaves itself is removed. */
__attribute__((constructor)) static void onnx_find(void)
{
	const struct base *(*found)(void);

	*(void **)&found = dlsym(RTLD_NEXT, "OrtGetApiBase");
	if (!found)
		dlerror();
	__atomic_store_n(&onnx_next, found, __ATOMIC_RELAXED);
}

DWO_API const void *OrtGetApiBase(void)
{
	const struct base *(*real)(void) = __atomic_load_n(&onnx_next, __ATOMIC_RELAXED);
	const struct base *found;

	if (!real) {
		onnx_find();
		real = __atomic_load_n(&onnx_next, __ATOMIC_RELAXED);
	}
	found = real ? real() : NULL;
	if (!found)
		return NULL;
	if (!__atomic_load_n(&dwell_gate, __ATOMIC_RELAXED))
		return found;
	pthread_mutex_lock(&onnx.lock);
	onnx.real = *found;
	onnx.ours = (struct base){ onnx_get, found->version };
	pthread_mutex_unlock(&onnx.lock);
	return &onnx.ours;
}

/* ---- Python ------------------------------------------------------------------------------------------------ */

/* pip's package for Python has a copy of ONNX Runtime of its own, without OrtGetApiBase(). It gives its functions to
 * libraries of custom operators, which it asks by this name (python/dwell/onnx.py). */
static const function *python_table;
static __thread struct dwo_nodes python_nodes __attribute__((tls_model("initial-exec")));

DWO_API status RegisterCustomOps(void *options, const struct base *base)
{
	(void)options;
	if (dwo_nodes_known(base->version()))
		python_table = base->get(NODES_VERSION);
	return NULL;
}

/* Whether this is the address of options of a run, which have this level of verbosity. */
DWO_API bool dwo_python_check(const void *options, int verbosity)
{
	status (*get)(const void *, int *);
	int found = -1;

	if (!python_table)
		return false;
	*(function *)&get = python_table[GET_RUN_VERBOSITY];
	return !get(options, &found) && found == verbosity;
}

DWO_API void dwo_python_begin(const void *options)
{
	dwo_nodes_begin(&python_nodes, python_table, options);
}

DWO_API void dwo_python_end(void)
{
	dwo_nodes_end(&python_nodes);
}
