/* Looks at threads from outside as records: sums are the kernel's, a wait that goes on is one wait, names come at the end. */
#include "../made.h"

#include "attach/attach_trace.h"
#include "model/samples/samples.h"

#define US 1000u

static struct made made;
static struct dw_attach_process process;
static uint64_t now_ns;

/* A place in code without inlined functions. */
static struct dw_process_frame functions[] = {
	{ .function = "main", .file = "app.c", .line = 3, .module = "app" },
	{ .function = "compute", .file = "app.c", .line = 9, .module = "app" },
	{ .function = "__GI___poll", .module = "libc.so.6" },
};
static struct dw_place places[4];
static const struct dw_place *working[] = { &places[1], &places[0] };
static const struct dw_place *waiting[] = { &places[2], &places[0] };
static const struct dw_place *made_code[] = { &places[3] };

static void begin(void)
{
	struct dw_attach_about about = { .pid = 7, .path = "/bin/app", .command = "app" };

	memset(&made, 0, sizeof made);
	memset(places, 0, sizeof places);
	made.file = -1;
	now_ns = 1000 * US;
	for (size_t i = 0; i < 3; i++) {
		places[i].functions = &functions[i];
		places[i].count = 1;
	}
	places[2].library = true;
	places[3].made = 0x7000;
	places[3].functions = &functions[1];
	places[3].count = 1;
	dw_encode_init(&made.encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_attach_begin(&process, &made.encode, &about);
}

/* A look after so many microseconds, of which the thread had the CPU for some. */
static void look(uint32_t tid, unsigned us, unsigned cpu_us, bool waits, const struct dw_place *const *at, size_t count)
{
	struct dw_follow_look look = { .tid = tid, .name = "app", .since_ns = now_ns, .cpu_ns = cpu_us * US, .seen = true, .waits = waits,
		                           .wait = waits ? "a descriptor" : NULL, .places = at, .count = count };

	now_ns += us * US;
	look.now_ns = now_ns;
	dw_attach_add(&process, &look);
}

/* Ends the trace and opens it. */
static bool read_back(void)
{
	dw_attach_end(&process);
	CHECK(!process.no_memory && !made.encode.failed);
	return made_open_bytes(&made, dw_encode_bytes(&made.encode), NULL) == 0;
}

static void end(void)
{
	dw_attach_reset(&process);
	made_close(&made);
}

/* The name of the innermost function of the i-th row. */
static const char *innermost(const struct dw_samples *samples, size_t i)
{
	struct dw_sample_stack stack = dw_sample_stack_of(made.source, &samples->rows[i]);
	const struct dw_source_frame *frame = dw_sample_stack_at(&stack, 0);

	return frame && frame->count ? frame->functions[0].name : "";
}

TEST(cpu_time_is_the_kernels_whatever_the_looks_see)
{
	const struct dw_samples *samples;

	begin();
	look(10, 0, 0, false, working, 2);
	look(10, 10, 7, false, working, 2);
	look(10, 10, 3, true, waiting, 2); /* used the CPU, and waits now: the time belongs to the next stack on a CPU */
	look(10, 10, 1, false, working, 2);
	look(10, 10, 5, true, waiting, 2); /* no stack on a CPU comes any more */
	REQUIRE(read_back());
	samples = dw_model_samples(made.model, NULL);
	REQUIRE(samples);
	CHECK_EQ(samples->cpu_ns, 16 * US);
	CHECK_EQ(samples->rows[0].weight, 11);
	CHECK_STR(innermost(samples, 0), "compute");
	end();
}

TEST(time_off_the_cpu_belongs_to_the_function_that_waits)
{
	const struct dw_samples *waits;

	begin();
	look(10, 0, 0, true, waiting, 2);
	look(10, 100, 0, true, waiting, 2);
	look(10, 100, 30, true, waiting, 2);
	look(10, 10, 10, false, working, 2);
	REQUIRE(read_back());
	waits = dw_model_wait_samples(made.model, NULL);
	REQUIRE(waits);
	CHECK_EQ(waits->count, 1);
	CHECK_EQ(waits->samples, 1); /* one wait went on, and is written once */
	CHECK_EQ(waits->cpu_ns, 170 * US);
	CHECK_STR(innermost(waits, 0), "poll"); /* as programs know it */
	end();
}

TEST(the_function_that_waits_is_the_outermost_of_the_library)
{
	begin();
	places[1].library = true;
	CHECK_EQ(dw_attach_wait_frame(working, 2), 1);
	places[0].library = true;
	CHECK_EQ(dw_attach_wait_frame(working, 2), 2);
	places[0].library = places[1].library = false;
	CHECK_EQ(dw_attach_wait_frame(working, 2), 0);
	CHECK_EQ(dw_attach_wait_frame(NULL, 0), 0);
	end();
}

TEST(code_that_the_process_made_is_named_at_the_end)
{
	const struct dw_samples *samples;

	begin();
	look(10, 0, 0, false, made_code, 1);
	look(10, 10, 10, false, made_code, 1);
	REQUIRE(process.made_count == 1);
	CHECK_EQ(process.made[0].address, 0x7000);
	dw_attach_name(&process, &process.made[0], "traced");
	REQUIRE(read_back());
	samples = dw_model_samples(made.model, NULL);
	REQUIRE(samples && samples->count);
	CHECK_STR(innermost(samples, 0), "traced");
	end();
}

TEST(threads_have_streams_of_their_own_and_stops_are_counted)
{
	struct dw_follow_look stopped = { .name = "app", .seen = true, .places = working, .count = 2 };
	const struct dw_samples *samples;

	begin();
	for (uint32_t tid = 10; tid < 13; tid++) {
		stopped.tid = tid;
		stopped.since_ns = now_ns;
		stopped.now_ns = now_ns + 20 * US;
		stopped.cpu_ns = 20 * US;
		stopped.stopped_ns = tid == 11 ? 0 : tid;
		dw_attach_add(&process, &stopped);
	}
	CHECK_EQ(process.looks, 3);
	CHECK_EQ(process.stops, 2);
	CHECK_EQ(process.stopped_ns, 22);
	CHECK_EQ(process.longest_stop_ns, 12);
	REQUIRE(read_back());
	samples = dw_model_samples(made.model, NULL);
	REQUIRE(samples);
	CHECK_EQ(samples->cpu_ns, 60 * US);
	CHECK_EQ(samples->count, 3);
	end();
}

TEST(a_thread_that_could_not_be_read_has_its_time_without_a_stack)
{
	const struct dw_samples *samples;

	begin();
	look(10, 50, 50, false, NULL, 0);
	REQUIRE(read_back());
	samples = dw_model_samples(made.model, NULL);
	REQUIRE(samples);
	CHECK_EQ(samples->cpu_ns, 50 * US);
	CHECK_EQ(samples->unread, 1);
	end();
}

CHECK_MAIN
