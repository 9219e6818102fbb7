/*
 * Writes a trace with many calls of layers, for bench/run.
 *
 *     many_layers CALLS LAYERS DEPTH FILE
 *
 * There are LAYERS layers in chains of DEPTH below one root. A pass calls all of them: forward,
 * with two operators and an allocation in each, then backward by links on another thread. Passes
 * are repeated until there are CALLS calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/tools/encode_records.h"

static struct dw_encode encode;
static struct dw_encode_process process;
static struct dw_encode_stream streams[2];
static uint32_t *layers, operators[4], activation, threads[2];
static uint64_t ticks = (uint64_t)1 << 40, sequence;

static void name_layers(uint64_t count, uint64_t depth)
{
	size_t room = depth * 8 + 32, at = 0;
	char *path = malloc(room);

	layers = malloc(count * sizeof *layers);
	for (uint64_t i = 0; i < count; i++) {
		if (i % depth == 0)
			at = (size_t)snprintf(path, room, "Net.c%llu", (unsigned long long)(i / depth));
		else
			at += (size_t)snprintf(path + at, room - at, ".d%llu", (unsigned long long)(i % depth));
		layers[i] = dw_encode_op(&process, DWELL_CATEGORY_LAYER, path, "Layer", 0, NULL, 0);
	}
	free(path);
}

static void forward(uint32_t layer)
{
	uint64_t memory[2] = { 4096 + sequence * 64, 64 };
	uint32_t link[3] = { (uint32_t)sequence, (uint32_t)(sequence >> 32), 0 };

	sequence++;
	dw_encode_begin(&streams[0], ticks += 100, layer);
	dw_encode_begin(&streams[0], ticks += 100, operators[0]);
	dw_encode_begin(&streams[0], ticks += 100, operators[1]);
	dw_encode_record(&streams[0], ticks += 10, DW_ALLOC, activation, (const uint32_t *)memory, 4);
	dw_encode_end(&streams[0], ticks += 300);
	dw_encode_record(&streams[0], ticks, DW_LINK, 0, link, 3);
	dw_encode_end(&streams[0], ticks += 100);
}

static void backward(uint64_t number)
{
	uint32_t link[3] = { (uint32_t)number, (uint32_t)(number >> 32), threads[0] };

	dw_encode_begin(&streams[1], ticks += 100, operators[2]);
	dw_encode_record(&streams[1], ticks, DW_LINK, 0, link, 3);
	dw_encode_begin(&streams[1], ticks += 100, operators[3]);
	dw_encode_end(&streams[1], ticks += 300);
	dw_encode_end(&streams[1], ticks += 100);
}

/* Calls all layers once, fewer in the last pass. */
static uint64_t pass(uint64_t calls, uint64_t count, uint64_t depth)
{
	uint64_t done = 0, first = sequence;

	for (uint64_t chain = 0; chain < count && done < calls; chain += depth) {
		uint64_t open = 0;

		for (; open < depth && chain + open < count && done < calls; open++, done++)
			forward(layers[chain + open]);
		for (; open; open--)
			dw_encode_end(&streams[0], ticks += 50);
	}
	for (uint64_t number = sequence; number > first; number--)
		backward(number - 1);
	return done;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "linear", "addmm", "LinearBackward", "mm" };
	uint64_t calls = argc == 5 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t count = calls ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t depth = count ? strtoull(argv[3], NULL, 10) : 0;
	FILE *file;

	if (!depth)
		return 2;
	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0)->pid = 0x7ffffffe;
	dw_encode_head(&encode)->start_ticks = ticks;
	for (uint32_t i = 0; i < 2; i++) {
		threads[i] = dw_encode_thread(&process, i + 1, i, ticks, i ? "backward" : "main");
		dw_encode_stream_init(&streams[i], &process, i, threads[i]);
	}
	for (int i = 0; i < 4; i++)
		operators[i] = dw_encode_op(&process, DWELL_CATEGORY_OPERATOR, names[i], NULL, 0, NULL, 0);
	activation = dw_encode_op(&process, DWELL_CATEGORY_ALLOCATION, "activation", "cpu", 0, NULL, 0);
	name_layers(count, depth);
	while (calls)
		calls -= pass(calls, count, depth);
	dw_encode_close(&streams[0]);
	dw_encode_close(&streams[1]);
	file = fopen(argv[4], "wb");
	if (!file || encode.failed || fwrite(encode.image, dw_encode_bytes(&encode), 1, file) != 1 ||
	    fclose(file)) {
		fprintf(stderr, "many_layers: cannot write %s\n", argv[4]);
		return 1;
	}
	dw_encode_reset(&encode);
	free(layers);
	return 0;
}
