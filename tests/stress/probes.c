/*
 * Every probe: its arguments are in the trace, and errno is unchanged. Tested with both clocks,
 * because every record takes a different code path if reading the clock is a call.
 */
#include "stress.h"

#include <errno.h>
#include <math.h>

#define SENTINEL 4242
#define KEPT(call)                                         \
	do {                                                   \
		errno = SENTINEL;                                  \
		call;                                              \
		if (errno != SENTINEL)                             \
			FAIL("%s changes errno to %d", #call, errno);  \
	} while (0)

static void in_a_zone(void)
{
	DWELL_ZONE("zone");
	DWELL_PHASE("phase");
	DWELL_LAYER("layer");
}

static void with_shapes(int64_t first)
{
	int64_t sizes[] = { first, 3, 224, 224, 1, 2 };
	struct dwell_tensor tensors[] = { { sizes, 6, DWELL_FLOAT32 }, { NULL, 0, DWELL_DTYPE_NONE } };

	DWELL_OP_SHAPES("conv", tensors, 2);
}

static void one_round(void)
{
	static struct dwell_site site = { "by hand", NULL, __FILE__, 7, DWELL_CATEGORY_ZONE, 0 };
	char name[16];

	KEPT(in_a_zone());
	KEPT(with_shapes(16));
	KEPT(DWELL_MARK("mark"));
	KEPT(DWELL_COUNTER("loss", 0.25));
	KEPT(DWELL_COUNTER_UNIT("speed", "1/s", -1e300));
	KEPT(DWELL_ALLOC("gradient", "cpu", (void *)(uintptr_t)0x123456789a, 1u << 20));
	KEPT(DWELL_ALLOC_IS("parameter", (void *)(uintptr_t)0x123456789a));
	KEPT(DWELL_FREE((void *)(uintptr_t)0x123456789a));
	KEPT(DWELL_ASYNC_BEGIN("async", 0xfedcba9876543210u));
	KEPT(DWELL_ASYNC_END("async", 0xfedcba9876543210u));
	KEPT(DWELL_REQUEST_BEGIN("request", 0xfedcba9876543210u));
	KEPT(DWELL_REQUEST_STAGE("stage", 0xfedcba9876543210u));
	KEPT(DWELL_REQUEST_TOKENS(0xfedcba9876543210u, 7));
	KEPT(DWELL_REQUEST_END("request", 0xfedcba9876543210u));
	KEPT(DWELL_FLOW_OUT("flow", 5));
	KEPT(DWELL_FLOW_IN("flow", 5));
	KEPT(dwell_link(77, 3));
	KEPT(dwell_end(dwell_begin(&site)));
	KEPT(dwell_begin(&site));
	KEPT(dwell_end_of(0));
	KEPT(dwell_end_id(dwell_begin_named(site.id, DWELL_CATEGORY_ZONE)));
	KEPT(dwell_end_named(site.id));
	KEPT(dwell_step());
	KEPT(dwell_step_end());
	KEPT(dwell_meta("model", "resnet18"));
	KEPT(dwell_meta("password", "hunter2"));
	KEPT(dwell_meta_json("batch", "16"));
	KEPT(dwell_thread_number("main", 7));
	KEPT(dwell_thread_name("main thread"));
	KEPT(dwell_end(dwell_worker_begin(DWELL_TEAM())));
	KEPT(dwell_end(dwell_op_begin_named("named", NULL, 0, DWELL_NOT_GIVEN, DWELL_NOT_GIVEN)));
	KEPT(dwell_rank(1, 0, 2));
	static unsigned round;
	snprintf(name, sizeof name, "new%u", round++);
	KEPT(dwell_intern(DWELL_CATEGORY_ZONE, name, "detail"));
	KEPT((void)dwell_active());
	KEPT((void)dwell_steps_begun());
	KEPT((void)dwell_trace_path());
}

static struct dwell_options options;

static void all_probes(void *path)
{
	one_round(); /* not recorded */
	stress_start(path, &options);
	for (int i = 0; i < 3000; i++)
		one_round();
	stress_stop();
	one_round();
}

/* ENOMEM and the like: the probes that lose leave errno alone as well. */
static void check_payload(void *context, const struct trace_record *record)
{
	uint64_t *wrong = context, value;
	double number;

	if (record->kind == DW_COUNTER) {
		memcpy(&number, record->payload, sizeof number);
		*wrong += number != (strcmp(record->name, "loss") == 0 ? 0.25 : -1e300);
	} else if (record->kind == DW_ALLOC) {
		memcpy(&value, record->payload, 8);
		*wrong += value != 0x123456789a || strcmp(record->name, "gradient") != 0;
		memcpy(&value, record->payload + 2, 8);
		*wrong += value != 1u << 20;
	} else if (record->kind == DW_EXT &&
	           record->id == (DW_EXT_ALLOC_IS << DW_EXT_TYPE_SHIFT | DW_ALLOC_IS_WORDS)) {
		memcpy(&value, record->payload, 8);
		*wrong += value != record->ticks;
		memcpy(&value, record->payload + 2, 8);
		*wrong += value != 0x123456789a || !record->payload[4];
	} else if (record->kind == DW_EXT && record->id == (DW_EXT_TOKENS << DW_EXT_TYPE_SHIFT | DW_TOKENS_WORDS)) {
		memcpy(&value, record->payload + 2, 8);
		*wrong += value != 0xfedcba9876543210u || !record->payload[4] || record->payload[5] != 7;
	} else if (record->kind == DW_FREE) {
		memcpy(&value, record->payload, 8);
		*wrong += value != 0x123456789a;
	} else if (record->kind == DW_ASYNC_BEGIN || record->kind == DW_ASYNC_END) {
		memcpy(&value, record->payload, 8);
		*wrong += value != 0xfedcba9876543210u;
	} else if (record->kind == DW_LINK) {
		memcpy(&value, record->payload, 8);
		*wrong += value != 77 || record->payload[2] != 3;
	}
}

static void check_dictionary(struct trace *trace, bool shapes)
{
	uint64_t secrets = 0;
	size_t shapes_found = 0;

	for (size_t i = 0; i < trace->all_count; i++) {
		const struct dw_entry *entry = trace->all[i];
		const struct dw_entry_shapes *found = (const void *)entry;
		uint32_t length = 0;

		if (entry->tag == DW_ENTRY_TAG(DW_ENTRY_STRING)) {
			const char *text = trace_text(trace, entry->id, &length);

			secrets += memmem(text, length, "hunter2", 7) != NULL;
		}
		if (entry->tag == DW_ENTRY_TAG(DW_ENTRY_SHAPES)) {
			int64_t sizes[6];

			memcpy(sizes, found->tensors + 8, sizeof sizes);
			CHECK_U64(found->entry.aux, 2);
			CHECK(found->tensors[0] == DWELL_FLOAT32 && found->tensors[1] == 6);
			CHECK(sizes[0] == 16 && sizes[3] == 224 && sizes[5] == 2);
			CHECK(found->tensors[56] == DWELL_DTYPE_NONE && found->tensors[57] == 0);
			shapes_found++;
		}
	}
	CHECK_U64(secrets, 0);
	CHECK_U64(shapes_found, shapes);
}

static void check_probes(const char *path, enum dw_clock_kind kind, bool shapes)
{
	static const struct { uint32_t kind; const char *name; } expected[] = {
		{ DW_BEGIN, "zone" }, { TRACE_END, "zone" }, { DW_BEGIN, "phase" }, { DW_BEGIN, "layer" },
		{ DW_BEGIN, "conv" }, { TRACE_END, "conv" }, { DW_MARK, "mark" }, { DW_COUNTER, "loss" },
		{ DW_COUNTER, "speed" }, { DW_ALLOC, "gradient" }, { DW_FREE, "free" },
		{ DW_ASYNC_BEGIN, "async" }, { DW_ASYNC_END, "async" }, { DW_ASYNC_BEGIN, "request" },
		{ DW_ASYNC_BEGIN, "stage" }, { DW_ASYNC_END, "request" }, { DW_FLOW_OUT, "flow" },
		{ DW_FLOW_IN, "flow" }, { TRACE_END, "by hand" },
	};
	struct trace trace;
	uint64_t wrong = 0;

	options = (struct dwell_options)DWELL_OPTIONS_INIT;
	if (shapes)
		options.categories = DWELL_MASK_DEFAULT | DWELL_DETAIL_SHAPES;
	CHECK_EXITED(stress_child(all_probes, (void *)(uintptr_t)path), 0);
	if (!stress_read(&trace, path))
		return;
	CHECK_U64(trace.head->clock_kind, kind);
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		if (trace_count(&trace, expected[i].kind, expected[i].name) != 3000)
			FAIL("%s: %llu records of kind %u, not 3000", expected[i].name,
			     (unsigned long long)trace_count(&trace, expected[i].kind, expected[i].name),
			     expected[i].kind);
	trace_walk(&trace, check_payload, &wrong);
	CHECK_U64(wrong, 0);
	CHECK_U64(trace_entries(&trace, DW_ENTRY_STEP), 3000);
	CHECK_U64(trace_entries(&trace, DW_ENTRY_CLOCK), 2);
	CHECK_U64(trace_lost_all(&trace), 0);
	check_dictionary(&trace, shapes);
	trace_close(&trace);
}

static void probes_inline(void)
{
	check_probes("probes.dwell", DW_CLOCK_TSC, false);
}

static void probes_shapes(void)
{
	check_probes("shapes.dwell", DW_CLOCK_TSC, true);
}

static void probes_monotonic(void)
{
	setenv("DWELL_CLOCK", "monotonic", 1);
	check_probes("monotonic.dwell", DW_CLOCK_MONOTONIC, true);
}

/* Times are real: a sleep of 30 ms within a range is in the range. */
static void sleeping(void *path)
{
	stress_start(path, NULL);
	for (int i = 0; i < 3; i++) {
		DWELL_ZONE("sleep");
		stress_sleep_us(30000);
	}
	/* Longer than a delta can say (0.4 s of a 2.6 GHz counter). */
	DWELL_ZONE("long sleep");
	stress_sleep_us(900000);
}

struct span {
	uint64_t begin, spans[2], counts[2];
};

static void see_span(void *context, const struct trace_record *record)
{
	struct span *span = context;
	int which = strcmp(record->name, "long sleep") == 0;

	if (!which && strcmp(record->name, "sleep") != 0)
		return;
	if (record->kind == DW_BEGIN)
		span->begin = record->ticks;
	if (record->kind == TRACE_END) {
		span->spans[which] += record->ticks - span->begin;
		span->counts[which]++;
	}
}

static void check_times(const char *path)
{
	struct span span = { 0 };
	struct trace trace;

	CHECK_EXITED(stress_child(sleeping, (void *)(uintptr_t)path), 0);
	if (!stress_read(&trace, path))
		return;
	trace_walk(&trace, see_span, &span);
	double second = (double)trace.head->ticks_per_second;
	CHECK_U64(span.counts[0], 3);
	CHECK_U64(span.counts[1], 1);
	if ((double)span.spans[0] / second < 0.0899 || (double)span.spans[0] / second > 1.0)
		FAIL("90 ms of sleep were recorded as %.3f s", (double)span.spans[0] / second);
	if ((double)span.spans[1] / second < 0.899 || (double)span.spans[1] / second > 2.0)
		FAIL("0.9 s of sleep were recorded as %.3f s", (double)span.spans[1] / second);
	trace_close(&trace);
}

static void probes_times(void)
{
	check_times("times.dwell");
	setenv("DWELL_CLOCK", "monotonic", 1);
	check_times("times2.dwell");
}

const struct stress_test probe_tests[] = {
	{ "probes.all", probes_inline }, { "probes.shapes", probes_shapes },
	{ "probes.monotonic", probes_monotonic }, { "probes.times", probes_times },
	{ NULL, NULL },
};
