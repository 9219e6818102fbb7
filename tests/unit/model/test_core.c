/* The basis of the products: tallies, nesting, names of shares, shapes as text, merged symbols. */
#include "made.h"

#include "frameworks/frameworks.h"
#include "model/core/shapes.h"
#include "model/core/share_names.h"
#include "model/core/tally.h"

TEST(a_tally_of_few_is_exact)
{
	struct dw_tally tally = { 0 };
	struct dw_arena arena = { 0 };
	struct dw_stat stat;

	for (uint64_t i = 1; i <= 64; i++)
		dw_tally_add(&tally, &arena, i * 1000, i);
	dw_tally_stat(&tally, 1, &stat);
	CHECK_EQ(stat.count, 64);
	CHECK_EQ(stat.min_ns, 1000);
	CHECK_EQ(stat.max_ns, 64000);
	CHECK_EQ(stat.total_ns, 64 * 65 / 2 * 1000);
	CHECK_EQ(stat.self_ns, 64 * 65 / 2);
	CHECK_EQ(stat.p50_ns, 32000);
	CHECK_EQ(stat.p99_ns, 64000);
	dw_tally_add(&tally, &arena, 1u << 30, 0); /* now in buckets: within 1.6% */
	CHECK_NEAR((double)dw_tally_quantile(&tally, 0.5), 33000, 33000 * 0.016);
	dw_arena_reset(&arena);
}

TEST(tallies_merge_with_a_ratio_of_clocks)
{
	struct dw_tally a = { 0 }, b = { 0 };
	struct dw_arena arena = { 0 };

	for (uint64_t i = 0; i < 3; i++) {
		dw_tally_add(&a, &arena, 10, 1);
		dw_tally_add(&b, &arena, 100, 2);
	}
	b.open = 1;
	dw_tally_merge(&a, &arena, &b, 0.5);
	CHECK_EQ(a.count, 6);
	CHECK_EQ(a.total, 30 + 150);
	CHECK_EQ(a.self, 3 + 3);
	CHECK_EQ(a.min + a.spread, 50);
	CHECK_EQ(a.min, 10);
	CHECK_EQ(a.open, 1);
	CHECK_EQ(dw_tally_quantile(&a, 1), 50);
	CHECK_EQ(dw_tally_quantile(&(struct dw_tally){ 0 }, 0.5), 0);
	dw_arena_reset(&arena);
}

/* Calls 0..100, in it 10..40; then 200..250: the row is open for 150. */
TEST(nesting_is_time_that_is_counted_twice)
{
	struct dw_nesting nesting = { 0 };

	dw_nesting_begin(&nesting, 0);
	dw_nesting_begin(&nesting, 10);
	dw_nesting_end(&nesting, 40, 30);
	dw_nesting_end(&nesting, 100, 100);
	dw_nesting_begin(&nesting, 200);
	dw_nesting_end(&nesting, 250, 50);
	CHECK_EQ(nesting.nested, 30);
	CHECK_EQ(nesting.open, 0);
}

static enum dw_share share(uint32_t category, const char *name)
{
	return dw_share_of(&(struct dw_symbol){ .category = category, .name = name });
}

TEST(shares_by_category_and_name)
{
	CHECK_EQ(share(DWELL_CATEGORY_DATA, "anything"), DW_SHARE_DATA);
	CHECK_EQ(share(DWELL_CATEGORY_PHASE, "Forward"), DW_SHARE_FORWARD);
	CHECK_EQ(share(DWELL_CATEGORY_ZONE, "optimizer.step"), DW_SHARE_OPTIMIZER);
	CHECK_EQ(share(DWELL_CATEGORY_ZONE, "validation"), DW_SHARE_EVALUATION);
	CHECK_EQ(share(DWELL_CATEGORY_ZONE, "my forward"), DW_SHARE_COUNT);
	CHECK_EQ(share(DWELL_CATEGORY_OPERATOR, "forward"), DW_SHARE_COUNT);
	CHECK_EQ(share(DWELL_CATEGORY_OPERATOR, "c10d::allreduce_"), DW_SHARE_COMMUNICATION);
	CHECK_EQ(share(DWELL_CATEGORY_ZONE, "gloo:all_reduce"), DW_SHARE_COMMUNICATION);
	CHECK_EQ(share(DWELL_CATEGORY_LAYER, "gloo:all_reduce"), DW_SHARE_COUNT);
}

TEST(frameworks_are_known_by_names)
{
	CHECK(dw_framework_is_collective("nccl:all_gather"));
	CHECK(!dw_framework_is_collective("aten::nccl:"));
	CHECK(!dw_framework_is_collective(""));
	CHECK(dw_framework_is_wait("Waiting"));
	CHECK(!dw_framework_is_wait("Waiting room"));
}

TEST(shapes_as_text)
{
	static const int64_t sizes[3] = { 2, 3, 1 };
	struct dwell_tensor tensors[3] = { { sizes, 2, DWELL_FLOAT32 },
		                               { sizes + 2, 1, DWELL_ARG_INTS },
		                               { NULL, 0, DWELL_DTYPE_NONE } };
	struct made made;
	size_t count;
	char *text;

	made_init(&made);
	uint32_t shapes = dw_encode_shapes(&made.process, tensors, 3);

	dw_encode_begin(&made.stream, 100, dw_encode_op(&made.process, DWELL_CATEGORY_OPERATOR, "mm", NULL,
	                                                shapes, NULL, 0));
	dw_encode_end(&made.stream, 200);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_symbol *symbols = dw_model_symbols(made.model, &count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(symbols[i].name, "mm") != 0)
			continue;
		text = dw_shapes_text(symbols[i].shapes, DW_SHAPES_AS_TORCH);
		CHECK_STR(text, "[[2, 3], [], []]");
		free(text);
		text = dw_shapes_text(symbols[i].shapes, DW_SHAPES_FOR_PEOPLE);
		CHECK_STR(text, "float32[2,3], (1), -");
		free(text);
	}
	text = dw_shapes_text(NULL, DW_SHAPES_AS_TORCH);
	CHECK_STR(text, "[]");
	free(text);
	made_close(&made);
}

/* Two processes that intern the same name have one symbol; other sites have their own. */
TEST(symbols_are_merged_by_content)
{
	struct dw_encode_process second;
	struct made made;
	size_t count, found = 0;

	made_init(&made);
	dw_encode_process_init(&second, &made.encode, 0)->pid = 0x7ffffffd;
	uint32_t ids[3] = { dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, "work", NULL, 0, "a.c", 1),
		                dw_encode_op(&second, DWELL_CATEGORY_ZONE, "work", NULL, 0, "a.c", 1),
		                dw_encode_op(&second, DWELL_CATEGORY_ZONE, "work", NULL, 0, "a.c", 2) };

	for (uint64_t i = 0; i < 3; i++) {
		dw_encode_begin(&made.stream, 100 * i + 100, ids[i]);
		dw_encode_end(&made.stream, 100 * i + 110);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_symbol *symbols = dw_model_symbols(made.model, &count);

	for (size_t i = 0; i < count; i++)
		found += strcmp(symbols[i].name, "work") == 0;
	CHECK_EQ(found, 2);
	REQUIRE(made_stat(&made, "work"));
	CHECK_EQ(made_stat(&made, "work")->count, 3); /* a row by name */
	CHECK_EQ(dw_model_flat_by(made.model, UINT32_MAX, DW_BY_SYMBOL, &made.error)->count, 2);
	made_close(&made);
}

CHECK_MAIN
