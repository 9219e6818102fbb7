/*
 * Writes a trace with very many call stacks, for bench/run, which measures its flame graph.
 *
 *     many_paths ranges|stacks COUNT FILE
 *
 * All call stacks are different. Each is 20 frames deep: after a common beginning, the names of its
 * levels are the digits of its number in base 8. `ranges` writes nested ranges; `stacks` writes one
 * operator that is called from COUNT recorded stacks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/tools/encode_records.h"

#define DEPTH 20
#define DIGITS 8

static struct dw_encode encode;
static struct dw_encode_process process;
static struct dw_encode_stream stream;
static uint32_t names[DEPTH][DIGITS];

/* The last levels contain the digits, so that stacks have as many levels in common as in a
 * program. */
static uint32_t name_at(uint64_t number, int level)
{
	return names[level][number >> 3 * (DEPTH - 1 - level) & (DIGITS - 1)];
}

/* Returns the number of outermost levels that two stacks have in common. */
static int common_levels(uint64_t number, uint64_t other)
{
	int level = 0;

	while (level < DEPTH && name_at(number, level) == name_at(other, level))
		level++;
	return level;
}

static void make_ranges(uint64_t count, uint64_t ticks)
{
	int depth = 0;

	for (int level = 0; level < DEPTH; level++)
		for (int digit = 0; digit < DIGITS; digit++) {
			char name[32];

			snprintf(name, sizeof name, "layer_%d.block_%d", level, digit);
			names[level][digit] =
				dw_encode_op(&process, DWELL_CATEGORY_FUNCTION, name, NULL, 0, NULL, 0);
		}
	for (uint64_t i = 0; i < count; i++) {
		int common = i ? common_levels(i, i - 1) : 0;

		for (; depth > common; depth--)
			dw_encode_end(&stream, ticks += 50);
		for (; depth < DEPTH; depth++)
			dw_encode_begin(&stream, ticks += 100, name_at(i, depth));
	}
	for (; depth; depth--)
		dw_encode_end(&stream, ticks += 50);
}

static void make_frames(void)
{
	uint32_t path = dw_encode_string(&process, "/usr/lib/libnet.so");
	uint32_t module = dw_encode_new_id(&encode);
	struct dw_entry_module *code =
		dw_encode_entry(&process, DW_ENTRY_MODULE, module, 0, sizeof *code);

	code->path = path;
	for (int level = 0; level < DEPTH; level++)
		for (int digit = 0; digit < DIGITS; digit++) {
			uint32_t id = dw_encode_new_id(&encode), function;
			struct dw_entry_symbol *symbol;
			struct dw_entry_frame *frame =
				dw_encode_entry(&process, DW_ENTRY_FRAME, id, module, sizeof *frame);
			char name[32];

			frame->offset = (uint64_t)(level * DIGITS + digit) * 64;
			snprintf(name, sizeof name, "layer_%d_block_%d", level, digit);
			function = dw_encode_string(&process, name);
			symbol = dw_encode_entry(&process, DW_ENTRY_SYMBOL, id, 0, sizeof *symbol);
			symbol->function = function;
			names[level][digit] = id;
		}
}

static void make_stacks(uint64_t count, uint64_t ticks)
{
	uint32_t op = dw_encode_op(&process, DWELL_CATEGORY_OPERATOR, "conv2d", NULL, 0, NULL, 0);

	make_frames();
	for (uint64_t i = 0; i < count; i++) {
		uint32_t id = dw_encode_new_id(&encode);
		struct dw_entry_stack *stack = dw_encode_entry(
			&process, DW_ENTRY_STACK, id, DEPTH, (sizeof *stack + DEPTH * 4 + 7) & ~(size_t)7);

		for (int level = 0; stack && level < DEPTH; level++)
			stack->frames[DEPTH - 1 - level] = name_at(i, level);
		dw_encode_begin(&stream, ticks += 200, op);
		dw_encode_record(&stream, ticks, DW_STACK, id, NULL, 0);
		dw_encode_end(&stream, ticks += 1000 + i % 100);
	}
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 4 ? strtoull(argv[2], NULL, 10) : 0, start = (uint64_t)1 << 40;
	FILE *file;

	if (!count)
		return 2;
	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0)->pid = 0x7ffffffe;
	dw_encode_stream_init(&stream, &process, 0, dw_encode_thread(&process, 1, 0, start, "main"));
	dw_encode_head(&encode)->start_ticks = start;
	if (strcmp(argv[1], "ranges") == 0)
		make_ranges(count, start);
	else
		make_stacks(count, start);
	dw_encode_close(&stream);
	file = fopen(argv[3], "wb");
	if (!file || encode.failed || fwrite(encode.image, dw_encode_bytes(&encode), 1, file) != 1 ||
	    fclose(file)) {
		fprintf(stderr, "many_paths: cannot write %s\n", argv[3]);
		return 1;
	}
	dw_encode_reset(&encode);
	return 0;
}
