/* Calls by name, shapes and stacks: times, memory, FLOPs and the steps as a row. */
#include "made.h"

#include "model/time/calls.h"

#define OP DWELL_CATEGORY_OPERATOR

static struct made made;

static void begin(uint64_t ticks, uint32_t op)
{
	dw_encode_begin(&made.stream, ticks, op);
}

static void end(uint64_t ticks)
{
	dw_encode_end(&made.stream, ticks);
}

static void alloc(uint64_t ticks, uint32_t id, uint64_t address, uint64_t bytes)
{
	uint64_t words[2] = { address, bytes };

	dw_encode_record(&made.stream, ticks, DW_ALLOC, id, words, 4);
}

static void unalloc(uint64_t ticks, uint32_t id, uint64_t address)
{
	dw_encode_record(&made.stream, ticks, DW_FREE, id, &address, 2);
}

static const struct dw_call_row *row(const struct dw_calls *calls, const char *name)
{
	for (size_t i = 0; calls && i < calls->count; i++)
		if (strcmp(calls->rows[i].name, name) == 0)
			return &calls->rows[i];
	return NULL;
}

static const struct dw_calls *calls_of(struct dw_calls_ask ask)
{
	return dw_model_calls(made.model, &ask, &made.error);
}

/* linear 100..200, in it mm 120..150 and mm 160..170. */
TEST(self_time_excludes_the_operators_within)
{
	made_init(&made);
	uint32_t linear = made_op(&made, OP, "linear"), mm = made_op(&made, OP, "mm");

	begin(100, linear);
	begin(120, mm);
	end(150);
	begin(160, mm);
	end(170);
	end(200);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ 0 });

	REQUIRE(calls && row(calls, "linear") && row(calls, "mm"));
	CHECK_EQ(calls->count, 2);
	CHECK_EQ(calls->self_ns, 100);
	CHECK_EQ(row(calls, "linear")->stat.total_ns, 100);
	CHECK_EQ(row(calls, "linear")->stat.self_ns, 60);
	CHECK_EQ(row(calls, "linear")->first_ns, 100);
	CHECK_EQ(row(calls, "mm")->stat.count, 2);
	CHECK_EQ(row(calls, "mm")->stat.total_ns, 40);
	CHECK_STR(calls->rows[0].name, "linear"); /* by their first begin */
	calls = calls_of((struct dw_calls_ask){ .top_level = true });
	REQUIRE(calls && calls->count == 1);
	CHECK_EQ(calls->rows[0].stat.total_ns, 100);
	CHECK_EQ(calls->self_ns, 100);
	made_close(&made);
}

/* An operator within itself counts its time once. */
TEST(recursion_counts_its_time_once)
{
	made_init(&made);
	uint32_t f = made_op(&made, OP, "f");

	begin(100, f);
	begin(110, f);
	end(140);
	end(200);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ 0 });

	REQUIRE(calls && calls->count == 1);
	CHECK_EQ(calls->rows[0].stat.count, 2);
	CHECK_EQ(calls->rows[0].stat.total_ns, 100);
	CHECK_EQ(calls->rows[0].stat.nested_ns, 30);
	CHECK_EQ(calls->rows[0].stat.self_ns, 100);
	made_close(&made);
}

TEST(shapes_and_overloads_make_rows_of_their_own)
{
	static const int64_t small[2] = { 2, 3 }, large[2] = { 20, 30 };
	struct dwell_tensor two = { small, 2, DWELL_FLOAT32 };
	struct dwell_tensor twenty = { large, 2, DWELL_FLOAT32 };

	made_init(&made);
	uint32_t shapes[2] = { dw_encode_shapes(&made.process, &two, 1),
		                   dw_encode_shapes(&made.process, &twenty, 1) };
	uint32_t ops[3] = { dw_encode_op(&made.process, OP, "relu", NULL, shapes[0], NULL, 0),
		                dw_encode_op(&made.process, OP, "relu", NULL, shapes[1], NULL, 0),
		                dw_encode_op(&made.process, OP, "relu", "out", shapes[1], NULL, 0) };

	for (uint64_t i = 0; i < 3; i++) {
		begin(100 * i + 100, ops[i]);
		end(100 * i + 110 + i);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ 0 });

	REQUIRE(calls != NULL);
	CHECK_EQ(calls->count, 1);
	CHECK_EQ(calls->rows[0].stat.total_ns, 33);
	CHECK(calls->has_shapes);
	calls = calls_of((struct dw_calls_ask){ .group.shapes = true });
	REQUIRE(calls && calls->count == 2);
	CHECK_EQ(calls->rows[0].stat.total_ns, 10);
	CHECK_EQ(calls->rows[1].stat.total_ns, 23);
	CHECK_EQ(calls->rows[1].flops, 2 * 600); /* relu: 1 an element */
	calls = calls_of((struct dw_calls_ask){ .group.shapes = true, .group.overload = true });
	CHECK_EQ(calls ? calls->count : 0, 3);
	made_close(&made);
}

/* The operator's innermost frames; an operator within has the stack of the one around it. */
TEST(stacks_make_rows_by_their_innermost_frames)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "mm");
	uint32_t frames[3] = { dw_encode_frame(&made.process, "forward", "net.py", 10),
		                   dw_encode_frame(&made.process, "train", "train.py", 20),
		                   dw_encode_frame(&made.process, "test", "train.py", 30) };
	uint32_t in_train[2] = { frames[0], frames[1] }, in_test[2] = { frames[0], frames[2] };
	uint32_t stacks[2] = { dw_encode_stack(&made.process, in_train, 2),
		                   dw_encode_stack(&made.process, in_test, 2) };

	for (uint64_t i = 0; i < 2; i++) {
		begin(100 * i + 100, op);
		dw_encode_record(&made.stream, 100 * i + 100, DW_STACK, stacks[i], NULL, 0);
		end(100 * i + 110);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ .group.stack_frames = 1 });

	REQUIRE(calls && calls->count == 1);
	CHECK(calls->has_stacks);
	CHECK_STR(calls->rows[0].stack, "net.py(10): forward");
	calls = calls_of((struct dw_calls_ask){ .group.stack_frames = 2 });
	REQUIRE(calls && calls->count == 2);
	CHECK_STR(calls->rows[0].stack, "net.py(10): forward\ntrain.py(20): train");
	CHECK_STR(calls->rows[1].stack, "net.py(10): forward\ntrain.py(30): test");
	made_close(&made);
}

/* conv allocates 100 bytes, add in it 40 and frees the 100; device memory does not count. */
TEST(memory_is_what_is_allocated_less_what_is_freed)
{
	made_init(&made);
	uint32_t conv = made_op(&made, OP, "conv"), add = made_op(&made, OP, "add");
	uint32_t cpu = made_op(&made, DWELL_CATEGORY_ALLOCATION, "tensor");
	uint32_t cuda = dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, "tensor", "cuda:0", 0,
	                             NULL, 0);

	begin(100, conv);
	alloc(110, cpu, 0x1000, 100);
	begin(120, add);
	alloc(121, cpu, 0x2000, 40);
	alloc(122, cuda, 0x3000, 7000);
	unalloc(123, cpu, 0x1000);
	unalloc(124, cpu, 0x9999); /* nobody knows how large it was */
	end(130);
	end(200);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ .memory = true });

	REQUIRE(calls && row(calls, "conv") && row(calls, "add"));
	CHECK(calls->has_memory);
	CHECK_EQ(row(calls, "conv")->self_bytes, 100);
	CHECK_EQ(row(calls, "add")->self_bytes, -60);
	CHECK_EQ(row(calls, "add")->total_bytes, -60);
	CHECK_EQ(row(calls, "conv")->total_bytes, 40);
	calls = calls_of((struct dw_calls_ask){ 0 });
	REQUIRE(calls && row(calls, "conv"));
	CHECK_EQ(row(calls, "conv")->total_bytes, 0);
	made_close(&made);
}

/* What was allocated before the scope is freed in it. */
TEST(a_scope_knows_what_was_allocated_before)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };

	made_init(&made);
	uint32_t op = made_op(&made, OP, "op"), cpu = made_op(&made, DWELL_CATEGORY_ALLOCATION, "tensor");

	begin(110, op);
	alloc(120, cpu, 0x1000, 100);
	end(130);
	dw_encode_step(&made.process, made.thread, 0, 100, 200, 0, DW_STEP_RECORDED);
	begin(210, op);
	unalloc(220, cpu, 0x1000);
	end(230);
	dw_encode_step(&made.process, made.thread, 1, 200, 300, 0, DW_STEP_RECORDED);
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ .memory = true });

	REQUIRE(calls && calls->count == 1);
	CHECK_EQ(calls->rows[0].stat.count, 1);
	CHECK_EQ(calls->rows[0].self_bytes, -100);
	made_close(&made);
}

/* A step's own time is what no call in it took; a step inside a named range is no call. */
TEST(steps_are_a_row_as_torch_profiler_has_it)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "mm"), zone = made_op(&made, DWELL_CATEGORY_ZONE, "epoch");

	begin(110, op);
	end(140);
	dw_encode_step(&made.process, made.thread, 0, 100, 200, 0, DW_STEP_RECORDED);
	begin(290, zone);
	dw_encode_step(&made.process, made.thread, 1, 300, 400, 0, DW_STEP_RECORDED);
	end(410);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ .named = true, .steps = true });
	const struct dw_call_row *steps = row(calls, "ProfilerStep*");

	REQUIRE(steps && row(calls, "epoch") && row(calls, "mm"));
	CHECK_EQ(steps->stat.count, 1);
	CHECK_EQ(steps->stat.total_ns, 100);
	CHECK_EQ(steps->stat.self_ns, 70);
	CHECK_EQ(steps->symbol, DW_NO_INDEX);
	CHECK_EQ(calls->self_ns, 30 + 120 + 70);
	CHECK(!row(calls_of((struct dw_calls_ask){ 0 }), "ProfilerStep*"));
	made_close(&made);
}

/* The convolution counts its FLOPs, and what it calls does not count them again. */
TEST(flops_count_once)
{
	static const int64_t a[2] = { 2, 3 }, b[2] = { 3, 5 };
	struct dwell_tensor mm[2] = { { a, 2, DWELL_FLOAT32 }, { b, 2, DWELL_FLOAT32 } };

	made_init(&made);
	uint32_t shapes = dw_encode_shapes(&made.process, mm, 2);
	uint32_t outer = dw_encode_op(&made.process, OP, "matmul", NULL, shapes, NULL, 0);
	uint32_t inner = dw_encode_op(&made.process, OP, "mm", NULL, shapes, NULL, 0);

	begin(100, outer);
	begin(110, inner);
	end(120);
	end(130);
	begin(140, inner);
	end(150);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ 0 });

	REQUIRE(row(calls, "matmul") && row(calls, "mm"));
	CHECK(calls->has_flops);
	CHECK_EQ(row(calls, "matmul")->flops, 60); /* 2 x 2 x 3 x 5 */
	CHECK_EQ(row(calls, "mm")->flops, 60);     /* only of the outer one */
	made_close(&made);
}

TEST(asynchronous_ranges_are_rows_without_self_time)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "all_reduce");
	uint64_t handle = 7;

	dw_encode_record(&made.stream, 100, DW_ASYNC_BEGIN, op, &handle, 2);
	begin(120, op);
	end(130);
	dw_encode_record(&made.stream, 200, DW_ASYNC_END, op, &handle, 2);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_calls *calls = calls_of((struct dw_calls_ask){ 0 });

	REQUIRE(calls && calls->count == 2);
	CHECK(calls->rows[0].is_async);
	CHECK_EQ(calls->rows[0].stat.total_ns, 100);
	CHECK_EQ(calls->rows[0].stat.self_ns, 0);
	CHECK(!calls->rows[1].is_async);
	CHECK_EQ(calls->rows[1].stat.total_ns, 10);
	made_close(&made);
}

CHECK_MAIN
