/* dwell top: what keys change, and how long a window a look can pay for. */
#include "cli/cli.h"

static const struct dw_option options[] = {
	{ DW_OPTION_ONCE, "once", .help = "" },
};
#include "verbs.h"

#include "verbs/cmd_top.c"

static const struct dw_column columns[] = {
	{ .name = "name", .label = "name", .type = DW_CELL_TEXT },
	{ .name = "calls", .label = "calls", .type = DW_CELL_INT },
	{ .name = "hidden", .label = "hidden", .type = DW_CELL_INT, .data_only = true },
	{ .name = "total", .label = "total", .type = DW_CELL_INT },
};
static struct top top;

/* A screen with these rows. */
static void begin(const char *const *names)
{
	memset(&top, 0, sizeof top);
	top.every_ms = TOP_EVERY_MS;
	top.request.window_ns = TOP_LAST_NS;
	top.request.view = dw_view_find("operators", NULL);
	top.screen.rows = 20;
	top.look.rows = dw_table_create("operators", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; names[i]; i++) {
		struct dw_cell *row = dw_table_row(top.look.rows, 0);

		row[0] = (struct dw_cell){ .type = DW_CELL_TEXT, .text = names[i] };
	}
}

static void end(void)
{
	dw_table_destroy(top.look.rows);
}

static void type(const char *keys)
{
	for (; *keys; keys++)
		if (top.typing)
			top_type(&top, *keys);
		else
			CHECK(top_take_key(&top, *keys));
}

static const char *const rows[] = { "conv2d", "relu", "conv1d", NULL };

/* A launcher or another rank may still record something, and the window has steps from before. */
TEST(steps_that_stopped_coming_are_said)
{
	static const struct {
		uint64_t since_ns, p95_ns;
		bool says;
	} cases[] = { { 11500000000, 10100000, true }, { 1900000000, 1000000, false }, { 11500000000, 700000000, false } };
	char text[4096];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		FILE *file = fmemopen(text, sizeof text, "w");

		begin(rows);
		top.look = (struct dw_top_look){ .program = "train.py", .live = true, .run_ns = 22000000000, .window_ns = 12000000000,
			.step_count = 62, .window_steps = 6, .steps_per_s = 0.26, .since_step_ns = cases[i].since_ns,
			.p50_ns = cases[i].p95_ns, .p95_ns = cases[i].p95_ns, .rows = top.look.rows };
		top.screen.columns = 80;
		top.screen.view = "operators";
		top.screen.filter = "";
		dw_top_draw(&top.screen, &top.look, file);
		fclose(file);
		CHECK_EQ(strstr(text, "62 steps  none ended for 11.5 s  ") != NULL, cases[i].says);
		CHECK_EQ(strstr(text, "none ended") != NULL, cases[i].says);
		end();
	}
}

/* The known names that have one colour on the page, and names of a program: two parts of a bar never have the same colour. */
TEST(parts_of_a_bar_have_colours_of_their_own)
{
	static const char *const names[DW_TOP_MOST_PARTS] = { "idle", "other", "python", "between steps", "functions", "collector",
		"profiler", "mine", "device", "evaluation", "yours", "optimizer" };
	char text[16384], colors[DW_TOP_MOST_PARTS][16];
	FILE *file = fmemopen(text, sizeof text, "w");
	const char *at = text;

	begin(rows);
	top.look = (struct dw_top_look){ .program = "train.py", .live = true, .step_count = 62, .window_steps = 6, .rows = top.look.rows,
		.part_count = DW_TOP_MOST_PARTS };
	for (size_t i = 0; i < DW_TOP_MOST_PARTS; i++) {
		snprintf(top.look.parts[i].name, sizeof top.look.parts[i].name, "%s", names[i]);
		top.look.parts[i].share = 1.0 / DW_TOP_MOST_PARTS;
	}
	top.screen = (struct dw_top_screen){ .rows = 20, .columns = 120, .view = "operators", .filter = "", .color = true };
	dw_top_draw(&top.screen, &top.look, file);
	fclose(file);
	for (size_t i = 0; i < DW_TOP_MOST_PARTS; i++) {
		const char *bar = at ? strstr(at, "m#") : NULL;
		const char *style = bar;

		while (style && style > text && style[-1] != '[')
			style--;
		snprintf(colors[i], sizeof colors[i], "%.*s", bar ? (int)(bar - style) : 0, bar ? style : "");
		CHECK(*colors[i]);
		for (size_t k = 0; k < i; k++)
			CHECK(strcmp(colors[i], colors[k]) != 0);
		at = bar ? bar + 1 : NULL;
	}
	end();
}

TEST(a_search_goes_on_at_the_first_row_after_the_last)
{
	begin(rows);
	type("/conv");
	CHECK_EQ(top.screen.selected, 0);
	top_type(&top, DW_KEY_ENTER);
	type("n");
	CHECK_EQ(top.screen.selected, 2);
	type("n");
	CHECK_EQ(top.screen.selected, 0);
	type("/xyz");
	CHECK_EQ(top.screen.selected, 0); /* what is not there moves nothing */
	top_type(&top, DW_KEY_ERASE);
	CHECK_STR(top.search, "xy");
	top_type(&top, DW_KEY_ESCAPE);
	CHECK_STR(top.search, "");
	CHECK(!top.typing);
	end();
}

TEST(keys_of_the_screen_are_letters_while_a_text_is_typed)
{
	begin(rows);
	type("\\q+n");
	CHECK_STR(top.filter, "q+n");
	CHECK_EQ(top.request.window_ns, TOP_LAST_NS);
	top_type(&top, DW_KEY_ENTER);
	CHECK(!top_take_key(&top, 'q'));
	end();
}

TEST(the_selection_stays_within_the_rows)
{
	begin(rows);
	top_take_key(&top, DW_KEY_UP);
	CHECK_EQ(top.screen.selected, 0);
	top_take_key(&top, DW_KEY_PAGE_DOWN);
	CHECK_EQ(top.screen.selected, 2);
	top_take_key(&top, DW_KEY_DOWN);
	CHECK_EQ(top.screen.selected, 2);
	top_take_key(&top, DW_KEY_HOME);
	CHECK_EQ(top.screen.selected, 0);
	top_take_key(&top, DW_KEY_END);
	CHECK_EQ(top.screen.selected, 2);
	end();
	begin(rows + 3);
	top_take_key(&top, DW_KEY_DOWN);
	CHECK_EQ(top.screen.selected, 0);
	end();
}

TEST(sorting_takes_the_columns_of_numbers_in_turn)
{
	begin(rows);
	type(">");
	CHECK_STR(top.request.sort, "calls");
	type(">");
	CHECK_STR(top.request.sort, "total"); /* a column that the screen leaves out is no choice */
	type(">");
	CHECK_STR(top.request.sort, "calls");
	type("<");
	CHECK_STR(top.request.sort, "total");
	end();
}

TEST(a_chosen_window_doubles_and_halves_within_limits)
{
	begin(rows);
	type("+");
	CHECK_EQ(top.request.window_ns, 2 * TOP_LAST_NS);
	CHECK(top.fixed);
	for (int i = 0; i < 40; i++)
		type("-");
	CHECK_EQ(top.request.window_ns, TOP_LEAST_LAST_NS);
	for (int i = 0; i < 40; i++)
		type("+");
	CHECK_EQ(top.request.window_ns, TOP_MOST_LAST_NS);
	type("a");
	CHECK_EQ(top.request.window_ns, 0); /* all of the trace */
	type("a");
	CHECK_EQ(top.request.window_ns, TOP_LAST_NS);
	CHECK(!top.fixed);
	end();
}

TEST(the_window_gets_shorter_while_looks_are_too_dear)
{
	uint64_t most_ms = TOP_EVERY_MS * TOP_RARER / TOP_SHARE, before;

	begin(rows);
	before = top.request.window_ns;
	top_fit_window(&top, most_ms + 1);
	CHECK(top.request.window_ns < before);
	for (int i = 0; i < 40; i++)
		top_fit_window(&top, 1000);
	CHECK_EQ(top.request.window_ns, TOP_LEAST_LAST_NS);
	top_fit_window(&top, most_ms);
	CHECK_EQ(top.request.window_ns, TOP_LEAST_LAST_NS);
	for (int i = 0; i < 40; i++)
		top_fit_window(&top, 0);
	CHECK_EQ(top.request.window_ns, TOP_LAST_NS);
	end();
}

TEST(each_view_has_a_key_and_the_tabulator_goes_through_all)
{
	begin(rows);
	for (size_t i = 0; i < TOP_VIEWS; i++) {
		top.screen.selected = 1;
		CHECK(top_take_key(&top, top_views[i].key));
		CHECK_STR(top.request.view->name, top_views[i].view);
		CHECK_EQ(top.screen.selected, 0);
	}
	top_set_view(&top, top_views[0].view);
	for (size_t i = 1; i <= TOP_VIEWS; i++) {
		type("\t");
		CHECK_STR(top.request.view->name, top_views[i % TOP_VIEWS].view);
	}
	end();
}

CHECK_MAIN
