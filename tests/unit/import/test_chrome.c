/* Chrome traces: Kineto's variants, other writers, and broken files. */
#include "base/text.h"
#include "made.h"
#include "model/core/shapes.h"

static struct made made;

struct found {
	size_t ranges, marks, counters, allocs, frees, flows, asyncs;
	uint64_t ranges_ns;
};

static int open_text(const char *text)
{
	return made_open_text(&made, text);
}

static int count_event(void *context, const struct dw_event *event)
{
	struct found *found = context;

	switch (event->type) {
	case DW_EVENT_RANGE:
		found->ranges++;
		found->ranges_ns += event->end_ns - event->start_ns;
		break;
	case DW_EVENT_MARK: found->marks++; break;
	case DW_EVENT_COUNTER: found->counters++; break;
	case DW_EVENT_ALLOC: found->allocs++; break;
	case DW_EVENT_FREE: found->frees++; break;
	case DW_EVENT_ASYNC: found->asyncs++; break;
	default: found->flows++; break;
	}
	return 0;
}

static struct found found_in(const char *text)
{
	struct found found = { 0 };
	int code = open_text(text);

	if (code)
		CHECK_FAIL("%d: %s", code, made.error.message);
	else
		dw_model_events(made.model, count_event, &found, NULL);
	return found;
}

static const char *repairs(void)
{
	static char all[4096];

	*all = '\0';
	for (size_t i = 0; made.source && i < made.source->repair_count; i++)
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s\n", made.source->repairs[i]);
	return all;
}

static const struct dw_symbol *symbol_of(const char *name)
{
	static const struct dw_symbol none = { .name = "" };
	const struct dw_source_file *file = &made.source->files[0];

	for (uint32_t id = 0; id < file->symbol_count; id++)
		if (file->symbols[id].name && strcmp(file->symbols[id].name, name) == 0)
			return &file->symbols[id];
	CHECK_FAIL("no symbol '%s'", name);
	return &none;
}

#define X(cat, name, ts, dur) \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":5,\"tid\":6,\"ts\":" ts ",\"dur\":" dur "}"

TEST(ranges_nest_whatever_their_order)
{
	struct found found = found_in("{\"traceEvents\":[" X("cpu_op", "inner", "12.5", "1.25") ","
	                              X("cpu_op", "outer", "10", "10") "]}");

	CHECK_EQ(found.ranges, 2);
	CHECK_EQ(found.ranges_ns, 11250);
	CHECK_EQ(made.source->process_count, 1);
	CHECK_EQ(made.source->processes[0].pid, 5);
	CHECK_EQ(made.source->threads[0].tid, 6);
	CHECK_EQ(symbol_of("inner")->category, DWELL_CATEGORY_OPERATOR);
	made_close(&made);
}

TEST(an_array_alone_is_a_trace_too)
{
	struct found found = found_in(" [ " X("a", "b", "1", "2") " , " X("a", "c", "4", "2") " ] ");

	CHECK_EQ(found.ranges, 2);
	CHECK_EQ(symbol_of("b")->category, DWELL_CATEGORY_ZONE);
	made_close(&made);
}

/* What was read of the keys of one event is used for the next one. */
TEST(keys_are_known_in_any_order_and_form)
{
	static const char *const forms[] = {
		X("cpu_op", "a", "1", "2"),
		"{\n    \"name\" : \"a\" ,\"ts\":\t1,\r\n\"dur\": 2, \"tid\":6,\"pid\":5,\"cat\":\"cpu_op\",\"ph\":\"X\"}",
		("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"names\":\"b\",\"name\":\"a\",\"pid\":5,\"tid\":6,\"t\\u0073\":9,\"ts\":1,\"dur\":2,"
		"\"a key of more than twenty-four bytes\":3,\"args\":{\"a key of more than twenty-four bytes\":[ ],\"External id\":1}}"),
		"{\"ph\":\"X\",\"cat\":\"a category of more than twenty-four bytes\",\"name\":\"a\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":2}",
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"nam\":\"b\",\"name\":\"a\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":2}",
	};
	enum { FORMS = sizeof forms / sizeof *forms };
	char text[2048];

	for (unsigned i = 0; i < FORMS * FORMS; i++) {
		struct found found;

		snprintf(text, sizeof text, "[%s,%s]", forms[i / FORMS], forms[i % FORMS]);
		found = found_in(text);
		CHECK_EQ(found.ranges, 2);
		CHECK_EQ(found.ranges_ns, 4000);
		CHECK_STR(repairs(), "");
		made_close(&made);
	}
}

TEST(what_a_file_says_of_itself_may_follow)
{
	found_in("{\"traceEvents\":[" X("cpu_op", "a", "1", "2") "],\"baseTimeNanoseconds\":1700000000000000000,"
	         "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,\"world_size\":8}}");
	CHECK_EQ(made.source->realtime_start_ns, 1700000000000001000);
	CHECK_EQ(made.source->processes[0].rank, 3);
	CHECK_EQ(made.source->processes[0].world_size, 8);
	made_close(&made);
}

TEST(annotations_steps_and_modules_have_categories)
{
	found_in("{\"traceEvents\":[" X("user_annotation", "ProfilerStep#7", "0", "100") ","
	         X("user_annotation", "## forward ##", "1", "10") ","
	         X("user_annotation", "Optimizer.step#SGD.step", "20", "10") ","
	         X("user_annotation", "enumerate(DataLoader)#X.__next__", "40", "1") ","
	         X("python_function", "nn.Module: Conv2d_3", "2", "5") ","
	         X("python_function", "net/train.py(12): step", "50", "5") ","
	         X("python_function", "<built-in method sum>", "51", "1") "]}");
	CHECK_EQ(made.source->step_count, 1);
	CHECK_EQ(made.source->steps[0].number, 7);
	CHECK_EQ(made.source->steps[0].end_ns - made.source->steps[0].start_ns, 100000);
	CHECK_EQ(symbol_of("forward")->category, DWELL_CATEGORY_PHASE);
	CHECK_STR(symbol_of("optimizer")->detail, "SGD.step");
	CHECK_EQ(symbol_of("DataLoader.__next__")->category, DWELL_CATEGORY_DATA);
	CHECK_EQ(symbol_of("Conv2d_3")->category, DWELL_CATEGORY_LAYER);
	CHECK_STR(symbol_of("Conv2d_3")->detail, "Conv2d");
	CHECK_EQ(symbol_of("step")->line, 12);
	CHECK_STR(symbol_of("step")->file, "net/train.py");
	CHECK_EQ(symbol_of("<built-in method sum>")->category, DWELL_CATEGORY_FUNCTION);
	made_close(&made);
}

TEST(shapes_and_types_of_arguments)
{
	const struct dw_entry_shapes *shapes;
	int64_t size;

	found_in("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"cat\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":"
	         "{\"Input Dims\":[[2,3],[],[[4],[5]]],\"Input type\":[\"float\",\"Scalar\",\"TensorList\"]}}]");
	shapes = symbol_of("cat")->shapes;
	CHECK(shapes != NULL);
	if (shapes) {
		CHECK_EQ(shapes->entry.aux, 4);
		CHECK_EQ(shapes->tensors[0], DWELL_FLOAT32);
		CHECK_EQ(shapes->tensors[1], 2);
		memcpy(&size, shapes->tensors + 16, 8);
		CHECK_EQ(size, 3);
		CHECK_EQ(shapes->tensors[24], DWELL_DTYPE_NONE);
	}
	made_close(&made);
}

/* The arguments of an operator as text, by its types and values. */
static const char *arguments_of(const char *name, const char *values)
{
	static char text[256];
	const struct dw_entry_shapes *shapes;
	char *found;

	snprintf(text, sizeof text,
	         "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":"
	         "{\"Input Dims\":[[2,3],[]],\"Input type\":[\"float\",\"\"],\"Concrete Inputs\":%s}}]",
	         name, values);
	found_in(text);
	shapes = symbol_of(name)->shapes;
	found = shapes ? dw_shapes_text(shapes, DW_SHAPES_FOR_PEOPLE) : NULL;
	snprintf(text, sizeof text, "%s%s", found ? found : "none",
	         shapes && shapes->tensors[24] == DWELL_ARG_INTS ? shapes->tensors[26] & 2 ? " truth"
	                                                           : shapes->tensors[26]   ? " one"
	                                                                                   : " list"
	                                                         : "");
	free(found);
	made_close(&made);
	return text;
}

TEST(integers_of_operators_whose_flops_need_them)
{
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"[2, -1]\"]"), "float32[2,3], (2,-1) list");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"[]\"]"), "float32[2,3], () list");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"7\"]"), "float32[2,3], (7) one");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"False\"]"), "float32[2,3], (0) truth");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"[True, False]\"]"), "float32[2,3], (1,0) truth");
	/* Another operator's are new ones at each call. */
	CHECK_STR(arguments_of("aten::select", "[\"\",\"7\"]"), "float32[2,3], -");
	/* What is no integer. */
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"1.\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"1e-05\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"same\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"-\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"[1, True]\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"[1, 2\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"[1, [2]]\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[\"\",\"9223372036854775808\"]"), "float32[2,3], -");
	/* Not for each argument, or no list. */
	CHECK_STR(arguments_of("aten::conv2d", "[\"[1]\"]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "[1,2]"), "float32[2,3], -");
	CHECK_STR(arguments_of("aten::conv2d", "7"), "float32[2,3], -");
}

static int find_backward(void *context, const struct dw_event *event)
{
	if (event->type == DW_EVENT_RANGE && event->sequence == 9007199254740993u && event->depth == 0 &&
	    event->forward_thread != DW_NO_INDEX)
		*(uint32_t *)context = made.source->threads[event->forward_thread].tid;
	return 0;
}

TEST(a_backward_operator_names_its_forward_thread)
{
	uint32_t tid = 0;

	found_in("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"MmBackward\",\"pid\":1,\"tid\":20,\"ts\":9,\"dur\":1,"
	         "\"args\":{\"Sequence number\":9007199254740993,\"Fwd thread id\":1}},"
	         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"mm\",\"pid\":1,\"tid\":10,\"ts\":1,\"dur\":1,"
	         "\"args\":{\"Sequence number\":9007199254740993,\"Fwd thread id\":0}}]");
	dw_model_events(made.model, find_backward, &tid, NULL);
	CHECK_EQ(tid, 10);
	made_close(&made);
}

TEST(other_forms_of_events)
{
	struct found found = found_in(
	    "[{\"ph\":\"B\",\"name\":\"b\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":1},"
	    "{\"ph\":\"B\",\"name\":\"c\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":2},"
	    "{\"ph\":\"E\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":3},{\"ph\":\"E\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":5},"
	    "{\"ph\":\"C\",\"name\":\"n\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":2,\"args\":{\"x\":1.5,\"y\":-2,\"z\":\"no\"}},"
	    "{\"ph\":\"i\",\"name\":\"m\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":2,\"s\":\"t\"},"
	    "{\"ph\":\"s\",\"cat\":\"f\",\"name\":\"f\",\"id\":1,\"pid\":\"main\",\"tid\":\"t\",\"ts\":2},"
	    "{\"ph\":\"f\",\"cat\":\"f\",\"name\":\"f\",\"id\":1,\"pid\":\"main\",\"tid\":\"t\",\"ts\":4},"
	    "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,\"pid\":\"main\",\"tid\":\"t\",\"ts\":2},"
	    "{\"ph\":\"b\",\"cat\":\"a\",\"name\":\"a\",\"id\":\"0x1\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":2},"
	    "{\"ph\":\"e\",\"cat\":\"a\",\"name\":\"a\",\"id\":\"0x1\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":4},"
	    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":\"main\",\"tid\":\"t\",\"args\":{\"name\":\"worker\"}},"
	    "{\"ph\":\"Q\",\"name\":\"?\",\"ts\":1},{\"ph\":\"E\",\"pid\":\"main\",\"tid\":\"t\",\"ts\":9}]");

	CHECK_EQ(found.ranges, 2);
	CHECK_EQ(found.ranges_ns, 5000);
	CHECK_EQ(found.counters, 2);
	CHECK_EQ(found.marks, 1);
	CHECK_EQ(found.flows, 2);
	CHECK_EQ(found.asyncs, 1);
	CHECK_STR(made.source->threads[0].name, "worker");
	CHECK_STR(made.source->processes[0].name, "main");
	CHECK_HAS(repairs(),
	          "1 events are of a kind that dwell does not know (ph Q), and are left out (the first at line 1, column");
	CHECK_HAS(repairs(), "1 events end and did not begin");
	made_close(&made);
}

struct values {
	const char *name;
	size_t count;
	double sum;
};

static int add_value(void *context, const struct dw_event *event)
{
	struct values *values = context;

	if (event->type == DW_EVENT_COUNTER &&
	    strcmp(dw_model_symbols(made.model, NULL)[event->symbol].name, values->name) == 0) {
		values->count++;
		values->sum += event->value;
	}
	return 0;
}

static struct values values_of(const char *name)
{
	struct values values = { name, 0, 0 };

	dw_model_events(made.model, add_value, &values, NULL);
	return values;
}

#define C(name, id, ts, args) \
	"{\"ph\":\"C\",\"name\":\"" name "\"," id "\"pid\":1,\"tid\":1,\"ts\":" ts ",\"args\":{" args "}}"

TEST(each_series_and_each_id_of_a_counter_is_one)
{
	found_in("[" C("memory", "", "1", "\"used\":10,\"kept\":100") "," C("loss", "", "1", "\"value\":1.5")
	         "," C("queue", "\"id\":\"a\",", "1", "\"len\":0") "," C("queue", "\"id\":7,", "1", "\"len\":1000")
	         "," C("memory", "", "2", "\"used\":12") "," C("memory", "", "3", "\"kept\":102,\"why\":\"x\"")
	         "," C("loss", "", "2", "\"value\":0.5") "," C("loss", "", "3", "\"best\":0.25")
	         "," C("queue", "\"id\":\"a\",", "2", "\"len\":2") "," C("q\\u0041", "", "2", "\"x\":3,\"y\\n\":4") "]");
	CHECK(values_of("memory used").count == 2 && values_of("memory used").sum == 22);
	CHECK(values_of("memory kept").count == 2 && values_of("memory kept").sum == 202);
	CHECK(values_of("loss").count == 2 && values_of("loss").sum == 2);
	CHECK_STR(symbol_of("loss")->detail, "value");
	CHECK(values_of("loss best").count == 1 && values_of("loss best").sum == 0.25);
	CHECK(values_of("queue a").count == 2 && values_of("queue a").sum == 2);
	CHECK_STR(symbol_of("queue a")->detail, "len");
	CHECK(values_of("queue 7").count == 1 && values_of("queue 7").sum == 1000);
	CHECK_EQ(values_of("qA x").count, 1);
	CHECK_EQ(values_of("qA y\n").count, 1);
	made_close(&made);
}

static int add_length(void *context, const struct dw_event *event)
{
	struct values *values = context;

	if (event->type == DW_EVENT_RANGE &&
	    strcmp(dw_model_symbols(made.model, NULL)[event->symbol].name, values->name) == 0) {
		values->count++;
		values->sum += (double)(event->end_ns - event->start_ns);
	}
	return 0;
}

static double length_of(const char *name)
{
	struct values values = { name, 0, 0 };

	dw_model_events(made.model, add_length, &values, NULL);
	return values.sum;
}

#define P(phase, name, ts) "{\"ph\":\"" phase "\"," name "\"pid\":1,\"tid\":1,\"ts\":" ts "}"

TEST(an_end_with_a_name_ends_the_range_of_this_name)
{
	/* overlapping ranges; an end without a name; an end whose range began before the file */
	found_in("[" P("B", "\"name\":\"A\",", "0") "," P("B", "\"name\":\"B\",", "60") "," P("E", "\"name\":\"A\",", "100")
	         "," P("E", "\"name\":\"B\",", "140") "," P("B", "\"name\":\"C\",", "200") "," P("E", "\"name\":\"A\",", "210")
	         "," P("E", "", "264") "," P("B", "\"name\":\"D\",", "264") "," P("B", "\"name\":\"D\",", "270")
	         "," P("E", "\"name\":\"D\",", "280") "," P("E", "\"name\":\"D\",", "300") "]");
	CHECK_EQ(length_of("A"), 100000);
	CHECK_EQ(length_of("B"), 80000);
	CHECK_EQ(length_of("C"), 64000);
	CHECK_EQ(length_of("D"), 46000);
	CHECK_HAS(repairs(), "1 events end and did not begin");
	made_close(&made);
	/* a writer that gives ends a name of their own */
	found_in("[" P("B", "\"name\":\"A\",", "0") "," P("B", "\"name\":\"B\",", "60") "," P("E", "\"name\":\"end\",", "100")
	         "," P("E", "\"name\":\"end\",", "140") "]");
	CHECK_EQ(length_of("A"), 140000);
	CHECK_EQ(length_of("B"), 40000);
	CHECK_STR(repairs(), "");
	made_close(&made);
}

TEST(memory_events_are_allocations)
{
	struct found found = found_in(
	    "[{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":"
	    "{\"Addr\":140737488355327,\"Bytes\":512,\"Device Type\":1,\"Device Id\":1}},"
	    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":2,\"args\":"
	    "{\"Addr\":140737488355327,\"Bytes\":-512,\"Device Type\":1,\"Device Id\":1}}]");

	CHECK_EQ(found.allocs, 1);
	CHECK_EQ(found.frees, 1);
	CHECK_STR(symbol_of("other")->detail, "cuda:1");
	made_close(&made);
}

TEST(events_of_devices_name_their_call)
{
	found_in("{\"deviceProperties\":[{\"id\":0,\"name\":\"A100\",\"totalGlobalMem\":42297524224,\"numSms\":108}],"
	         "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":2,"
	         "\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":11,\"grid\":[8,16,5],"
	         "\"block\":[128,1,1],\"registers per thread\":122,\"shared memory\":12544}},"
	         "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\",\"pid\":0,\"tid\":7,"
	         "\"ts\":8,\"dur\":2,\"args\":{\"device\":0,\"stream\":7,\"correlation\":12,\"bytes\":64}},"
	         "{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,\"ts\":1,\"dur\":1,"
	         "\"args\":{\"correlation\":11}}]}");
	CHECK_EQ(made.source->process_count, 1);
	CHECK_EQ(made.source->processes[0].pid, 9);
	CHECK_EQ(symbol_of("cudaLaunchKernel")->category, DWELL_CATEGORY_RUNTIME);
	CHECK(made.source->device_count > 0 && made.source->events_count == 1);
	CHECK_STR(made.source->devices[0].name, "A100");
	made_close(&made);
}

TEST(broken_events_are_left_out_and_counted)
{
	struct found found = found_in(
	    "{\"traceEvents\":[\n" X("cpu_op", "good", "1", "1") ",\n"
	    "  {\"ph\":\"X\",\"name\":\"lambda \"x\" of C:\\Users\",\"pid\":5,\"tid\":6,\"ts\":3,\"dur\":1},\n"
	    "  {\"ph\":\"X\", what is this},\n"
	    "  {\"ph\":\"X\",\"name\":\"bandwidth\",\"pid\":5,\"tid\":6,\"ts\":5,\"dur\":1,\"args\":{\"GB/s\":inf}},\n"
	    "  {\"ph\":\"X\",\"name\":\"negative\",\"pid\":5,\"tid\":6,\"ts\":7,\"dur\":-5},\n"
	    "  {\"ph\":\"X\",\"name\":7,\"pid\":5,\"tid\":6,\"ts\":\"8\",\"dur\":1},\n"
	    "  {\"ph\":\"X\",\"name\":\"early\",\"pid\":5,\"tid\":6,\"ts\":-8,\"dur\":1}\n]}");

	CHECK_EQ(found.ranges, 5);
	symbol_of("lambda \"x\" of C:\\Users");
	CHECK_HAS(repairs(), "1 events are no valid JSON and are left out (the first at line 4, column 3)");
	CHECK_HAS(repairs(), "2 events have text without escapes");
	CHECK_HAS(repairs(), "(the first at line 3, column 3)");
	CHECK_HAS(repairs(), "1 events have a negative duration");
	CHECK_HAS(repairs(), "1 events have no time, or one that is no number, and are left out");
	CHECK_HAS(repairs(), "1 events begin before time 0");
	made_close(&made);
}

TEST(a_file_that_ends_too_early_gives_what_it_has)
{
	static const char text[] = "{\"a\":1,\"traceEvents\":[" X("cpu_op", "a", "1", "1") ","
	                           X("cpu_op", "b", "2", "1") "],\"c\":[1,2]}";
	char cut[sizeof text];
	size_t most = 0;

	for (size_t length = 40; length < sizeof text - 1; length++) {
		struct found found;

		memcpy(cut, text, length);
		cut[length] = '\0';
		found = found_in(cut);
		CHECK(found.ranges >= most && found.ranges <= 2);
		most = found.ranges;
		CHECK_HAS(repairs(), "the file ends too early at line 1, column");
		made_close(&made);
	}
	CHECK_EQ(most, 2);
}

/* As torch 2.13 writes names of files that have quotes. */
TEST(names_with_quotes_end_before_the_next_member)
{
	struct found found = found_in(
		"[{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"{\"device\": \"cpu\", \"dtype\": 4}(12): run\", "
		"\"pid\": 10, \"tid\": 10, \"ts\": 1000, \"dur\": 500},\n"
		"{\"ph\": \"X\", \"name\": \"say \"hi\", \"tid\", \"you\"\", \"pid\": 10, \"tid\": 10, \"ts\": 1300, \"dur\": 50},\n"
		"{\"ph\": \"X\", \"name\": \"none\", \"pid\": 10, \"tid\": 10, \"ts\": 1400, \"dur\": 5, \"args\": {\"a\": , \"b\": }}]");

	CHECK_EQ(found.ranges, 3);
	CHECK_HAS(repairs(), "3 events have text without escapes");
	CHECK_EQ(made.source->lost[DW_LOSS_IMPORT], 0);
	made_close(&made);
}

TEST(what_is_left_out_is_a_loss_of_the_trace)
{
	found_in("[" X("a", "b", "1",
	               "1") ", {\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": \"7\", \"dur\": 1},"
	                    "{\"ph\": \"?\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 8},"
	                    "{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 9}, {\"ph\": \"X\" 5}]");
	CHECK_EQ(made.source->lost[DW_LOSS_IMPORT], 3);
	CHECK_HAS(repairs(), "1 events have no duration, which is taken as 0");
	made_close(&made);
}

TEST(marks_of_encodings_at_the_begin)
{
	struct found found = found_in("\xef\xbb\xbf[" X("a", "b", "1", "1") "]");

	CHECK_EQ(found.ranges, 1);
	made_close(&made);
}

/* Opens a text, which is UTF-8 without characters beyond 16 bits, as UTF-16. */
static int open_wide(const char *text, bool big, const char *behind, size_t behind_bytes)
{
	static char wide[1 << 16];
	const char *path, *at = text;
	size_t used = 0;
	int result;

	wide[used++] = big ? '\xfe' : '\xff';
	wide[used++] = big ? '\xff' : '\xfe';
	while (*at && used < sizeof wide - 16) {
		uint32_t code = dw_utf8_next(&at);

		wide[used + big] = (char)(code & 0xff);
		wide[used + !big] = (char)(code >> 8);
		used += 2;
	}
	memcpy(wide + used, behind, behind_bytes);
	memset(&made, 0, sizeof made);
	made.file = -1;
	if (made_write(&made, wide, used + behind_bytes))
		return -100;
	path = made.path;
	result = dw_source_open(&made.source, &path, 1, &made.error);
	return result ? result : dw_model_create(&made.model, made.source, NULL, &made.error);
}

TEST(a_text_in_utf_16_is_read)
{
	static char text[24000];
	struct found found = { 0 };

	for (unsigned big = 0; big < 2; big++) {
		found = (struct found){ 0 };
		CHECK_EQ(open_wide("[" X("a", "\xc3\xa9t\xe2\x82\xac", "1", "1") "]", big, "", 0), 0);
		dw_model_events(made.model, count_event, &found, NULL);
		CHECK_EQ(found.ranges, 1);
		CHECK_EQ(symbol_of("\xc3\xa9t\xe2\x82\xac")->category, DWELL_CATEGORY_ZONE);
		made_close(&made);
	}
	/* pairs over the end of a part, half of a pair, and an odd last byte */
	memset(text, 'x', sizeof text - 1);
	memcpy(text, "[{\"ph\":\"X\",\"name\":\"", 20);
	CHECK_EQ(open_wide(text, false, "\x3d\xd8\x00\xde\x3d\xd8\"\0,\0\"\0p\0", 14), 0);
	CHECK_HAS(repairs(), "ends too early");
	made_close(&made);
	CHECK_EQ(open_wide("[" X("a", "b", "1", "1") "]", false, "x", 1), 0);
	CHECK_STR(repairs(), "");
	made_close(&made);
}

TEST(members_without_a_place_are_losses)
{
	found_in("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"sf\":3},"
	         "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2,\"stack\":[\"x\"]},"
	         "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":3,\"esf\":3},{\"ph\":\"O\",\"ts\":3},{\"ph\":\"v\",\"ts\":3},"
	         "{\"ph\":\"O\",\"ts\":3},{\"ph\":\"c\",\"ts\":4,\"name\":\"clock_sync\"}],"
	         "\"stackFrames\":{\"3\":{\"name\":\"main\"}},\"samples\":[{\"ts\":1,\"sf\":3},{\"ts\":2,\"sf\":3}],"
	         "\"systemTraceEvents\":\"ftrace\"}");
	CHECK_EQ(made.source->lost[DW_LOSS_IMPORT], 9);
	CHECK_HAS(repairs(), "3 events are of a kind that dwell does not know (ph O v), and are left out");
	CHECK_HAS(repairs(), "3 call stacks of events (sf, stack) are left out");
	CHECK_HAS(repairs(), "3 records of kinds that dwell does not read (samples, systemTraceEvents) are left out");
	CHECK_HAS(repairs(), "1 events tie clocks together (ph c): all times are taken as of one clock");
	made_close(&made);
}

#define EVENT_OF(pid, rest) "{\"pid\":" pid ",\"tid\":" pid "," rest "}"
#define RANGE_OF(pid, name, ts) EVENT_OF(pid, "\"ph\":\"X\",\"name\":\"" name "\",\"ts\":" ts ",\"dur\":5")
#define NOTED(pid, id, ts, asked) EVENT_OF(pid, "\"ph\":\"c\",\"name\":\"clock_sync\",\"ts\":" ts ",\"args\":{\"sync_id\":\"" id "\"" asked "}")
#define ASKED(pid, id, ts, asked) NOTED(pid, id, ts, ",\"issue_ts\":" asked)

struct begins {
	uint64_t ns[4]; /* of the processes 1 to 4, since the start of the run */
};

static int find_begin(void *context, const struct dw_event *event)
{
	struct begins *begins = context;
	uint32_t pid = made.source->processes[made.source->threads[event->thread].process].pid;

	if (event->type == DW_EVENT_RANGE && pid >= 1 && pid <= 4)
		begins->ns[pid - 1] = event->start_ns;
	return 0;
}

static struct begins begins_in(const char *text)
{
	struct begins begins = { { 0 } };

	CHECK_EQ(open_text(text), 0);
	if (made.model)
		dw_model_events(made.model, find_begin, &begins, NULL);
	return begins;
}

/* Process 1 asks 2, which counts from another time, and 2 asks 3; of two moments the one with the sooner answer counts. 4 is asked nothing. */
TEST(clocks_of_one_file_are_aligned)
{
	struct begins begins = begins_in("[" RANGE_OF("2", "b", "900000000100") "," RANGE_OF("1", "a", "1000") "," RANGE_OF("3", "c", "50") ","
	                                 RANGE_OF("4", "d", "1500") "," NOTED("2", "far", "900000005000", "") ","
	                                 NOTED("2", "near", "900000000000", "") "," ASKED("1", "far", "9000", "1000") ","
	                                 ASKED("1", "near", "1200", "1180") "," ASKED("2", "next", "900000000202", "900000000198") ","
	                                 NOTED("3", "next", "100", "") "," ASKED("1", "nobody", "2000", "1990") "]");

	CHECK_EQ(begins.ns[0], 0);
	CHECK_EQ(begins.ns[1], 290000); /* 100 us after the moment 1190 */
	CHECK_EQ(begins.ns[2], 340000); /* 50 us before the moment 1390 */
	CHECK_EQ(begins.ns[3], 500000);
	CHECK_EQ(made.source->end_ns, 505000);
	CHECK_HAS(repairs(), "2 processes have another clock: their times are moved by moments that both sides noted (ph c)");
	CHECK_HAS(repairs(), "1 processes noted no such moment: their times are not moved");
	CHECK_EQ(made.source->lost[DW_LOSS_IMPORT], 0);
	made_close(&made);
}

TEST(clocks_that_no_moment_ties_are_said)
{
	struct begins begins = begins_in("[" RANGE_OF("1", "a", "1000") "," RANGE_OF("2", "b", "7000") "," ASKED("1", "x", "1200", "1100") ","
	                                 NOTED("2", "y", "7100", "") "]");

	CHECK_EQ(begins.ns[1], 6000000);
	CHECK_HAS(repairs(), "2 events tie clocks together (ph c): all times are taken as of one clock");
	made_close(&made);
}

TEST(what_is_no_chrome_trace_is_refused)
{
	CHECK_EQ(open_text("{\"name\": \"package\", \"version\": 3}"), DWELL_E_NOT_TRACE);
	CHECK_HAS(made.error.message, "traceEvents");
	made_close(&made);
	CHECK_EQ(open_text("[1, 2, 3]"), DWELL_E_NOT_TRACE);
	CHECK_HAS(made.error.message, "JSON");
	made_close(&made);
	CHECK_EQ(open_text("{\"traceEvents\": 5}"), DWELL_E_NOT_TRACE);
	made_close(&made);
	CHECK_EQ(open_text("{\"traceEvents\": []}"), 0);
	CHECK_HAS(repairs(), "it has no events");
	made_close(&made);
}

TEST(times_that_no_clock_shows_are_left_out)
{
	struct found found = found_in("[" X("a", "b", "5707417525512110", "1") "," X("a", "c", "1", "1e30") ","
	                              X("a", "d", "2", "9e15") "]");

	CHECK_EQ(found.ranges, 2);
	CHECK_HAS(repairs(), "1 events have no time, or one that is no number, and are left out");
	CHECK_HAS(repairs(), "1 events have members of a wrong type");
	CHECK_EQ(made.source->lost[DW_LOSS_IMPORT], 1);
	CHECK(!strstr(repairs(), "damaged"));
	made_close(&made);
}

/* Events of two threads with one number in different processes, and ids beyond 2^53. */
TEST(ids_are_exact)
{
	found_in("[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":9007199254740992,\"ts\":1,\"dur\":1},"
	         "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":9007199254740993,\"ts\":1,\"dur\":1},"
	         "{\"ph\":\"X\",\"name\":\"a\",\"pid\":2,\"tid\":9007199254740993,\"ts\":1,\"dur\":1}]");
	CHECK_EQ(made.source->process_count, 2);
	CHECK_EQ(made.source->thread_count, 3);
	made_close(&made);
}

#define NODE(name, op, ts) \
	"{\"cat\":\"Node\",\"pid\":5,\"tid\":6,\"dur\":8,\"ts\":" ts ",\"ph\":\"X\",\"name\":\"" name "\"," \
	"\"args\":{\"op_name\":\"" op "\",\"input_type_shape\":[{\"float\":[16,64]},{\"int64\":[]}]}}"
#define RUN(ts) X("Session", "model_run", ts, "50")

TEST(nodes_of_onnx_runtime_are_operators_and_its_runs_are_steps)
{
	const struct dw_symbol *symbol;

	found_in("[" X("Session", "model_loading_uri", "1", "50") "," NODE("/fc1/MatMul_kernel_time", "MatMul", "110")
	         "," RUN("100") "," NODE("/fc1/MatMul_kernel_time", "MatMul", "210") "," RUN("200") "]");
	symbol = symbol_of("MatMul");
	CHECK_EQ(symbol->category, DWELL_CATEGORY_OPERATOR);
	CHECK_STR(symbol->detail, "/fc1/MatMul");
	REQUIRE(symbol->shapes);
	CHECK_EQ(made.source->step_count, 2);
	CHECK_EQ(made.source->steps[1].number, 1);
	CHECK(!strstr(repairs(), "was cut"));
	made_close(&made);
}

TEST(nodes_of_older_onnx_runtimes_have_operators)
{
	found_in("[" X("Node", "/block/Conv_12_kernel_time", "1", "5") "," X("Node", "Gemm_kernel_time", "7", "5") "," X(
	         "Node", "x_fence_before", "13", "1") "]");
	CHECK_EQ(symbol_of("Conv")->category, DWELL_CATEGORY_OPERATOR);
	CHECK_STR(symbol_of("Conv")->detail, "/block/Conv_12");
	CHECK_EQ(symbol_of("Gemm")->category, DWELL_CATEGORY_OPERATOR);
	CHECK_EQ(symbol_of("x_fence_before")->category, DWELL_CATEGORY_ZONE);
	made_close(&made);
}

TEST(a_profile_that_onnx_runtime_cut_says_so)
{
	found_in("[" NODE("a_kernel_time", "Relu", "110") "," RUN("100") "," NODE("a_kernel_time", "Relu", "210") "]");
	CHECK(strstr(repairs(), "the profile was cut at 3 events"));
	made_close(&made);
}

CHECK_MAIN
