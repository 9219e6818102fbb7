/* Samples of call stacks: which thread, part of the step and range each belongs to; functions and paths. */
#include "made.h"

#include <math.h>

#include "format/keys.h"
#include "model/samples/chart.h"
#include "model/samples/hot.h"

static struct made made;

/* A frame of one file. */
static uint32_t frame(const char *function, uint32_t line)
{
	return dw_encode_frame(&made.process, function, "net.c", line);
}

static void sample(uint64_t ticks, uint32_t id, uint32_t weight)
{
	dw_encode_sample(&made.stream, ticks, id, 0, weight);
}

static void period(const char *ns)
{
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, ns, true);
}

static const struct dw_sample_row *find(const struct dw_samples *samples, uint32_t id)
{
	for (size_t i = 0; i < samples->count; i++)
		if (samples->rows[i].frame == id)
			return &samples->rows[i];
	return NULL;
}

static const char *range_name(const struct dw_sample_row *row)
{
	return row->range == DW_NO_INDEX ? "" : dw_model_symbols(made.model, NULL)[row->range].name;
}

static const struct dw_hot_row *hot_row(const struct dw_hot *hot, const char *name)
{
	for (size_t i = 0; i < hot->count; i++)
		if (strcmp(hot->rows[i].name, name) == 0)
			return &hot->rows[i];
	return NULL;
}

TEST(a_sample_belongs_to_the_open_ranges_of_its_thread)
{
	uint32_t forward, conv, inside, between, outside, after;

	made_init(&made);
	period("1000");
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	conv = made_op(&made, DWELL_CATEGORY_OPERATOR, "conv");
	inside = frame("gemm", 10);
	between = frame("log", 20);
	outside = frame("load", 30);
	after = frame("save", 40);
	sample(50, outside, 1);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t at = 100 + i * 1000;

		dw_encode_begin(&made.stream, at, forward);
		dw_encode_begin(&made.stream, at + 10, conv);
		sample(at + 20, inside, 2);
		dw_encode_end(&made.stream, at + 100);
		dw_encode_end(&made.stream, at + 200);
		dw_encode_step(&made.process, made.thread, i, at, at + 300, 0, DW_STEP_RECORDED);
		sample(at + 400, i < 2 ? between : after, 1);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_samples *samples = dw_model_samples(made.model, &made.error);

	REQUIRE(samples && samples->count == 4);
	CHECK_EQ(samples->samples, 7);
	CHECK_EQ(samples->weight, 10);
	CHECK_EQ(samples->cpu_ns, 10000);
	CHECK(samples->has_periods);
	CHECK_EQ(samples->unread, 0);
	CHECK_EQ(find(samples, inside)->share, DW_SHARE_FORWARD);
	CHECK_EQ(find(samples, inside)->where, DW_SAMPLE_IN_STEP);
	CHECK_EQ(find(samples, inside)->weight, 6);
	CHECK_EQ(find(samples, inside)->squares, 12);
	CHECK_STR(range_name(find(samples, inside)), "conv");
	CHECK_EQ(find(samples, between)->where, DW_SAMPLE_BETWEEN);
	CHECK_EQ(find(samples, between)->share, DW_SHARE_OTHER);
	CHECK_STR(range_name(find(samples, between)), "");
	CHECK_EQ(find(samples, outside)->where, DW_SAMPLE_OUTSIDE);
	CHECK_EQ(find(samples, after)->where, DW_SAMPLE_AFTER);
	made_close(&made);
}

/* main() waits for its threads until the run ends: the wait is where most of it lies, and not where it ends. */
TEST(a_wait_that_ends_after_the_last_step_may_be_of_it)
{
	uint32_t join, save;

	made_init(&made);
	period("1000");
	join = frame("pthread_join", 1);
	save = frame("fsync", 2);
	dw_encode_step(&made.process, made.thread, 0, 1000, 7000, 0, DW_STEP_RECORDED);
	dw_encode_wait(&made.stream, 7000, join, 0, 5);
	dw_encode_wait(&made.stream, 9500, save, 0, 2);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_samples *waits = dw_model_wait_samples(made.model, &made.error);

	REQUIRE(waits && waits->count == 2);
	CHECK_EQ(find(waits, join)->where, DW_SAMPLE_IN_STEP);
	CHECK_EQ(find(waits, save)->where, DW_SAMPLE_AFTER);
	made_close(&made);
}

/* Also of a thread of which nothing else is known, or whose id the kernel gave to another one: then nobody is named. */
TEST(a_wait_names_the_thread_that_had_the_lock)
{
	uint32_t lock, nap, found[3] = { 0 };

	made_init(&made);
	period("1000");
	dw_encode_thread(&made.process, 101, 1, 0, "keeper");
	dw_encode_thread(&made.process, 102, 1, 0, "first");
	dw_encode_thread(&made.process, 102, 2, 0, "second");
	lock = frame("pthread_mutex_lock", 1);
	nap = frame("usleep", 2);
	dw_encode_lock_wait(&made.stream, 100, lock, 3, 101);
	dw_encode_lock_wait(&made.stream, 110, lock, 4, 102);
	dw_encode_lock_wait(&made.stream, 120, lock, 5, 999);
	dw_encode_lock_wait(&made.stream, 130, nap, 7, 0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_samples *samples = dw_model_wait_samples(made.model, &made.error);

	REQUIRE(samples && samples->count == 3);
	for (size_t i = 0; i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];

		if (row->holder != DW_NO_INDEX) {
			CHECK_STR(dw_model_source(made.model)->threads[row->holder].name, "keeper");
			CHECK_EQ(row->weight, 3);
		}
		found[row->holder != DW_NO_INDEX ? 0 : row->frame == lock ? 1 : 2] += (uint32_t)row->weight;
	}
	CHECK_EQ(found[0], 3);
	CHECK_EQ(found[1], 9);
	CHECK_EQ(found[2], 7);
	CHECK_EQ(dw_model_samples(made.model, &made.error)->count, 0);
	made_close(&made);
}

/* In the stream of signal handlers of a thread that is in a zone; and of one with no other records. */
TEST(a_sample_that_interrupted_a_record_belongs_to_the_ranges_of_the_thread)
{
	struct dw_encode_stream nested, alone;
	uint32_t zone, first, second, other;

	made_init(&made);
	period("1000");
	zone = made_op(&made, DWELL_CATEGORY_ZONE, "solve");
	first = frame("a", 1);
	second = frame("b", 2);
	other = dw_encode_thread(&made.process, 101, 1, 0, "pool");
	dw_encode_stream_init(&nested, &made.process, 0x80000000u, made.thread);
	dw_encode_stream_init(&alone, &made.process, 0x80000001u, other);
	dw_encode_sample(&nested, 150, first, 0, 1);
	dw_encode_sample(&nested, 250, second, 0, 1);
	dw_encode_sample(&alone, 260, second, 0, 1);
	dw_encode_begin(&made.stream, 100, zone);
	dw_encode_end(&made.stream, 200);
	dw_encode_close(&nested);
	dw_encode_close(&alone);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_samples *samples = dw_model_samples(made.model, &made.error);

	REQUIRE(samples && samples->count == 3);
	CHECK_STR(range_name(find(samples, first)), "solve");
	CHECK_EQ(find(samples, first)->share, DW_SHARE_NAMED);
	CHECK_STR(range_name(find(samples, second)), "");
	CHECK_EQ(samples->samples, 3);
	made_close(&made);
}

/* In a step without records of operators, nobody knows whether one ran: the phase has all of its time. */
static void check_python(uint32_t step_flags, enum dw_share share)
{
	uint32_t forward, inside;

	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = DW_PROCESS_PYTHON;
	period("1000");
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	inside = frame("loop", 1);
	dw_encode_begin(&made.stream, 100, forward);
	sample(120, inside, 1);
	dw_encode_end(&made.stream, 200);
	dw_encode_step(&made.process, made.thread, 0, 90, 300, 0, step_flags);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_samples *samples = dw_model_samples(made.model, &made.error);

	REQUIRE(samples && samples->count == 1);
	CHECK_EQ(samples->rows[0].share, share);
	made_close(&made);
}

TEST(python_outside_operators_is_python)
{
	check_python(DW_STEP_RECORDED, DW_SHARE_PYTHON);
	check_python(DW_STEP_REDUCED, DW_SHARE_FORWARD);
}

TEST(a_scope_of_steps_has_their_samples)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };
	uint32_t each;

	made_init(&made);
	period("1000");
	each = frame("a", 1);
	for (uint64_t i = 0; i < 3; i++) {
		sample(150 + i * 1000, each, (uint32_t)i + 1);
		dw_encode_step(&made.process, made.thread, i, 100 + i * 1000, 900 + i * 1000, 0, DW_STEP_RECORDED);
	}
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_samples *samples = dw_model_samples(made.model, &made.error);

	REQUIRE(samples && samples->count == 1);
	CHECK_EQ(samples->weight, 2);
	made_close(&made);
}

/* Recursion counts once in total. The line shown is that with most self time. */
TEST(functions_have_self_and_total)
{
	struct dw_hot_ask ask = { .by = 0 };
	struct dw_hot hot;
	uint32_t frames[3], recursion;

	made_init(&made);
	period("1000");
	frames[0] = dw_encode_frame(&made.process, "fib", "fib.c", 3);
	frames[1] = dw_encode_frame(&made.process, "fib", "fib.c", 4);
	frames[2] = dw_encode_frame(&made.process, "main", "fib.c", 9);
	recursion = dw_encode_stack(&made.process, &frames[1], 2);
	dw_encode_sample(&made.stream, 100, frames[0], recursion, 2);
	dw_encode_sample(&made.stream, 110, frames[1], dw_encode_stack(&made.process, &frames[2], 1), 3);
	sample(120, 0, 1);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_hot_make(&hot, made.model, &ask));
	REQUIRE(hot.count == 3);
	CHECK_EQ(hot.weight, 6);
	REQUIRE(hot_row(&hot, "fib") && hot_row(&hot, "main") && hot_row(&hot, "(stack not read)"));
	CHECK_EQ(hot_row(&hot, "fib")->self, 5);
	CHECK_EQ(hot_row(&hot, "fib")->total, 5);
	CHECK_EQ(hot_row(&hot, "fib")->line, 4);
	CHECK_EQ(hot_row(&hot, "main")->self, 0);
	CHECK_EQ(hot_row(&hot, "main")->total, 5);
	CHECK_EQ(hot_row(&hot, "main")->samples, 2);
	dw_hot_reset(&hot);
	ask.by = DW_HOT_LINES;
	REQUIRE(dw_hot_make(&hot, made.model, &ask));
	CHECK_EQ(hot.count, 4); /* fib at two lines */
	dw_hot_reset(&hot);
	const struct dw_paths *paths = dw_model_sample_paths(made.model, &made.error);

	REQUIRE(paths && paths->count == 5); /* the thread, main, fib, fib in fib, not read */
	CHECK_EQ(paths->nodes[0].total_ns, 6000);
	CHECK_STR(paths->symbols[paths->nodes[1].symbol].name, "main");
	CHECK_EQ(paths->nodes[1].total_ns, 5000);
	CHECK_EQ(paths->nodes[2].self_ns, 3000);
	CHECK_EQ(paths->nodes[3].self_ns, 2000);
	made_close(&made);
}

/* Threads that libraries start, as an OpenMP team that works for one of them, and then waits in its own library. */
TEST(what_is_in_no_function_of_python_is_in_a_library)
{
	const struct dw_hot_ask ask = { .by = DW_HOT_PYTHON };
	char name[2][400];
	uint32_t frames[2];
	struct dw_hot hot;

	made_init(&made);
	period("1000");
	frames[0] = dw_encode_frame_in(&made.process, "/usr/lib/libboost_trees.so", "grow");
	frames[1] = dw_encode_frame_in(&made.process, "/usr/lib/libgomp.so.1", "gomp_thread_start");
	dw_encode_sample(&made.stream, 100, frames[0], dw_encode_stack(&made.process, &frames[1], 1), 3);
	sample(110, frames[1], 2);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_hot_make(&hot, made.model, &ask));
	REQUIRE(hot.count == 2);
	CHECK_STR(dw_hot_name(&hot.rows[0], name[0], sizeof name[0]), "grow (libboost_trees.so)");
	CHECK_STR(dw_hot_name(&hot.rows[1], name[1], sizeof name[1]), "gomp_thread_start (libgomp.so.1)");
	dw_hot_reset(&hot);
	made_close(&made);
}

/* A stripped library's inner functions have no names. Of two such libraries each has its own time. */
TEST(a_function_without_a_name_is_part_of_the_one_that_called_it_in_its_library)
{
	const struct dw_hot_ask ask = { .by = 0 };
	uint32_t inner, named, own, other, callers[3];
	struct dw_hot hot;

	made_init(&made);
	period("1000");
	inner = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "libc.so.6+0x5c400");
	named = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "snprintf");
	own = dw_encode_frame_in(&made.process, "/srv/engine", "put_row");
	other = dw_encode_frame_in(&made.process, "/srv/libpack.so", "libpack.so+0x100");
	callers[0] = inner;
	callers[1] = named;
	callers[2] = own;
	dw_encode_sample(&made.stream, 100, inner, dw_encode_stack(&made.process, callers, 3), 4);
	dw_encode_sample(&made.stream, 110, other, dw_encode_stack(&made.process, callers, 3), 3);
	dw_encode_sample(&made.stream, 120, inner, dw_encode_stack(&made.process, &own, 1), 2);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_hot_make(&hot, made.model, &ask));
	REQUIRE(hot_row(&hot, "snprintf") && hot_row(&hot, "put_row") && hot_row(&hot, "libpack.so+0x100"));
	CHECK_EQ(hot_row(&hot, "snprintf")->self, 4);
	CHECK_EQ(hot_row(&hot, "snprintf")->total, 7);
	CHECK_EQ(hot_row(&hot, "libpack.so+0x100")->self, 3);
	REQUIRE(hot_row(&hot, "libc.so.6+0x5c400"));
	CHECK_EQ(hot_row(&hot, "libc.so.6+0x5c400")->total, 2); /* no other name is known there */
	dw_hot_reset(&hot);
	made_close(&made);
}

static void check_span(const struct dw_sample_chart *chart, size_t index, const char *name, uint32_t depth,
                       uint64_t start_ns, uint64_t end_ns)
{
	REQUIRE(index < chart->count);
	CHECK_STR(chart->symbols[chart->spans[index].symbol].name, name);
	CHECK_EQ(chart->spans[index].depth, depth);
	CHECK_EQ(chart->spans[index].start_ns, start_ns);
	CHECK_EQ(chart->spans[index].end_ns, end_ns);
}

/* Each sample reaches back for what it stands for, at most to the one before; what both are in goes on between them. */
TEST(samples_in_order_of_time_are_nested_functions)
{
	uint32_t main_frame, gemm, usleep_frame, stack;

	made_init(&made);
	period("10");
	main_frame = frame("main", 1);
	gemm = frame("gemm", 10);
	usleep_frame = frame("usleep", 0);
	stack = dw_encode_stack(&made.process, &main_frame, 1);
	dw_encode_sample(&made.stream, 100, gemm, stack, 1);
	dw_encode_sample(&made.stream, 105, gemm, stack, 1);
	dw_encode_sample(&made.stream, 130, gemm, stack, 1);
	dw_encode_wait(&made.stream, 190, usleep_frame, stack, 3);
	dw_encode_sample(&made.stream, 200, main_frame, 0, 1);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sample_chart *chart = dw_model_sample_chart(made.model, &made.error);

	REQUIRE(chart != NULL);
	CHECK_EQ(chart->count, 4);
	check_span(chart, 0, "gemm", 1, 90, 105);
	check_span(chart, 1, "gemm", 1, 120, 130);
	check_span(chart, 2, "usleep", 1, 160, 190);
	check_span(chart, 3, "main", 0, 90, 200);
	CHECK_EQ(chart->sampled_ns[0], 110);
	made_close(&made);
}

/* Who reads a timeline looks for functions of the program: what starts it is left out, and an interpreter between them. */
TEST(functions_in_order_of_time_begin_with_those_of_the_program)
{
	uint32_t frames[7], stack;

	made_init(&made);
	period("10");
	frames[6] = dw_encode_frame_in(&made.process, "/srv/engine", "_start");
	frames[5] = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "__libc_start_main");
	frames[4] = dw_encode_frame_in(&made.process, "/usr/lib/libpython3.11.so.1.0", "Py_BytesMain");
	frames[3] = dw_encode_frame(&made.process, "<module>", "/srv/train.py", 9);
	frames[2] = dw_encode_frame_in(&made.process, "/usr/lib/libpython3.11.so.1.0", "_PyEval_Vector");
	frames[1] = dw_encode_frame(&made.process, "step", "/srv/train.py", 5);
	frames[0] = dw_encode_frame_in(&made.process, "/usr/lib/libpython3.11.so.1.0", "PyNumber_Add");
	stack = dw_encode_stack(&made.process, frames + 1, 6);
	dw_encode_sample(&made.stream, 100, frames[0], stack, 1);
	dw_encode_sample(&made.stream, 130, frames[6], 0, 1);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sample_chart *chart = dw_model_sample_chart(made.model, &made.error);

	REQUIRE(chart != NULL);
	CHECK_EQ(chart->count, 4);
	check_span(chart, 0, "PyNumber_Add", 2, 90, 100);
	check_span(chart, 1, "step", 1, 90, 100);
	check_span(chart, 2, "<module>", 0, 90, 100);
	check_span(chart, 3, "_start", 0, 120, 130); /* the program has nothing there */
	made_close(&made);
}

TEST(a_run_without_samples_has_no_functions_in_order_of_time)
{
	uint32_t op;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	dw_encode_begin(&made.stream, 10, op);
	dw_encode_end(&made.stream, 20);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sample_chart *chart = dw_model_sample_chart(made.model, &made.error);

	REQUIRE(chart != NULL);
	CHECK_EQ(chart->count, 0);
	made_close(&made);
}

TEST(without_a_period_there_is_no_time)
{
	made_init(&made);
	period("0");
	sample(100, frame("a", 1), 1);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_samples *samples = dw_model_samples(made.model, &made.error);

	REQUIRE(samples && samples->count == 1);
	CHECK(!samples->has_periods);
	CHECK_EQ(samples->cpu_ns, 0);
	made_close(&made);
}

TEST(a_forked_process_has_the_period_of_its_parent)
{
	struct dw_encode_process child;
	struct dw_encode_stream stream;

	made_init(&made);
	period("1000");
	dw_encode_process_init(&child, &made.encode, made.process.id)->pid = 0x7ffffffd;
	dw_encode_stream_init(&stream, &child, 0, dw_encode_thread(&child, 7, 0, 0, "child"));
	dw_encode_sample(&stream, 100, dw_encode_frame(&child, "a", "net.c", 1), 0, 2);
	dw_encode_close(&stream);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_samples *samples = dw_model_samples(made.model, &made.error);

	REQUIRE(samples && samples->count == 1);
	CHECK(samples->has_periods);
	CHECK_EQ(samples->cpu_ns, 2000);
	made_close(&made);
}

/* Of 12 samples half is 6 +- 26 points, of 12,000 it is +- 0.9; weights of one look count as one. */
TEST(the_interval_follows_the_number_of_samples)
{
	CHECK(fabs(dw_samples_error(0.5, 12, 12) - 0.246) < 0.01);
	CHECK(fabs(dw_samples_error(0.5, 12000, 12000) - 0.009) < 0.001);
	CHECK(dw_samples_error(0.5, 12000, 1200000) > 0.08);
	CHECK(dw_samples_error(0, 12, 12) > 0.1);
	CHECK(dw_samples_error(0, 0, 0) == 1);
}

CHECK_MAIN
