/* Call paths for pictures: of calls as in the tree, and of recorded stacks with operators. */
#include "made.h"

#define OP DWELL_CATEGORY_OPERATOR
#define ZONE DWELL_CATEGORY_ZONE

static struct made made;

static void begin(uint64_t ticks, uint32_t op)
{
	dw_encode_begin(&made.stream, ticks, op);
}

static void end(uint64_t ticks)
{
	dw_encode_end(&made.stream, ticks);
}

static uint32_t frame(const char *function)
{
	uint32_t id = dw_encode_new_id(&made.encode), text = dw_encode_string(&made.process, function);
	struct dw_entry_frame *entry =
		dw_encode_entry(&made.process, DW_ENTRY_FRAME, id, 0, sizeof *entry);

	entry->function = text;
	return id;
}

/* Three frames, innermost first. */
static uint32_t stack(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t id = dw_encode_new_id(&made.encode);
	struct dw_entry_stack *entry =
		dw_encode_entry(&made.process, DW_ENTRY_STACK, id, 3, sizeof *entry + 16);

	entry->frames[0] = a;
	entry->frames[1] = b;
	entry->frames[2] = c;
	return id;
}

static void called_at(uint64_t ticks, uint32_t id)
{
	dw_encode_record(&made.stream, ticks, DW_STACK, id, NULL, 0);
}

/* "main;net;conv 120/20 x2": the path's total, self and count. */
static const char *line(const struct dw_paths *paths, size_t index)
{
	static char text[512];
	const char *names[8] = { "-" };
	size_t used = 0;

	for (size_t i = 0; i <= index; i++)
		if (paths->nodes[i].depth)
			names[paths->nodes[i].depth] = paths->symbols[paths->nodes[i].symbol].name;
	for (uint32_t depth = 1; depth <= paths->nodes[index].depth; depth++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", depth > 1 ? ";" : "",
		                         names[depth]);
	snprintf(text + used, sizeof text - used, " %llu/%llu x%u",
	         (unsigned long long)paths->nodes[index].total_ns,
	         (unsigned long long)paths->nodes[index].self_ns, paths->nodes[index].count);
	return text;
}

TEST(operators_lie_below_their_stacks)
{
	made_init(&made);
	uint32_t conv = made_op(&made, OP, "conv"), inner = made_op(&made, OP, "inner");
	uint32_t zone = made_op(&made, ZONE, "zone");
	uint32_t run = frame("main"), net = frame("net"), one = frame("one"), two = frame("two");
	uint32_t first = stack(one, net, run), second = stack(two, net, run);

	begin(0, zone); /* a zone around operators is no part of their stacks */
	begin(10, conv);
	called_at(10, first);
	begin(20, zone);
	begin(30, inner);
	end(60);
	end(80);
	end(110);
	begin(200, conv);
	called_at(200, second);
	end(240);
	begin(300, conv);
	called_at(300, first);
	end(350);
	begin(400, conv); /* its stack was not recorded */
	end(405);
	end(500);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_paths *paths = dw_model_paths(made.model, DW_PATHS_STACKS, NULL);
	REQUIRE(paths && paths->count == 9);
	CHECK(paths->has_stacks);
	CHECK_EQ(paths->nodes[0].total_ns, 195);
	CHECK_STR(line(paths, 1), "main 190/0 x3");
	CHECK_STR(line(paths, 2), "main;net 190/0 x3");
	CHECK_STR(line(paths, 3), "main;net;one 150/0 x2");
	CHECK_STR(line(paths, 4), "main;net;one;conv 150/120 x2");
	CHECK_STR(line(paths, 5), "main;net;one;conv;inner 30/30 x1");
	CHECK_STR(line(paths, 6), "main;net;two 40/0 x1");
	CHECK_STR(line(paths, 7), "main;net;two;conv 40/40 x1");
	CHECK_STR(line(paths, 8), "conv 5/5 x1");
	made_close(&made);
}

/* Frames that a stack shares with the one before it are not looked for again: those after the first other one are. */
TEST(stacks_in_turn_keep_their_own_frames)
{
	made_init(&made);
	uint32_t conv = made_op(&made, OP, "conv");
	uint32_t run = frame("main"), net = frame("net"), one = frame("one"), two = frame("two");
	const uint32_t stacks[] = { stack(one, net, run), stack(one, two, run), stack(one, net, two) };

	for (uint64_t i = 0; i < 9; i++) {
		begin(i * 10, conv);
		called_at(i * 10, stacks[(i + i / 3) % 3]);
		end(i * 10 + 1 + i % 2);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_paths *paths = dw_model_paths(made.model, DW_PATHS_STACKS, NULL);
	REQUIRE(paths && paths->count == 12);
	CHECK_STR(line(paths, 1), "main 10/0 x6");
	CHECK_STR(line(paths, 2), "main;net 5/0 x3");
	CHECK_STR(line(paths, 3), "main;net;one 5/0 x3");
	CHECK_STR(line(paths, 4), "main;net;one;conv 5/5 x3");
	CHECK_STR(line(paths, 5), "main;two 5/0 x3");
	CHECK_STR(line(paths, 7), "main;two;one;conv 5/5 x3");
	CHECK_STR(line(paths, 8), "two 3/0 x3");
	CHECK_STR(line(paths, 11), "two;net;one;conv 3/3 x3");
	made_close(&made);
}

/* A script's operators have stacks of their own: the script's frames lie between the two. */
TEST(an_operator_with_a_stack_stays_below_one_that_has_one)
{
	made_init(&made);
	uint32_t script = made_op(&made, OP, "script"), conv = made_op(&made, OP, "conv");
	uint32_t run = frame("main"), net = frame("net"), line_1 = frame("line 1"), line_2 = frame("line 2");
	uint32_t from = stack(net, net, run), first = stack(line_1, net, run), second = stack(line_2, net, run);

	begin(0, script);
	called_at(0, stack(net, net, run));
	begin(10, conv);
	called_at(10, first);
	end(30);
	begin(40, conv);
	called_at(40, second);
	begin(45, conv); /* has its caller's */
	end(50);
	end(70);
	end(100);
	begin(200, conv);
	called_at(200, from); /* no script's */
	end(210);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_paths *paths = dw_model_paths(made.model, DW_PATHS_STACKS, NULL);
	REQUIRE(paths && paths->count == 11);
	CHECK_EQ(paths->nodes[0].total_ns, 110);
	CHECK_STR(line(paths, 3), "main;net;net 110/0 x2");
	CHECK_STR(line(paths, 4), "main;net;net;script 100/50 x1");
	CHECK_STR(line(paths, 5), "main;net;net;script;line 2 30/0 x1");
	CHECK_STR(line(paths, 6), "main;net;net;script;line 2;conv 30/25 x1");
	CHECK_STR(line(paths, 7), "main;net;net;script;line 2;conv;conv 5/5 x1");
	CHECK_STR(line(paths, 8), "main;net;net;script;line 1 20/0 x1");
	CHECK_STR(line(paths, 9), "main;net;net;script;line 1;conv 20/20 x1");
	CHECK_STR(line(paths, 10), "main;net;net;conv 10/10 x1");
	made_close(&made);
}

/* An operator that ends after a range that began in it: what they share is the inner's. */
TEST(ends_out_of_order_share_nothing_twice)
{
	made_init(&made);
	uint32_t a = made_op(&made, OP, "a"), b = made_op(&made, OP, "b");
	uint32_t zone = made_op(&made, ZONE, "zone");

	begin(0, a);
	begin(10, zone);
	begin(20, b);
	dw_encode_record(&made.stream, 50, DW_END_OF, 0, (uint32_t[]){ 2 }, 1); /* a */
	end(70);
	end(90);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_paths *paths = dw_model_paths(made.model, DW_PATHS_STACKS, NULL);
	REQUIRE(paths && paths->count == 3);
	CHECK(!paths->has_stacks);
	CHECK_STR(line(paths, 1), "a 50/20 x1");
	CHECK_STR(line(paths, 2), "a;b 50/50 x1");
	made_close(&made);
}

TEST(calls_are_those_of_the_tree)
{
	made_init(&made);
	uint32_t a = made_op(&made, OP, "a"), z = made_op(&made, ZONE, "z");
	const struct dw_tree *tree;
	const struct dw_paths *paths;

	for (uint64_t i = 0; i < 10; i++) {
		begin(i * 100, i % 2 ? a : z);
		begin(i * 100 + 10, a);
		end(i * 100 + 40);
		end(i * 100 + 60 + i);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	tree = dw_model_tree(made.model, NULL);
	paths = dw_model_paths(made.model, DW_PATHS_CALLS, NULL);
	REQUIRE(tree && paths && tree->count == paths->count);
	for (size_t i = 0; i < tree->count; i++) {
		CHECK_EQ(tree->nodes[i].stat.total_ns, paths->nodes[i].total_ns);
		CHECK_EQ(tree->nodes[i].stat.self_ns, paths->nodes[i].self_ns);
		CHECK_EQ(tree->nodes[i].stat.count, paths->nodes[i].count);
		CHECK_EQ(tree->nodes[i].depth, paths->nodes[i].depth);
	}
	made_close(&made);
}

CHECK_MAIN
