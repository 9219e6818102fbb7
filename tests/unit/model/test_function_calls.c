/* Function calls: primitive calls, edges from caller to function, sums. */
#include "made.h"

#include "model/time/function_calls.h"

#define FUNCTION DWELL_CATEGORY_FUNCTION

static struct made made;

static void begin(uint64_t ticks, uint32_t op)
{
	dw_encode_begin(&made.stream, ticks, op);
}

static void end(uint64_t ticks)
{
	dw_encode_end(&made.stream, ticks);
}

static const char *name_of(uint32_t symbol)
{
	return dw_model_symbols(made.model, NULL)[symbol].name;
}

static const struct dw_function_row *find(const struct dw_function_row *rows, size_t count,
                                          const char *name, const char *caller)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name_of(rows[i].symbol), name) == 0 &&
		    (!caller || strcmp(name_of(rows[i].caller), caller) == 0))
			return &rows[i];
	return NULL;
}

/* main 100..200 calls fib 110..150, which calls itself 120..140, and print 160..170. */
TEST(calls_within_themselves_are_not_primitive)
{
	made_init(&made);
	uint32_t main = made_op(&made, FUNCTION, "main"), fib = made_op(&made, FUNCTION, "fib");
	uint32_t print = made_op(&made, FUNCTION, "print");

	begin(100, main);
	begin(110, fib);
	begin(120, fib);
	end(140);
	end(150);
	begin(160, print);
	end(170);
	end(200);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_function_calls *calls = dw_model_function_calls(made.model, &made.error);

	REQUIRE(calls && calls->count == 3);
	CHECK_EQ(calls->calls, 4);
	CHECK_EQ(calls->primitive, 3);
	CHECK_EQ(calls->self_ns, 100);
	CHECK_EQ(calls->open, 0);
	CHECK_STR(name_of(calls->rows[0].symbol), "main"); /* by total */
	const struct dw_function_row *row = find(calls->rows, calls->count, "fib", NULL);

	REQUIRE(row != NULL);
	CHECK_EQ(row->calls, 2);
	CHECK_EQ(row->primitive, 1);
	CHECK_EQ(row->total_ns, 40);
	CHECK_EQ(row->self_ns, 40);
	CHECK_EQ(find(calls->rows, calls->count, "main", NULL)->self_ns, 50);

	CHECK_EQ(calls->edge_count, 3);
	row = find(calls->edges, calls->edge_count, "fib", "main");
	REQUIRE(row != NULL);
	CHECK_EQ(row->calls, 1);
	CHECK_EQ(row->total_ns, 40);
	CHECK_EQ(row->self_ns, 20);
	row = find(calls->edges, calls->edge_count, "fib", "fib");
	REQUIRE(row != NULL);
	CHECK_EQ(row->calls, 1);
	CHECK_EQ(row->self_ns, 20);
	made_close(&made);
}

/* Operators and zones between two functions are no callers. */
TEST(only_functions_are_callers)
{
	made_init(&made);
	uint32_t outer = made_op(&made, FUNCTION, "outer"), inner = made_op(&made, FUNCTION, "inner");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "mm");

	begin(100, outer);
	begin(110, op);
	begin(120, inner);
	end(130);
	end(140);
	end(150);
	begin(200, inner); /* never ends: until the process's end, where nothing is known of it */
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_function_calls *calls = dw_model_function_calls(made.model, &made.error);

	REQUIRE(calls && find(calls->edges, calls->edge_count, "inner", "outer"));
	CHECK_EQ(calls->count, 2);
	CHECK_EQ(find(calls->rows, calls->count, "outer", NULL)->self_ns, 40);
	CHECK_EQ(find(calls->rows, calls->count, "inner", NULL)->calls, 2);
	CHECK_EQ(calls->open, 1);
	made_close(&made);
}

CHECK_MAIN
