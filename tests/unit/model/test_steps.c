/* Steps, their breakdown and the time outside them, compared with known times. */
#include "made.h"

static struct made made;
static const uint64_t ms = 1000000;

static void range(uint64_t from_ms, uint64_t to_ms, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

static void step(uint64_t number, uint64_t from_ms, uint64_t to_ms)
{
	dw_encode_step(&made.process, made.thread, number, from_ms * ms, to_ms * ms, ms,
	               DW_STEP_RECORDED);
}

static void check_sums(const struct dw_steps *steps)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < steps->count; i++) {
		uint64_t shares = 0;

		for (int share = 0; share < DW_SHARE_COUNT; share++)
			shares += steps->steps[i].share_ns[share];
		CHECK_EQ(shares, steps->steps[i].end_ns - steps->steps[i].start_ns);
		sum += shares;
	}
	CHECK_EQ(steps->steps_ns, sum);
	for (size_t i = 0; i < steps->beside_count; i++)
		sum += steps->besides[i].ns;
	CHECK_EQ(steps->wall_ns, sum);
}

static const struct dw_beside *beside(const struct dw_steps *steps, const char *name)
{
	static const struct dw_beside none;

	for (size_t i = 0; i < steps->beside_count; i++)
		if (strcmp(steps->besides[i].name, name) == 0)
			return &steps->besides[i];
	return &none;
}

/* A step of 10 ms: 2 data, 4 forward (3 in operators), 3 backward, 1 nothing. */
static void make_run(uint32_t flags)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = flags;
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "next batch");
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t backward = made_op(&made, DWELL_CATEGORY_ZONE, "backward");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	uint32_t valid = made_op(&made, DWELL_CATEGORY_EVALUATION, "validation");

	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = 100 + i * 10 + (i >= 5) * 50;

		if (i == 5) { /* 50 ms outside any step, 40 of them named */
			dw_encode_begin(&made.stream, 150 * ms, valid);
			range(155, 160, data);
			dw_encode_end(&made.stream, 190 * ms);
		}
		range(at, at + 2, data);
		dw_encode_begin(&made.stream, (at + 2) * ms, forward);
		range(at + 2, at + 5, op);
		dw_encode_end(&made.stream, (at + 6) * ms);
		dw_encode_begin(&made.stream, (at + 6) * ms, backward);
		range(at + 6, at + 9, op);
		dw_encode_end(&made.stream, (at + 9) * ms);
		step(i, at, at + 10);
	}
	dw_encode_record(&made.stream, 300 * ms, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"),
	                 NULL, 0);
}

TEST(shares_follow_precedence_and_sum_to_the_step)
{
	make_run(DW_PROCESS_PYTHON);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 10);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_DATA], 2 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_FORWARD], 3 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_PYTHON], 1 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_BACKWARD], 3 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_OTHER], 1 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_DATA], 20 * ms);
	CHECK_EQ(steps->p50_ns, 10 * ms);
	check_sums(steps);
	made_close(&made);
}

TEST(outside_python_a_phase_keeps_its_time)
{
	make_run(0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 10);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_FORWARD], 4 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_PYTHON], 0);
	made_close(&made);
}

TEST(what_lies_beside_steps_is_named)
{
	make_run(0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps);
	CHECK_EQ(beside(steps, "start-up")->ns, 100 * ms);
	CHECK_EQ(beside(steps, "evaluation")->ns, 40 * ms);
	CHECK_EQ(beside(steps, "evaluation")->count, 1);
	CHECK_EQ(beside(steps, "other")->ns, 10 * ms);
	CHECK_EQ(beside(steps, "after the last step")->ns, 50 * ms);
	CHECK_EQ(steps->wall_ns, 300 * ms);
	check_sums(steps);
	made_close(&made);
}

TEST(a_loop_has_its_operators_and_the_time_between_its_steps)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = DW_PROCESS_PYTHON;
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "next batch");
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t valid = made_op(&made, DWELL_CATEGORY_EVALUATION, "validation");
	uint32_t save = made_op(&made, DWELL_CATEGORY_CHECKPOINT, "torch.save");
	uint32_t log = made_op(&made, DWELL_CATEGORY_ZONE, "logging");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	uint32_t relu = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::relu");

	range(10, 90, valid); /* before the loop: no part of it */
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t at = 100 + i * 100;

		dw_encode_begin(&made.stream, at * ms, data);
		range(at + 1, at + 3, op);
		dw_encode_end(&made.stream, (at + 10) * ms);
		dw_encode_begin(&made.stream, (at + 10) * ms, forward);
		dw_encode_begin(&made.stream, (at + 12) * ms, op);
		range(at + 14, at + 17, relu);
		dw_encode_end(&made.stream, (at + 20) * ms);
		dw_encode_end(&made.stream, (at + 30) * ms);
		step(i, at, at + 40);
		range(at + 40, at + 50, valid);
		range(at + 50, at + 70, save);
		range(at + 70, at + 75, log);
		range(at + 80, at + 88, relu);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	size_t count;
	const struct dw_symbol *symbols = dw_model_symbols(made.model, &count);
	REQUIRE(steps && steps->thread_count == 1);
	const struct dw_loop *loop = &steps->loops[0];
	CHECK_EQ(loop->count, 4);
	CHECK_EQ(loop->usual_count, 4);
	CHECK_EQ(loop->start_ns, 100 * ms);
	CHECK_EQ(loop->end_ns, 440 * ms);
	CHECK_EQ(loop->outside_ns[DW_SHARE_EVALUATION], 30 * ms);
	CHECK_EQ(loop->outside_counts[DW_SHARE_EVALUATION], 3);
	CHECK_EQ(loop->outside_ns[DW_SHARE_CHECKPOINT], 60 * ms);
	CHECK_EQ(loop->outside_ns[DW_SHARE_NAMED], 15 * ms);
	CHECK_EQ(loop->outside_ns[DW_SHARE_OPERATORS], 24 * ms);
	CHECK_EQ(loop->outside_ns[DW_SHARE_OTHER], 51 * ms);
	REQUIRE(loop->outside_row_count == 2);
	CHECK_STR(symbols[loop->outside_rows[0].symbol].name, "aten::relu");
	CHECK_STR(symbols[loop->outside_rows[1].symbol].name, "logging");
	REQUIRE(loop->operator_count == 2);
	CHECK_STR(symbols[loop->operators[0].symbol].name, "aten::mm");
	CHECK_EQ(loop->operators[0].ns, 4 * 5 * ms);
	CHECK_EQ(loop->operators[0].count, 4); /* without those of data loading */
	CHECK_EQ(loop->operators[1].ns, 4 * 3 * ms);
	CHECK_EQ(steps->steps[1].whole_ns[DW_WHOLE_FORWARD], 20 * ms);
	CHECK_EQ(steps->steps[1].whole_ns[DW_WHOLE_BACKWARD], 0);
	CHECK_EQ(steps->steps[1].operator_ns, 8 * ms);
	CHECK_EQ(steps->steps[1].operator_count, 2);
	check_sums(steps);
	made_close(&made);
}

TEST(a_slow_step_names_its_culprit)
{
	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	uint32_t gc = made_op(&made, DWELL_CATEGORY_COLLECTOR, "gc");
	uint64_t at = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t length = i == 412 ? 388 : 100;

		dw_encode_begin(&made.stream, at * ms, op);
		if (i == 412)
			range(at + 50, at + 338, gc);
		dw_encode_end(&made.stream, (at + length) * ms);
		step(i, at, at + length);
		at += length;
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 1000);
	size_t count;
	const struct dw_symbol *symbols = dw_model_symbols(made.model, &count);
	REQUIRE(steps->steps[412].slow_symbol != DW_NO_INDEX);
	CHECK_STR(symbols[steps->steps[412].slow_symbol].name, "gc");
	CHECK_EQ(steps->steps[412].slow_extra_ns, 288 * ms);
	CHECK_EQ(steps->steps[412].share_ns[DW_SHARE_COLLECTOR], 288 * ms);
	CHECK_EQ(steps->steps[411].slow_symbol, DW_NO_INDEX);
	check_sums(steps);
	made_close(&made);
}

TEST(ranges_are_cut_at_step_borders)
{
	made_init(&made);
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "data");

	range(5, 25, data); /* over the end of step 0, all of 1 and the beginning of 2 */
	for (uint64_t i = 0; i < 3; i++)
		step(i, i * 10, i * 10 + 10);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 3);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(steps->steps[i].share_ns[DW_SHARE_DATA], (i == 1 ? 10 : 5) * ms);
	check_sums(steps);
	made_close(&made);
}

TEST(an_open_step_lasts_to_the_end_and_is_no_percentile)
{
	made_init(&made);
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "data");

	step(0, 10, 20);
	dw_encode_step(&made.process, made.thread, 1, 20 * ms, 0, 0, DW_STEP_RECORDED);
	range(30, 90, data);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 2);
	CHECK(steps->steps[1].open);
	CHECK_EQ(steps->steps[1].end_ns, 90 * ms);
	CHECK_EQ(steps->p50_ns, 10 * ms);
	CHECK_EQ(steps->steps[1].share_ns[DW_SHARE_DATA], 60 * ms);
	check_sums(steps);
	made_close(&made);
}

/* ---- the program's own names --------------------------------------------------------------- */

static uint64_t part(const struct dw_steps *steps, const char *name)
{
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);

	for (size_t i = 0; i < steps->part_count; i++)
		if (strcmp(symbols[steps->parts[i].symbol].name, name) == 0)
			return steps->parts[i].ns;
	return 0;
}

/* A step of 10 ms: 5 tokenize, 2 fwd with a zone in it, 1 sgd, 1 conv alone, 1 in no range.
 * Around all of them is a zone "epoch". */
TEST(a_step_has_its_programs_own_names)
{
	made_init(&made);
	uint32_t tokenize = made_op(&made, DWELL_CATEGORY_PHASE, "tokenize");
	uint32_t fwd = made_op(&made, DWELL_CATEGORY_PHASE, "fwd");
	uint32_t sgd = made_op(&made, DWELL_CATEGORY_ZONE, "sgd_update");
	uint32_t conv = made_op(&made, DWELL_CATEGORY_OPERATOR, "conv");
	uint32_t epoch = made_op(&made, DWELL_CATEGORY_ZONE, "epoch");
	uint64_t at;

	dw_encode_begin(&made.stream, 5 * ms, epoch);
	for (uint64_t i = 0; i < 4; i++) {
		at = 10 + i * 10;
		range(at, at + 5, tokenize);
		dw_encode_begin(&made.stream, (at + 5) * ms, fwd);
		range(at + 5, at + 6, sgd); /* in a phase: the phase's */
		range(at + 6, at + 7, conv);
		dw_encode_end(&made.stream, (at + 7) * ms);
		range(at + 7, at + 8, sgd);
		range(at + 8, at + 9, conv);
		if (i == 2)
			dw_encode_end(&made.stream, 40 * ms); /* the epoch, at the end of step 2 */
		step(i, at, at + 10);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 4 && steps->recorded_count == 4);
	CHECK_EQ(part(steps, "tokenize"), 20 * ms);
	CHECK_EQ(part(steps, "fwd"), 8 * ms);
	CHECK_EQ(part(steps, "sgd_update"), 4 * ms);
	CHECK_EQ(part(steps, "epoch"), 3 * ms); /* what no range of a step has, in steps 0 to 2 */
	CHECK_EQ(steps->share_ns[DW_SHARE_NAMED], 35 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_OPERATORS], 4 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_OTHER], 1 * ms); /* of step 3 */
	CHECK_EQ(steps->steps[3].part_count, 3);
	check_sums(steps);
	made_close(&made);
}

TEST(layers_and_functions_are_named_time_too)
{
	made_init(&made);
	uint32_t layer = made_op(&made, DWELL_CATEGORY_LAYER, "net.conv");
	uint32_t function = made_op(&made, DWELL_CATEGORY_FUNCTION, "main");

	dw_encode_begin(&made.stream, 0, function);
	range(10, 17, layer);
	step(0, 10, 20);
	dw_encode_end(&made.stream, 20 * ms);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 1);
	CHECK_EQ(steps->share_ns[DW_SHARE_LAYERS], 7 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_FUNCTIONS], 3 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_OTHER], 0);
	made_close(&made);
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Three threads on one stream, one after the other, and one that does not step. Each step
 * is 10 ms: 6 gemm, 4 nothing; the other thread runs gemm all the time. */
TEST(steps_of_all_threads_count_with_their_own_time)
{
	struct dw_encode_stream other;
	struct dw_scope scope = { .has_steps = true, .steps_to = UINT64_MAX, .step_threads = true };
	uint32_t threads[3], pool;

	made_init(&made);
	uint32_t gemm = made_op(&made, DWELL_CATEGORY_OPERATOR, "gemm");
	pool = dw_encode_thread(&made.process, 200, 1, 0, "pool");
	dw_encode_stream_init(&other, &made.process, 1, pool);
	for (uint32_t t = 0; t < 3; t++) {
		threads[t] = t ? dw_encode_thread(&made.process, 100 + t, 0, t * 100 * ms, "worker")
		               : made.thread;
		if (t)
			dw_encode_record(&made.stream, t * 100 * ms, DW_THREAD, threads[t], NULL, 0);
		for (uint64_t i = 0; i < 2 + t; i++) {
			uint64_t at = t * 100 + i * 10;

			range(at, at + 6, gemm);
			dw_encode_step(&made.process, threads[t], i, at * ms, (at + 10) * ms, 0,
			               DW_STEP_RECORDED);
			dw_encode_begin(&other, at * ms, gemm);
			dw_encode_end(&other, (at + 10) * ms);
		}
	}
	dw_encode_close(&other);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps);
	CHECK_EQ(steps->count, made.source->step_count);
	CHECK_EQ(steps->count, 9);
	CHECK_EQ(steps->thread_count, 3);
	CHECK_EQ(steps->process_count, 1);
	CHECK_EQ(steps->share_ns[DW_SHARE_OPERATORS], 9 * 6 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_OTHER], 9 * 4 * ms);
	check_sums(steps);
	made_close_model(&made);
	REQUIRE(made_open(&made, &scope) == 0);
	CHECK_EQ(made_stat(&made, "gemm")->count, 9);
	CHECK_EQ(made_stat(&made, "gemm")->self_ns, 9 * 6 * ms);
	const struct dw_threads *rows = dw_model_threads(made.model, NULL);
	REQUIRE(rows && rows->count == 3);
	for (size_t i = 0; i < rows->count; i++)
		CHECK_EQ(rows->rows[i].ranges, 2 + i);
	/* With the record that hands the stream on. */
	CHECK_EQ(rows->rows[0].records, 4);
	CHECK_EQ(rows->rows[1].records, 7);
	CHECK_EQ(rows->rows[2].records, 9);
	made_close(&made);
}

/* The last 3 ms of a backward pass wait for a thread that communicates. */
TEST(a_wait_in_backward_is_what_another_thread_communicates)
{
	struct dw_encode_stream loop;

	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = DW_PROCESS_PYTHON;
	uint32_t backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	/* As PyTorch's threads of communication name it, or as a probe's range. */
	uint32_t reduces[] = { made_op(&made, DWELL_CATEGORY_COMMUNICATION, "all_reduce"),
		                   made_op(&made, DWELL_CATEGORY_ZONE, "gloo:all_reduce"),
		                   made_op(&made, DWELL_CATEGORY_OPERATOR, "nccl:all_reduce") };

	dw_encode_stream_init(&loop, &made.process, 1,
	                      dw_encode_thread(&made.process, 101, 1, 0, "pt_gloo_runloop"));
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t at = i * 20;

		dw_encode_begin(&made.stream, at * ms, backward);
		range(at, at + 6, op);
		dw_encode_end(&made.stream, (at + 10) * ms);
		dw_encode_begin(&loop, (at + 4) * ms, reduces[i]); /* 2 ms of it at the same time as work */
		dw_encode_end(&loop, (at + 9) * ms);
		step(i, at, at + 20);
	}
	dw_encode_close(&loop);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 3);
	CHECK_EQ(steps->share_ns[DW_SHARE_BACKWARD], 3 * 6 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_COMMUNICATION], 3 * 3 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_PYTHON], 3 * 1 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_OTHER], 3 * 10 * ms);
	check_sums(steps);
	made_close(&made);
}

/* ---- missing records ------------------------------------------------------------------------ */

/* Ten steps of 10 ms, with five ranges each. */
static void make_ten(uint64_t except_from, uint64_t except_to)
{
	made_init(&made);
	uint32_t zone = made_op(&made, DWELL_CATEGORY_ZONE, "work");

	for (uint64_t i = 0; i < 10; i++) {
		if (i == except_to && except_from < except_to) {
			uint32_t lost[2] = { 10 * (uint32_t)(except_to - except_from), 0 };

			dw_encode_record(&made.stream, (i * 10) * ms, DW_LOSS, DW_LOSS_FULL, lost, 2);
		}
		for (uint64_t r = 0; r < 5 && (i < except_from || i >= except_to); r++)
			range(i * 10 + r * 2, i * 10 + r * 2 + 1, zone);
		step(i, i * 10, i * 10 + 10);
	}
}

static void check_whole(size_t count, double coverage)
{
	const struct dw_steps *steps;
	struct dw_scope inside = { .has_steps = true, .steps_to = UINT64_MAX };
	bool counted[10];

	REQUIRE(made_open(&made, NULL) == 0);
	steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 10);
	CHECK_EQ(steps->recorded_count, count);
	CHECK_EQ(steps->cut_count, 10 - count);
	CHECK_EQ(part(steps, "work"), count * 5 * ms);
	CHECK_EQ(steps->recorded_ns, count * 10 * ms);
	CHECK_EQ(steps->p50_ns, 10 * ms);
	CHECK_NEAR(dw_model_coverage(made.model), coverage, 0.002);
	check_sums(steps);
	memcpy(counted, steps->counted, sizeof counted);
	inside.steps_counted = counted;
	made_close_model(&made);
	REQUIRE(made_open(&made, &inside) == 0);
	CHECK_EQ(made_stat(&made, "work")->count, count * 5);
	made_close(&made);
}

TEST(steps_with_all_records_are_whole)
{
	make_ten(0, 0);
	check_whole(10, 1);
}

TEST(a_step_that_lost_records_is_in_no_figure)
{
	make_ten(3, 6); /* from the last record of step 2 to the first of step 6 */
	check_whole(6, 1 - 0.31);
}

/* Three calls of a model that turned out to be evaluation, before two steps. */
static void make_withdrawn(uint64_t withdrawn_ms)
{
	struct dw_entry_withdrawal *entry;

	made_init(&made);
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t tentative = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t evaluation = made_op(&made, DWELL_CATEGORY_EVALUATION, "evaluation");
	uint32_t process = dw_encode_process_entry(&made.process)->entry.id;

	for (uint64_t i = 0; i < 3; i++) {
		range(10 * i, 10 * i + 8, tentative);
		dw_encode_step(&made.process, made.thread, i, 10 * i * ms, (10 * i + 8) * ms, 0,
		               DW_STEP_RECORDED | DW_STEP_TENTATIVE);
	}
	entry = dw_encode_entry(&made.process, DW_ENTRY_WITHDRAWAL, process, 0, sizeof *entry);
	REQUIRE(entry);
	entry->ticks = withdrawn_ms * ms;
	entry->op = tentative;
	entry->as = evaluation;
	for (uint64_t i = 0; i < 2; i++) {
		range(30 + 10 * i, 35 + 10 * i, forward);
		step(i, 30 + 10 * i, 40 + 10 * i);
	}
	entry = dw_encode_entry(&made.process, DW_ENTRY_WITHDRAWAL, UINT32_MAX, 0, sizeof *entry);
	REQUIRE(entry);
	entry->ticks = UINT64_MAX; /* of a process that is not known */
	entry->op = entry->as = UINT32_MAX;
}

TEST(withdrawn_steps_are_evaluation)
{
	const struct dw_steps *steps;

	make_withdrawn(29);
	REQUIRE(made_open(&made, NULL) == 0);
	steps = dw_model_steps(made.model, &made.error);
	REQUIRE(steps);
	CHECK_EQ(steps->count, 2);
	CHECK_EQ(steps->steps[0].number, 0);
	CHECK_EQ(steps->steps[0].share_ns[DW_SHARE_FORWARD], 5 * ms);
	CHECK_EQ(beside(steps, "evaluation")->ns, 24 * ms);
	check_sums(steps);
	made_close(&made);
}

/* Of a thread that went on inferring: these are steps. */
TEST(tentative_steps_after_the_withdrawal_are_steps)
{
	const struct dw_steps *steps;

	make_withdrawn(15);
	REQUIRE(made_open(&made, NULL) == 0);
	steps = dw_model_steps(made.model, &made.error);
	REQUIRE(steps);
	CHECK_EQ(steps->count, 3);
	made_close(&made);
}

/* The main thread's entry counts records as refused. */
static void lose(uint64_t count)
{
	for (size_t at = DW_BLOCK_BYTES; at < dw_encode_bytes(&made.encode); at += 8) {
		struct dw_entry_thread *entry = (void *)(made.encode.image + at);

		if (entry->entry.tag == DW_ENTRY_TAG(DW_ENTRY_THREAD) && entry->entry.id == made.thread) {
			entry->lost[DW_LOSS_FULL] = count;
			return;
		}
	}
	CHECK(false);
}

/* keep=oldest: records were refused until the end, and no LOSS record says so. */
TEST(a_thread_that_lost_its_last_records_has_no_whole_steps_at_the_end)
{
	make_ten(7, 10);
	lose(30);
	check_whole(6, 1 - 0.31);
}

/* Ten steps one by one and then 1,000 of which the trace has sums: 12 ms each, in 13 s. */
TEST(summarised_steps_are_counted_and_in_no_figure)
{
	struct dw_source_step_summary summary = { .first_number = 10, .count = 1000,
		.start_ns = 100 * ms, .end_ns = 13100 * ms, .step_ns = 12000 * ms };

	make_ten(0, 0);
	dw_encode_record(&made.stream, 13200 * ms, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"),
	                 NULL, 0);
	REQUIRE(made_open(&made, NULL) == 0);
	summary.thread = made.source->steps[0].thread;
	made.source->step_summaries = &summary;
	made.source->step_summary_count = 1;
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 10);
	CHECK_EQ(steps->recorded_count, 10);
	CHECK_EQ(steps->iterations.steps, 1010);
	CHECK_EQ(steps->iterations.loop_ns, 13100 * ms);
	CHECK_EQ(steps->summed_count, 1000);
	CHECK_EQ(steps->summed_ns, 12000 * ms);
	CHECK_EQ(steps->summed_from, 10);
	CHECK_EQ(beside(steps, DW_STEPS_SUMMED)->ns, 12000 * ms);
	CHECK_EQ(beside(steps, "other")->ns, 1000 * ms);
	CHECK_EQ(beside(steps, "after the last step")->ns, 100 * ms);
	check_sums(steps);
	made_close(&made);
}

TEST(no_steps_is_no_error)
{
	made_init(&made);
	dw_encode_end(&made.stream, 5);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps);
	CHECK_EQ(steps->count, 0);
	CHECK_EQ(steps->wall_ns, 0);
	CHECK_NEAR(dw_model_coverage(made.model), 1.0, 0);
	made_close(&made);
}

/* A thread hands its stream on and gets it back in the middle of a step. */
TEST(named_time_before_and_after_another_thread)
{
	made_init(&made);
	uint32_t first = made_op(&made, DWELL_CATEGORY_ZONE, "first");
	uint32_t second = made_op(&made, DWELL_CATEGORY_ZONE, "second");
	uint32_t other = dw_encode_thread(&made.process, 101, 0, 0, "other");

	range(1, 3, first);
	dw_encode_record(&made.stream, 4 * ms, DW_THREAD, other, NULL, 0);
	range(4, 5, second);
	dw_encode_record(&made.stream, 5 * ms, DW_THREAD, made.thread, NULL, 0);
	range(6, 7, second);
	range(7, 8, first);
	step(0, 0, 10);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, &made.error);
	REQUIRE(steps && steps->count == 1);
	check_sums(steps);
	CHECK_EQ(steps->steps[0].share_ns[DW_SHARE_NAMED], 4 * ms);
	REQUIRE(steps->part_count == 2 && steps->steps[0].part_count == 2);
	CHECK_EQ(steps->parts[0].ns, 3 * ms);
	CHECK_EQ(steps->parts[1].ns, 1 * ms);
	made_close(&made);
}

CHECK_MAIN
