/* Scopes: which ranges count; models of other scopes of the same run; products made once. */
#include "made.h"

#include "model/core/intervals.h"
#include "model/core/product.h"
#include "model/core/scope.h"

static struct made made;

#define OP DWELL_CATEGORY_OPERATOR

static void range_in(struct dw_encode_stream *stream, uint64_t from, uint64_t to, uint32_t op)
{
	dw_encode_begin(stream, from, op);
	dw_encode_end(stream, to);
}

static void range(uint64_t from, uint64_t to, uint32_t op)
{
	range_in(&made.stream, from, to, op);
}

/* Total time of a name; 0: it has no calls. */
static uint64_t total(struct dw_model *model, const char *name)
{
	const struct dw_flat *flat = dw_model_flat(model, UINT32_MAX, &made.error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);

	for (size_t i = 0; flat && i < flat->count; i++)
		if (strcmp(symbols[flat->rows[i].symbol].name, name) == 0)
			return flat->rows[i].stat.total_ns;
	return 0;
}

/* Steps 0..3 of 100, each with an operator of 10 + its number; one of 7 before them. */
static void make_steps(void)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "mm"), zone = made_op(&made, DWELL_CATEGORY_ZONE, "epoch");

	range(50, 57, op);
	for (uint64_t i = 0; i < 4; i++) {
		if (i == 2)
			dw_encode_begin(&made.stream, 295, zone);
		range(110 + 100 * i, 120 + 101 * i, op);
		dw_encode_step(&made.process, made.thread, i, 100 + 100 * i, 200 + 100 * i, 0,
		               DW_STEP_RECORDED);
	}
	dw_encode_end(&made.stream, 450);
}

/* Steps 100..150, 200..250 and 300..350, and operators in, between and after them. */
TEST(a_scope_of_steps_that_is_extended_to_the_end)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = UINT64_MAX };

	made_init(&made);
	uint32_t op = made_op(&made, OP, "mm");

	for (uint64_t i = 0; i < 3; i++) {
		range(110 + 100 * i, 111 + 100 * i, op);
		dw_encode_step(&made.process, made.thread, i, 100 + 100 * i, 150 + 100 * i, 0, DW_STEP_RECORDED);
		range(160 + 100 * i, 170 + 110 * i, op);
	}
	REQUIRE(made_open(&made, &scope) == 0);
	dw_model_extend_scope(made.model);
	CHECK_EQ(total(made.model, "mm"), 2 * 1 + 10 + 20 + 30);
	made_close(&made);
}

TEST(a_scope_of_steps)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 2 };

	make_steps();
	REQUIRE(made_open(&made, &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 11 + 12);
	CHECK_EQ(total(made.model, "epoch"), 155); /* it begins in step 1 */
	CHECK(dw_model_is_partial(made.model));
	CHECK(!dw_model_has_step(made.model, &made.source->steps[0]));
	CHECK(dw_model_has_step(made.model, &made.source->steps[2]));
	CHECK_EQ(dw_scope_wall_ns(made.model), 200);
	made_close(&made);
}

TEST(no_such_steps_says_which_there_are)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 7, .steps_to = 9 };

	make_steps();
	CHECK_EQ(made_open(&made, &scope), DWELL_E_NO_DATA);
	CHECK_HAS(made.error.message, "has steps 0..3, none of 7..9");
	made_close(&made);
}

TEST(a_window_of_time)
{
	struct dw_scope scope = { .has_window = true, .from_ns = 200, .to_ns = 310 };

	make_steps();
	REQUIRE(made_open(&made, &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 11); /* what begins in 200..310, half-open */
	CHECK(dw_model_has_step(made.model, &made.source->steps[1]));
	CHECK(!dw_model_has_step(made.model, &made.source->steps[0]));
	CHECK_EQ(dw_scope_wall_ns(made.model), 110);
	made_close(&made);
}

TEST(an_action_and_what_lies_in_it)
{
	struct dw_scope scope = { .action = "epoch" };

	make_steps();
	REQUIRE(made_open(&made, &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 12 + 13);
	made_close_model(&made);
	scope.action = "epoc";
	CHECK_EQ(made_open_bytes(&made, dw_encode_bytes(&made.encode), &scope), DWELL_E_NAME);
	CHECK_HAS(made.error.message, "did you mean 'epoch'?");
	made_close(&made);
}

/* Two threads step; a scope of steps takes each one's own. */
TEST(threads_go_by_their_own_steps)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };
	struct dw_encode_stream other;

	made_init(&made);
	uint32_t op = made_op(&made, OP, "mm"), second = dw_encode_thread(&made.process, 101, 1, 0, "second");

	dw_encode_stream_init(&other, &made.process, 1, second);
	for (uint64_t i = 0; i < 2; i++) {
		dw_encode_step(&made.process, made.thread, i, 100 + 100 * i, 200 + 100 * i, 0, DW_STEP_RECORDED);
		dw_encode_step(&made.process, second, i, 1000 + 100 * i, 1100 + 100 * i, 0, DW_STEP_RECORDED);
		range(110 + 100 * i, 115 + 100 * i, op);
		range_in(&other, 1010 + 100 * i, 1017 + 100 * i, op);
	}
	range(1150, 1190, op); /* in the other thread's step */
	dw_encode_close(&other);
	REQUIRE(made_open(&made, &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 5 + 7);
	made_close_model(&made);
	scope = (struct dw_scope){ .thread = "second" };
	REQUIRE(made_open_bytes(&made, dw_encode_bytes(&made.encode), &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 14);
	CHECK(!dw_model_is_partial(made.model));
	made_close_model(&made);
	scope.thread = "101";
	REQUIRE(made_open_bytes(&made, dw_encode_bytes(&made.encode), &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 14);
	made_close(&made);
}

/* Only threads that step count, in or outside of their steps. */
TEST(a_scope_of_the_threads_that_step)
{
	struct dw_scope scope = { .step_threads = true };
	struct dw_encode_stream other;

	made_init(&made);
	uint32_t op = made_op(&made, OP, "mm"), second = dw_encode_thread(&made.process, 101, 1, 0, "pool");

	dw_encode_stream_init(&other, &made.process, 1, second);
	dw_encode_step(&made.process, made.thread, 0, 100, 200, 0, DW_STEP_RECORDED);
	range(50, 55, op);
	range(110, 116, op);
	range_in(&other, 110, 150, op);
	dw_encode_close(&other);
	REQUIRE(made_open(&made, &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 11);
	made_close(&made);
}

/* A profile of the thread's own hides another thread's; a thread without one counts for both. */
TEST(a_profile_counts_its_thread_and_those_without_one)
{
	struct dw_scope scope = { .profile = "first" };
	struct dw_encode_stream stream, pool_stream;

	made_init(&made);
	uint32_t op = made_op(&made, OP, "mm");
	uint32_t second = dw_encode_thread(&made.process, 101, 1, 0, "second");
	uint32_t pool = dw_encode_thread(&made.process, 102, 2, 0, "pool");

	dw_encode_stream_init(&stream, &made.process, 1, second);
	dw_encode_stream_init(&pool_stream, &made.process, 2, pool);
	dw_encode_profile(&made.process, made.thread, "first", 0, 100, 200);
	dw_encode_profile(&made.process, second, "second", 0, 150, 300);
	range(110, 111, op);
	range(210, 290, op);
	range_in(&stream, 120, 122, op); /* before its own profile */
	range_in(&stream, 160, 190, op);
	range_in(&pool_stream, 170, 174, op);
	range_in(&pool_stream, 250, 290, op);
	dw_encode_close(&stream);
	dw_encode_close(&pool_stream);
	REQUIRE(made_open(&made, &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 1 + 2 + 4);
	made_close_model(&made);
	scope.profile = "frist";
	CHECK_EQ(made_open_bytes(&made, dw_encode_bytes(&made.encode), &scope), DWELL_E_NAME);
	CHECK_HAS(made.error.message, "did you mean 'first'?");
	made_close(&made);
}

/* A profile keeps each of its cycles as a range of its own: a list of ids is several of them. */
TEST(a_scope_of_several_profiles)
{
	struct dw_scope scope = { 0 };
	uint32_t ids[3];
	char list[64];

	made_init(&made);
	uint32_t op = made_op(&made, OP, "mm");

	for (uint64_t i = 0; i < 3; i++) {
		ids[i] = dw_encode_profile(&made.process, made.thread, "cycle", i, 100 + 100 * i, 190 + 100 * i);
		range(110 + 100 * i, 110 + 100 * i + (1u << i), op);
	}
	scope.profile = list;
	snprintf(list, sizeof list, "%u,%u", ids[2], ids[0]);
	REQUIRE(made_open(&made, &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 4 + 1);
	made_close_model(&made);
	snprintf(list, sizeof list, "%u", ids[1]);
	REQUIRE(made_open_bytes(&made, dw_encode_bytes(&made.encode), &scope) == 0);
	CHECK_EQ(total(made.model, "mm"), 2);
	made_close_model(&made);
	snprintf(list, sizeof list, "%u,", ids[1]);
	CHECK_EQ(made_open_bytes(&made, dw_encode_bytes(&made.encode), &scope), DWELL_E_NAME);
	made_close(&made);
}

/* ---- models of other scopes ------------------------------------------------------------ */

TEST(equal_scopes_are_one_model)
{
	struct dw_scope steps = { .has_steps = true, .steps_from = 1, .steps_to = 1 }, everything = { 0 };
	struct dw_model *part, *again, *whole, *within;
	char action[] = "epoch";

	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_model_within(made.model, &steps, &part, &made.error) == 0);
	CHECK(part != made.model);
	CHECK(dw_model_within(made.model, &steps, &again, &made.error) == 0 && again == part);
	CHECK(dw_model_within(part, &everything, &whole, &made.error) == 0 && whole == made.model);
	CHECK_EQ(total(part, "mm"), 11);
	CHECK_EQ(total(made.model, "mm"), 7 + 10 + 11 + 12 + 13);
	CHECK(dw_model_symbols(part, NULL) == dw_model_symbols(made.model, NULL));
	CHECK(dw_model_source(part) == made.source);
	CHECK_EQ(dw_model_scope(part)->steps_from, 1);

	/* texts are the model's own; a part of a part belongs to the whole as well */
	steps = (struct dw_scope){ .action = action };
	REQUIRE(dw_model_within(part, &steps, &within, &made.error) == 0);
	action[0] = 'x';
	steps.action = "epoch";
	CHECK(dw_model_within(made.model, &steps, &again, &made.error) == 0 && again == within);
	made_close(&made);
}

TEST(a_scope_that_names_nothing_is_an_error_and_no_model)
{
	struct dw_scope scope = { .action = "nothing" };
	struct dw_model *part = made.model;

	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(dw_model_within(made.model, &scope, &part, &made.error), DWELL_E_NAME);
	CHECK(!part);
	CHECK_EQ(dw_model_within(made.model, &scope, &part, NULL), DWELL_E_NAME);
	CHECK_EQ(total(made.model, "epoch"), 155);
	made_close(&made);
}

TEST(what_is_forgotten_is_made_anew)
{
	struct dw_scope scopes[3] = { { .has_steps = true, .steps_to = 0 },
		                          { .has_steps = true, .steps_from = 1, .steps_to = 1 },
		                          { .has_steps = true, .steps_from = 2, .steps_to = 2 } };
	struct dw_model *parts[3], *again;

	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	for (int i = 0; i < 3; i++)
		REQUIRE(dw_model_within(made.model, &scopes[i], &parts[i], &made.error) == 0);
	CHECK_EQ(total(parts[1], "mm"), 11);
	dw_model_forget(parts[1]);
	dw_model_forget(made.model); /* is left as it is */
	dw_model_forget(NULL);
	for (int i = 0; i < 3; i++) {
		REQUIRE(dw_model_within(made.model, &scopes[i], &again, &made.error) == 0);
		CHECK(i == 1 || again == parts[i]);
		CHECK_EQ(total(again, "mm"), 10 + i);
	}
	made_close(&made);
}

TEST(a_model_beside_uses_what_the_first_one_knows)
{
	struct dw_scope steps = { .has_steps = true, .steps_from = 1, .steps_to = 1 };
	struct dw_scope others = { .has_steps = true, .steps_from = 2, .steps_to = 2 };
	struct dw_model *part, *beside, *again, *other;
	const struct dw_flat *flat, *of_part;

	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_model_within(made.model, &steps, &part, &made.error) == 0);
	flat = dw_model_flat(made.model, UINT32_MAX, &made.error);
	of_part = dw_model_flat(part, UINT32_MAX, &made.error);
	beside = dw_model_beside(made.model, &made.error);
	REQUIRE(beside && beside != made.model);
	CHECK(dw_model_flat(beside, UINT32_MAX, &made.error) == flat);
	REQUIRE(dw_model_within(beside, &steps, &again, &made.error) == 0 && again != part);
	CHECK(dw_model_flat(again, UINT32_MAX, &made.error) == of_part);

	/* what either computes from then on is its own */
	CHECK(dw_model_tree(beside, &made.error) != dw_model_tree(made.model, &made.error));
	REQUIRE(dw_model_within(beside, &others, &other, &made.error) == 0);
	CHECK_EQ(total(other, "mm"), 12);
	dw_model_destroy(beside);
	CHECK(dw_model_flat(made.model, UINT32_MAX, &made.error) == flat);
	CHECK_EQ(total(part, "mm"), 11);
	made_close(&made);
}

/* ---- products --------------------------------------------------------------------------- */

static int computed, freed;
static bool fails;

struct answer {
	int value;
	void *memory;
};

static bool answer_compute(struct dw_model *model, const void *request, void *result)
{
	struct answer *answer = result;

	CHECK(!answer->value && !answer->memory); /* zeroed */
	answer->memory = malloc(8);
	answer->value = *(const int *)request;
	computed++;
	return !fails;
}

static void answer_free(void *result)
{
	free(((struct answer *)result)->memory);
	freed++;
}

TEST(a_product_is_computed_once_for_each_key_and_scope)
{
	static const struct dw_product product = { .bytes = sizeof(struct answer), .compute = answer_compute, .free = answer_free };
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };
	const struct answer *first, *again;
	struct dw_model *part;
	int six = 6, seven = 7;

	computed = freed = 0;
	fails = false;
	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_model_within(made.model, &scope, &part, &made.error) == 0);
	first = dw_product_get(made.model, &product, 6, &six, &made.error);
	again = dw_product_get(made.model, &product, 6, &six, &made.error);
	REQUIRE(first && first == again);
	CHECK_EQ(first->value, 6);
	again = dw_product_get(made.model, &product, 7, &seven, &made.error);
	CHECK(again && again != first && again->value == 7);
	again = dw_product_get(part, &product, 6, &six, &made.error);
	CHECK(again && again != first);
	CHECK_EQ(computed, 3);
	dw_model_forget(part);
	CHECK_EQ(freed, 1);
	made_close(&made);
	CHECK_EQ(freed, 3);
}

TEST(a_product_that_failed_is_not_kept)
{
	static const struct dw_product product = { .bytes = sizeof(struct answer), .compute = answer_compute, .free = answer_free };
	int six = 6;

	computed = freed = 0;
	fails = true;
	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK(!dw_product_get(made.model, &product, 6, &six, &made.error));
	CHECK_EQ(made.error.code, DWELL_E_NOMEM);
	CHECK_EQ(freed, 1);
	fails = false;
	CHECK(dw_product_get(made.model, &product, 6, &six, &made.error) != NULL);
	CHECK_EQ(computed, 2);
	made_close(&made);
}

TEST(what_the_caller_asks_for_is_part_of_the_key)
{
	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_flat *all = dw_model_flat(made.model, UINT32_MAX, &made.error);
	const struct dw_flat *operators = dw_model_flat(made.model, 1u << OP, &made.error);

	REQUIRE(all && operators);
	CHECK_EQ(all->count, 2);
	CHECK_EQ(operators->count, 1);
	CHECK(dw_model_flat(made.model, 1u << OP, &made.error) == operators);
	CHECK(dw_model_flat_by(made.model, 1u << OP, DW_BY_SYMBOL, &made.error) != operators);
	CHECK(dw_model_steps(made.model, &made.error) == dw_model_steps(made.model, &made.error));
	made_close(&made);
}

/* ---- lists of times ---------------------------------------------------------------------- */

TEST(lists_of_times)
{
	struct dw_interval a[4] = { { 50, 60 }, { 10, 20 }, { 15, 30 }, { 30, 40 } };
	struct dw_interval b[2] = { { 12, 14 }, { 35, 55 } }, to[8];

	REQUIRE(dw_intervals_unite(a, 4) == 2);
	CHECK(a[0].start_ticks == 10 && a[0].end_ticks == 40);
	CHECK(a[1].start_ticks == 50 && a[1].end_ticks == 60);
	REQUIRE(dw_intervals_subtract(a, 2, b, 2, to) == 3);
	CHECK(to[0].start_ticks == 10 && to[0].end_ticks == 12);
	CHECK(to[1].start_ticks == 14 && to[1].end_ticks == 35);
	CHECK(to[2].start_ticks == 55 && to[2].end_ticks == 60);
	REQUIRE(dw_intervals_intersect(a, 2, b, 2, to) == 3);
	CHECK(to[0].start_ticks == 12 && to[0].end_ticks == 14);
	CHECK(to[1].start_ticks == 35 && to[1].end_ticks == 40);
	CHECK(to[2].start_ticks == 50 && to[2].end_ticks == 55);
	CHECK_EQ(dw_intervals_unite(a, 0), 0);
	CHECK_EQ(dw_intervals_subtract(a, 2, b, 0, to), 2);
}

CHECK_MAIN
