/*
 * draw_trace: draws a trace as a picture, with every option, and pictures of a million stacks.
 *
 *     draw_trace [--down] [--title T] TRACE.dwell > OUT.svg
 *     draw_trace --million [--down] > OUT.svg     synthetic nodes: measures the renderer
 *     draw_trace --million-trace OUT.dwell        the same as a trace: measures everything
 *
 * For tests/probes/pictures_chromium.py and for measurements. Prints what was drawn and, to
 * standard error, the time and the peak memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../../tools/encode_records.h"
#include "pictures/flamegraph.h"

static void put_file(void *to, const char *bytes, size_t length)
{
	fwrite(bytes, 1, length, to);
}

/* 100 * 100 * 100 paths, the last of which share names; widths as uneven as real ones. */
#define WIDE 100u
#define PER_MIDDLE (WIDE + 1u)
#define PER_OUTER (WIDE * PER_MIDDLE + 1u)

static uint64_t leaf_ns(uint64_t a, uint64_t b, uint64_t c)
{
	return 1 + 1000000000u / ((a + 1) * (b + 1) * (c + 1));
}

static uint64_t middle_ns(uint64_t a, uint64_t b)
{
	uint64_t sum = 0;

	for (uint64_t c = 0; c < WIDE; c++)
		sum += leaf_ns(a, b, c);
	return sum;
}

static void give_million(const void *context, size_t index, struct dw_picture_node *node)
{
	static char names[WIDE][16];
	uint64_t a = index / PER_OUTER, in = index % PER_OUTER, b, c;

	node->kind = 1 + (uint32_t)(index % 3);
	node->self = DW_PICTURE_NO_SELF;
	node->count = 1;
	if (!in) {
		node->depth = 0;
		node->value = 0;
		for (b = 0; b < WIDE; b++)
			node->value += middle_ns(a, b);
		snprintf(names[a], sizeof names[a], "outer%u", (unsigned)a);
		node->label = names[a];
	} else {
		b = (in - 1) / PER_MIDDLE;
		c = (in - 1) % PER_MIDDLE;
		node->depth = c ? 2 : 1;
		node->value = c ? leaf_ns(a, b, c - 1) : middle_ns(a, b);
		node->label = c ? "leaf" : "middle";
	}
}

static int draw_million(bool down)
{
	static const struct dw_picture_kind kinds[] = {
		{ "thread", DW_HUE_GREY }, { "operator", DW_HUE_AMBER }, { "zone", DW_HUE_BLUE },
		{ "layer", DW_HUE_GREEN },
	};
	struct dw_picture picture = {
		.title = "a million stacks", .root = "all", .counted = "call", .unit = dw_text_ns,
		.down = down, .kinds = kinds, .kind_count = 4, .node = give_million,
		.count = (size_t)WIDE * PER_OUTER,
	};

	return dw_picture_write(&picture, put_file, stdout, NULL, NULL);
}

static int make_million(const char *path)
{
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;
	uint32_t ops[3 * WIDE];
	uint64_t now = 1000;
	char name[32];
	FILE *file;
	int bad;

	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0)->pid = 0x7ffffffe;
	dw_encode_stream_init(&stream, &process, 0, dw_encode_thread(&process, 100, 0, 0, "main"));
	for (unsigned i = 0; i < 3 * WIDE; i++) {
		snprintf(name, sizeof name, "op%u", i);
		ops[i] = dw_encode_op(&process, DWELL_CATEGORY_OPERATOR, name, NULL, 0, NULL, 0);
	}
	for (unsigned a = 0; a < WIDE; a++) {
		dw_encode_begin(&stream, now, ops[a]);
		for (unsigned b = 0; b < WIDE; b++) {
			dw_encode_begin(&stream, now, ops[WIDE + b]);
			for (unsigned c = 0; c < WIDE; c++) {
				dw_encode_begin(&stream, now, ops[2 * WIDE + c]);
				dw_encode_end(&stream, now += leaf_ns(a, b, c));
			}
			dw_encode_end(&stream, now);
		}
		dw_encode_end(&stream, now);
	}
	dw_encode_close(&stream);
	file = fopen(path, "wb");
	bad = !file || fwrite(encode.image, dw_encode_bytes(&encode), 1, file) != 1;
	if (file)
		bad |= fclose(file) != 0;
	dw_encode_reset(&encode);
	return bad;
}

static int draw_trace(const char *path, const struct dw_flamegraph_options *options)
{
	struct dwell_error error = { 0 };
	struct dw_source *source = NULL;
	struct dw_model *model = NULL;
	int result = dw_source_open(&source, &path, 1, &error);

	if (!result)
		result = dw_model_create(&model, source, NULL, &error);
	if (!result)
		result = dw_flamegraph_write(model, options, put_file, stdout, NULL, &error);
	if (result)
		fprintf(stderr, "draw_trace: %s\n", error.message);
	dw_model_destroy(model);
	dw_source_close(source);
	return result;
}

int main(int count, char **arguments)
{
	struct dw_flamegraph_options options = { 0 };
	const char *path = NULL;
	bool million = false;
	struct timespec from, to;
	struct rusage usage;
	int result;

	for (int i = 1; i < count; i++) {
		if (strcmp(arguments[i], "--million-trace") == 0 && i + 1 < count)
			return make_million(arguments[i + 1]);
		if (strcmp(arguments[i], "--title") == 0 && i + 1 < count)
			options.title = arguments[++i];
		else if (strcmp(arguments[i], "--down") == 0)
			options.down = true;
		else if (strcmp(arguments[i], "--million") == 0)
			million = true;
		else
			path = arguments[i];
	}
	if (!path && !million) {
		fprintf(stderr, "usage: draw_trace [--down] [--title T] TRACE.dwell > OUT.svg\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	result = million ? draw_million(options.down) : draw_trace(path, &options);
	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &to);
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "%.2f s, %ld MB at most\n",
	        (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9,
	        usage.ru_maxrss / 1024);
	return result != 0;
}
