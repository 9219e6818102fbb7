/*
 * The ITT collector: what oneDNN, OpenVINO, OpenCV, TBB and PyTorch's emit_itt announce.
 *
 * `dwell run` names this library in INTEL_LIBITTNOTIFY64. __itt_api_init() is called once for each
 * copy of ittnotify in the process; the functions below keep no state of a copy. Domains and string
 * handles keep their entries of the table in their member extra2. A copy may make them before the
 * collector is loaded, so they are looked up at first use.
 *
 *   tasks          ranges that nest in their thread, in their domain
 *   overlapped     ranges that need not nest; so are regions
 *   frames         steps, where the domain says so; else ranges that need not nest
 *   relations      arrows from one task to another, if the tasks have ids
 *   metadata       arguments of the innermost task
 *   counters, markers, events, names of threads, pause and resume
 *
 * Nothing is done for synchronisation objects, heaps, histograms and models of parallel sites.
 */
#include "itt_types.h"
#include "table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

DWI_API void __itt_api_init(struct itt_global *global, int groups);
DWI_API void __itt_api_fini(struct itt_global *global);

/* ---- domains and strings ----------------------------------------------------------------------- */

static struct dwi_domain *itt_domain_of(const struct itt_domain *domain)
{
	struct itt_domain *own = (struct itt_domain *)(uintptr_t)domain; /* extra2 is the collector's */
	struct dwi_domain *known;

	if (!own)
		return dwi_domain(DWI_ITT, "(no domain)");
	known = __atomic_load_n((struct dwi_domain **)&own->extra2, __ATOMIC_ACQUIRE);
	if (DWELL_LIKELY(known != NULL))
		return known;
	known = dwi_domain(DWI_ITT, own->name ? own->name : "(no name)");
	__atomic_store_n((struct dwi_domain **)&own->extra2, known, __ATOMIC_RELEASE);
	return known;
}

static struct dwi_name *itt_name_of(struct dwi_domain *domain, enum dwi_use use,
                                    struct itt_string *string)
{
	struct dwi_name *name;

	if (DWELL_UNLIKELY(!string))
		return dwi_name(domain, use, NULL);
	/* A string may be used in several domains, and as a task and a marker: the last use is kept. */
	name = __atomic_load_n((struct dwi_name **)&string->extra2, __ATOMIC_ACQUIRE);
	if (DWELL_LIKELY(name && name->domain == domain && name->use == use))
		return name;
	name = dwi_name(domain, use, string->text);
	__atomic_store_n((struct dwi_name **)&string->extra2, name, __ATOMIC_RELEASE);
	return name;
}

/* Domains and strings that are made while the collector is there; one for each text. */
static struct itt_domain *made_domains; /* atomic; lists that grow at their heads */
static struct itt_string *made_strings[256];

static char *itt_copy(const char *text)
{
	size_t length = strlen(text);
	char *copy = dwi_memory(length < 4 * DWI_LONGEST ? length + 1 : 4 * DWI_LONGEST + 1);

	if (copy)
		memcpy(copy, text, length < 4 * DWI_LONGEST ? length : 4 * DWI_LONGEST);
	return copy;
}

static struct itt_domain *itt_on_domain_create(const char *name)
{
	struct itt_domain *first = __atomic_load_n(&made_domains, __ATOMIC_ACQUIRE), *domain;

	if (!name)
		return NULL;
	for (domain = first; domain; domain = domain->next)
		if (strcmp(domain->name, name) == 0)
			return domain;
	domain = dwi_memory(sizeof *domain);
	if (!domain || !(domain->name = itt_copy(name)))
		return NULL;
	domain->flags = 1;
	domain->next = first;
	/* Two threads may make two of one name: they lead to the same entry of the table. */
	while (!__atomic_compare_exchange_n(&made_domains, &domain->next, domain, false, __ATOMIC_RELEASE,
	                                    __ATOMIC_RELAXED))
		;
	return domain;
}

static struct itt_string *itt_on_string_handle_create(const char *text)
{
	struct itt_string **list, *first, *string;
	unsigned hash = 5381;

	if (!text)
		return NULL;
	for (size_t i = 0; i < 256 && text[i]; i++)
		hash = hash * 33 + (unsigned char)text[i];
	list = &made_strings[(hash ^ hash >> 8) & 255];
	first = __atomic_load_n(list, __ATOMIC_ACQUIRE);
	for (string = first; string; string = string->next)
		if (strncmp(string->text, text, 4 * DWI_LONGEST) == 0)
			return string;
	string = dwi_memory(sizeof *string);
	if (!string || !(string->text = itt_copy(text)))
		return NULL;
	string->next = first;
	while (!__atomic_compare_exchange_n(list, &string->next, string, false, __ATOMIC_RELEASE,
	                                    __ATOMIC_RELAXED))
		;
	return string;
}

/* ---- tasks --------------------------------------------------------------------------------------- */

static inline bool itt_is_null(const struct itt_id *id)
{
	return !(id->d1 | id->d2 | id->d3);
}

/* The number of an id, by which arrows and ends find it. Ids are unique in their domain. */
static uint64_t itt_key(const struct dwi_domain *domain, const struct itt_id *id)
{
	return dwi_key(domain, id->d1, id->d2, id->d3);
}

static struct dwi_name *itt_flow(struct dwi_domain *domain)
{
	return dwi_name(domain, DWI_FLOW, "relation");
}

static void itt_begin_with_id(struct dwi_domain *domain, struct dwi_name *name,
                              const struct itt_id *id, const struct itt_id *parent)
{
	uint64_t key = itt_is_null(id) ? 0 : itt_key(domain, id);

	dwi_begin(name, key);
	/* Where arrows from and to this task begin and end. */
	if (key) {
		dwi_flow(itt_flow(domain), key, true);
		dwi_flow(itt_flow(domain), ~key, false);
	}
	if (!itt_is_null(parent))
		dwi_flow(itt_flow(domain), itt_key(domain, parent), false);
}

static void itt_on_task_begin(const struct itt_domain *itt_domain, struct itt_id id, struct itt_id parent,
                          struct itt_string *string)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);
	struct dwi_name *name = itt_name_of(domain, DWI_RANGE, string);

	if (DWELL_UNLIKELY(!itt_is_null(&id) || !itt_is_null(&parent)))
		itt_begin_with_id(domain, name, &id, &parent);
	else
		dwi_begin(name, 0);
}

/* The name is the address of a function. */
static void itt_on_task_begin_fn(const struct itt_domain *itt_domain, struct itt_id id,
                             struct itt_id parent, void *function)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);
	char text[32];

	snprintf(text, sizeof text, "function %p", function);
	itt_begin_with_id(domain, dwi_name(domain, DWI_RANGE, text), &id, &parent);
}

static void itt_on_task_end(const struct itt_domain *domain)
{
	dwi_end(itt_domain_of(domain));
}

static void itt_on_task_begin_overlapped(const struct itt_domain *itt_domain, struct itt_id id,
                                     struct itt_id parent, struct itt_string *string)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);

	dwi_async_begin(itt_name_of(domain, DWI_RANGE, string), itt_key(domain, &id));
	if (!itt_is_null(&parent))
		dwi_flow(itt_flow(domain), itt_key(domain, &parent), false);
}

static void itt_on_task_end_overlapped(const struct itt_domain *itt_domain, struct itt_id id)
{
	dwi_async_end(itt_key(itt_domain_of(itt_domain), &id));
}

/* A region is told from an overlapped task with the same id. */
static void itt_on_region_begin(const struct itt_domain *itt_domain, struct itt_id id,
                            struct itt_id parent, struct itt_string *string)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);

	(void)parent;
	dwi_async_begin(itt_name_of(domain, DWI_RANGE, string), ~itt_key(domain, &id));
}

static void itt_on_region_end(const struct itt_domain *itt_domain, struct itt_id id)
{
	dwi_async_end(~itt_key(itt_domain_of(itt_domain), &id));
}

/* ---- frames ---------------------------------------------------------------------------------------- */

/* Frames without an id: one is open in a domain. */
static uint64_t itt_frame_key(const struct dwi_domain *domain, const struct itt_id *id)
{
	return id ? dwi_key(domain, id->d1, id->d2, ~id->d3) : dwi_key(domain, 0, 0, ~0ull);
}

static void itt_on_frame_begin(const struct itt_domain *itt_domain, struct itt_id *id)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);

	dwi_frame_begin(domain, itt_frame_key(domain, id));
}

static void itt_on_frame_end(const struct itt_domain *itt_domain, struct itt_id *id)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);

	dwi_frame_end(domain, itt_frame_key(domain, id));
}

static unsigned long long itt_on_get_timestamp(void)
{
	return dwell_ticks();
}

/* A frame that is over. Its begin and end are of itt_on_get_timestamp(). */
static void itt_on_frame_submit(const struct itt_domain *itt_domain, struct itt_id *id,
                            unsigned long long begin, unsigned long long end)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);

	(void)id;
	if (!domain || !(domain->flags & DWI_FRAMES_ARE_STEPS)) {
		/* A record of a stream cannot begin in the past. */
		dwi_mark(dwi_name(domain, DWI_MARK, domain ? domain->name : NULL));
		return;
	}
	dwell_step_begin_at(begin);
	dwell_step_end_at(end == (unsigned long long)-1 ? 0 : end);
}

/* ---- relations --------------------------------------------------------------------------------------- */

/* An arrow from the task `tail` to the innermost task of this thread, or back. The other task wrote
 * its end of the arrow when it began, or will do so. */
static void itt_on_relation_add_to_current(const struct itt_domain *itt_domain, int relation,
                                       struct itt_id tail)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);
	bool to_tail = relation == ITT_PARENT_OF || relation == ITT_CONTINUED_BY ||
	               relation == ITT_PREDECESSOR_TO;
	uint64_t key = itt_key(domain, &tail);

	if (!itt_is_null(&tail))
		dwi_flow(itt_flow(domain), to_tail ? ~key : key, to_tail);
}

/* Between two tasks that need not be open: their ends of the arrow are named here. */
static void itt_on_relation_add(const struct itt_domain *itt_domain, struct itt_id head, int relation,
                            struct itt_id tail)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);
	struct dwi_thread *thread;
	uint64_t key = itt_key(domain, &head);

	if (dwi_innermost(domain, key, &thread))
		itt_on_relation_add_to_current(itt_domain, relation, tail);
}

/* ---- metadata ---------------------------------------------------------------------------------------- */

static double itt_number(enum itt_type type, const void *data, size_t index)
{
	switch (type) {
	case ITT_U64: return (double)((const uint64_t *)data)[index];
	case ITT_S64: return (double)((const int64_t *)data)[index];
	case ITT_U32: return ((const uint32_t *)data)[index];
	case ITT_S32: return ((const int32_t *)data)[index];
	case ITT_U16: return ((const uint16_t *)data)[index];
	case ITT_S16: return ((const int16_t *)data)[index];
	case ITT_FLOAT: return (double)((const float *)data)[index];
	case ITT_DOUBLE: return ((const double *)data)[index];
	default: return 0;
	}
}

#define MOST_NUMBERS 16u /* of an array */

static void itt_on_metadata_add(const struct itt_domain *itt_domain, struct itt_id id,
                            struct itt_string *key, int type, size_t count, void *data)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);
	uint64_t range = itt_is_null(&id) ? 0 : itt_key(domain, &id);
	const char *name = key && key->text ? key->text : "value";
	char json[512];
	size_t at = 0;

	if (!data || !count || type <= ITT_UNKNOWN || type > ITT_DOUBLE)
		return;
	if (count == 1) {
		dwi_argument_number(domain, range, name, itt_number((enum itt_type)type, data, 0));
		return;
	}
	for (size_t i = 0; i < count && i < MOST_NUMBERS; i++)
		at += (size_t)snprintf(json + at, sizeof json - at, "%c%.9g", i ? ',' : '[',
		                       itt_number((enum itt_type)type, data, i));
	at += (size_t)snprintf(json + at, sizeof json - at, count > MOST_NUMBERS ? ",\"...\"]" : "]");
	dwi_argument(domain, range, name, json, at);
}

static void itt_on_metadata_str_add(const struct itt_domain *itt_domain, struct itt_id id,
                                struct itt_string *key, const char *text, size_t length)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);

	if (text)
		dwi_argument_text(domain, itt_is_null(&id) ? 0 : itt_key(domain, &id),
		                  key && key->text ? key->text : "value", text,
		                  length ? length : strnlen(text, DWI_LONGEST));
}

__attribute__((format(printf, 2, 0)))
static void itt_format(const struct dwi_domain *domain, const char *format, va_list values)
{
	char text[DWI_LONGEST];
	int saved = errno, length = vsnprintf(text, sizeof text, format, values);

	if (length > 0)
		dwi_argument_text(domain, 0, "info", text,
		                  (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
	errno = saved;
}

static void itt_on_formatted_metadata_add(const struct itt_domain *itt_domain, struct itt_string *format,
                                      ...)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);
	struct dwi_thread *thread;
	struct dwi_open *open = dwi_innermost(domain, 0, &thread);
	va_list values;

	if (!format || !format->text || (open && !open->began))
		return;
	va_start(values, format);
	itt_format(domain, format->text, values);
	va_end(values);
}

/* ---- counters ------------------------------------------------------------------------------------------ */

#define COUNTER_MAGIC 0x6477656c6c636e74u

struct itt_counter {
	uint64_t magic;
	struct dwi_name *name;
	enum itt_type type;
	int64_t sum; /* atomic; of increments */
};

static struct itt_counter *itt_counter_make(const char *name, struct dwi_domain *domain, int type)
{
	struct itt_counter *counter = dwi_memory(sizeof *counter);

	if (!counter)
		return NULL;
	counter->magic = COUNTER_MAGIC;
	counter->name = dwi_name(domain, DWI_COUNTER, name);
	counter->type = (enum itt_type)type;
	return counter;
}

static void *itt_on_counter_create_typed(const char *name, const char *domain, int type)
{
	return itt_counter_make(name, dwi_domain(DWI_ITT, domain ? domain : ""), type);
}

static void *itt_on_counter_create(const char *name, const char *domain)
{
	return itt_on_counter_create_typed(name, domain, ITT_U64);
}

static void *itt_on_counter_create_v3(const struct itt_domain *domain, const char *name, int type)
{
	return itt_counter_make(name, itt_domain_of(domain), type);
}

/* Counters of a copy that made them before this collector was loaded are not this collector's. */
static bool itt_counter_is_own(const struct itt_counter *counter)
{
	return counter && counter->magic == COUNTER_MAGIC;
}

static void itt_counter_add(struct itt_counter *counter, int64_t delta)
{
	if (itt_counter_is_own(counter))
		dwi_counter(counter->name,
		            (double)__atomic_add_fetch(&counter->sum, delta, __ATOMIC_RELAXED));
}

static void itt_on_counter_inc(struct itt_counter *counter)
{
	itt_counter_add(counter, 1);
}

static void itt_on_counter_dec(struct itt_counter *counter)
{
	itt_counter_add(counter, -1);
}

static void itt_on_counter_inc_delta(struct itt_counter *counter, unsigned long long delta)
{
	itt_counter_add(counter, (int64_t)delta);
}

static void itt_on_counter_dec_delta(struct itt_counter *counter, unsigned long long delta)
{
	itt_counter_add(counter, -(int64_t)delta);
}

static void itt_on_counter_set_value(struct itt_counter *counter, void *value)
{
	if (itt_counter_is_own(counter) && value)
		dwi_counter(counter->name, itt_number(counter->type, value, 0));
}

static void itt_on_counter_set_value_ex(struct itt_counter *counter, void *clock,
                                    unsigned long long timestamp, void *value)
{
	(void)clock;
	(void)timestamp;
	itt_on_counter_set_value(counter, value);
}

/* Counters by domain and string: their sums are in a small table. */
static struct { struct dwi_name *name; int64_t sum; } sums[1024];

static void itt_counter_add_v3(const struct itt_domain *itt_domain, struct itt_string *string, int64_t delta)
{
	struct dwi_domain *domain = itt_domain_of(itt_domain);
	struct dwi_name *name = itt_name_of(domain, DWI_COUNTER, string);

	for (uint64_t i = 0, at = name ? name->hash : 0; name && i < 16; i++) {
		struct dwi_name *none = NULL, **place = &sums[(at + i) & 1023].name;

		if (__atomic_load_n(place, __ATOMIC_RELAXED) == name ||
		    __atomic_compare_exchange_n(place, &none, name, false, __ATOMIC_RELAXED,
		                                __ATOMIC_RELAXED) || none == name) {
			dwi_counter(name, (double)__atomic_add_fetch(&sums[(at + i) & 1023].sum, delta,
			                                             __ATOMIC_RELAXED));
			return;
		}
	}
	if (dwell_active())
		dwell_probe_lost(1);
}

static void itt_on_counter_inc_v3(const struct itt_domain *domain, struct itt_string *name)
{
	itt_counter_add_v3(domain, name, 1);
}

static void itt_on_counter_dec_v3(const struct itt_domain *domain, struct itt_string *name)
{
	itt_counter_add_v3(domain, name, -1);
}

static void itt_on_counter_inc_delta_v3(const struct itt_domain *domain, struct itt_string *name,
                                    unsigned long long delta)
{
	itt_counter_add_v3(domain, name, (int64_t)delta);
}

static void itt_on_counter_dec_delta_v3(const struct itt_domain *domain, struct itt_string *name,
                                    unsigned long long delta)
{
	itt_counter_add_v3(domain, name, -(int64_t)delta);
}

/* ---- the rest --------------------------------------------------------------------------------------------- */

static void itt_on_marker(const struct itt_domain *itt_domain, struct itt_id id, struct itt_string *string,
                      int scope)
{
	(void)id;
	(void)scope;
	dwi_mark(itt_name_of(itt_domain_of(itt_domain), DWI_MARK, string));
}

/* Events of ITT's first version: a number for a name, and ranges in a thread. */
static struct dwi_name *events[4096];

static int itt_on_event_create(const char *text, int length)
{
	static int count; /* atomic */
	struct dwi_domain *domain = dwi_domain(DWI_ITT, "events");
	struct dwi_name *name;
	int number;

	if (!text)
		return 0;
	name = length > 0 ? dwi_name_of_length(domain, DWI_RANGE, text, strnlen(text, (size_t)length))
	                  : dwi_name(domain, DWI_RANGE, text);
	number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	if (number >= (int)(sizeof events / sizeof *events))
		return 0;
	__atomic_store_n(&events[number], name, __ATOMIC_RELEASE);
	return number;
}

static struct dwi_name *itt_event_name(int event)
{
	bool known = event > 0 && event < (int)(sizeof events / sizeof *events);

	return known ? __atomic_load_n(&events[event], __ATOMIC_ACQUIRE) : NULL;
}

static int itt_on_event_start(int event)
{
	struct dwi_name *name = itt_event_name(event);

	if (name)
		dwi_begin(name, 0);
	return !name;
}

static int itt_on_event_end(int event)
{
	struct dwi_name *name = itt_event_name(event);

	if (name)
		dwi_end_name(name);
	return !name;
}

static void itt_on_pause(void)
{
	dwi_pause(true);
}

static void itt_on_resume(void)
{
	dwi_pause(false);
}

static const char *itt_on_api_version(void)
{
	return "dwell";
}

/* ---- the collector ------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void *function;
} callbacks[] = {
#define CALLBACK(name) { "__itt_" #name, (void *)itt_on_##name }
	CALLBACK(domain_create), CALLBACK(string_handle_create), CALLBACK(api_version),
	CALLBACK(task_begin), CALLBACK(task_begin_fn), CALLBACK(task_end),
	CALLBACK(task_begin_overlapped), CALLBACK(task_end_overlapped),
	CALLBACK(region_begin), CALLBACK(region_end),
	CALLBACK(relation_add_to_current), CALLBACK(relation_add),
	CALLBACK(metadata_add), CALLBACK(metadata_str_add), CALLBACK(formatted_metadata_add),
	CALLBACK(counter_create), CALLBACK(counter_create_typed), CALLBACK(counter_create_v3),
	CALLBACK(counter_inc), CALLBACK(counter_dec), CALLBACK(counter_inc_delta),
	CALLBACK(counter_dec_delta), CALLBACK(counter_set_value), CALLBACK(counter_set_value_ex),
	CALLBACK(counter_inc_v3), CALLBACK(counter_dec_v3), CALLBACK(counter_inc_delta_v3),
	CALLBACK(counter_dec_delta_v3), CALLBACK(marker), CALLBACK(event_create),
	CALLBACK(event_start), CALLBACK(event_end), CALLBACK(pause), CALLBACK(resume),
	CALLBACK(get_timestamp),
	{ "__itt_counter_set_value_v3", (void *)itt_on_counter_set_value },
	{ "__itt_frame_begin_v3", (void *)itt_on_frame_begin },
	{ "__itt_frame_end_v3", (void *)itt_on_frame_end },
	{ "__itt_frame_submit_v3", (void *)itt_on_frame_submit },
	{ "__itt_thread_set_name", (void *)dwi_thread_name },
	{ "__itt_detach", (void *)itt_on_pause },
#undef CALLBACK
};

void __itt_api_init(struct itt_global *global, int groups)
{
	(void)groups;
	if (!global || !global->functions)
		return;
	for (struct itt_function *entry = global->functions; entry->name; entry++) {
		void *function = entry->null;

		for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
			if (strcmp(entry->name, callbacks[i].name) == 0)
				function = callbacks[i].function;
		/* ittnotify leaves its own start in place of what a collector lacks. LLVM's OpenMP takes that for a collector
		 * that follows stacks, and ends the program because it gets none. */
		if (entry->function)
			*entry->function = function;
	}
}

/* Everything is in the trace already. */
void __itt_api_fini(struct itt_global *global)
{
	(void)global;
}
