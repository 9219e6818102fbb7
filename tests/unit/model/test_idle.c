/* Why a device is idle, and what the host did meanwhile, on made traces: a cause for each idle time. 1 tick is 1 ns. */
#include "made.h"

#include "facts/facts.h"
#include "model/device/times.h"
#include "views/views.h"

#define MS 1000000u
#define US 1000u

struct idle {
	struct made made;
	struct dw_encode_events events;
	uint32_t device, queue, other, kernel, second, launch, sync, copy, op, zone;
	uint32_t calls; /* correlation of the last call */
};

static void idle_init(struct idle *idle)
{
	struct made *made = &idle->made;

	memset(idle, 0, sizeof *idle);
	made_init(made);
	idle->device = dw_encode_device(&made->process, 0, "GPU", DW_API_CUDA);
	idle->queue = dw_encode_queue(&made->process, idle->device, 7, 1, NULL);
	idle->other = dw_encode_queue(&made->process, idle->device, 20, 1, NULL);
	idle->kernel = made_op(made, DWELL_CATEGORY_DEVICE, "gemm");
	idle->second = made_op(made, DWELL_CATEGORY_DEVICE, "relu");
	idle->launch = made_op(made, DWELL_CATEGORY_RUNTIME, "cudaLaunchKernel");
	idle->sync = made_op(made, DWELL_CATEGORY_RUNTIME, "cudaStreamSynchronize");
	idle->copy = made_op(made, DWELL_CATEGORY_RUNTIME, "cudaMemcpyAsync");
	idle->op = made_op(made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	idle->zone = made_op(made, DWELL_CATEGORY_ZONE, "preprocess");
	dw_encode_events_init(&idle->events, &made->process, 0, 0, true);
}

/* Returns its correlation. */
static uint32_t idle_call(struct idle *idle, uint32_t call, uint64_t start, uint64_t end)
{
	dw_encode_begin(&idle->made.stream, start, call);
	dw_encode_correlation(&idle->made.stream, ++idle->calls);
	dw_encode_end(&idle->made.stream, end);
	return idle->calls;
}

static void idle_event(struct idle *idle, uint32_t kind, uint32_t queue, uint32_t name, uint32_t correlation, uint64_t start, uint64_t end)
{
	dw_encode_event(&idle->events, &(struct dw_device_event_in){ .kind = kind, .queue = queue, .correlation = correlation,
		.start_ticks = start, .duration_ticks = end - start, .name = name, .bytes = 8 });
}

/* A launch that takes 5 us, and its kernel from `start` to `end`. */
static void idle_kernel(struct idle *idle, uint64_t called, uint64_t start, uint64_t end)
{
	idle_event(idle, DW_DEVICE_KERNEL, idle->queue, idle->kernel, idle_call(idle, idle->launch, called, called + 5 * US), start, end);
}

static const struct dw_device_times *idle_open(struct idle *idle)
{
	dw_encode_events_close(&idle->events);
	if (made_open(&idle->made, NULL))
		return NULL;
	return dw_model_device_times(idle->made.model, &idle->made.error);
}

/* All parts of the span of the device, which sum to it: what is not 0. */
static void check_parts(const struct dw_device_time *device, const uint64_t expected[DW_DEVICE_PART_COUNT])
{
	uint64_t sum = 0;

	for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++) {
		if (device->part_ns[part] != expected[part])
			CHECK_FAIL("%s: %llu and not %llu", dw_device_part_name(part), (unsigned long long)device->part_ns[part],
			           (unsigned long long)expected[part]);
		sum += device->part_ns[part];
	}
	CHECK_EQ(sum, device->last_ns - device->first_ns);
}
#define PARTS(...) (const uint64_t[DW_DEVICE_PART_COUNT]){ __VA_ARGS__ }
#define P(name) [DW_DEVICE_PART_##name]

static struct dw_device_host idle_host(struct idle *idle, enum dw_device_part part, uint64_t from, uint64_t to)
{
	struct dw_device_host hosts[DW_DEVICE_PART_COUNT];
	struct dw_device_interval interval = { from, to };

	CHECK(dw_model_device_host(idle->made.model, 0, &interval, 1, hosts, &idle->made.error));
	return hosts[part];
}

static const char *idle_name(struct idle *idle, uint32_t symbol)
{
	size_t count;

	return symbol == DW_NO_INDEX ? "" : dw_model_symbols(idle->made.model, &count)[symbol].name;
}

/* Work that is submitted before the device has ended the work before it: the device rests for some us. */
TEST(short_gaps_of_submitted_work_are_launch_latency)
{
	struct idle idle;
	const struct dw_device_times *times;

	idle_init(&idle);
	idle_kernel(&idle, 10 * US, 20 * US, 120 * US);
	idle_kernel(&idle, 30 * US, 128 * US, 200 * US);
	idle_kernel(&idle, 210 * US, 216 * US, 300 * US); /* 10 us late, then launched */
	times = idle_open(&idle);
	REQUIRE(times && times->device_count == 1);
	check_parts(&times->devices[0], PARTS(P(COMPUTE) = 256 * US, P(LATENCY) = 14 * US, P(HOST_LATE) = 10 * US));
	made_close(&idle.made);
}

TEST(a_long_gap_of_submitted_work_is_no_launch_latency)
{
	struct idle idle;
	const struct dw_device_times *times;
	struct dw_device_host host;

	idle_init(&idle);
	idle_kernel(&idle, 10 * US, 20 * US, 120 * US);
	idle_kernel(&idle, 30 * US, 5 * MS, 6 * MS);
	dw_encode_begin(&idle.made.stream, 100 * US, idle.zone);
	dw_encode_end(&idle.made.stream, 4 * MS);
	times = idle_open(&idle);
	REQUIRE(times);
	check_parts(&times->devices[0], PARTS(P(COMPUTE) = MS + 100 * US, P(QUEUED) = 5 * MS - 120 * US));
	host = idle_host(&idle, DW_DEVICE_PART_QUEUED, 0, 6 * MS);
	CHECK_STR(idle_name(&idle, host.inner), "preprocess");
	made_close(&idle.made);
}

TEST(a_queue_that_was_told_to_wait_waits)
{
	struct idle idle;
	const struct dw_device_times *times;
	uint32_t before, after;

	idle_init(&idle);
	idle_kernel(&idle, 10 * US, 20 * US, 120 * US);
	before = idle_call(&idle, idle.launch, 20 * US, 25 * US);
	after = idle_call(&idle, idle.launch, 50 * US, 55 * US);
	idle_event(&idle, DW_DEVICE_KERNEL, idle.other, idle.kernel, before, 120 * US, MS);
	dw_encode_event(&idle.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_SYNC, .queue = idle.queue,
		.start_ticks = 40 * US, .duration_ticks = 1, .detail = DW_SYNC_QUEUE_WAIT, .wait_queue = idle.other });
	idle_event(&idle, DW_DEVICE_KERNEL, idle.queue, idle.kernel, after, MS + 90 * US, 2 * MS);
	times = idle_open(&idle);
	REQUIRE(times);
	CHECK_EQ(times->devices[0].part_ns[DW_DEVICE_PART_WAIT], 90 * US);
	CHECK_EQ(times->devices[0].part_ns[DW_DEVICE_PART_QUEUED] + times->devices[0].part_ns[DW_DEVICE_PART_LATENCY], 0);
	made_close(&idle.made);
}

/* The host waits for 80 us for a result, then prepares data for 10 ms: the wait made it late by no more than it waited. */
TEST(a_wait_makes_the_host_late_by_as_much_as_it_waited)
{
	struct idle idle;
	const struct dw_device_times *times;
	struct dw_device_host host;

	idle_init(&idle);
	idle_kernel(&idle, 10 * US, 20 * US, 120 * US);
	idle_call(&idle, idle.sync, 42 * US, 122 * US);
	dw_encode_begin(&idle.made.stream, 130 * US, idle.zone);
	dw_encode_begin(&idle.made.stream, 140 * US, idle.op);
	dw_encode_end(&idle.made.stream, 150 * US);
	dw_encode_end(&idle.made.stream, 10 * MS);
	idle_kernel(&idle, 10 * MS + 20 * US, 10 * MS + 30 * US, 11 * MS);
	times = idle_open(&idle);
	REQUIRE(times);
	check_parts(&times->devices[0], PARTS(P(COMPUTE) = 100 * US + MS - 30 * US, P(SYNC) = 80 * US,
	                                      P(HOST_LATE) = 10 * MS + 20 * US - 200 * US, P(LATENCY) = 10 * US));
	REQUIRE(times->cause_count == 1);
	CHECK_EQ(times->causes[0].ns, 80 * US);
	host = idle_host(&idle, DW_DEVICE_PART_HOST_LATE, 0, 11 * MS);
	CHECK_EQ(host.ns, 10 * MS - 180 * US);
	CHECK_STR(idle_name(&idle, host.named), "preprocess");
	CHECK_STR(idle_name(&idle, host.inner), "preprocess"); /* the operator has only 10 us of it */
	made_close(&idle.made);
}

/* cudaMemcpyAsync() of pageable memory returns when the copy has ended, whatever its name says. */
TEST(a_copy_that_blocks_the_host_is_a_wait)
{
	struct idle idle;
	const struct dw_device_times *times;
	struct dw_device_host host;
	uint32_t copy;

	idle_init(&idle);
	idle_kernel(&idle, 10 * US, 20 * US, 120 * US);
	dw_encode_begin(&idle.made.stream, 30 * US, idle.zone);
	copy = idle_call(&idle, idle.copy, 40 * US, 9 * MS);
	dw_encode_end(&idle.made.stream, 9 * MS + 10 * US);
	idle_event(&idle, DW_DEVICE_COPY, idle.queue, 0, copy, 8 * MS, 9 * MS - 20 * US);
	idle_kernel(&idle, 9 * MS + 20 * US, 9 * MS + 30 * US, 10 * MS);
	times = idle_open(&idle);
	REQUIRE(times);
	check_parts(&times->devices[0], PARTS(P(COMPUTE) = 100 * US + MS - 30 * US, P(COPY) = MS - 20 * US,
	                                      P(SYNC) = 8 * MS - 120 * US + 40 * US, P(LATENCY) = 10 * US));
	host = idle_host(&idle, DW_DEVICE_PART_SYNC, 0, 10 * MS);
	CHECK_STR(idle_name(&idle, host.inner), "cudaMemcpyAsync");
	CHECK_STR(idle_name(&idle, host.named), "preprocess");
	made_close(&idle.made);
}

/* The first launch of a kernel loads its code, and takes 6 ms. A later launch that takes as long is the host's time. */
TEST(first_calls_are_a_part_of_their_own)
{
	struct idle idle;
	const struct dw_device_times *times;
	struct dw_device_host host;
	uint32_t first, later;

	idle_init(&idle);
	idle_kernel(&idle, 10 * US, 20 * US, 120 * US);
	dw_encode_begin(&idle.made.stream, 125 * US, idle.op);
	first = idle_call(&idle, idle.launch, 130 * US, 6 * MS);
	dw_encode_end(&idle.made.stream, 6 * MS);
	idle_event(&idle, DW_DEVICE_KERNEL, idle.queue, idle.second, first, 6 * MS + 5 * US, 7 * MS);
	later = idle_call(&idle, idle.launch, 7 * MS, 9 * MS);
	idle_event(&idle, DW_DEVICE_KERNEL, idle.queue, idle.second, later, 9 * MS, 10 * MS);
	times = idle_open(&idle);
	REQUIRE(times);
	check_parts(&times->devices[0], PARTS(P(COMPUTE) = 100 * US + 2 * MS - 5 * US, P(HOST_LATE) = 10 * US + 2 * MS,
	                                      P(FIRST) = 6 * MS - 130 * US, P(LATENCY) = 5 * US));
	host = idle_host(&idle, DW_DEVICE_PART_FIRST, 0, 10 * MS);
	CHECK_STR(idle_name(&idle, host.inner), "cudaLaunchKernel");
	CHECK_STR(idle_name(&idle, host.operator), "aten::mm");
	made_close(&idle.made);
}

TEST(without_launching_calls_nothing_is_known)
{
	struct idle idle;
	const struct dw_device_times *times;
	struct dw_device_host host;

	idle_init(&idle);
	dw_encode_begin(&idle.made.stream, 10 * US, idle.zone);
	dw_encode_end(&idle.made.stream, 4 * MS);
	idle_event(&idle, DW_DEVICE_KERNEL, idle.queue, idle.kernel, 0, MS, 2 * MS);
	idle_event(&idle, DW_DEVICE_KERNEL, idle.queue, idle.kernel, 0, 3 * MS, 4 * MS);
	times = idle_open(&idle);
	REQUIRE(times);
	check_parts(&times->devices[0], PARTS(P(COMPUTE) = 2 * MS, P(UNKNOWN) = MS));
	host = idle_host(&idle, DW_DEVICE_PART_START, 0, 4 * MS);
	CHECK_EQ(host.ns, MS);
	CHECK_EQ(host.inner, DW_NO_INDEX);
	made_close(&idle.made);
}

/* Each device has its own idle time: while one works, the other one may have nothing to do. */
TEST(two_devices_are_divided_each_for_itself)
{
	struct idle idle;
	const struct dw_device_times *times;
	uint32_t second, queue;

	idle_init(&idle);
	second = dw_encode_device(&idle.made.process, 1, "GPU", DW_API_CUDA);
	queue = dw_encode_queue(&idle.made.process, second, 7, 1, NULL);
	idle_kernel(&idle, 10 * US, 20 * US, 5 * MS);
	idle_event(&idle, DW_DEVICE_KERNEL, queue, idle.kernel, idle_call(&idle, idle.launch, 30 * US, 35 * US), 40 * US, MS);
	idle_event(&idle, DW_DEVICE_KERNEL, queue, idle.kernel, idle_call(&idle, idle.launch, 3 * MS, 3 * MS + US), 3 * MS + 5 * US, 4 * MS);
	times = idle_open(&idle);
	REQUIRE(times && times->device_count == 2);
	check_parts(&times->devices[0], PARTS(P(COMPUTE) = 5 * MS - 20 * US));
	check_parts(&times->devices[1], PARTS(P(COMPUTE) = 2 * MS - 45 * US, P(HOST_LATE) = 2 * MS, P(LATENCY) = 5 * US));
	made_close(&idle.made);
}

/* A thread of autograd submits the backward pass. Before its operator began, the thread that it works for had the turn. */
TEST(a_thread_that_submits_for_another_one_is_asked_for_its_own_time_only)
{
	struct idle idle;
	const struct dw_device_times *times;
	struct dw_encode_stream autograd;
	uint32_t forward[3] = { 42, 0, 0 }, backward[3] = { 42, 0, 0 }, thread;
	struct dw_device_host host;

	idle_init(&idle);
	backward[2] = idle.made.thread;
	thread = dw_encode_thread(&idle.made.process, 101, 1, 0, "autograd");
	dw_encode_stream_init(&autograd, &idle.made.process, 1, thread);
	dw_encode_begin(&idle.made.stream, 5 * US, idle.op);
	dw_encode_record(&idle.made.stream, 5 * US, DW_LINK, 0, forward, 3);
	idle_kernel(&idle, 10 * US, 20 * US, 100 * US);
	dw_encode_end(&idle.made.stream, 20 * US);
	dw_encode_begin(&idle.made.stream, 30 * US, idle.zone);
	dw_encode_end(&idle.made.stream, 8 * MS);
	dw_encode_begin(&autograd, 8 * MS, idle.op);
	dw_encode_record(&autograd, 8 * MS, DW_LINK, 0, backward, 3);
	dw_encode_begin(&autograd, 9 * MS, idle.launch);
	dw_encode_correlation(&autograd, 99);
	dw_encode_end(&autograd, 9 * MS + 5 * US);
	dw_encode_end(&autograd, 9 * MS + 6 * US);
	dw_encode_close(&autograd);
	idle_event(&idle, DW_DEVICE_KERNEL, idle.queue, idle.kernel, 99, 9 * MS + 5 * US, 10 * MS);
	times = idle_open(&idle);
	REQUIRE(times);
	CHECK_EQ(times->devices[0].part_ns[DW_DEVICE_PART_HOST_LATE], 9 * MS - 100 * US);
	host = idle_host(&idle, DW_DEVICE_PART_HOST_LATE, 0, 10 * MS);
	CHECK_STR(idle_name(&idle, host.inner), "preprocess");
	made_close(&idle.made);
}

/* A place has space in a sentence, whatever the names are: the program's name stays, the other one is cut. */
TEST(a_place_of_long_names_is_cut)
{
	struct idle idle;
	struct dw_device_host host;
	char text[DW_DEVICE_PLACE], name[301];
	uint32_t zone, op;

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	idle_init(&idle);
	op = made_op(&idle.made, DWELL_CATEGORY_OPERATOR, name);
	zone = made_op(&idle.made, DWELL_CATEGORY_ZONE, "a_zone");
	idle_kernel(&idle, 10 * US, 20 * US, 100 * US);
	dw_encode_begin(&idle.made.stream, 100 * US, zone);
	dw_encode_begin(&idle.made.stream, 110 * US, op);
	dw_encode_end(&idle.made.stream, 890 * US);
	dw_encode_end(&idle.made.stream, 900 * US);
	idle_kernel(&idle, 900 * US, 910 * US, MS);
	REQUIRE(idle_open(&idle));
	host = idle_host(&idle, DW_DEVICE_PART_HOST_LATE, 0, MS);
	CHECK_HAS(dw_device_place(idle.made.model, &host, text), "xxx... in a_zone");
	CHECK_EQ(strlen(text), DW_DEVICE_PLACE - 2);
	host.named = host.operator = DW_NO_INDEX;
	CHECK_HAS(dw_device_place(idle.made.model, &host, text), "xxx...");
	CHECK_EQ(strlen(text), DW_DEVICE_PLACE - 1);
	host.inner = DW_NO_INDEX;
	CHECK_STR(dw_device_place(idle.made.model, &host, text), "");
	made_close(&idle.made);
}

/* ---- facts --------------------------------------------------------------------------------------------- */

/* The device's parts, from `device.compute` to `device.nothing`, are parts of one whole. */
static const struct dw_facts *check_facts(struct idle *idle)
{
	const struct dw_facts *facts = dw_facts(idle->made.model, &idle->made.error);
	double sum = 0;

	for (unsigned id = DW_FACT_DEVICE_COMPUTE; facts && id <= DW_FACT_DEVICE_NOTHING; id++) {
		CHECK(facts->at[id].measured);
		sum += facts->at[id].value;
	}
	CHECK_NEAR(sum, 1, 1e-9);
	return facts;
}

/* A share in the view is the fact's. */
static void check_view(struct idle *idle, const struct dw_facts *facts)
{
	const struct dwell_view_options options = { .size = sizeof options, .limit = SIZE_MAX };
	struct dwell_table *table = NULL;

	REQUIRE(dw_view_run(dw_view_find("device", NULL), idle->made.model, &options, &table, &idle->made.error) == 0);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct dw_cell *row = dw_table_at(table, i);

		for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++)
			if (strcmp(row->text, dw_device_part_name(part)) == 0)
				CHECK_NEAR(row[dw_table_column(table, "share")].real, facts->at[DW_FACT_DEVICE_COMPUTE + part].value, 1e-9);
	}
	dw_table_destroy(table);
}

/* The process begins 2 ms before the device has work; then the host prepares data, and the device waits for it. */
static void idle_write_run(struct idle *idle)
{
	dw_encode_begin(&idle->made.stream, 100 * US, idle->op);
	dw_encode_end(&idle->made.stream, 2 * MS);
	idle_kernel(idle, 2 * MS, 2 * MS + 10 * US, 4 * MS);
	dw_encode_begin(&idle->made.stream, 4 * MS, idle->zone);
	dw_encode_end(&idle->made.stream, 9 * MS);
	idle_kernel(idle, 9 * MS, 9 * MS + 10 * US, 10 * MS);
}

TEST(the_parts_of_a_run_without_steps_add_up_to_it)
{
	struct idle idle;
	const struct dw_facts *facts;

	idle_init(&idle);
	idle_write_run(&idle);
	REQUIRE(idle_open(&idle));
	facts = check_facts(&idle);
	REQUIRE(facts && facts->iterations == DW_ITERATIONS_RUN);
	CHECK_RANGE(facts->at[DW_FACT_DEVICE_START].value, 0.18, 0.22);
	CHECK_RANGE(facts->at[DW_FACT_DEVICE_HOST_LATE].value, 0.48, 0.52);
	CHECK_EQ(facts->at[DW_FACT_DEVICE_LATE_LONG].value, 1);
	check_view(&idle, facts);
	REQUIRE(facts->at[DW_FACT_DEVICE_START].note && facts->at[DW_FACT_DEVICE_HOST_LATE].note);
	CHECK_STR(facts->at[DW_FACT_DEVICE_START].note, "aten::mm");
	CHECK_STR(facts->at[DW_FACT_DEVICE_HOST_LATE].note, "preprocess");
	CHECK_STR(facts->at[DW_FACT_DEVICE_COMPUTE].note, "gemm");
	made_close(&idle.made);
}

TEST(the_parts_of_marked_steps_add_up_to_them)
{
	struct idle idle;
	const struct dw_facts *facts;

	idle_init(&idle);
	idle_write_run(&idle);
	dw_encode_step(&idle.made.process, idle.made.thread, 0, MS, 5 * MS, 0, DW_STEP_RECORDED);
	dw_encode_step(&idle.made.process, idle.made.thread, 1, 5 * MS, 10 * MS, 0, DW_STEP_RECORDED);
	REQUIRE(idle_open(&idle));
	facts = check_facts(&idle);
	REQUIRE(facts && facts->iterations == DW_ITERATIONS_MARKED);
	CHECK_NEAR(facts->at[DW_FACT_DEVICE_HOST_LATE].value, 5.0 / 9, 0.01); /* in both steps: the next work is of the second */
	CHECK_NEAR(facts->at[DW_FACT_DEVICE_START].value, 1.0 / 9, 0.01);
	CHECK_EQ(facts->at[DW_FACT_DEVICE_NOTHING].value, 0);
	check_view(&idle, facts);
	made_close(&idle.made);
}
CHECK_MAIN
