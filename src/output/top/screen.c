/*
 * A state as lines of text. At 80 columns:
 *
 *     train.py  pid 4711  running 12m31s                                 last 10.0s
 *     step 1,234   12.3/s   81.2ms (95%: 90.1ms)       CPU 187%   1.21GiB   lost: none
 *     ######################################################################
 *     backward 45%  forward 30%  data 12%  optimizer 8%  python 5%
 *
 *     operator               calls    self ...
 *     aten::addmm            1,200  81.2ms ...
 *     F1 Help  / Search ...
 *
 * Names come from other programs, so characters that a terminal executes are replaced.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/text.h"
#include "render/render.h"
#include "top/top.h"

#define SILENT_NS 2000000000u
#define SILENT_STEPS 20 /* as for dwell watch */
#define SCREEN_HEAD_LINES 6u  /* three of figures, two of parts, an empty one */
#define SCREEN_FOOT_LINES 1u
#define SCREEN_WIDE 100u      /* columns of a screen without a terminal */

struct screen {
	struct dw_top_screen *top;
	FILE *file;
	unsigned used;         /* columns of this line */
};

/* ---- a line -------------------------------------------------------------------------------------- */

static unsigned screen_width(const struct dw_top_screen *top)
{
	return top->columns ? top->columns : SCREEN_WIDE;
}

static void screen_style(const struct screen *screen, const char *code)
{
	if (screen->top->color)
		fprintf(screen->file, "\033[%sm", code);
}

/* Writes as much of the text as the line has columns for. */
static void screen_put_text(struct screen *screen, const char *text)
{
	unsigned width = screen_width(screen->top);
	uint32_t code;
	char bytes[4];

	while ((code = dw_utf8_next(&text)) != 0) {
		unsigned columns;

		if (dw_utf8_steers(code) || (code > 126 && !screen->top->utf8))
			code = '?';
		columns = dw_utf8_columns(code);
		if (screen->used + columns > width)
			return;
		screen->used += columns;
		fwrite(bytes, 1, dw_utf8_put(bytes, code), screen->file);
	}
}

static void screen_put(struct screen *screen, const char *style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void screen_put(struct screen *screen, const char *style, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (*style)
		screen_style(screen, style);
	screen_put_text(screen, text);
	if (*style)
		screen_style(screen, "0");
}

static void screen_end_line(struct screen *screen)
{
	fputc('\n', screen->file);
	screen->used = 0;
}

/* Writes a text at the right edge, or after a gap if there is no space. */
static void screen_put_right(struct screen *screen, const char *style, const char *text)
{
	unsigned width = screen_width(screen->top), columns = (unsigned)strlen(text);
	unsigned gap = screen->used + columns + 2 <= width ? width - columns - screen->used : 2;

	screen_put(screen, "", "%*s", (int)gap, "");
	screen_put(screen, style, "%s", text);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static void screen_put_run(struct screen *screen, const struct dw_top_look *look)
{
	const struct dw_top_screen *top = screen->top;
	char window[64];

	screen_put(screen, "1", "%s", look->program);
	screen_put(screen, "", "  %s  ", look->where);
	if (top->state)
		screen_put(screen, "33", "%s", top->state);
	else
		screen_put(screen, look->live ? "32" : "33", "%s %s", look->live ? "running for" : "ended after",
		           dw_text_ns((double)look->run_ns, " ").at);
	snprintf(window, sizeof window, "%s%s %s", top->paused ? "paused, " : "",
	         look->window_ns < look->run_ns ? "last" : "all", dw_text_ns((double)look->window_ns, " ").at);
	screen_put_right(screen, top->paused ? "33" : "2", window);
	screen_end_line(screen);
}

/* Whether steps stopped coming, though the window has some, and though other processes record something. */
static bool screen_is_silent(const struct dw_top_look *look)
{
	return look->since_step_ns >= SILENT_NS && (double)look->since_step_ns >= SILENT_STEPS * (double)look->p95_ns;
}

static void screen_put_steps(struct screen *screen, const struct dw_top_look *look)
{
	if (look->silent_ns >= SILENT_NS) {
		screen_put(screen, "33", "no record for %s", dw_text_ns((double)look->silent_ns, " ").at);
		if (*look->inside)
			screen_put(screen, "33", ", inside %s", look->inside);
	} else if (!look->step_count) {
		screen_put(screen, "2", look->live ? "no step yet" : "no steps");
	} else {
		screen_put(screen, "", "%s step%s", dw_text_count((int64_t)look->step_count).at,
		           dw_text_plural(look->step_count));
		if (look->since_step_ns && (!look->window_steps || screen_is_silent(look)))
			screen_put(screen, "33", "  none ended for %s", dw_text_ns((double)look->since_step_ns, " ").at);
		else if (!look->window_steps)
			screen_put(screen, "33", "  none ended in this time");
		if (look->steps_per_s > 0)
			screen_put(screen, "1", "  %s/s", dw_text_number(look->steps_per_s).at);
		if (look->p50_ns) {
			screen_put(screen, "", "  %s a step", dw_text_ns(look->mean_ns, " ").at);
			screen_put(screen, "", "  median %s", dw_text_ns((double)look->p50_ns, " ").at);
			screen_put(screen, "", "  p95 %s", dw_text_ns((double)look->p95_ns, " ").at);
		}
	}
	screen_end_line(screen);
}

static void screen_put_use(struct screen *screen, const struct dw_top_look *look)
{
	if (look->use.processes) {
		if (look->cpus >= 0)
			screen_put(screen, "", "CPU %.0f%%  ", look->cpus * 100);
		screen_put(screen, "", "memory %s  ", dw_text_bytes((double)look->use.resident_bytes, " ").at);
		screen_put(screen, "", "%zu thread%s  ", look->use.threads, dw_text_plural(look->use.threads));
	}
	screen_put(screen, "", "trace %s  ", dw_text_bytes((double)look->size_bytes, " ").at);
	if (!look->lost)
		screen_put(screen, "2", "nothing lost");
	else
		screen_put(screen, "31", "%s record%s lost: %s", dw_text_count((int64_t)look->lost).at,
		           dw_text_plural(look->lost), look->lost_cause);
	if (*look->unrecorded)
		screen_put(screen, "31", "  not recorded: %s", look->unrecorded);
	screen_end_line(screen);
}

/* ---- the parts of a step ------------------------------------------------------------------------- */

/* The terminal's colour that is nearest to that of the page and the pictures; NULL: the name has none. */
static const char *screen_known_color(const char *name)
{
	static const char *const known[][2] = {
		{ "data", "33" }, { "forward", "34" }, { "backward", "35" }, { "optimizer", "92" },
		{ "operators", "93" }, { "layers", "32" }, { "collector", "95" }, { "profiler", "94" },
		{ "communication", "31" }, { "device", "36" }, { "checkpoint", "96" }, { "evaluation", "36" },
		{ "python", "37" }, { "functions", "97" }, { "idle", "90" }, { "other", "90" },
		{ "between steps", "2;37" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(name, known[i][0]) == 0)
			return known[i][1];
	return NULL;
}

static bool screen_has_color(const char *const colors[], size_t count, const char *color)
{
	for (size_t i = 0; i < count; i++)
		if (colors[i] && strcmp(colors[i], color) == 0)
			return true;
	return false;
}

/* A colour for each part, so that no two have the same one: there are more colours than parts. Known names have theirs. */
static void screen_color_parts(const struct dw_top_look *look, const char *colors[DW_TOP_MOST_PARTS])
{
	static const char *const all[] = { "34", "35", "92", "93", "36", "31", "32", "33", "94", "95", "96", "91", "37", "97", "90" };
	size_t next = 0, count = look->part_count;

	for (size_t i = 0; i < count; i++) {
		const char *color = screen_known_color(look->parts[i].name);

		colors[i] = color && !screen_has_color(colors, i, color) ? color : NULL;
	}
	for (size_t i = 0; i < count; i++) {
		for (; !colors[i]; next++)
			if (!screen_has_color(colors, count, all[next]))
				colors[i] = all[next];
	}
}

/* Without colours the bar consists of the first letters of the parts. */
static void screen_put_parts(struct screen *screen, const struct dw_top_look *look)
{
	const struct dw_top_screen *top = screen->top;
	const char *colors[DW_TOP_MOST_PARTS];
	unsigned width = screen_width(top), at = 0;
	double sum = 0;

	screen_color_parts(look, colors);
	for (size_t i = 0; i < look->part_count; i++) {
		const struct dw_top_part *part = &look->parts[i];
		char letter[2] = { part->name[0], '\0' };

		sum += part->share;
		screen_style(screen, colors[i]);
		for (unsigned to = (unsigned)lround(sum * width); at < to && at < width; at++)
			screen_put_text(screen, !top->color ? letter : top->utf8 ? "\u2588" : "#");
		screen_style(screen, "0");
	}
	screen_end_line(screen);
	for (size_t i = 0; i < look->part_count; i++) {
		const struct dw_top_part *part = &look->parts[i];
		char text[64];

		snprintf(text, sizeof text, "%s %.0f%%", part->name, part->share * 100);
		if (part->share < 0.005)
			continue;
		if (screen->used + strlen(text) > width)
			break;
		screen_put(screen, colors[i], "%s", text);
		screen_put(screen, "", "  ");
	}
	screen_end_line(screen);
}

/* ---- the table ----------------------------------------------------------------------------------- */

size_t dw_top_visible(const struct dw_top_screen *top)
{
	unsigned other = SCREEN_HEAD_LINES + 1 + SCREEN_FOOT_LINES; /* 1: the labels */

	return top->rows > other ? top->rows - other : 0;
}

static void screen_scroll(struct dw_top_screen *top, size_t rows)
{
	size_t visible = dw_top_visible(top);

	if (top->selected >= rows)
		top->selected = rows ? rows - 1 : 0;
	if (top->first > top->selected)
		top->first = top->selected;
	if (visible && top->selected >= top->first + visible)
		top->first = top->selected - visible + 1;
	if (rows > visible && top->first > rows - visible)
		top->first = rows - visible;
	else if (rows <= visible)
		top->first = 0;
}

/* Writes a line of the rendered table: the selected one in inverse video, without other styles. */
static void screen_put_row(struct screen *screen, const char *line, bool selected)
{
	if (!selected || !screen->top->columns) {
		fputs(line, screen->file);
		screen_end_line(screen);
		return;
	}
	screen_style(screen, "7");
	for (const char *c = line; *c; c++) {
		if (*c == '\033')
			c += strcspn(c, "m");
		else
			fputc(*c, screen->file);
	}
	screen_style(screen, "0");
	screen_end_line(screen);
}

/* The labels and the rows as text, without what belongs to a report: sentences, sums. */
static char *screen_render(const struct dw_top_screen *top, const struct dwell_table *table)
{
	struct dwell_print_options options = { .size = sizeof options, .width = screen_width(top),
		.color = top->color, .utf8 = top->utf8 };
	struct dwell_table rows = *table;
	const struct dwell_table *tables = &rows;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	rows.next = NULL;
	rows.part = NULL;
	rows.totals = NULL;
	rows.head_count = rows.note_count = rows.loss_count = rows.rows_cut = 0;
	rows.steps = rows.thread = rows.profile = rows.action = NULL;
	rows.coverage = 1;
	dw_render_text(&tables, 1, file, &options);
	fclose(file);
	return text;
}

/* Writes a sentence in lines of whole words. */
static void screen_put_sentence(struct screen *screen, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (screen->used && screen->used + length + 1 > screen_width(screen->top))
			screen_end_line(screen);
		screen_put(screen, "", "%s%.*s", screen->used ? " " : "", (int)length, text);
		text += length + strspn(text + length, " ");
	}
	screen_end_line(screen);
}

static void screen_put_table(struct screen *screen, const struct dw_top_look *look)
{
	struct dw_top_screen *top = screen->top;
	char *text = look->rows && look->rows->row_count ? screen_render(top, look->rows) : NULL, *next = text;
	size_t rows = text ? look->rows->row_count : 0, visible = dw_top_visible(top), row = 0;
	bool labels = true;

	screen_scroll(top, rows);
	if (!text)
		screen_put_sentence(screen, look->message);
	while (next && *next && (labels || row < top->first + visible)) {
		char *line = next, *end = strchr(next, '\n');

		next = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
		if (!*line)
			continue;
		if (labels || row >= top->first)
			screen_put_row(screen, line, !labels && row == top->selected);
		row += !labels;
		labels = false;
	}
	free(text);
}

/* ---- the keys ------------------------------------------------------------------------------------ */

static const char *const screen_keys[][2] = {
	{ "o l f", "operators, layers, functions" },
	{ "p s", "phases, steps" },
	{ "t m g k", "threads, memory, collector, kernels" },
	{ "c w", "functions by CPU time, waits: by samples" },
	{ "Tab", "the next view" },
	{ "Up Down PgUp PgDn Home End", "select a row" },
	{ "F3 /", "search; n finds the next one" },
	{ "F4 \\", "show only rows that contain a text" },
	{ "F6 > <", "sort by the next or the previous column" },
	{ "+ - a", "a longer or shorter time, all of the run" },
	{ "Enter", "threads: show only this thread" },
	{ "Esc", "remove the filter and the choice of a thread" },
	{ "Space", "pause" },
	{ "F10 q", "quit" },
};

static void screen_put_help(struct screen *screen)
{
	size_t visible = dw_top_visible(screen->top) + 1;

	for (size_t i = 0; i < sizeof screen_keys / sizeof *screen_keys && i < visible; i++) {
		screen_put(screen, "1", "  %-28s", screen_keys[i][0]);
		screen_put(screen, "", "%s", screen_keys[i][1]);
		screen_end_line(screen);
	}
}

/* The last line. It has no line end, so that the terminal does not scroll. */
static void screen_put_foot(struct screen *screen)
{
	static const char *const keys[][2] = {
		{ "F1", "Help" }, { "/", "Search" }, { "\\", "Filter" }, { ">", "Sort" }, { "Tab", "View" },
		{ "Space", "Pause" }, { "q", "Quit" },
	};
	const struct dw_top_screen *top = screen->top;

	if (top->prompt) {
		screen_put(screen, "7", "%s", top->prompt);
		return;
	}
	screen_put(screen, "1", "%s", top->view);
	if (top->sort)
		screen_put(screen, "", " by %s", top->sort);
	if (*top->filter)
		screen_put(screen, "33", "  with \"%s\"", top->filter);
	if (top->thread)
		screen_put(screen, "33", "  thread %s", top->thread);
	screen_put(screen, "", "  ");
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		screen_put(screen, "1", " %s", keys[i][0]);
		screen_put(screen, "", " %s", keys[i][1]);
	}
}

void dw_top_draw(struct dw_top_screen *top, const struct dw_top_look *look, FILE *file)
{
	struct screen screen = { .top = top, .file = file };

	screen_put_run(&screen, look);
	screen_put_steps(&screen, look);
	screen_put_use(&screen, look);
	if (look->part_count) {
		screen_put_parts(&screen, look);
	} else {
		screen_end_line(&screen);
		screen_end_line(&screen);
	}
	screen_end_line(&screen);
	if (top->help)
		screen_put_help(&screen);
	else
		screen_put_table(&screen, look);
	if (top->columns)
		screen_put_foot(&screen);
}
