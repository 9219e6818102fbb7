/* Memory by owner, at the peak and over time, against sums made by hand. */
#include "made.h"
#include "model/memory.h"

#define OP DWELL_CATEGORY_OPERATOR

static struct made made;

static uint32_t kind(const char *name, const char *device)
{
	return dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, name, device, 0, NULL, 0);
}

static void alloc_in(struct dw_encode_stream *stream, uint64_t ticks, uint32_t id, uint64_t address,
                     uint64_t bytes)
{
	uint32_t words[4] = { (uint32_t)address, (uint32_t)(address >> 32), (uint32_t)bytes,
		                  (uint32_t)(bytes >> 32) };

	dw_encode_record(stream, ticks, DW_ALLOC, id, words, 4);
}

static void free_in(struct dw_encode_stream *stream, uint64_t ticks, uint64_t address)
{
	uint32_t words[2] = { (uint32_t)address, (uint32_t)(address >> 32) };

	dw_encode_record(stream, ticks, DW_FREE, kind("free", NULL), words, 2);
}

static void alloc(uint64_t ticks, uint32_t id, uint64_t address, uint64_t bytes)
{
	alloc_in(&made.stream, ticks, id, address, bytes);
}

static void unalloc(uint64_t ticks, uint64_t address)
{
	free_in(&made.stream, ticks, address);
}

static void begin(uint64_t ticks, uint32_t op)
{
	dw_encode_begin(&made.stream, ticks, op);
}

static void end(uint64_t ticks)
{
	dw_encode_end(&made.stream, ticks);
}

static const struct dw_memory *memory_of(void)
{
	return dw_model_memory(made.model, &made.error);
}

static const struct dw_memory_owner *owner(const struct dw_memory_pool *pool, const char *name)
{
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);

	for (size_t i = 0; i < pool->owner_count; i++) {
		uint32_t symbol = pool->owners[i].symbol;

		if (strcmp(symbol == DW_NO_INDEX ? "(no operator)" : symbols[symbol].name, name) == 0)
			return &pool->owners[i];
	}
	return NULL;
}

TEST(an_allocation_belongs_to_the_innermost_operator)
{
	made_init(&made);
	uint32_t activation = kind("activation", "cpu"), zone = made_op(&made, 0, "forward");
	uint32_t outer = made_op(&made, OP, "outer"), inner = made_op(&made, OP, "inner");
	uint32_t layer = made_op(&made, DWELL_CATEGORY_LAYER, "layer");

	alloc(100, activation, 0x1000, 1); /* (no operator) */
	begin(200, zone);
	alloc(210, activation, 0x2000, 10); /* forward */
	begin(220, outer);
	begin(230, layer);
	alloc(240, activation, 0x3000, 100); /* outer: a layer owns nothing */
	begin(250, inner);
	alloc(260, activation, 0x4000, 1000); /* inner */
	begin(262, zone);
	alloc(264, activation, 0x5000, 10000); /* inner still: a zone in an operator */
	end(266);
	end(270);
	end(280);
	end(290);
	unalloc(300, 0x4000); /* in forward, but it was inner's */
	end(310);
	alloc(400, activation, 0x6000, 0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	REQUIRE(owner(pool, "inner") && owner(pool, "outer") && owner(pool, "forward") &&
	        owner(pool, "(no operator)"));
	CHECK_EQ(pool->owner_count, 4);
	CHECK_EQ(owner(pool, "inner")->use.allocated_bytes, 11000);
	CHECK_EQ(owner(pool, "inner")->use.allocations, 2);
	CHECK_EQ(owner(pool, "inner")->use.freed_bytes, 1000);
	CHECK_EQ(owner(pool, "inner")->use.live_bytes, 10000);
	CHECK_EQ(owner(pool, "inner")->use.live_count, 1);
	CHECK_EQ(owner(pool, "inner")->total_bytes, 11000);
	CHECK_EQ(owner(pool, "outer")->use.allocated_bytes, 100);
	CHECK_EQ(owner(pool, "outer")->total_bytes, 11100);
	CHECK_EQ(owner(pool, "outer")->total_count, 3);
	CHECK_EQ(owner(pool, "forward")->use.allocated_bytes, 10);
	CHECK_EQ(owner(pool, "forward")->total_bytes, 11110); /* once, though it is there twice */
	CHECK_EQ(owner(pool, "(no operator)")->use.allocated_bytes, 1);
	CHECK_EQ(owner(pool, "(no operator)")->total_bytes, 1);
	CHECK_EQ(owner(pool, "(no operator)")->use.allocations, 2);
	CHECK_EQ(pool->all.at_peak_bytes, 11111);
	CHECK_EQ(pool->all.live_bytes, 10111);
	CHECK_EQ(pool->all.live_count, 5);
	CHECK_EQ(pool->peak_ns, 264);
	CHECK_STR(pool->device, "cpu");
	made_close(&made);
}

TEST(kinds_and_owners_are_those_of_the_peak)
{
	made_init(&made);
	uint32_t parameter = kind("parameter", "cpu"), gradient = kind("gradient", "cpu");
	uint32_t state = kind("optimizer state", "cpu"), strange = kind("lookup table", "cpu");
	uint32_t a = made_op(&made, OP, "a"), b = made_op(&made, OP, "b");

	begin(10, a);
	alloc(20, parameter, 0x10, 500);
	alloc(30, gradient, 0x20, 300);
	end(40);
	begin(50, b);
	alloc(60, strange, 0x30, 40); /* 840: the peak */
	unalloc(70, 0x20);            /* 540 */
	alloc(80, state, 0x40, 290);  /* 830: more of b, and no peak */
	end(90);
	unalloc(95, 0x10);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(pool->all.at_peak_bytes, 840);
	CHECK_EQ(pool->peak_ns, 60);
	CHECK_EQ(pool->peak_step, DW_NO_INDEX);
	CHECK_EQ(pool->kinds[DW_MEMORY_PARAMETER].at_peak_bytes, 500);
	CHECK_EQ(pool->kinds[DW_MEMORY_GRADIENT].at_peak_bytes, 300);
	CHECK_EQ(pool->kinds[DW_MEMORY_OPTIMIZER_STATE].at_peak_bytes, 0);
	CHECK_EQ(pool->kinds[DW_MEMORY_OPTIMIZER_STATE].live_bytes, 290);
	CHECK_EQ(pool->kinds[DW_MEMORY_OTHER].at_peak_bytes, 40);
	CHECK_EQ(pool->kinds[DW_MEMORY_PARAMETER].live_bytes, 0);
	CHECK_EQ(pool->kinds[DW_MEMORY_PARAMETER].freed_bytes, 500);
	CHECK_EQ(owner(pool, "a")->use.at_peak_bytes, 800);
	CHECK_EQ(owner(pool, "b")->use.at_peak_bytes, 40);
	CHECK_EQ(owner(pool, "b")->use.live_bytes, 330);
	CHECK_STR(dw_model_symbols(made.model, NULL)[pool->owners[0].symbol].name, "a");
	made_close(&made);
}

/* A peak reached again later is still the first one. */
TEST(the_first_of_equal_peaks_counts)
{
	made_init(&made);
	uint32_t input = kind("input", "cpu");

	for (uint64_t i = 0; i < 5; i++) {
		alloc(1000 + i * 100, input, 0x100, 64);
		unalloc(1050 + i * 100, 0x100);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 64);
	CHECK_EQ(memory->pools[0].peak_ns, 1000);
	CHECK_EQ(memory->pools[0].all.live_bytes, 0);
	CHECK_EQ(memory->pools[0].all.allocations, 5);
	CHECK_EQ(memory->pools[0].all.frees, 5);
	made_close(&made);
}

TEST(memory_is_freed_by_another_thread)
{
	struct dw_encode_stream other;

	made_init(&made);
	uint32_t temporary = kind("temporary", "cpu"), op = made_op(&made, OP, "op");
	uint32_t thread = dw_encode_thread(&made.process, 101, 1, 0, "loader");

	dw_encode_stream_init(&other, &made.process, 1, thread);
	begin(100, op);
	/* The same address three times; each free is in the other stream, in between. */
	alloc(110, temporary, 0xabc, 1000);
	free_in(&other, 120, 0xabc);
	alloc(130, temporary, 0xabc, 2000);
	free_in(&other, 140, 0xabc);
	alloc(150, temporary, 0xabc, 4000);
	alloc_in(&other, 155, temporary, 0xdef, 70); /* "op" is open in the first thread only */
	end(160);
	free_in(&other, 170, 0xabc);
	dw_encode_close(&other);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(memory->unknown_frees, 0);
	CHECK_EQ(memory->doubled, 0);
	CHECK_EQ(pool->all.at_peak_bytes, 4070);
	CHECK_EQ(pool->all.live_bytes, 70);
	CHECK_EQ(owner(pool, "op")->use.allocated_bytes, 7000);
	CHECK_EQ(owner(pool, "op")->use.freed_bytes, 7000);
	CHECK_EQ(owner(pool, "(no operator)")->use.allocated_bytes, 70);
	made_close(&made);
}

TEST(unknown_frees_and_double_allocations_are_counted)
{
	made_init(&made);
	uint32_t input = kind("input", "cpu");

	unalloc(10, 0x999);
	alloc(20, input, 0x100, 50);
	alloc(30, input, 0x100, 70); /* its free is missing */
	unalloc(40, 0x100);
	unalloc(50, 0x100);
	alloc(60, input, 0x200, UINT64_MAX); /* damage */
	alloc(70, input, 0x300, UINT64_MAX);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->unknown_frees, 2);
	CHECK_EQ(memory->doubled, 1);
	CHECK_EQ(memory->pools[0].all.allocations, 4);
	CHECK_EQ(memory->pools[0].all.frees, 1);
	CHECK_EQ(memory->pools[0].all.freed_bytes, 70);
	made_close(&made);
}

TEST(devices_and_processes_are_pools_of_their_own)
{
	struct dw_encode_process process;
	struct dw_encode_stream stream;

	made_init(&made);
	uint32_t cpu = kind("input", "cpu"), gpu = kind("input", "cuda:0");

	alloc(100, cpu, 0x100, 10);
	alloc(110, gpu, 0x200, 3000);
	dw_encode_process_init(&process, &made.encode, 0)->pid = 0x7ffffffd;
	dw_encode_stream_init(&stream, &process, 0, dw_encode_thread(&process, 200, 0, 0, "main"));
	/* The same address: another process's. */
	alloc_in(&stream, 120,
	         dw_encode_op(&process, DWELL_CATEGORY_ALLOCATION, "input", "cpu", 0, NULL, 0), 0x100,
	         200);
	unalloc(130, 0x100);
	dw_encode_close(&stream);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 3);
	CHECK_STR(memory->pools[0].device, "cuda:0");
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 3000);
	CHECK_EQ(memory->pools[1].all.at_peak_bytes, 200);
	CHECK_EQ(memory->pools[1].all.live_bytes, 200);
	CHECK_EQ(memory->pools[2].all.at_peak_bytes, 10);
	CHECK_EQ(memory->pools[2].all.live_bytes, 0);
	CHECK_EQ(memory->unknown_frees, 0);
	made_close(&made);
}

static void make_steps(void)
{
	uint32_t activation;

	made_init(&made);
	activation = kind("activation", "cpu");
	for (uint64_t step = 0; step < 3; step++) {
		uint64_t start = 1000 + step * 1000;

		dw_encode_step(&made.process, made.thread, step, start, start + 900, 0, DW_STEP_RECORDED);
		alloc(start + 100, activation, 0x10 + step, 100); /* stays */
		alloc(start + 200, activation, 0x1000, 10 * (step + 1));
		unalloc(start + 300, 0x1000);
		alloc(start + 950, activation, 0x2000, 5000); /* between the steps */
		unalloc(start + 960, 0x2000);
	}
}

TEST(a_scope_of_steps_knows_what_was_live_before)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };

	make_steps();
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(pool->all.at_peak_bytes, 220);
	CHECK_EQ(pool->peak_ns, 2200);
	REQUIRE(pool->peak_step != DW_NO_INDEX);
	CHECK_EQ(made.source->steps[pool->peak_step].number, 1);
	CHECK_EQ(pool->all.allocations, 2);
	CHECK_EQ(pool->all.allocated_bytes, 120);
	CHECK_EQ(pool->all.live_bytes, 200);
	CHECK_EQ(pool->points[0].bytes[DW_MEMORY_ACTIVATION], 100);
	made_close(&made);
}

TEST(without_a_scope_everything_counts)
{
	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 5300);
	CHECK_EQ(memory->pools[0].peak_ns, 3950);
	CHECK_EQ(memory->pools[0].peak_step, DW_NO_INDEX);
	made_close(&made);
}

/* All steps as the scope: the 5000 in between are not in it, though they are live. */
TEST(what_lies_between_steps_is_no_peak_of_steps)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 0, .steps_to = 9 };

	make_steps();
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 330);
	CHECK_EQ(memory->pools[0].peak_ns, 3200);
	made_close(&made);
}

TEST(a_scope_of_a_thread_is_that_threads_allocations)
{
	struct dw_encode_stream other;
	struct dw_scope scope = { .thread = "loader" };

	made_init(&made);
	uint32_t input = kind("input", "cpu");
	uint32_t thread = dw_encode_thread(&made.process, 101, 1, 0, "loader");

	dw_encode_stream_init(&other, &made.process, 1, thread);
	alloc(100, input, 0x100, 1000);
	alloc_in(&other, 110, input, 0x200, 64);
	unalloc(120, 0x100);
	unalloc(130, 0x200);
	dw_encode_close(&other);
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 64);
	CHECK_EQ(memory->pools[0].all.live_bytes, 0);
	CHECK_EQ(memory->unknown_frees, 0);
	made_close(&made);
}

/* 20000 events over 2 ms: the level at 1000 * i ns is known, and so is every peak. */
TEST(the_curve_is_short_and_has_the_peak)
{
	uint64_t largest = 0, at_peak = 0;

	made_init(&made);
	uint32_t input = kind("input", "cpu"), state = kind("optimizer_state", "cpu");

	alloc(0, state, 0x1, 7);
	for (uint64_t i = 1; i <= 10000; i++) {
		uint64_t bytes = i * 7919 % 10007;

		if (bytes + 7 > largest) {
			largest = bytes + 7;
			at_peak = i * 200;
		}
		alloc(i * 200, input, 0x1000, bytes);
		unalloc(i * 200 + 100, 0x1000);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];
	bool has_peak = false;

	CHECK_EQ(pool->all.at_peak_bytes, largest);
	CHECK_EQ(pool->peak_ns, at_peak);
	CHECK_RANGE(pool->point_count, 900, DW_MEMORY_POINTS);
	for (size_t i = 0; i < pool->point_count; i++) {
		const struct dw_memory_point *point = &pool->points[i];
		uint64_t n = point->ns / 200;

		if (i)
			CHECK(point->ns > pool->points[i - 1].ns);
		CHECK_EQ(point->bytes[DW_MEMORY_OPTIMIZER_STATE], 7);
		if (n && point->ns % 200 < 100)
			CHECK_EQ(point->bytes[DW_MEMORY_INPUT], n * 7919 % 10007);
		has_peak |= point->ns == at_peak && point->bytes[DW_MEMORY_INPUT] == largest - 7;
	}
	CHECK(has_peak);
	made_close(&made);
}

/* Many chunks, deep recursion, many addresses: nothing is lost and nothing counts twice. */
TEST(large_numbers_add_up)
{
	made_init(&made);
	uint32_t input = kind("input", "cpu"), op = made_op(&made, OP, "again");
	uint64_t now = 1000;

	for (int depth = 0; depth < 400; depth++)
		begin(now++, op);
	for (uint64_t i = 0; i < 30000; i++)
		alloc(now++, input, 0x10000 + i * 64, i + 1);
	for (uint64_t i = 0; i < 30000; i += 2)
		unalloc(now++, 0x10000 + i * 64);
	for (int depth = 0; depth < 400; depth++)
		end(now++);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(pool->all.at_peak_bytes, 30000ull * 30001 / 2);
	CHECK_EQ(pool->all.live_bytes, 225015000); /* 2 + 4 + ... + 30000 = 15000 * 15001 */
	CHECK_EQ(pool->all.live_count, 15000);
	REQUIRE(owner(pool, "again"));
	CHECK_EQ(owner(pool, "again")->total_bytes, 30000ull * 30001 / 2);
	CHECK_EQ(owner(pool, "again")->total_count, 30000);
	CHECK_EQ(memory->unknown_frees, 0);
	made_close(&made);
}

/* outer, middle and inner are open; middle ends first. */
TEST(a_range_that_ends_in_the_middle_owns_no_more)
{
	uint32_t one = 1;

	made_init(&made);
	uint32_t input = kind("input", "cpu");
	uint32_t outer = made_op(&made, OP, "outer"), middle = made_op(&made, OP, "middle");
	uint32_t inner = made_op(&made, OP, "inner");

	begin(10, outer);
	begin(20, middle);
	begin(30, inner);
	alloc(40, input, 0x1, 1);
	dw_encode_record(&made.stream, 50, DW_END_OF, 0, &one, 1);
	alloc(60, input, 0x2, 10);
	end(70);
	alloc(80, input, 0x3, 100);
	end(90);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(owner(pool, "inner")->use.allocated_bytes, 11);
	CHECK_EQ(owner(pool, "outer")->use.allocated_bytes, 100);
	CHECK_EQ(owner(pool, "outer")->total_bytes, 111);
	CHECK_EQ(owner(pool, "middle")->total_bytes, 1);
	CHECK_EQ(owner(pool, "middle")->use.allocated_bytes, 0);
	made_close(&made);
}

TEST(no_allocations_no_pools)
{
	made_init(&made);
	begin(10, made_op(&made, OP, "op"));
	end(20);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory);
	CHECK_EQ(memory->pool_count, 0);
	made_close(&made);
}

CHECK_MAIN
