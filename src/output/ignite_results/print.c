/* Ignite's two printouts; see results.h. */
#include "ignite_results/results.h"

#include <string.h>

const char *const dw_ignite_event_names[DWELL_IGNITE_EVENT_COUNT] = {
#define NAME(name, number, value) [number] = #name,
	DWELL_IGNITE_EVENTS(NAME)
#undef NAME
};

struct dwell_ignite_time_stat dw_ignite_time_stat(const struct dw_time_stat *stat, double unit_s)
{
	return (struct dwell_ignite_time_stat){
		.count = stat->count, .total_s = stat->total * unit_s, .min_s = stat->min * unit_s, .max_s = stat->max * unit_s,
		.mean_s = stat->mean * unit_s, .std_s = dw_time_stat_std(stat) * unit_s, .min_index = stat->min_index,
		.max_index = stat->max_index,
	};
}

/* ---- BasicTimeProfiler ------------------------------------------------------------- */

static void print_basic_stat(const struct dwell_ignite_time_stat *stat, FILE *out)
{
	if (!stat->count) {
		fprintf(out, "not yet triggered\n");
		return;
	}
	fprintf(out, "%.5f", stat->total_s);
	if (stat->count > 1)
		fprintf(out, " | %.5f/%llu | %.5f/%llu | %.5f | %.5f", stat->min_s,
		        (unsigned long long)stat->min_index, stat->max_s,
		        (unsigned long long)stat->max_index, stat->mean_s, stat->std_s);
	fputc('\n', out);
}

/* Prints names like a list of strings in Python. */
static void print_names(const char *const *names, FILE *out)
{
	fputc('[', out);
	for (const char *const *at = names; at && *at; at++) {
		char quote = strchr(*at, '\'') && !strchr(*at, '"') ? '"' : '\'';

		fprintf(out, "%s%c", at == names ? "" : ", ", quote);
		for (const char *c = *at; *c; c++) {
			if (*c == quote || *c == '\\')
				fputc('\\', out);
			fputc(*c, out);
		}
		fputc(quote, out);
	}
	fputs("]\n", out);
}

void dw_ignite_print_basic(const struct dwell_ignite_basic_results *results, FILE *out)
{
	static const struct {
		enum dwell_ignite_event event;
		const char *name;
	} sections[] = {
#define SECTION(name) { DWELL_IGNITE_EVENT_##name, #name }
		SECTION(STARTED), SECTION(EPOCH_STARTED), SECTION(ITERATION_STARTED),
		SECTION(ITERATION_COMPLETED), SECTION(EPOCH_COMPLETED), SECTION(COMPLETED),
#undef SECTION
	};
	double total_s = results->events[DWELL_IGNITE_EVENT_GET_BATCH_STARTED].total_s +
	                 results->events[DWELL_IGNITE_EVENT_GET_BATCH_COMPLETED].total_s;

	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		total_s += results->events[sections[i].event].total_s;
	fputs("\n ----------------------------------------------------\n"
	      "| Time profiling stats (in seconds):                 |\n"
	      " ----------------------------------------------------\n"
	      "total  |  min/index  |  max/index  |  mean  |  std\n\nProcessing function:\n", out);
	print_basic_stat(&results->processing, out);
	fputs("\nDataflow:\n", out);
	print_basic_stat(&results->dataflow, out);
	fprintf(out, "\nEvent handlers:\n%.5f\n", total_s);
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
		fprintf(out, "\n- Events.%s: ", sections[i].name);
		print_names(results->handlers[sections[i].event], out);
		print_basic_stat(&results->events[sections[i].event], out);
	}
	fputc('\n', out);
}

/* ---- HandlersTimeProfiler ---------------------------------------------------------- */

struct number {
	char at[48];
};

/* Formats round(time_s, 5) like Python: "0.0", "2e-05", "0.0005", "12.5". */
static struct number print_rounded(double time_s)
{
	struct number number;
	size_t end;

	snprintf(number.at, sizeof number.at, "%.5f", time_s);
	if (strncmp(number.at, "0.0000", 6) == 0 && number.at[6] != '0') {
		snprintf(number.at, sizeof number.at, "%de-05", (int)(time_s * 1e5 + 0.5));
		return number;
	}
	end = strlen(number.at);
	while (number.at[end - 1] == '0' && number.at[end - 2] != '.')
		number.at[--end] = '\0';
	return number;
}

static struct number print_with_index(double time_s, uint64_t index)
{
	struct number number = print_rounded(time_s);
	size_t length = strlen(number.at);

	snprintf(number.at + length, sizeof number.at - length, "/%llu", (unsigned long long)index);
	return number;
}

static void print_row(FILE *out, const int widths[2], const char *const cells[7])
{
	fprintf(out, "%-*s  %-*s  ", widths[0], cells[0], widths[1], cells[1]);
	for (int i = 2; i < 7; i++)
		fprintf(out, "%14s  ", cells[i]);
	fputc('\n', out);
}

static void print_line(FILE *out, const int widths[2])
{
	for (int column = 0; column < 7; column++) {
		for (int i = column < 2 ? widths[column] : 14; i > 0; i--)
			fputc('-', out);
		fputs("  ", out);
	}
	fputc('\n', out);
}

static void print_handler(FILE *out, const int widths[2], const struct dwell_ignite_handler_time *row)
{
	const struct dwell_ignite_time_stat *stat = &row->stat;
	struct number total = print_rounded(stat->total_s), mean = print_rounded(stat->mean_s);
	struct number min = print_with_index(stat->min_s, stat->min_index);
	struct number max = print_with_index(stat->max_s, stat->max_index), std = { "None" };

	if (stat->count > 1)
		std = print_rounded(stat->std_s);
	if (stat->count)
		print_row(out, widths, (const char *const[]){ row->handler, row->event, total.at, min.at,
		                                              max.at, mean.at, std.at });
	else
		print_row(out, widths, (const char *const[]){ row->handler, row->event, "not triggered", "None/None",
		                                 "None/None", "None", "None" });
}

static void print_summary(FILE *out, const char *what, const struct dwell_ignite_time_stat *stat)
{
	if (!stat->count) {
		fprintf(out, "%s took total not triggered [min/index: None/None, max/index: None/None, "
		        "mean: None, std: None]\n", what);
		return;
	}
	fprintf(out, "%s took total %ss [min/index: %ss/%llu, max/index: %ss/%llu, mean: %ss, std: ",
	        what, print_rounded(stat->total_s).at, print_rounded(stat->min_s).at,
	        (unsigned long long)stat->min_index, print_rounded(stat->max_s).at,
	        (unsigned long long)stat->max_index, print_rounded(stat->mean_s).at);
	if (stat->count > 1)
		fprintf(out, "%ss]\n", print_rounded(stat->std_s).at);
	else
		fputs("None]\n", out);
}

void dw_ignite_print_handlers(const struct dwell_ignite_handlers_results *results, FILE *out)
{
	/* As in Ignite, the names of the two summaries count for the widths, with the event "None". */
	int widths[2] = { (int)strlen("Processing") + 4, (int)strlen("None") + 4 };
	double total_s = 0;

	for (size_t i = 0; i < results->count; i++) {
		const struct dwell_ignite_handler_time *row = &results->handlers[i];
		int handler = (int)strlen(row->handler) + 4, event = (int)strlen(row->event) + 4;

		widths[0] = handler > widths[0] ? handler : widths[0];
		widths[1] = event > widths[1] ? event : widths[1];
		total_s += row->stat.total_s;
	}
	fputc('\n', out);
	print_line(out, widths);
	print_row(out, widths, (const char *const[]){ "Handler", "Event Name", "Total(s)",
	                                              "Min(s)/IDX", "Max(s)/IDX", "Mean(s)",
	                                              "Std(s)" });
	print_line(out, widths);
	for (size_t i = 0; i < results->count; i++)
		print_handler(out, widths, &results->handlers[i]);
	print_line(out, widths);
	print_row(out, widths, (const char *const[]){ "Total", "", print_rounded(total_s).at, "", "", "", "" });
	print_line(out, widths);
	print_summary(out, "Processing", &results->processing);
	print_summary(out, "Dataflow", &results->dataflow);
	fputc('\n', out);
}
