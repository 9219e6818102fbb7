/* Profiles by name, compared with durations that are known by construction. */
#include "made.h"

#define OP DWELL_CATEGORY_OPERATOR
#define LAYER DWELL_CATEGORY_LAYER

static struct made made;

static void begin(uint64_t ticks, uint32_t op)
{
	dw_encode_begin(&made.stream, ticks, op);
}

static void end(uint64_t ticks)
{
	dw_encode_end(&made.stream, ticks);
}

TEST(self_excludes_children_of_the_same_kind_only)
{
	made_init(&made);
	uint32_t outer = made_op(&made, OP, "outer"), inner = made_op(&made, OP, "inner");
	uint32_t layer = made_op(&made, LAYER, "layer");

	begin(1000, outer);
	begin(1100, layer);
	begin(1200, inner);
	end(1500);
	end(1600);
	end(2000);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "outer")->total_ns, 1000);
	CHECK_EQ(made_stat(&made, "outer")->self_ns, 700);
	CHECK_EQ(made_stat(&made, "layer")->self_ns, 500);
	CHECK_EQ(made_stat(&made, "inner")->self_ns, 300);
	made_close(&made);
}

TEST(recursion_counts_every_call)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "again");

	for (int i = 0; i < 5000; i++)
		begin(1000 + (uint64_t)i, op);
	for (int i = 0; i < 5000; i++)
		end(6000 + (uint64_t)i);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_stat *stat = made_stat(&made, "again");
	REQUIRE(stat);
	CHECK_EQ(stat->count, 5000);
	CHECK_EQ(stat->self_ns, 9999); /* the outermost one's length */
	CHECK_EQ(stat->total_ns, 9999);
	CHECK_EQ(stat->nested_ns, 5000ull * 5000 - 9999); /* durations 9999, 9997 ... 1 */
	CHECK_EQ(stat->max_ns, 9999);
	CHECK_EQ(stat->min_ns, 1);
	made_close(&made);
}

TEST(percentiles_are_exact_up_to_64_calls)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op");
	uint64_t now = 0;

	for (uint64_t i = 1; i <= 64; i++) {
		begin(now, op);
		end(now += i * 1000003);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "op")->p50_ns, 32 * 1000003);
	CHECK_EQ(made_stat(&made, "op")->p99_ns, 64 * 1000003);
	made_close(&made);
}

TEST(percentiles_are_within_a_bucket_beyond)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op");
	uint64_t now = 0;

	for (uint64_t i = 1; i <= 10000; i++) {
		begin(now, op);
		end(now += i * 997);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_NEAR(made_stat(&made, "op")->p50_ns, 5000 * 997, 5000 * 997 * 0.016);
	CHECK_NEAR(made_stat(&made, "op")->p99_ns, 9900 * 997, 9900 * 997 * 0.016);
	CHECK_EQ(made_stat(&made, "op")->max_ns, 10000 * 997);
	made_close(&made);
}

TEST(open_ranges_last_to_the_end_of_the_process)
{
	made_init(&made);
	uint32_t outer = made_op(&made, OP, "outer"), inner = made_op(&made, OP, "inner");

	begin(1000, outer);
	begin(2000, inner);
	dw_encode_record(&made.stream, 5000, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "m"), NULL, 0);
	REQUIRE(made_open_bytes(&made, dw_encode_bytes(&made.encode), NULL) == 0);
	CHECK_EQ(made_stat(&made, "outer")->open, 1);
	CHECK_EQ(made_stat(&made, "outer")->total_ns, 4000);
	CHECK_EQ(made_stat(&made, "inner")->total_ns, 3000);
	CHECK_EQ(made_stat(&made, "outer")->self_ns, 1000);
	made_close(&made);
}

TEST(ends_without_a_begin_are_orphans)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op");

	end(500);
	begin(1000, op);
	end(2000);
	end(3000);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(dw_model_flat(made.model, UINT32_MAX, NULL)->orphans, 2);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 1000);
	CHECK_EQ(made_stat(&made, "op")->count, 1);
	made_close(&made);
}

TEST(a_loss_cuts_what_was_open)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op"), after = made_op(&made, OP, "after"), lost[2] = { 7, 0 };

	begin(1000, op);
	dw_encode_record(&made.stream, 4000, DW_LOSS, DW_LOSS_DISK, lost, 2);
	end(10000); /* of a range whose begin was lost: it must not end "op" */
	begin(11000, after);
	end(12000);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "op")->cut, 1);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 3000);
	CHECK_EQ(made_stat(&made, "after")->total_ns, 1000);
	CHECK_EQ(dw_model_flat(made.model, UINT32_MAX, NULL)->orphans, 1);
	made_close(&made);
}

TEST(a_gap_cuts_what_was_open)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op"), after = made_op(&made, OP, "after");

	begin(1000, op);
	dw_encode_record(&made.stream, 3000, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "m"), NULL, 0);
	dw_encode_gap(&made.stream, 3);
	made.stream.last_ticks = 9000;
	end(10000);
	begin(11000, after);
	end(12000);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "op")->cut, 1);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 2000);
	CHECK_EQ(made_stat(&made, "after")->total_ns, 1000);
	CHECK_EQ(dw_model_flat(made.model, UINT32_MAX, NULL)->orphans, 1);
	const struct dw_threads *threads = dw_model_threads(made.model, NULL);
	REQUIRE(threads && threads->count == 1);
	CHECK_EQ(threads->rows[0].gap_ns, 6000);
	CHECK_EQ(threads->rows[0].busy_ns, 3000);
	made_close(&made);
}

TEST(end_of_ends_a_range_in_the_middle)
{
	made_init(&made);
	uint32_t a = made_op(&made, OP, "a"), b = made_op(&made, OP, "b"), c = made_op(&made, OP, "c");
	uint32_t one = 1;

	begin(0, a);
	begin(100, b);
	begin(300, c);
	dw_encode_record(&made.stream, 600, DW_END_OF, 0, &one, 1); /* b ends, c goes on */
	end(1000);                                                    /* c */
	end(1500);                                                    /* a */
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "b")->total_ns, 500);
	CHECK_EQ(made_stat(&made, "b")->self_ns, 200);
	CHECK_EQ(made_stat(&made, "c")->total_ns, 700);
	CHECK_EQ(made_stat(&made, "a")->total_ns, 1500);
	CHECK_EQ(made_stat(&made, "a")->self_ns, 600); /* 0-100 and 1000-1500 */
	made_close(&made);
}

/* A function that returns before what it began: its end names it. */
TEST(an_end_with_a_name_ends_that_range)
{
	made_init(&made);
	uint32_t a = made_op(&made, OP, "a"), b = made_op(&made, OP, "b"), c = made_op(&made, OP, "c");
	uint32_t none = 0;

	begin(0, a);
	begin(100, b);
	begin(200, b);
	begin(300, c);
	dw_encode_record(&made.stream, 600, DW_END_OF, b, &none, 1); /* the inner b */
	end(1000);                                                     /* c */
	dw_encode_record(&made.stream, 1100, DW_END_OF, c, &none, 1);  /* nobody's */
	dw_encode_record(&made.stream, 1200, DW_END_OF, a, &none, 1);
	end(1500);                                                     /* the outer b */
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "b")->total_ns, 1400); /* the inner one's 400 are part of it */
	CHECK_EQ(made_stat(&made, "b")->nested_ns, 400);
	CHECK_EQ(made_stat(&made, "c")->total_ns, 700);
	CHECK_EQ(made_stat(&made, "a")->total_ns, 1200);
	CHECK_EQ(dw_model_flat(made.model, UINT32_MAX, NULL)->orphans, 1);
	made_close(&made);
}

/* A range that nests with no other: ends without a name are others'. */
TEST(a_range_by_name_is_ended_by_its_name_alone)
{
	made_init(&made);
	uint32_t a = made_op(&made, OP, "a"), b = made_op(&made, OP, "b"), c = made_op(&made, OP, "c");
	uint32_t none = 0, by_name = DW_EXT_BY_NAME << DW_EXT_TYPE_SHIFT;

	begin(0, a);
	begin(100, b);
	dw_encode_record(&made.stream, 100, DW_EXT, by_name, NULL, 0);
	end(300); /* a */
	begin(400, c);
	dw_encode_record(&made.stream, 500, DW_END_OF, b, &none, 1);
	end(600); /* c */
	end(700); /* nobody's */
	begin(800, b);
	dw_encode_record(&made.stream, 800, DW_EXT, by_name, NULL, 0);
	end(900); /* nobody's */
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "a")->total_ns, 300);
	CHECK_EQ(made_stat(&made, "a")->self_ns, 100);
	CHECK_EQ(made_stat(&made, "b")->count, 2);
	CHECK_EQ(made_stat(&made, "b")->open, 1);
	CHECK_EQ(made_stat(&made, "c")->total_ns, 200);
	CHECK_EQ(dw_model_flat(made.model, UINT32_MAX, NULL)->orphans, 2);
	made_close(&made);
}

/* Deeper than the list of open ranges first is, and after records that end all. */
TEST(ends_with_names_at_any_depth)
{
	made_init(&made);
	uint32_t outer = made_op(&made, OP, "outer"), inner = made_op(&made, OP, "inner");
	uint32_t none = 0, second = dw_encode_thread(&made.process, 101, 0, 0, "second");

	begin(0, outer);
	for (int i = 1; i <= 1000; i++)
		begin(i, inner);
	dw_encode_record(&made.stream, 2000, DW_END_OF, outer, &none, 1);
	dw_encode_record(&made.stream, 3000, DW_THREAD, second, NULL, 0);
	begin(4000, outer);
	dw_encode_record(&made.stream, 4100, DW_END_OF, inner, &none, 1); /* the other thread's */
	end(5000);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "outer")->total_ns, 2000 + 1000);
	CHECK_EQ(made_stat(&made, "inner")->open, 1000);
	made_close(&made);
}

TEST(a_thread_record_closes_the_old_thread)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op");
	uint32_t second = dw_encode_thread(&made.process, 101, 0, 0, "second");

	begin(1000, op);
	dw_encode_record(&made.stream, 2000, DW_THREAD, second, NULL, 0);
	begin(3000, op);
	end(3500);
	end(4000); /* nobody's */
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "op")->count, 2);
	CHECK_EQ(made_stat(&made, "op")->open, 1);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 1500);
	const struct dw_threads *threads = dw_model_threads(made.model, NULL);
	REQUIRE(threads && threads->count == 2);
	CHECK_EQ(threads->rows[0].busy_ns, 1000);
	CHECK_EQ(threads->rows[1].busy_ns, 500);
	CHECK_EQ(threads->rows[0].ranges, 1);
	made_close(&made);
}

TEST(unknown_ids_are_unknown)
{
	made_init(&made);
	begin(0, 0x0ffffff0);
	end(10);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_stat *stat = made_stat(&made, "(unknown)");
	REQUIRE(stat);
	CHECK_EQ(stat->total_ns, 10);
	made_close(&made);
}

TEST(time_that_runs_backward_is_held)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op");

	begin(1000, op);
	end(900);
	begin(1200, op);
	end(1300);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 100);
	CHECK_EQ(made_stat(&made, "op")->min_ns, 0);
	made_close(&made);
}

TEST(long_silences_need_no_delta)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op");

	begin(1000, op);
	end(1000 + 10000000000u);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made_stat(&made, "op")->total_ns, 10000000000);
	made_close(&made);
}

TEST(a_scope_of_steps_counts_what_begins_inside)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };

	made_init(&made);
	uint32_t op = made_op(&made, OP, "op"), outer = made_op(&made, OP, "outer");

	begin(0, outer);
	for (uint64_t step = 0; step < 4; step++) {
		uint64_t at = 1000 + step * 1000;

		for (int i = 0; i < 3000; i++) {
			begin(at, op);
			end(at + 1);
		}
		dw_encode_step(&made.process, made.thread, step, at, at + 1000, 0, DW_STEP_RECORDED);
		dw_encode_close(&made.stream);
	}
	end(9000);
	REQUIRE(made_open(&made, &scope) == 0);
	/* records repeat each step's start, held at the latest time: count by what is in */
	CHECK_RANGE(made_stat(&made, "op")->count, 2000, 3000);
	CHECK(!made_stat(&made, "outer"));
	CHECK_EQ(dw_model_flat(made.model, UINT32_MAX, NULL)->wall_ns, 1000);
	made_close(&made);
}

TEST(a_scope_of_a_thread_names_the_nearest)
{
	struct dw_scope scope = { .thread = "mian" };

	made_init(&made);
	end(0);
	CHECK_EQ(made_open(&made, &scope), DWELL_E_NAME);
	CHECK_HAS(made.error.message, "did you mean 'main'?");
	made_close_model(&made);
	scope.thread = "100";
	CHECK_EQ(made_open(&made, &scope), 0);
	made_close(&made);
}

TEST(rows_merge_sites_and_shapes_by_name)
{
	int64_t sizes[2] = { 2, 3 };
	struct dwell_tensor tensor = { sizes, 2, DWELL_FLOAT32 };

	made_init(&made);
	uint32_t plain = made_op(&made, OP, "op"), again = made_op(&made, OP, "op");
	uint32_t shapes = dw_encode_shapes(&made.process, &tensor, 1);
	uint32_t shaped = dw_encode_op(&made.process, OP, "op", NULL, shapes, "x.c", 3);

	for (uint32_t i = 0; i < 3; i++) {
		begin(i * 100, (uint32_t[]){ plain, again, shaped }[i]);
		end(i * 100 + 10);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(dw_model_flat(made.model, UINT32_MAX, NULL)->count, 1);
	CHECK_EQ(made_stat(&made, "op")->count, 3);
	CHECK_EQ(dw_model_flat_by(made.model, UINT32_MAX, DW_BY_SYMBOL, NULL)->count, 2);
	made_close(&made);
}

TEST(the_tree_keeps_paths_apart)
{
	made_init(&made);
	uint32_t a = made_op(&made, OP, "a"), b = made_op(&made, OP, "b"), c = made_op(&made, OP, "c");

	begin(0, a);
	begin(10, c);
	end(40);
	end(100);
	begin(100, b);
	begin(110, c);
	end(310);
	end(400);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_tree *tree = dw_model_tree(made.model, NULL);
	REQUIRE(tree && tree->count == 5);
	CHECK_EQ(tree->nodes[0].symbol, DW_NO_INDEX);
	CHECK_EQ(tree->nodes[0].stat.total_ns, 400);
	CHECK_EQ(tree->nodes[1].stat.total_ns, 300); /* b before a */
	CHECK_EQ(tree->nodes[1].stat.self_ns, 100);
	CHECK_EQ(tree->nodes[2].parent, 1);
	CHECK_EQ(tree->nodes[2].stat.self_ns, 200);
	CHECK_EQ(tree->nodes[4].stat.total_ns, 30);
	CHECK_EQ(tree->nodes[4].depth, 2);
	made_close(&made);
}

CHECK_MAIN
