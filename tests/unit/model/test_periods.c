/* Periods: iterations of made runs in which no step is marked. */
#include "made.h"

#include <time.h>

#include "model/steps/periods.h"

/* A run that is written one event after the other; `at` is its clock in ns. */
static struct made made;
static uint64_t at;

static void run_begin(void)
{
	made_init(&made);
	at = 1000;
}

static uint32_t zone(const char *name)
{
	return made_op(&made, DWELL_CATEGORY_ZONE, name);
}

static uint32_t operator(const char *name)
{
	return made_op(&made, DWELL_CATEGORY_OPERATOR, name);
}

static void enter(uint32_t op)
{
	dw_encode_begin(&made.stream, at, op);
}

static void leave(void)
{
	dw_encode_end(&made.stream, at);
}

/* A range of `ns` with nothing in it, and a pause of 10 ns. */
static void call(uint32_t op, uint64_t ns)
{
	enter(op);
	at += ns;
	leave();
	at += 10;
}

/* A range with another one in it. */
static void call_around(uint32_t op, uint32_t inner, uint64_t ns)
{
	enter(op);
	at += 5;
	call(inner, ns);
	leave();
	at += 10;
}

/* The operators "PREFIX0", "PREFIX1" and so on, each of `ns`. */
static void chain(const char *prefix, unsigned from, unsigned to, uint64_t ns)
{
	char name[64];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof name, "%s%u", prefix, i);
		call(operator(name), ns);
	}
}

/* Steps follow each other; all fields are set. */
static void check_steps(const struct dw_period *period)
{
	for (size_t i = 0; i < period->count; i++) {
		const struct dw_source_step *step = &period->steps[i];

		if (step->number != i || step->thread != period->thread || !step->recorded || step->reduced || step->open ||
		    step->end_ticks < step->start_ticks || step->start_ns != step->start_ticks ||
		    step->end_ns != step->end_ticks || (i && step->start_ticks != step[-1].end_ticks))
			CHECK_FAIL("step %zu is from %" PRIu64 " to %" PRIu64, i, step->start_ns, step->end_ns);
	}
}

/* What the run repeats; with `scope` in a model of part of it. NULL: it cannot be opened. */
static const struct dw_period *run_end_in(const struct dw_scope *scope)
{
	const struct dw_period *period;

	if (made_open(&made, scope) != 0)
		return NULL;
	period = dw_model_period(made.model, &made.error);
	if (period)
		check_steps(period);
	return period;
}

static const struct dw_period *run_end(void)
{
	return run_end_in(NULL);
}

/* ---- ranges that the program named --------------------------------------------------------------- */

TEST(a_range_that_recurs_is_an_iteration)
{
	uint64_t first = 0, last = 0;

	run_begin();
	call(zone("read the configuration"), 3000);
	for (int i = 0; i < 40; i++) {
		last = at;
		first = i ? first : at;
		call(zone("step"), 100 + (uint64_t)(i % 3));
	}
	call(zone("write results"), 500);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 40);
	CHECK_STR(period->name, "step");
	CHECK_EQ(period->thread, 0);
	CHECK_EQ(period->steps[0].start_ns, first);
	CHECK_EQ(period->steps[0].end_ns, first + 110);
	CHECK_EQ(period->steps[39].start_ns, last);
	CHECK_EQ(period->steps[39].end_ns, last + 100);
	CHECK(dw_model_period(made.model, &made.error) == period);
	made_close(&made);
}

TEST(names_that_differ_in_a_number_are_one_name)
{
	char name[32];

	run_begin();
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof name, "request %d of 12", i);
		call_around(zone(name), operator("mul"), 100);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 12);
	CHECK_STR(period->name, "request # of #");
	made_close(&made);
}

/* Each of four epochs counts its steps from 1. */
TEST(numbers_that_occur_again_are_one_name)
{
	char name[32];

	run_begin();
	for (int i = 0; i < 80; i++) {
		snprintf(name, sizeof name, "step %d", i % 20 + 1);
		call_around(zone(name), operator("mul"), 100);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 80);
	CHECK_STR(period->name, "step #");
	made_close(&made);
}

TEST(numbered_parts_of_an_iteration_are_names_of_their_own)
{
	char name[32];

	run_begin();
	for (int i = 0; i < 240; i++) {
		snprintf(name, sizeof name, "pass %d", i % 6 + 1);
		call_around(zone(name), operator("mul"), 100);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 40);
	CHECK_STR(period->name, "pass 1");
	made_close(&made);
}

/* main() has all of the run, and each of three epochs has 20 steps. */
TEST(rare_ranges_are_replaced_by_what_is_in_them)
{
	run_begin();
	enter(zone("main"));
	for (int e = 0; e < 3; e++) {
		enter(zone("epoch"));
		for (int i = 0; i < 20; i++)
			call_around(zone("step"), operator("mul"), 100);
		call(zone("validate"), 300);
		leave();
	}
	leave();
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 60);
	CHECK_STR(period->name, "step");
	made_close(&made);
}

TEST(the_outermost_range_that_recurs_counts)
{
	run_begin();
	enter(zone("main"));
	for (int r = 0; r < 30; r++) {
		enter(zone("request"));
		for (int i = 0; i < 20 + r % 4; i++)
			call(zone("token"), 100);
		leave();
		at += 50;
	}
	leave();
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 30);
	CHECK_STR(period->name, "request");
	made_close(&made);
}

TEST(several_ranges_make_an_iteration)
{
	uint64_t first;

	run_begin();
	first = at;
	for (int i = 0; i < 50; i++) {
		call(zone("fetch"), 20);
		call(zone("compute"), 200);
		call(zone("update"), 50);
		if (i % 10 == 9)
			call(zone("evaluate"), 300);
		if (i % 25 == 24)
			call(zone("save"), 400);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 50);
	CHECK_STR(period->name, "fetch");
	CHECK_EQ(period->steps[0].start_ns, first);
	CHECK_EQ(period->steps[9].end_ns - period->steps[9].start_ns, 300 + 310);
	CHECK_EQ(period->steps[49].end_ns - period->steps[49].start_ns, 20 + 10 + 200 + 10 + 50);
	made_close(&made);
}

/* What PyTorch's own annotations give: the optimizer takes little time, and data is loaded for evaluations too. */
static void train_with_phases(unsigned micro_batches)
{
	uint32_t next = made_op(&made, DWELL_CATEGORY_DATA, "DataLoader.__next__");
	uint32_t zero = dw_encode_op(&made.process, DWELL_CATEGORY_PHASE, "optimizer", "zero_grad", 0, NULL, 0);
	uint32_t step = dw_encode_op(&made.process, DWELL_CATEGORY_PHASE, "optimizer", "step", 0, NULL, 0);

	for (int i = 0; i < 30; i++) {
		call_around(zero, operator("zero"), 5);
		for (unsigned m = 0; m < micro_batches; m++) {
			call(next, 30);
			chain("forward", 0, 10, 100);
			chain("backward", 0, 10, 200);
		}
		call_around(step, operator("add"), 20);
		for (int e = 0; i % 10 == 9 && e < 4; e++) {
			call(next, 30);
			chain("forward", 0, 10, 90);
		}
	}
}

TEST(phases_are_parts_of_iterations)
{
	run_begin();
	train_with_phases(1);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 30);
	CHECK_STR(period->name, "optimizer");
	made_close(&made);
}

TEST(an_iteration_has_several_batches_and_one_update)
{
	run_begin();
	train_with_phases(4);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 30);
	CHECK_STR(period->name, "optimizer");
	made_close(&made);
}

/* Data is loaded now and then, so that its phase tells nothing. */
TEST(phases_that_are_in_few_iterations_do_not_count)
{
	uint32_t next;

	run_begin();
	next = made_op(&made, DWELL_CATEGORY_DATA, "next");
	for (int i = 0; i < 60; i++) {
		if (i < 3 || i == 20 || i == 33 || i > 57)
			call(next, 10);
		call_around(zone("step"), operator("mul"), 100);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 60);
	CHECK_STR(period->name, "step");
	made_close(&made);
}

/* ---- functions ----------------------------------------------------------------------------------- */

TEST(a_function_that_is_called_again_and_again_is_an_iteration)
{
	uint32_t update, other;

	run_begin();
	update = made_op(&made, DWELL_CATEGORY_FUNCTION, "Booster.update");
	other = made_op(&made, DWELL_CATEGORY_FUNCTION, "append");
	enter(made_op(&made, DWELL_CATEGORY_FUNCTION, "<module>"));
	call_around(made_op(&made, DWELL_CATEGORY_FUNCTION, "load"), other, 500);
	enter(made_op(&made, DWELL_CATEGORY_FUNCTION, "train"));
	for (int i = 0; i < 25; i++) {
		call_around(update, made_op(&made, DWELL_CATEGORY_FUNCTION, "native"), 300);
		call(other, 2);
	}
	leave();
	leave();
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 25);
	CHECK_STR(period->name, "Booster.update");
	made_close(&made);
}

/* A compiled function is one name, and what evaluates it now and then are three others. */
TEST(a_compiled_function_is_an_iteration)
{
	run_begin();
	for (int i = 0; i < 40; i++) {
		call_around(operator("PjitFunction(train_step)"), zone("execute"), 300);
		if (i % 8 == 7) {
			call_around(operator("PjitFunction(evaluate)"), zone("execute"), 200);
			call_around(operator("PjitFunction(mean)"), zone("execute"), 20);
			call(operator("copy to host"), 10);
		}
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 40);
	CHECK_STR(period->name, "PjitFunction(train_step)");
	made_close(&made);
}

/* It only starts the work of each step. The thread waits for that where it reads a result. */
TEST(a_compiled_function_takes_less_time_than_waiting_for_it)
{
	run_begin();
	for (int i = 0; i < 60; i++) {
		call_around(operator("PjitFunction(train_step)"), zone("execute"), 10);
		if (i % 10 == 9)
			call(zone("read the loss"), 5000);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 60);
	CHECK_STR(period->name, "PjitFunction(train_step)");
	made_close(&made);
}

/* ---- operators ----------------------------------------------------------------------------------- */

/* Preparations have names that the loop has too, and the run ends with other work. */
TEST(operators_that_follow_each_other_again_and_again_are_iterations)
{
	uint64_t first = 0, last = 0;

	run_begin();
	chain("prepare", 0, 30, 50);
	call(operator("op3"), 100);
	for (int i = 0; i < 50; i++) {
		last = at;
		first = i ? first : at;
		chain("op", 0, 8, 100);
	}
	chain("finish", 0, 10, 50);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 50);
	CHECK_STR(period->name, "op0");
	CHECK_EQ(period->steps[0].start_ns, first);
	CHECK_EQ(period->steps[49].start_ns, last);
	CHECK_EQ(period->steps[49].end_ns, last + 8 * 110 - 10);
	made_close(&made);
}

/* An evaluation has the forward's operators several times and few of its own. */
TEST(an_evaluation_belongs_to_the_iteration_before_it)
{
	run_begin();
	for (int i = 0; i < 60; i++) {
		chain("forward", 0, 10, 100);
		chain("backward", 0, 12, 150);
		for (int e = 0; i % 10 == 9 && e < 5; e++) {
			chain("forward", 0, 10, 80);
			chain("metric", 0, 3, 10);
		}
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 60);
	CHECK_STR(period->name, "forward0");
	CHECK_EQ(period->steps[0].end_ns - period->steps[0].start_ns, 10 * 110 + 12 * 160);
	CHECK_EQ(period->steps[9].end_ns - period->steps[9].start_ns, 10 * 110 + 12 * 160 + 5 * (10 * 90 + 3 * 20));
	CHECK_EQ(period->steps[59].end_ns - period->steps[59].start_ns, 10 * 110 + 12 * 160 - 10);
	made_close(&made);
}

/* A quarter of the names are of evaluations alone. */
TEST(an_evaluation_may_have_many_names_of_its_own)
{
	run_begin();
	for (int i = 0; i < 60; i++) {
		chain("forward", 0, 6, 100);
		chain("backward", 0, 6, 150);
		for (int e = 0; i % 10 == 9 && e < 4; e++) {
			chain("forward", 0, 6, 80);
			chain("metric", 0, 4, 10);
		}
	}
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_EQ(period->count, 60);
	CHECK_STR(period->name, "forward0");
	made_close(&made);
}

/* A sentence of another length each time, and a line that is logged now and then. */
TEST(iterations_may_have_other_numbers_of_operators)
{
	run_begin();
	for (int i = 0; i < 60; i++) {
		call(operator("embedding"), 50);
		for (int t = 0; t < 3 + i * 7 % 11; t++)
			chain("cell", 0, 4, 100);
		chain("loss", 0, 3, 100);
		if (i % 10 == 0)
			call(operator("item"), 10);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 60);
	CHECK_STR(period->name, "embedding");
	made_close(&made);
}

TEST(a_layer_is_no_iteration)
{
	run_begin();
	for (int i = 0; i < 30; i++) {
		chain("embed", 0, 2, 50);
		for (int l = 0; l < 32; l++)
			chain("layer", 0, 8, 100);
		chain("head", 0, 5, 60);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 30);
	CHECK_STR(period->name, "embed0");
	made_close(&made);
}

/* The first operator starts the device, which takes longer than all iterations. */
TEST(a_long_start_is_no_part_of_the_time)
{
	run_begin();
	chain("prepare", 0, 5, 50);
	call(operator("start"), 1000000);
	for (int i = 0; i < 30; i++)
		chain("op", 0, 5, 100);
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_EQ(period->count, 30);
	made_close(&made);
}

/* Each operator occurs several times in an iteration, some of them twice in turn. */
TEST(an_operator_may_occur_several_times_in_an_iteration)
{
	run_begin();
	for (int i = 0; i < 30; i++) {
		call(operator("conv"), 100);
		call(operator("relu"), 20);
		call(operator("conv"), 100);
		call(operator("conv"), 100);
		call(operator("relu"), 20);
		call(operator("pool"), 30);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 30);
	CHECK_STR(period->name, "conv");
	CHECK_EQ(period->steps[1].start_ns, 1000 + 370 + 60);
	made_close(&made);
}

/* ---- devices ------------------------------------------------------------------------------------- */

struct gpu {
	struct dw_encode_events events;
	uint32_t queue, other;
};

static struct gpu gpu_begin(void)
{
	struct gpu gpu;
	uint32_t device;

	run_begin();
	device = dw_encode_device(&made.process, 0, "GPU", DW_API_CUDA);
	gpu.queue = dw_encode_queue(&made.process, device, 7, 1, NULL);
	gpu.other = dw_encode_queue(&made.process, device, 20, 1, NULL);
	dw_encode_events_init(&gpu.events, &made.process, 0, 0, false);
	return gpu;
}

/* Work of 100 ns, and a call of the driver for it. */
static void gpu_work(struct gpu *gpu, enum dw_device_kind kind, uint32_t queue, const char *name)
{
	struct dw_device_event_in event = { .kind = kind, .queue = queue, .start_ticks = at, .duration_ticks = 100 };

	event.name = made_op(&made, DWELL_CATEGORY_DEVICE, name);
	dw_encode_event(&gpu->events, &event);
	call(made_op(&made, DWELL_CATEGORY_RUNTIME, "cudaLaunchKernel"), 100);
}

TEST(kernels_that_follow_each_other_again_and_again_are_iterations)
{
	struct gpu gpu = gpu_begin();
	char name[32];

	for (int i = 0; i < 20; i++)
		for (unsigned k = 0; k < 6; k++) {
			snprintf(name, sizeof name, "kernel%u", k);
			gpu_work(&gpu, DW_DEVICE_KERNEL, k == 5 ? gpu.other : gpu.queue, name);
		}
	dw_encode_events_close(&gpu.events);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 20);
	CHECK_STR(period->name, "kernel0");
	CHECK_EQ(period->thread, 0);
	CHECK_EQ(period->steps[0].start_ns, 1000);
	CHECK_EQ(period->steps[0].end_ns, 1000 + 6 * 110);
	CHECK_EQ(period->steps[19].end_ns, period->steps[19].start_ns + 5 * 110 - 10);
	made_close(&made);
}

/* What a device runs as one module; its kernels have the same names each time, in another order. */
TEST(a_range_on_a_device_is_an_iteration)
{
	struct gpu gpu = gpu_begin();
	struct dw_device_event_in module = { .kind = DW_DEVICE_RANGE, .queue = gpu.other, .duration_ticks = 650 };
	char name[32];

	module.name = made_op(&made, DWELL_CATEGORY_DEVICE, "jit_train_step");
	for (int i = 0; i < 20; i++) {
		module.start_ticks = at;
		dw_encode_event(&gpu.events, &module);
		for (int k = 0; k < 6; k++) {
			snprintf(name, sizeof name, "fusion%d", (i * 7 + k * 5) % 11);
			gpu_work(&gpu, DW_DEVICE_KERNEL, gpu.queue, name);
		}
	}
	dw_encode_events_close(&gpu.events);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 20);
	CHECK_STR(period->name, "jit_train_step");
	CHECK_EQ(period->steps[0].start_ns, 1000);
	CHECK_EQ(period->steps[0].end_ns, 1000 + 6 * 110);
	made_close(&made);
}

/* A graph has the kernels of an iteration; a kernel alone is none. */
TEST(a_graph_is_an_iteration)
{
	static const struct {
		enum dw_device_kind kind;
		size_t count;
	} cases[] = { { DW_DEVICE_GRAPH, 25 }, { DW_DEVICE_KERNEL, 0 } };

	for (int c = 0; c < 2; c++) {
		struct gpu gpu = gpu_begin();

		for (int i = 0; i < 25; i++)
			gpu_work(&gpu, cases[c].kind, gpu.queue, "decode");
		dw_encode_events_close(&gpu.events);
		const struct dw_period *period = run_end();

		REQUIRE(period);
		CHECK_EQ(period->count, cases[c].count);
		made_close(&made);
	}
}

/* ---- threads ------------------------------------------------------------------------------------- */

TEST(a_thread_that_works_has_the_iterations)
{
	struct dw_encode_stream stream;
	uint32_t worker;

	run_begin();
	worker = dw_encode_thread(&made.process, 101, 1, 0, "worker");
	dw_encode_stream_init(&stream, &made.process, 1, worker);
	for (int i = 0; i < 30; i++) {
		call(zone("poll"), 1);
		dw_encode_begin(&stream, at, zone("request"));
		at += 100;
		dw_encode_end(&stream, at);
	}
	dw_encode_close(&stream);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 30);
	CHECK_STR(period->name, "request");
	CHECK_EQ(period->thread, 1);
	made_close(&made);
}

/* The main thread waits while another one runs the operators of backward. */
TEST(phases_of_a_main_thread_that_waits)
{
	struct dw_encode_stream stream;
	uint32_t worker, update;

	run_begin();
	dw_encode_process_entry(&made.process)->pid = 100; /* that of its thread */
	update = made_op(&made, DWELL_CATEGORY_PHASE, "optimizer");
	worker = dw_encode_thread(&made.process, 101, 1, 0, "backward");
	dw_encode_stream_init(&stream, &made.process, 1, worker);
	for (int i = 0; i < 30; i++) {
		call(operator("forward"), 100);
		for (int k = 0; k < 20; k++) {
			dw_encode_begin(&stream, at, operator(k % 2 ? "relu" : "matmul"));
			at += 50;
			dw_encode_end(&stream, at);
		}
		call(update, 20);
	}
	dw_encode_close(&stream);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 30);
	CHECK_STR(period->name, "optimizer");
	CHECK_EQ(period->thread, 0);
	made_close(&made);
}

TEST(the_scope_does_not_matter)
{
	struct dw_scope scope = { .has_window = true, .from_ns = 1200, .to_ns = 1500 };

	run_begin();
	for (int i = 0; i < 30; i++)
		call(zone("step"), 100);
	const struct dw_period *period = run_end_in(&scope);

	REQUIRE(period);
	CHECK_EQ(period->count, 30);
	made_close(&made);
}

/* ---- nothing repeats ----------------------------------------------------------------------------- */

static void check_none(void)
{
	const struct dw_period *period = run_end();

	if (!period || period->count)
		CHECK_FAIL("%zu iterations of \"%s\"", period ? period->count : 0, period ? period->name : "");
	made_close(&made);
}

TEST(a_run_without_records_has_none)
{
	run_begin();
	check_none();
}

TEST(different_names_are_none)
{
	run_begin();
	chain("op", 0, 200, 100);
	check_none();
}

TEST(one_operator_is_none)
{
	run_begin();
	for (int i = 0; i < 300; i++)
		call(operator("mul"), 100);
	check_none();
}

TEST(four_repetitions_are_none)
{
	run_begin();
	for (int i = 0; i < 4; i++)
		call(zone("step"), 100);
	check_none();
}

/* The two convolutions of each occur six times. */
TEST(three_repetitions_are_none_though_some_operators_recur)
{
	run_begin();
	for (int i = 0; i < 3; i++) {
		call(operator("conv"), 100);
		call(operator("norm"), 30);
		call(operator("conv"), 100);
		chain("rest", 0, 6, 50);
	}
	check_none();
}

TEST(what_has_less_than_half_of_the_time_is_none)
{
	run_begin();
	call(zone("solve"), 50000);
	for (int i = 0; i < 50; i++)
		call(zone("print"), 100);
	call(zone("write"), 20000);
	check_none();
}

/* Parameters are copied to a device; the first copy starts it. */
TEST(one_long_call_among_short_ones_is_none)
{
	run_begin();
	for (int i = 0; i < 20; i++) {
		call(operator("to"), i == 1 ? 1000000 : 10);
		call(operator("copy"), 10);
	}
	chain("op", 0, 100, 100);
	check_none();
}

TEST(one_range_around_the_run_is_none)
{
	run_begin();
	enter(zone("main"));
	chain("op", 0, 50, 100);
	leave();
	check_none();
}

/* ---- bad input ----------------------------------------------------------------------------------- */

/* Each range ends after the next one has begun. */
TEST(ranges_that_overlap)
{
	uint32_t one = 1;

	run_begin();
	enter(zone("step"));
	for (int i = 0; i < 30; i++) {
		at += 100;
		enter(zone("step"));
		at += 10;
		dw_encode_record(&made.stream, at, DW_END_OF, 0, &one, 1);
	}
	at += 100;
	leave();
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK(period->count == 0 || period->count >= 15);
	made_close(&made);
}

TEST(a_clock_that_jumps_backward)
{
	run_begin();
	for (int i = 0; i < 40; i++) {
		chain("op", 0, 5, 100);
		if (i % 10 == 5)
			at -= 700;
	}
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_EQ(period->count, 40);
	made_close(&made);
}

/* Recycled in an iteration, and ranges open at the end. */
TEST(a_trace_that_is_cut_in_the_middle)
{
	run_begin();
	for (int i = 0; i < 40; i++) {
		chain("op", i == 0 ? 3 : 0, 5, 100);
		if (i == 20) {
			call(operator("op0"), 100);
			dw_encode_gap(&made.stream, 3);
			made.stream.last_ticks = at += 5000;
		}
	}
	enter(operator("op0"));
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_RANGE(period->count, 38, 42);
	made_close(&made);
}

/* ---- many ---------------------------------------------------------------------------------------- */

TEST(a_million_iterations)
{
	const int count = check_is_slow() ? 100000 : 1000000;
	uint32_t ops[3];
	clock_t began;

	run_begin();
	ops[0] = operator("load");
	ops[1] = operator("compute");
	ops[2] = operator("store");
	for (int i = 0; i < count; i++)
		for (int k = 0; k < 3; k++)
			call(ops[k], 100);
	began = clock();
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == (size_t)count);
	CHECK((double)(clock() - began) / CLOCKS_PER_SEC < 20);
	made_close(&made);
}

/* More events than are looked at: the iterations are those of the first part. */
TEST(more_events_than_are_looked_at)
{
	uint32_t ops[5];
	char name[8];

	if (check_is_slow())
		return;
	run_begin();
	for (unsigned k = 0; k < 5; k++) {
		snprintf(name, sizeof name, "op%u", k);
		ops[k] = operator(name);
	}
	for (int i = 0; i < 1000000; i++)
		for (int k = 0; k < 5; k++)
			call(ops[k], 100);
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_EQ(period->count, (1u << 22) / 5 + 1);
	made_close(&made);
}

TEST(ten_thousand_names)
{
	run_begin();
	for (int i = 0; i < 20; i++)
		chain("op", 0, 10000, 10);
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_EQ(period->count, 20);
	CHECK_STR(period->name, "op0");
	made_close(&made);
}

CHECK_MAIN
