/* Periods: iterations of made runs in which no step is marked. */
#include "format/keys.h"
#include "model/steps/iterations.h"
#include "periods_run.h"

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

/* The first call of each takes long, because it compiles. */
TEST(what_compiles_a_function_is_no_part_of_the_time)
{
	run_begin();
	for (int i = 0; i < 40; i++) {
		call(operator("PjitFunction(update)"), i ? 10 : 3000);
		if (i % 10 == 9)
			call(operator("PjitFunction(accuracy)"), i == 9 ? 2000 : 20);
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 40);
	CHECK_STR(period->name, "PjitFunction(update)");
	CHECK(period->meant);
	made_close(&made);
}

/* A range that Python's probe knows by its function; see format/keys.h. */
static uint32_t known(const char *name, const char *detail)
{
	return dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, name, detail, 0, NULL, 0);
}

/* Each iteration of a fit is one, also in each of several fits that recur themselves. */
TEST(what_a_library_calls_once_an_iteration_is_an_iteration)
{
	run_begin();
	call(zone("read the data"), 90000);
	for (int fit = 0; fit < 3; fit++) {
		enter(known("Classifier.fit", DW_DETAIL_ITERATION));
		for (int i = 0; i < 20; i++) {
			call(known("Booster.update", DW_DETAIL_ITERATION), 100);
			call(zone("evaluate"), 300);
		}
		leave();
	}
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == 60);
	CHECK_STR(period->name, "Booster.update");
	CHECK(period->meant);
	made_close(&made);
}

TEST(tasks_of_a_pool_are_iterations_of_their_thread)
{
	run_begin();
	for (int i = 0; i < 30; i++)
		call(known(i % 3 ? "work" : "other work", DW_DETAIL_TASK), 100);
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count >= 10);
	CHECK(period->meant);
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

/* 30 marked steps, and then 40 calls of a model: the iterations of what follows are the calls, whatever the steps repeat. */
TEST(what_follows_the_last_step_has_iterations_of_its_own)
{
	struct dw_iterations_after after = { .thread = 0 };
	const struct dw_iterated *iterated;
	uint64_t begin;

	run_begin();
	enter(zone("main"));
	for (int i = 0; i < 30; i++) {
		begin = at;
		call(zone("train"), 100);
		dw_encode_step(&made.process, made.thread, (uint64_t)i, begin, at, 0, DW_STEP_RECORDED);
	}
	after.from_ns = at;
	for (int i = 0; i < 40; i++)
		call(zone("answer"), 200);
	after.to_ns = at;
	leave();
	REQUIRE(made_open(&made, NULL) == 0);
	iterated = dw_model_iterated_after(made.model, &after, &made.error);
	REQUIRE(iterated && iterated->model);
	CHECK(iterated->follows);
	CHECK_EQ(iterated->kind, DW_ITERATIONS_PERIOD);
	CHECK_STR(iterated->name, "answer");
	CHECK_EQ(dw_model_source(iterated->model)->step_count, 40);
	CHECK(dw_model_source(iterated->model)->steps[0].start_ns >= after.from_ns);
	CHECK_EQ(dw_model_iterated(iterated->model, &made.error)->kind, DW_ITERATIONS_PERIOD);
	CHECK_EQ(dw_model_iterated(made.model, &made.error)->kind, DW_ITERATIONS_MARKED);
	made_close(&made);
}

/* Nothing repeats there: all of it is one iteration. */
TEST(what_follows_the_last_step_may_be_one_iteration)
{
	struct dw_iterations_after after = { .thread = 0 };
	const struct dw_iterated *iterated;
	uint64_t begin;

	run_begin();
	for (int i = 0; i < 30; i++) {
		begin = at;
		call(zone("train"), 100);
		dw_encode_step(&made.process, made.thread, (uint64_t)i, begin, at, 0, DW_STEP_RECORDED);
	}
	after.from_ns = at;
	call(zone("export"), 5000);
	after.to_ns = at;
	REQUIRE(made_open(&made, NULL) == 0);
	iterated = dw_model_iterated_after(made.model, &after, &made.error);
	REQUIRE(iterated && iterated->model);
	CHECK_EQ(iterated->kind, DW_ITERATIONS_RUN);
	CHECK_EQ(dw_model_source(iterated->model)->step_count, 1);
	CHECK_EQ(dw_model_source(iterated->model)->steps[0].start_ns, after.from_ns);
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

CHECK_MAIN
