/*
 * Output that must equal Ignite's exactly: Ignite's own printouts are parsed into results and
 * printed again. Figures have five digits, so they must not change.
 */
#include <dwell/compat/ignite.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static char *read_file(const char *name)
{
	char path[512], *text;
	FILE *file;
	size_t length;

	snprintf(path, sizeof path, "%s/ignite/%s", getenv("DWELL_GOLDEN"), name);
	file = fopen(path, "r");
	CHECK(file != NULL);
	if (!file)
		return NULL;
	text = calloc(1, 1 << 16);
	length = fread(text, 1, (1 << 16) - 1, file);
	text[length] = '\0';
	fclose(file);
	return text;
}

static void set_std(struct dwell_ignite_time_stat *stat, double std_s)
{
	stat->std_s = std_s;
}

static void compare(const char *wanted, void (*print)(const void *, FILE *), const void *results)
{
	char *got = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);

	print(results, out);
	fclose(out);
	CHECK_STR(got, wanted);
	free(got);
}

/* ---- BasicTimeProfiler ------------------------------------------------------------- */

static struct dwell_ignite_time_stat read_basic(const char *at)
{
	struct dwell_ignite_time_stat stat = { .count = 1 };
	unsigned long long min, max;
	double std_s;

	if (strncmp(at, "not", 3) == 0)
		return (struct dwell_ignite_time_stat){ 0 };
	if (sscanf(at, "%lf | %lf/%llu | %lf/%llu | %lf | %lf", &stat.total_s, &stat.min_s, &min,
	           &stat.max_s, &max, &stat.mean_s, &std_s) == 7) {
		stat.count = 2;
		stat.min_index = min;
		stat.max_index = max;
		set_std(&stat, std_s);
	}
	return stat;
}

static const char *after(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	CHECK(at != NULL);
	return at ? strchr(at, '\n') + 1 : "";
}

static void print_basic(const void *results, FILE *out)
{
	dwell_ignite_basic_results_print(results, out);
}

TEST(events_are_printed_as_ignite_does)
{
	static const char *const on_start[] = { "on_start", NULL };
	static const char *const started[] = { "CallableHandler.method", "CallableHandler.with_args",
		                                   NULL };
	static const char *const completed[] = { "log_loss", "slow_every2", "fast_every2",
		                                     "CallableHandler", NULL };
	static const char *const epoch[] = { "log_epoch", "partial", NULL };
	struct dwell_ignite_basic_results results = { .handlers = {
		[DWELL_IGNITE_EVENT_STARTED] = on_start, [DWELL_IGNITE_EVENT_ITERATION_STARTED] = started,
		[DWELL_IGNITE_EVENT_ITERATION_COMPLETED] = completed, [DWELL_IGNITE_EVENT_EPOCH_COMPLETED] = epoch } };
	char *text = read_file("print_basic.txt");
	double rest_s;

	if (!text)
		return;
	results.processing = read_basic(after(text, "Processing function"));
	results.dataflow = read_basic(after(text, "Dataflow"));
	rest_s = strtod(after(text, "Event handlers"), NULL);
#define READ(event)                                                                     \
	results.events[DWELL_IGNITE_EVENT_##event] = read_basic(after(text, "- Events." #event ":")); \
	rest_s -= results.events[DWELL_IGNITE_EVENT_##event].total_s;
	READ(STARTED)
	READ(EPOCH_STARTED)
	READ(ITERATION_STARTED)
	READ(ITERATION_COMPLETED)
	READ(EPOCH_COMPLETED)
	READ(COMPLETED)
	results.events[DWELL_IGNITE_EVENT_GET_BATCH_STARTED].total_s = rest_s;
	compare(text, print_basic, &results);
	free(text);
}

/* ---- HandlersTimeProfiler ---------------------------------------------------------- */

static void print_handlers(const void *results, FILE *out)
{
	dwell_ignite_handlers_results_print(results, out);
}

static bool read_handler(char *line, struct dwell_ignite_handler_time *row)
{
	char *words[8], *save = NULL;
	int count = 0;

	for (char *word = strtok_r(line, " ", &save); word && count < 8;
	     word = strtok_r(NULL, " ", &save))
		words[count++] = word;
	memset(row, 0, sizeof *row);
	if (count < 7 || strchr(words[0], '-') == words[0])
		return false;
	row->handler = words[0];
	row->event = words[1];
	if (strcmp(words[2], "not") == 0)
		return true;
	row->stat.count = strcmp(words[6], "None") == 0 ? 1 : 2;
	row->stat.total_s = strtod(words[2], NULL);
	row->stat.min_s = strtod(words[3], NULL);
	row->stat.min_index = strtoull(strchr(words[3], '/') + 1, NULL, 10);
	row->stat.max_s = strtod(words[4], NULL);
	row->stat.max_index = strtoull(strchr(words[4], '/') + 1, NULL, 10);
	row->stat.mean_s = strtod(words[5], NULL);
	set_std(&row->stat, strtod(words[6], NULL));
	return true;
}

static struct dwell_ignite_time_stat read_summary(const char *text, const char *what)
{
	struct dwell_ignite_time_stat stat = { .count = 2 };
	const char *at = strstr(text, what);
	unsigned long long min = 0, max = 0;
	double std_s = 0;

	CHECK(at && sscanf(strstr(at, "total") + 6,
	                   "%lfs [min/index: %lfs/%llu, max/index: %lfs/%llu, mean: %lfs, std: %lfs]",
	                   &stat.total_s, &stat.min_s, &min, &stat.max_s, &max, &stat.mean_s,
	                   &std_s) == 7);
	stat.min_index = min;
	stat.max_index = max;
	set_std(&stat, std_s);
	return stat;
}

TEST(handlers_are_printed_as_ignite_does)
{
	struct dwell_ignite_handlers_results results;
	struct dwell_ignite_handler_time rows[64];
	char *text = read_file("print_handlers.txt"), *copy, *save = NULL;
	size_t count = 0;
	double total_s = 0;

	if (!text)
		return;
	copy = strdup(text);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strncmp(line, "Handler ", 8) != 0 && strncmp(line, "Processing", 10) != 0 &&
		    strncmp(line, "Dataflow", 8) != 0 && count < 64)
			count += read_handler(line, &rows[count]);
	CHECK_EQ(count, 27);
	for (size_t i = 0; i < count; i++)
		total_s += rows[i].stat.total_s;
	/* The sum of rounded figures is not the rounded sum: one that was never called, and
	 * shows no figures, gets the rest. */
	REQUIRE(!rows[count - 1].stat.count);
	rows[count - 1].stat.total_s = strtod(strstr(text, "\nTotal ") + 7, NULL) - total_s;
	results = (struct dwell_ignite_handlers_results){ read_summary(text, "Processing"),
		                                       read_summary(text, "Dataflow"), rows, count };
	compare(text, print_handlers, &results);
	free(copy);
	free(text);
}

/* ---- what there is not --------------------------------------------------------------- */

TEST(nothing_is_said_to_be_nothing)
{
	struct dwell_ignite_handlers_results none;
	struct dwell_ignite_basic_results basic;
	char *got = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);

	memset(&none, 0, sizeof none);
	memset(&basic, 0, sizeof basic);
	dwell_ignite_handlers_results_print(&none, out);
	dwell_ignite_basic_results_print(&basic, out);
	fclose(out);
	CHECK(strstr(got, "Processing took total not triggered [min/index: None/None"));
	CHECK(strstr(got, "\nProcessing function:\nnot yet triggered\n"));
	CHECK(!strstr(got, "nan") && !strstr(got, "Nones"));
	free(got);
}

CHECK_MAIN
