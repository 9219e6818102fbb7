/* dwell top: shows what a running program does, in a terminal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "cli/cli.h"
#include "say/screen.h"
#include "top/top.h"

#define TOP_EVERY_MS 1000u
#define TOP_LEAST_EVERY_MS 100u
#define TOP_LAST_NS 10000000000u
#define TOP_LEAST_LAST_NS 500000000u
#define TOP_MOST_LAST_NS 3600000000000u
#define TOP_SHARE 125u     /* a look may take at most one part of so many of a core's time; the screen takes some too */
#define TOP_RARER 2u       /* looks may become so much rarer before the window becomes shorter */

enum top_typing { TOP_NOTHING, TOP_SEARCH, TOP_FILTER };

struct top {
	struct dw_top_request request;
	struct dw_top_screen screen;
	struct dw_top_look look;
	bool has_look, once;
	bool fixed;                /* the user has chosen the window */
	uint64_t every_ms, next_ms; /* of CLOCK_MONOTONIC: when to look again */
	uint64_t inode;
	bool has_view;             /* the user chose one */
	enum top_typing typing;
	char path[4096], filter[64], search[64], thread[128], sort[64], prompt[128], state[640];
};

static const struct { char key; const char *view; } top_views[] = {
	{ 'o', "operators" }, { 'l', "layers" }, { 'f', "functions" }, { 'p', "phases" }, { 's', "steps" },
	{ 't', "threads" }, { 'm', "memory" }, { 'g', "gc" }, { 'k', "kernels" },
	{ 'c', "hot" }, { 'w', "waits" },
};
#define TOP_VIEWS (sizeof top_views / sizeof *top_views)

/* ---- looking ------------------------------------------------------------------------------------------ */

static uint64_t top_clock_ms(clockid_t clock)
{
	return dw_clock_ns(clock) / 1000000;
}

/* Whether the path names another file than at the look before. */
static bool top_is_replaced(struct top *top)
{
	struct stat status;
	uint64_t inode = stat(top->path, &status) == 0 ? (uint64_t)status.st_ino : 0;
	bool replaced = top->inode && inode && inode != top->inode;

	top->inode = inode;
	return replaced;
}

/* Makes the window shorter if its records take too long to read, and longer again. */
static void top_fit_window(struct top *top, uint64_t cost_ms)
{
	uint64_t most_ms = top->every_ms * TOP_RARER / TOP_SHARE, ns = top->request.window_ns;

	if (cost_ms > most_ms)
		ns = most_ms ? ns / (cost_ms / most_ms + 1) : ns / 2;
	else if (cost_ms * 4 < most_ms)
		ns *= 2;
	ns = ns < TOP_LEAST_LAST_NS ? TOP_LEAST_LAST_NS : ns;
	top->request.window_ns = ns > TOP_LAST_NS ? TOP_LAST_NS : ns;
}

/* Looks again. If that fails, the look before stays, with the reason. */
static int top_look(struct top *top, struct dwell_error *error)
{
	uint64_t begin_ms = top_clock_ms(CLOCK_PROCESS_CPUTIME_ID), cost_ms;
	bool replaced = top_is_replaced(top);
	struct dw_top_look look;
	int code;

	code = dw_top_look(&top->request, top->has_look && !replaced ? &top->look : NULL, &look, error);
	if (!code) {
		if (top->has_look)
			dw_top_look_reset(&top->look);
		top->look = look;
		top->has_look = true;
		top->screen.state = NULL;
	} else {
		snprintf(top->state, sizeof top->state, "%s", top->inode ? error->message : "the trace was deleted");
		top->screen.state = top->state;
	}
	cost_ms = top_clock_ms(CLOCK_PROCESS_CPUTIME_ID) - begin_ms;
	if (!code && !top->fixed)
		top_fit_window(top, cost_ms);
	if (cost_ms * TOP_SHARE < top->every_ms)
		cost_ms = top->every_ms / TOP_SHARE;
	top->next_ms = top_clock_ms(CLOCK_MONOTONIC) + cost_ms * TOP_SHARE;
	return code;
}

static void top_draw(struct top *top)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return;
	dw_screen_size(&top->screen.columns, &top->screen.rows);
	dw_top_draw(&top->screen, &top->look, file);
	fclose(file);
	if (text)
		dw_screen_show(text);
	free(text);
}

/* ---- what keys do --------------------------------------------------------------------------------------- */

/* The text of the first column that has one. */
static const char *top_row_text(const struct top *top, size_t row)
{
	const struct dw_cell *cells = dw_table_at(top->look.rows, row);

	for (size_t i = 0; i < top->look.rows->column_count; i++)
		if (cells[i].type == DW_CELL_TEXT)
			return cells[i].text;
	return "";
}

static size_t top_rows(const struct top *top)
{
	return top->look.rows ? top->look.rows->row_count : 0;
}

/* Selects the next row that contains the text, from `from` on and then from the first row. */
static void top_find(struct top *top, size_t from)
{
	size_t rows = top_rows(top);

	for (size_t i = 0; i < rows && *top->search; i++)
		if (strcasestr(top_row_text(top, (from + i) % rows), top->search)) {
			top->screen.selected = (from + i) % rows;
			return;
		}
}

static void top_set_view(struct top *top, const char *name)
{
	top->request.view = dw_view_find(name, NULL);
	top->request.sort = NULL;
	top->screen.first = top->screen.selected = 0;
	top->next_ms = 0;
}

static void top_next_view(struct top *top)
{
	size_t at = 0;

	while (at < TOP_VIEWS && strcmp(top_views[at].view, top->request.view->name) != 0)
		at++;
	top_set_view(top, top_views[(at + 1) % TOP_VIEWS].view);
}

/* Sorts by the column of numbers `by` places after the one before. */
static void top_next_column(struct top *top, int by)
{
	const struct dwell_table *table = top->look.rows;
	size_t count = table ? table->column_count : 0;
	int at = top->request.sort && table ? dw_table_column(table, top->request.sort) : -1;

	for (size_t i = 0; i < count; i++) {
		at = (at + by + (int)count) % (int)count;
		if (table->columns[at].type == DW_CELL_TEXT || table->columns[at].data_only)
			continue;
		snprintf(top->sort, sizeof top->sort, "%s", table->columns[at].name);
		top->request.sort = top->sort;
		top->screen.selected = 0;
		top->next_ms = 0;
		return;
	}
}

static void top_set_window(struct top *top, bool longer)
{
	uint64_t ns = top->request.window_ns ? top->request.window_ns : top->look.window_ns;

	top->fixed = true;
	ns = longer ? ns * 2 : ns / 2;
	if (ns < TOP_LEAST_LAST_NS)
		ns = TOP_LEAST_LAST_NS;
	top->request.window_ns = ns > TOP_MOST_LAST_NS ? TOP_MOST_LAST_NS : ns;
	top->next_ms = 0;
}

/* Shows only the selected thread: its number follows its name where other threads have the name. */
static void top_choose_thread(struct top *top)
{
	const struct dwell_table *table = top->look.rows;
	int tid = table ? dw_table_column(table, "tid") : -1;

	if (tid < 0 || top->screen.selected >= table->row_count)
		return;
	snprintf(top->thread, sizeof top->thread, "%" PRId64, dw_table_at(table, top->screen.selected)[tid].integer);
	top->request.thread = top->thread;
	top_set_view(top, "operators");
}

static void top_clear(struct top *top)
{
	top->request.thread = NULL;
	*top->filter = '\0';
	top->screen.help = false;
	top->next_ms = 0;
}

static void top_move(struct top *top, int key)
{
	size_t rows = top_rows(top), page = dw_top_visible(&top->screen), at = top->screen.selected;

	switch (key) {
	case DW_KEY_UP: at -= at > 0; break;
	case DW_KEY_DOWN: at++; break;
	case DW_KEY_PAGE_UP: at = at > page ? at - page : 0; break;
	case DW_KEY_PAGE_DOWN: at += page; break;
	case DW_KEY_HOME: at = 0; break;
	default: at = rows; break;
	}
	top->screen.selected = at < rows ? at : rows ? rows - 1 : 0;
}

/* A key while the user types a text. */
static void top_type(struct top *top, int key)
{
	char *text = top->typing == TOP_SEARCH ? top->search : top->filter;
	size_t length = strlen(text);

	if (key == DW_KEY_ENTER || key == DW_KEY_ESCAPE) {
		if (key == DW_KEY_ESCAPE)
			*text = '\0';
		top->typing = TOP_NOTHING;
	} else if (key == DW_KEY_ERASE) {
		if (length)
			text[length - 1] = '\0';
	} else if (key >= ' ' && key < 256 && length + 1 < sizeof top->search) {
		text[length] = (char)key;
		text[length + 1] = '\0';
	}
	if (top->typing == TOP_SEARCH)
		top_find(top, top->screen.selected);
	else
		top->next_ms = 0;
	snprintf(top->prompt, sizeof top->prompt, "%s: %s", top->typing == TOP_SEARCH ? "Search" : "Filter", text);
	top->screen.prompt = top->typing ? top->prompt : NULL;
}

static void top_begin_typing(struct top *top, enum top_typing what)
{
	char *text = what == TOP_SEARCH ? top->search : top->filter;

	*text = '\0';
	top->typing = what;
	snprintf(top->prompt, sizeof top->prompt, "%s: ", what == TOP_SEARCH ? "Search" : "Filter");
	top->screen.prompt = top->prompt;
}

/* Returns false if the key ends the program. */
static bool top_take_key(struct top *top, int key)
{
	switch (key) {
	case 'q': case DW_KEY_F0 + 10: return false;
	case 'h': case '?': case DW_KEY_F0 + 1: top->screen.help = !top->screen.help; break;
	case ' ': top->screen.paused = !top->screen.paused; break;
	case '/': case DW_KEY_F0 + 3: top_begin_typing(top, TOP_SEARCH); break;
	case '\\': case DW_KEY_F0 + 4: top_begin_typing(top, TOP_FILTER); break;
	case 'n': top_find(top, top->screen.selected + 1); break;
	case '>': case DW_KEY_F0 + 6: top_next_column(top, 1); break;
	case '<': top_next_column(top, -1); break;
	case '+': case '-': top_set_window(top, key == '+'); break;
	case 'a':
		top->fixed = top->request.window_ns != 0;
		top->request.window_ns = top->fixed ? 0 : TOP_LAST_NS;
		top->next_ms = 0;
		break;
	case '\t': top_next_view(top); break;
	case DW_KEY_ENTER: top_choose_thread(top); break;
	case DW_KEY_ESCAPE: top_clear(top); break;
	case DW_KEY_UP: case DW_KEY_DOWN: case DW_KEY_PAGE_UP: case DW_KEY_PAGE_DOWN: case DW_KEY_HOME:
	case DW_KEY_END: top_move(top, key); break;
	default:
		for (size_t i = 0; i < TOP_VIEWS; i++)
			if (key == top_views[i].key)
				top_set_view(top, top_views[i].view);
		break;
	}
	return true;
}

/* ---- the command ------------------------------------------------------------------------------------------ */

static int top_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct top *top = context;
	struct dwell_error error = { 0, "" };
	uint64_t ms = 0;

	switch (option->id) {
	case DW_OPTION_ONCE: top->once = true; return 0;
	case DW_OPTION_THREAD: top->request.thread = value; return 0;
	case DW_OPTION_EVERY:
		if (!dw_parse_time("every", value, 1, &ms))
			return -1;
		top->every_ms = ms > TOP_LEAST_EVERY_MS ? ms : TOP_LEAST_EVERY_MS;
		return 0;
	case DW_OPTION_LAST:
		top->fixed = true;
		if (strcmp(value, "all") == 0) {
			top->request.window_ns = 0;
			return 0;
		}
		if (!dw_parse_time("last", value, 1, &ms))
			return -1;
		top->request.window_ns = ms * 1000000;
		return 0;
	case DW_OPTION_VIEW:
		top->request.view = dw_view_find(value, &error);
		if (!top->request.view)
			dw_say_error(&error, error.code);
		top->has_view = true;
		return top->request.view ? 0 : -1;
	default: return 0;
	}
}

/* Chooses the trace: a path, a process, or the newest trace of this folder. */
static int top_find_trace(struct top *top, const char *operand)
{
	struct dwell_error error = { 0, "" };
	size_t digits = operand ? strspn(operand, "0123456789") : 0;
	struct stat status;
	int code;

	if (!operand && !(operand = dw_newest_trace()))
		return DW_EXIT_BAD_INPUT;
	if (!digits || operand[digits] || digits > 9 || stat(operand, &status) == 0) {
		snprintf(top->path, sizeof top->path, "%s", operand);
		return 0;
	}
	code = dw_top_find((uint32_t)strtoul(operand, NULL, 10), top->path, sizeof top->path, &error);
	return code ? dw_say_error(&error, code) : 0;
}

static int top_print_once(struct top *top)
{
	struct dwell_print_options print = { .size = sizeof print };

	dw_terminal(1, &print);
	top->screen.columns = 0;
	top->screen.rows = 1000;
	top->screen.color = print.color;
	top->screen.utf8 = print.utf8;
	top->screen.view = top->request.view->name;
	dw_top_draw(&top->screen, &top->look, stdout);
	return fflush(stdout) == 0 ? 0 : DW_EXIT_PIPE;
}

static void top_loop(struct top *top)
{
	struct dwell_error error;
	bool going = true, changed = true;

	while (going) {
		uint64_t now_ms = top_clock_ms(CLOCK_MONOTONIC);
		int wait_ms = 60000, key;

		if (now_ms >= top->next_ms && (!top->screen.paused || !top->next_ms)) {
			top_look(top, &error);
			changed = true;
		}
		top->screen.view = top->request.view->name;
		top->screen.sort = top->request.sort;
		top->screen.filter = top->filter;
		top->screen.thread = top->request.thread;
		if (changed)
			top_draw(top);
		now_ms = top_clock_ms(CLOCK_MONOTONIC);
		if (!top->screen.paused)
			wait_ms = now_ms >= top->next_ms ? 0 : (int)(top->next_ms - now_ms);
		key = dw_screen_key(wait_ms > 60000 ? 60000 : wait_ms);
		changed = key != DW_KEY_NONE;
		if (key == DW_KEY_QUIT)
			going = false;
		else if (top->typing && key != DW_KEY_NONE && key != DW_KEY_REDRAW)
			top_type(top, key);
		else if (changed)
			going = top_take_key(top, key);
	}
}

int dw_cmd_top(const struct dw_verb *verb, int argc, char **argv)
{
	struct top *top = calloc(1, sizeof *top);
	struct dwell_print_options print = { .size = sizeof print };
	struct dwell_error error = { 0, "" };
	const char *why;
	int code;

	if (!top)
		return DW_EXIT_BAD_INPUT;
	top->every_ms = TOP_EVERY_MS;
	top->request.window_ns = TOP_LAST_NS;
	top->request.view = dw_view_find("operators", NULL);
	top->request.path = top->path;
	top->request.filter = top->screen.filter = top->filter;
	dw_options_take(verb, argc, argv, top_take_option, top);
	code = top_find_trace(top, argv[0]);
	if (code) {
		free(top);
		return code;
	}
	code = top_look(top, &error);
	if (!code && !top->has_view && !(top->look.rows && top->look.rows->row_count)) {
		/* Samples are all that is known of a program without operators. */
		top_set_view(top, "hot");
		code = top_look(top, &error);
	}
	if (code) {
		code = dw_say_error(&error, code);
	} else if (top->once) {
		code = top_print_once(top);
	} else {
		dw_terminal(1, &print);
		top->screen.color = print.color;
		top->screen.utf8 = print.utf8;
		if (dw_screen_open(&why)) {
			top_loop(top);
			dw_screen_close();
		} else {
			dw_say("%s; dwell top --once prints one state", why);
			code = DW_EXIT_USAGE;
		}
	}
	if (top->has_look)
		dw_top_look_reset(&top->look);
	free(top);
	return code;
}
