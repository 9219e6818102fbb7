/*
 * The NVTX injection: ranges, marks and names that NCCL, RAPIDS, Megatron and other programs announce.
 *
 * `dwell run` names this library in NVTX_INJECTION64_PATH. InitializeInjectionNvtx2() is called once for
 * each copy of NVTX in the process; the functions below keep no state of a copy.
 *
 * Another library that the variable named before (DWELL_NVTX_NEXT) is loaded here and gets every call
 * too, with its own handles: handles of this library hold those of the next one.
 *
 *   push and pop    ranges that nest in their thread, in their domain
 *   start and end   ranges that need not nest; the number that start returns finds the name at the end
 *   marks           moments
 *   category, colour and payload are arguments of the range or mark: nvtx_args.c; structured ones: payload.h
 */
#include "payload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DWI_API int InitializeInjectionNvtx2(nvtx_get_table get);

/* What the program has as a handle of a domain and of a registered string. */
struct nvtx_domain {
	struct dwi_domain *domain;
	void *next; /* the next library's handle */
};

struct nvtx_string {
	struct dwi_domain *domain;
	const char *text;
	struct dwi_name *range, *mark; /* atomic; NULL: not made yet */
	void *next;
};

/* Functions of the next library; NULL: it has none, or there is no such library. */
static nvtx_function next_core[CORE_FUNCTIONS], next_core2[CORE2_FUNCTIONS];

#define NEXT(table, number, type) ((type)__atomic_load_n(&(table)[number], __ATOMIC_RELAXED))

static struct dwi_domain *nvtx_default_domain(void)
{
	static struct dwi_domain *domain; /* atomic */
	struct dwi_domain *known = __atomic_load_n(&domain, __ATOMIC_ACQUIRE);

	if (DWELL_UNLIKELY(!known)) {
		known = dwi_domain(DWI_NVTX, "");
		__atomic_store_n(&domain, known, __ATOMIC_RELEASE);
	}
	return known;
}

static inline struct dwi_domain *nvtx_domain_of(const struct nvtx_domain *domain)
{
	return domain ? domain->domain : nvtx_default_domain();
}

static void *nvtx_next_domain(const struct nvtx_domain *domain)
{
	return domain ? domain->next : NULL;
}

/* ---- names ------------------------------------------------------------------------------------- */

/* PyTorch's emit_nvtx adds numbers to the names of operators, which would make each of them another
 * name: "aten::add, op_id = 7". */
static struct dwi_name *nvtx_operator(struct dwi_domain *domain, const char *text)
{
	const char *first = strchr(text, ',');

	if (!first || (strncmp(first, ", seq = ", 8) != 0 && strncmp(first, ", op_id = ", 10) != 0))
		return NULL;
	return dwi_name_of_length(domain, DWI_OPERATOR_RANGE, text, (size_t)(first - text));
}

static struct dwi_name *nvtx_text(struct dwi_domain *domain, enum dwi_use use, const char *text)
{
	struct dwi_name *name = NULL;

	if (use == DWI_RANGE && text && domain == nvtx_default_domain())
		name = nvtx_operator(domain, text);
	return name ? name : dwi_name_again(domain, use, text);
}

static struct dwi_name *nvtx_registered(struct nvtx_string *string, enum dwi_use use)
{
	struct dwi_name **place, *name;

	if (!string)
		return NULL;
	place = use == DWI_MARK ? &string->mark : &string->range;
	name = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (DWELL_UNLIKELY(!name)) {
		name = dwi_name(string->domain, use, string->text);
		__atomic_store_n(place, name, __ATOMIC_RELEASE);
	}
	return name;
}

static struct dwi_name *nvtx_name(struct dwi_domain *domain, enum dwi_use use,
                                  const struct nvtx_attributes *attributes)
{
	char text[DWI_LONGEST + 8];
	struct dwi_name *name = NULL;

	if (!attributes || attributes->size < sizeof *attributes)
		return dwi_name(domain, use, NULL);
	switch (attributes->message_type) {
	case NVTX_MESSAGE_ASCII:
		return nvtx_text(domain, use, attributes->message.ascii);
	case NVTX_MESSAGE_REGISTERED:
		name = nvtx_registered(attributes->message.registered, use);
		break;
	case NVTX_MESSAGE_WIDE:
		return dwi_name(domain, use, dwi_narrow(attributes->message.wide, text));
	default: break;
	}
	/* A string may be registered in another domain than it is used in. */
	if (name && name->domain != domain)
		name = dwi_name(domain, use, name->text);
	return name ? name : dwi_name(domain, use, NULL);
}

/* ---- for payload.c --------------------------------------------------------------------------------------- */

struct dwi_domain *dwi_nvtx_domain(const void *handle)
{
	return nvtx_domain_of(handle);
}

/* ---- what the next library gets ------------------------------------------------------------------------ */

/* The attributes with the next library's handle of a registered string. */
static const struct nvtx_attributes *nvtx_for_next(const struct nvtx_attributes *attributes,
                                                   struct nvtx_attributes *copy)
{
	const struct nvtx_string *string;

	if (!attributes || attributes->size < sizeof *attributes ||
	    attributes->message_type != NVTX_MESSAGE_REGISTERED)
		return attributes;
	memcpy(copy, attributes, sizeof *copy);
	copy->size = sizeof *copy;
	string = attributes->message.registered;
	if (string && string->next) {
		copy->message.registered = string->next;
	} else { /* it registers no strings */
		copy->message_type = NVTX_MESSAGE_ASCII;
		copy->message.ascii = string ? string->text : "";
	}
	return copy;
}

/* ---- ranges ----------------------------------------------------------------------------------------------- */

static int nvtx_push(struct dwi_domain *domain, const struct nvtx_attributes *attributes)
{
	int depth = dwi_begin(nvtx_name(domain, DWI_RANGE, attributes), 0);

	dwi_nvtx_arguments(domain, attributes);
	return depth;
}

static int nvtx_on_domain_push(struct nvtx_domain *domain, const struct nvtx_attributes *attributes)
{
	int (*next)(void *, const void *) = NEXT(next_core2, CORE2_PUSH, int (*)(void *, const void *));
	int depth = nvtx_push(nvtx_domain_of(domain), attributes);
	struct nvtx_attributes copy;

	return DWELL_UNLIKELY(next != NULL)
	           ? next(nvtx_next_domain(domain), nvtx_for_next(attributes, &copy)) : depth;
}

static int nvtx_on_push_ex(const struct nvtx_attributes *attributes)
{
	int (*next)(const void *) = NEXT(next_core, CORE_PUSH_EX, int (*)(const void *));
	int depth = nvtx_push(nvtx_default_domain(), attributes);
	struct nvtx_attributes copy;

	return DWELL_UNLIKELY(next != NULL) ? next(nvtx_for_next(attributes, &copy)) : depth;
}

static int nvtx_on_push_a(const char *text)
{
	int (*next)(const char *) = NEXT(next_core, CORE_PUSH_A, int (*)(const char *));
	int depth = dwi_begin(nvtx_text(nvtx_default_domain(), DWI_RANGE, text), 0);

	return DWELL_UNLIKELY(next != NULL) ? next(text) : depth;
}

static int nvtx_on_push_w(const int32_t *wide)
{
	int (*next)(const int32_t *) = NEXT(next_core, CORE_PUSH_W, int (*)(const int32_t *));
	char text[DWI_LONGEST + 8];
	int depth = dwi_begin(dwi_name(nvtx_default_domain(), DWI_RANGE, dwi_narrow(wide, text)), 0);

	return next ? next(wide) : depth;
}

static int nvtx_on_pop(void)
{
	int (*next)(void) = NEXT(next_core, CORE_POP, int (*)(void));
	int depth = dwi_end(nvtx_default_domain());

	return DWELL_UNLIKELY(next != NULL) ? next() : depth;
}

static int nvtx_on_domain_pop(struct nvtx_domain *domain)
{
	int (*next)(void *) = NEXT(next_core2, CORE2_POP, int (*)(void *));
	int depth = dwi_end(nvtx_domain_of(domain));

	return DWELL_UNLIKELY(next != NULL) ? next(nvtx_next_domain(domain)) : depth;
}

/* The number of a range that start() began. The next library's numbers have the highest bit free, or
 * that bit would be lost; they are addresses or counters. */
#define OWN_NUMBER (1ull << 63)

static uint64_t nvtx_start(struct dwi_name *name, bool next, uint64_t next_number)
{
	static uint64_t newest; /* atomic */
	uint64_t number = next ? next_number
	                       : OWN_NUMBER | __atomic_add_fetch(&newest, 1, __ATOMIC_RELAXED);

	dwi_async_begin(name, dwi_key(NULL, number, 1, 0));
	return number;
}

static uint64_t nvtx_start_with(struct dwi_domain *domain, const struct nvtx_attributes *attributes, bool next,
                                uint64_t next_number)
{
	struct dwi_name *name = nvtx_name(domain, DWI_RANGE, attributes);

	dwi_nvtx_next_arguments(name, domain, attributes);
	return nvtx_start(name, next, next_number);
}

uint64_t dwi_nvtx_start(struct dwi_name *name)
{
	return nvtx_start(name, false, 0);
}

static uint64_t nvtx_on_domain_start(struct nvtx_domain *domain, const struct nvtx_attributes *attributes)
{
	uint64_t (*next)(void *, const void *) =
	    NEXT(next_core2, CORE2_START, uint64_t (*)(void *, const void *));
	struct nvtx_attributes copy;
	uint64_t number =
	    next ? next(nvtx_next_domain(domain), nvtx_for_next(attributes, &copy)) : 0;

	return nvtx_start_with(nvtx_domain_of(domain), attributes, next, number);
}

static uint64_t nvtx_on_start_ex(const struct nvtx_attributes *attributes)
{
	uint64_t (*next)(const void *) = NEXT(next_core, CORE_START_EX, uint64_t (*)(const void *));
	struct nvtx_attributes copy;
	uint64_t number = next ? next(nvtx_for_next(attributes, &copy)) : 0;

	return nvtx_start_with(nvtx_default_domain(), attributes, next, number);
}

static uint64_t nvtx_on_start_a(const char *text)
{
	uint64_t (*next)(const char *) = NEXT(next_core, CORE_START_A, uint64_t (*)(const char *));
	uint64_t number = next ? next(text) : 0;

	return nvtx_start(nvtx_text(nvtx_default_domain(), DWI_RANGE, text), next, number);
}

static uint64_t nvtx_on_start_w(const int32_t *wide)
{
	uint64_t (*next)(const int32_t *) = NEXT(next_core, CORE_START_W, uint64_t (*)(const int32_t *));
	uint64_t number = next ? next(wide) : 0;
	char text[DWI_LONGEST + 8];

	return nvtx_start(dwi_name(nvtx_default_domain(), DWI_RANGE, dwi_narrow(wide, text)), next, number);
}

static void nvtx_on_end(uint64_t number)
{
	void (*next)(uint64_t) = NEXT(next_core, CORE_END, void (*)(uint64_t));

	dwi_async_end(dwi_key(NULL, number, 1, 0));
	if (next && !(number & OWN_NUMBER))
		next(number);
}

static void nvtx_on_domain_end(struct nvtx_domain *domain, uint64_t number)
{
	void (*next)(void *, uint64_t) = NEXT(next_core2, CORE2_END, void (*)(void *, uint64_t));

	dwi_async_end(dwi_key(NULL, number, 1, 0));
	if (next && !(number & OWN_NUMBER))
		next(nvtx_next_domain(domain), number);
}

/* ---- marks --------------------------------------------------------------------------------------------------- */

static void nvtx_mark(struct dwi_domain *domain, const struct nvtx_attributes *attributes)
{
	struct dwi_name *name = nvtx_name(domain, DWI_MARK, attributes);

	dwi_nvtx_next_arguments(name, domain, attributes);
	dwi_mark(name);
}

static void nvtx_on_domain_mark(struct nvtx_domain *domain, const struct nvtx_attributes *attributes)
{
	void (*next)(void *, const void *) = NEXT(next_core2, CORE2_MARK, void (*)(void *, const void *));
	struct nvtx_attributes copy;

	nvtx_mark(nvtx_domain_of(domain), attributes);
	if (next)
		next(nvtx_next_domain(domain), nvtx_for_next(attributes, &copy));
}

static void nvtx_on_mark_ex(const struct nvtx_attributes *attributes)
{
	void (*next)(const void *) = NEXT(next_core, CORE_MARK_EX, void (*)(const void *));
	struct nvtx_attributes copy;

	nvtx_mark(nvtx_default_domain(), attributes);
	if (next)
		next(nvtx_for_next(attributes, &copy));
}

static void nvtx_on_mark_a(const char *text)
{
	void (*next)(const char *) = NEXT(next_core, CORE_MARK_A, void (*)(const char *));

	dwi_mark(nvtx_text(nvtx_default_domain(), DWI_MARK, text));
	if (next)
		next(text);
}

static void nvtx_on_mark_w(const int32_t *wide)
{
	void (*next)(const int32_t *) = NEXT(next_core, CORE_MARK_W, void (*)(const int32_t *));
	char text[DWI_LONGEST + 8];

	dwi_mark(dwi_name(nvtx_default_domain(), DWI_MARK, dwi_narrow(wide, text)));
	if (next)
		next(wide);
}

/* ---- names of categories and threads ------------------------------------------------------------------------ */

static void nvtx_on_category_a(uint32_t category, const char *name)
{
	void (*next)(uint32_t, const char *) =
	    NEXT(next_core, CORE_CATEGORY_A, void (*)(uint32_t, const char *));

	dwi_nvtx_category_name(nvtx_default_domain(), category, name);
	if (next)
		next(category, name);
}

static void nvtx_on_category_w(uint32_t category, const int32_t *wide)
{
	void (*next)(uint32_t, const int32_t *) =
	    NEXT(next_core, CORE_CATEGORY_W, void (*)(uint32_t, const int32_t *));
	char text[DWI_LONGEST + 8];

	dwi_nvtx_category_name(nvtx_default_domain(), category, dwi_narrow(wide, text));
	if (next)
		next(category, wide);
}

static void nvtx_on_domain_category_a(struct nvtx_domain *domain, uint32_t category, const char *name)
{
	void (*next)(void *, uint32_t, const char *) =
	    NEXT(next_core2, CORE2_CATEGORY_A, void (*)(void *, uint32_t, const char *));

	dwi_nvtx_category_name(nvtx_domain_of(domain), category, name);
	if (next)
		next(nvtx_next_domain(domain), category, name);
}

static void nvtx_on_domain_category_w(struct nvtx_domain *domain, uint32_t category, const int32_t *wide)
{
	void (*next)(void *, uint32_t, const int32_t *) =
	    NEXT(next_core2, CORE2_CATEGORY_W, void (*)(void *, uint32_t, const int32_t *));
	char text[DWI_LONGEST + 8];

	dwi_nvtx_category_name(nvtx_domain_of(domain), category, dwi_narrow(wide, text));
	if (next)
		next(nvtx_next_domain(domain), category, wide);
}

static void nvtx_on_thread_a(uint32_t thread, const char *name)
{
	void (*next)(uint32_t, const char *) =
	    NEXT(next_core, CORE_THREAD_A, void (*)(uint32_t, const char *));

	dwi_thread_name_of(thread, name);
	if (next)
		next(thread, name);
}

static void nvtx_on_thread_w(uint32_t thread, const int32_t *wide)
{
	void (*next)(uint32_t, const int32_t *) =
	    NEXT(next_core, CORE_THREAD_W, void (*)(uint32_t, const int32_t *));
	char text[DWI_LONGEST + 8];

	dwi_thread_name_of(thread, dwi_narrow(wide, text));
	if (next)
		next(thread, wide);
}

/* ---- handles --------------------------------------------------------------------------------------------------- */

static struct nvtx_domain *nvtx_domain_make(const char *name, void *next)
{
	struct nvtx_domain *domain = dwi_memory(sizeof *domain);

	if (domain) {
		domain->domain = dwi_domain(DWI_NVTX, name);
		domain->next = next;
	}
	return domain;
}

static void *nvtx_on_domain_create_a(const char *name)
{
	void *(*next)(const char *) = NEXT(next_core2, CORE2_CREATE_A, void *(*)(const char *));

	return nvtx_domain_make(name, next ? next(name) : NULL);
}

static void *nvtx_on_domain_create_w(const int32_t *wide)
{
	void *(*next)(const int32_t *) = NEXT(next_core2, CORE2_CREATE_W, void *(*)(const int32_t *));
	char text[DWI_LONGEST + 8];

	return nvtx_domain_make(dwi_narrow(wide, text), next ? next(wide) : NULL);
}

static void nvtx_on_domain_destroy(struct nvtx_domain *domain)
{
	void (*next)(void *) = NEXT(next_core2, CORE2_DESTROY, void (*)(void *));

	if (next && domain)
		next(domain->next);
}

/* A program may register a text again and again: it gets the same handle unless the next library gave
 * another one. Handles are kept in a table by their text and domain. */
static void *nvtx_register(struct nvtx_domain *domain, const char *text, void *next)
{
	static struct nvtx_string *known[4096]; /* atomic */
	struct dwi_domain *own = nvtx_domain_of(domain);
	struct dwi_name *name = dwi_name(own, DWI_RANGE, text);
	uint64_t at = name ? name->hash : 0;
	struct nvtx_string *string;

	if (!name)
		return (void *)&known; /* never NULL: programs would announce the range without a name */
	for (uint64_t i = 0; i < 16; i++) {
		string = __atomic_load_n(&known[(at + i) & 4095], __ATOMIC_ACQUIRE);
		if (!string)
			break;
		if (string->range == name && string->next == next)
			return string;
	}
	string = dwi_memory(sizeof *string);
	if (!string)
		return NULL;
	string->domain = own;
	string->text = name->text;
	string->range = name;
	string->next = next;
	for (uint64_t i = 0; i < 16; i++) {
		struct nvtx_string *none = NULL;

		if (__atomic_compare_exchange_n(&known[(at + i) & 4095], &none, string, false,
		                                __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			break;
	}
	return string;
}

static void *nvtx_on_register_a(struct nvtx_domain *domain, const char *text)
{
	void *(*next)(void *, const char *) =
	    NEXT(next_core2, CORE2_REGISTER_A, void *(*)(void *, const char *));

	return nvtx_register(domain, text, next ? next(nvtx_next_domain(domain), text) : NULL);
}

static void *nvtx_on_register_w(struct nvtx_domain *domain, const int32_t *wide)
{
	void *(*next)(void *, const int32_t *) =
	    NEXT(next_core2, CORE2_REGISTER_W, void *(*)(void *, const int32_t *));
	char text[DWI_LONGEST + 8];

	return nvtx_register(domain, dwi_narrow(wide, text),
	                     next ? next(nvtx_next_domain(domain), wide) : NULL);
}

static void *nvtx_on_resource_create(struct nvtx_domain *domain, void *attributes)
{
	void *(*next)(void *, void *) =
	    NEXT(next_core2, CORE2_RESOURCE_CREATE, void *(*)(void *, void *));

	return next ? next(nvtx_next_domain(domain), attributes) : NULL;
}

/* ---- the injection ----------------------------------------------------------------------------------------------- */

static const nvtx_function core[CORE_FUNCTIONS] = {
	[CORE_MARK_EX] = (nvtx_function)nvtx_on_mark_ex, [CORE_MARK_A] = (nvtx_function)nvtx_on_mark_a,
	[CORE_MARK_W] = (nvtx_function)nvtx_on_mark_w, [CORE_START_EX] = (nvtx_function)nvtx_on_start_ex,
	[CORE_START_A] = (nvtx_function)nvtx_on_start_a, [CORE_START_W] = (nvtx_function)nvtx_on_start_w,
	[CORE_END] = (nvtx_function)nvtx_on_end, [CORE_PUSH_EX] = (nvtx_function)nvtx_on_push_ex,
	[CORE_PUSH_A] = (nvtx_function)nvtx_on_push_a, [CORE_PUSH_W] = (nvtx_function)nvtx_on_push_w,
	[CORE_POP] = (nvtx_function)nvtx_on_pop, [CORE_CATEGORY_A] = (nvtx_function)nvtx_on_category_a,
	[CORE_CATEGORY_W] = (nvtx_function)nvtx_on_category_w, [CORE_THREAD_A] = (nvtx_function)nvtx_on_thread_a,
	[CORE_THREAD_W] = (nvtx_function)nvtx_on_thread_w,
};

static const nvtx_function core2[CORE2_FUNCTIONS] = {
	[CORE2_MARK] = (nvtx_function)nvtx_on_domain_mark, [CORE2_START] = (nvtx_function)nvtx_on_domain_start,
	[CORE2_END] = (nvtx_function)nvtx_on_domain_end, [CORE2_PUSH] = (nvtx_function)nvtx_on_domain_push,
	[CORE2_POP] = (nvtx_function)nvtx_on_domain_pop,
	[CORE2_RESOURCE_CREATE] = (nvtx_function)nvtx_on_resource_create,
	[CORE2_CATEGORY_A] = (nvtx_function)nvtx_on_domain_category_a,
	[CORE2_CATEGORY_W] = (nvtx_function)nvtx_on_domain_category_w,
	[CORE2_REGISTER_A] = (nvtx_function)nvtx_on_register_a,
	[CORE2_REGISTER_W] = (nvtx_function)nvtx_on_register_w,
	[CORE2_CREATE_A] = (nvtx_function)nvtx_on_domain_create_a,
	[CORE2_CREATE_W] = (nvtx_function)nvtx_on_domain_create_w,
	[CORE2_DESTROY] = (nvtx_function)nvtx_on_domain_destroy,
};

/* Lets the library that NVTX_INJECTION64_PATH named before dwell write its functions. */
static void nvtx_call_next(nvtx_get_table get)
{
	const char *path = getenv("DWELL_NVTX_NEXT");
	void *library = path && *path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
	int (*initialize)(nvtx_get_table) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	if (initialize)
		initialize(get);
	else if (path && *path)
		fprintf(stderr, "dwell: NVTX_INJECTION64_PATH: %s is no injection library of NVTX\n", path);
}

/* Writes the functions of a module, and keeps those that the next library wrote after `before`. */
static void nvtx_fill(nvtx_function **table, unsigned count, const nvtx_function *before,
                      const nvtx_function *own, nvtx_function *next, unsigned functions)
{
	for (unsigned i = 1; i < count && i < functions; i++) {
		if (!table[i] || !own[i])
			continue;
		if (*table[i] != before[i] && *table[i] != own[i])
			__atomic_store_n(&next[i], *table[i], __ATOMIC_RELAXED);
		*table[i] = own[i];
	}
}

int InitializeInjectionNvtx2(nvtx_get_table get)
{
	const struct nvtx_callbacks *callbacks = get ? get(NVTX_TABLE_CALLBACKS) : NULL;
	nvtx_function **tables[2] = { NULL, NULL }, before[2][CORE_FUNCTIONS + CORE2_FUNCTIONS];
	unsigned counts[2] = { 0, 0 };
	int saved = errno;

	if (!callbacks || callbacks->size < sizeof *callbacks)
		return 0;
	memset(before, 0, sizeof before);
	for (int module = 0; module < 2; module++) {
		if (!callbacks->get_module(module ? NVTX_CORE2 : NVTX_CORE, &tables[module],
		                           &counts[module]))
			counts[module] = 0;
		for (unsigned i = 1; i < counts[module] && i < CORE_FUNCTIONS; i++)
			before[module][i] = tables[module][i] ? *tables[module][i] : NULL;
	}
	nvtx_call_next(get);
	nvtx_fill(tables[0], counts[0], before[0], core, next_core, CORE_FUNCTIONS);
	nvtx_fill(tables[1], counts[1], before[1], core2, next_core2, CORE2_FUNCTIONS);
	errno = saved;
	return 1;
}
