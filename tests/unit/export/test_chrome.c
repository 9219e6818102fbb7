/* Chrome traces: properties that the golden file (tests/golden/export_small.txt) cannot show. */
#include "export/export.h"
#include "export/out.h"
#include "made.h"

static struct made made;
static struct dw_writer_out out;

static void record(uint64_t ticks, enum dw_kind kind, uint32_t id, const void *payload,
                   unsigned words)
{
	dw_encode_record(&made.stream, ticks, kind, id, payload, words);
}

/* The document; good until end(). */
static const char *export(void)
{
	dw_out_init_memory(&out);
	if (made_open(&made, NULL) || dw_export_chrome.write(made.model, NULL, &out, &made.error))
		return NULL;
	dw_out_bytes(&out, "", 1);
	return out.buffer;
}

static void end(void)
{
	dw_out_reset(&out);
	made_close(&made);
}

static unsigned times(const char *text, const char *part)
{
	size_t length = strlen(part);
	const char *end = text ? text + strlen(text) : NULL;
	unsigned count = 0;

	/* Under AddressSanitizer strstr() reads to the end of the text each time. */
	for (; text && (text = memmem(text, (size_t)(end - text), part, length)); text++)
		count++;
	return count;
}

static void linked(uint64_t from, uint64_t to, uint32_t op, uint32_t sequence, uint32_t thread)
{
	uint32_t payload[3] = { sequence, 0, thread };

	dw_encode_begin(&made.stream, from, op);
	record(from, DW_LINK, 0, payload, 3);
	dw_encode_end(&made.stream, to);
}

TEST(a_backward_call_has_an_arrow_from_its_forward_call)
{
	made_init(&made);
	uint32_t add = made_op(&made, DWELL_CATEGORY_OPERATOR, "add");
	uint32_t back = made_op(&made, DWELL_CATEGORY_OPERATOR, "AddBackward0");

	linked(1000, 2000, add, 7, 0);
	linked(2500, 2600, add, 7, 0); /* the later one made the node */
	linked(3000, 4000, add, 8, 0); /* no backward call */
	linked(5000, 6000, back, 7, made.thread);
	linked(6000, 7000, back, 7, made.thread); /* again: no second arrow */
	linked(8000, 9000, back, 9, made.thread); /* no forward call */
	const char *text = export();
	CHECK_EQ(times(text, "\"ph\":\"s\""), 1);
	CHECK_EQ(times(text, "\"ph\":\"f\""), 1);
	CHECK_HAS(text, "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":1,"
	                "\"pid\":2147483646,\"tid\":100,\"ts\":2.500}");
	CHECK_HAS(text, "\"id\":1,\"pid\":2147483646,\"tid\":100,\"ts\":5.000,\"bp\":\"e\"}");
	CHECK_HAS(text, "\"Ev Idx\":0,\"Sequence number\":7,\"Fwd thread id\":0}");
	CHECK_HAS(text, "\"Ev Idx\":3,\"Sequence number\":7,\"Fwd thread id\":100}");
	end();
}

TEST(names_and_arguments_are_json_whatever_they_are)
{
	made_init(&made);
	uint32_t op =
		dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, "say \"hi\"\\\n", "d\"", 0, NULL, 0);

	dw_encode_begin(&made.stream, 1000, op);
	record(1000, DW_ARGS, dw_encode_string(&made.process, "{\"k\": [1, \"\\u00e4\"]}"), NULL, 0);
	dw_encode_end(&made.stream, 2000);
	dw_encode_begin(&made.stream, 2000, op);
	record(2000, DW_ARGS, dw_encode_string(&made.process, "{\"k\": NaN}"), NULL, 0);
	dw_encode_end(&made.stream, 3000);
	dw_encode_meta(&made.process, "config", "{\"lr\": 0.1}", true);
	dw_encode_meta(&made.process, "traceEvents", "{\"lr\": 0.1", true);
	const char *text = export();
	CHECK_HAS(text, "\"name\":\"say \\\"hi\\\"\\\\\\n\",\"pid\"");
	CHECK_HAS(text, "\"detail\":\"d\\\"\",\"Category\":\"zone\",\"args\":{\"k\": [1, \"\\u00e4\"]}}");
	CHECK_HAS(text, "\"detail\":\"d\\\"\",\"Category\":\"zone\",\"args\":\"{\\\"k\\\": NaN}\"}");
	CHECK_HAS(text, "\n\"config\":{\"lr\": 0.1},\n");
	CHECK_HAS(text, "\"meta\":{\"config\":{\"lr\": 0.1},\"traceEvents\":\"{\\\"lr\\\": 0.1\"}");
	end();
}

static void alloc(uint64_t ticks, uint32_t op, uint64_t address, uint64_t bytes)
{
	uint64_t payload[2] = { address, bytes };

	record(ticks, DW_ALLOC, op, payload, 4);
}

TEST(memory_is_summed_in_order_of_time)
{
	struct dw_encode_stream other;
	uint64_t address;

	made_init(&made);
	uint32_t second = dw_encode_thread(&made.process, 101, 1, 0, "second");
	uint32_t cpu =
		dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, "other", "cpu", 0, NULL, 0);
	uint32_t gpu =
		dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, "other", "cuda:1", 0, NULL, 0);

	dw_encode_stream_init(&other, &made.process, 1, second);
	/* more than the table starts with, all freed by the other thread in between */
	for (uint64_t i = 0; i < 5000; i++) {
		alloc(1000 + i * 10, cpu, (i + 1) << 6, 100);
		address = (i + 1) << 6;
		dw_encode_record(&other, 1005 + i * 10, DW_FREE, cpu, &address, 2);
	}
	for (uint64_t i = 0; i < 5000; i++)
		alloc(100000 + i, gpu, i << 12, 1);
	for (uint64_t i = 0; i < 5000; i += 2) {
		address = i << 12;
		dw_encode_record(&other, 110000 + i, DW_FREE, cpu, &address, 2);
	}
	alloc(120000, gpu, 1 << 12, 11); /* live already: its free was lost */
	dw_encode_close(&other);
	const char *text = export();
	CHECK_EQ(times(text, "\"Bytes\":100,\"Total Allocated\":100}"), 5000);
	CHECK_EQ(times(text, "\"Bytes\":-100,\"Total Allocated\":0}"), 5000);
	CHECK_HAS(text, "\"Device Type\":1,\"Device Id\":1,\"Device\":\"cuda:1\",\"Kind\":\"other\","
	                "\"Addr\":20475904,\"Bytes\":1,\"Total Allocated\":5000}");
	CHECK_HAS(text, "\"Addr\":20471808,\"Bytes\":-1,\"Total Allocated\":2500}");
	CHECK_HAS(text, "\"Addr\":4096,\"Bytes\":11,\"Total Allocated\":2510}");
	end();
}

TEST(a_range_says_where_it_was_called_from)
{
	made_init(&made);
	uint32_t frames[3] = { dw_encode_frame(&made.process, "in\"ner", "a.c", 7),
		                   dw_encode_frame(&made.process, "main", NULL, 0), 4000000 };
	uint32_t stack = dw_encode_stack(&made.process, frames, 3);
	uint32_t add = made_op(&made, DWELL_CATEGORY_OPERATOR, "add");

	dw_encode_begin(&made.stream, 1000, add);
	record(1000, DW_STACK, stack, NULL, 0);
	dw_encode_begin(&made.stream, 1100, add);
	dw_encode_end(&made.stream, 1200);
	dw_encode_end(&made.stream, 2000);
	dw_encode_begin(&made.stream, 3000, add);
	dw_encode_end(&made.stream, 4000);
	const char *text = export();
	CHECK_HAS(text, "\"with_stack\":1,");
	CHECK_EQ(times(text, "\"Call stack\":\"a.c(7): in\\\"ner;main\"}"), 2);
	CHECK_EQ(times(text, "Call stack"), 2);
	end();
}

TEST(integers_that_are_no_tensor_are_concrete_inputs)
{
	static const int64_t sizes[] = { 2, 3 }, truths[] = { 1, 0 };
	struct dwell_tensor tensors[] = { { sizes, 2, DWELL_FLOAT32 },   { sizes, 2, DWELL_ARG_INTS },
		                              { sizes, 1, DWELL_ARG_INT },   { truths, 2, DWELL_ARG_BOOLS },
		                              { truths, 1, DWELL_ARG_BOOL }, { NULL, 0, DWELL_ARG_INTS } };

	made_init(&made);
	uint32_t shapes = dw_encode_shapes(&made.process, tensors, 6);
	uint32_t op = dw_encode_op(&made.process, DWELL_CATEGORY_OPERATOR, "conv", NULL, shapes, NULL, 0);

	dw_encode_begin(&made.stream, 1000, op);
	dw_encode_end(&made.stream, 2000);
	const char *text = export();
	CHECK_HAS(text, "\"Input Dims\":[[2,3],[],[],[],[],[]],"
	                "\"Input type\":[\"float\",\"ScalarList\",\"Scalar\",\"ScalarList\",\"Scalar\",\"ScalarList\"],"
	                "\"Concrete Inputs\":[\"\",\"[2, 3]\",\"2\",\"[True, False]\",\"True\",\"[]\"]");
	end();
}

TEST(a_trace_of_nothing_is_a_document)
{
	made_init(&made);
	const char *text = export();
	CHECK_HAS(text, "\"traceEvents\":[\n{\"ph\":\"M\"");
	CHECK_HAS(text, "\n],\n\"traceName\":\"standard output\"}\n");
	end();
}

CHECK_MAIN
