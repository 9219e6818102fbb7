/*
 * Graphs of kernels in Kineto's traces: their work belongs to the ranges of their capture, which is in the file or in a folder
 * beside it. The texts have the form of vLLM's and SGLang's traces.
 */
#include <sys/stat.h>

#include "made.h"
#include "import/import.h"
#include "model/device/device.h"

#define EVENT(category, name, tid, start, length, more) \
	"{\"ph\":\"X\",\"cat\":\"" category "\",\"name\":\"" name "\",\"pid\":9,\"tid\":" tid ",\"ts\":" start ",\"dur\":" length \
	",\"args\":{" more "}}"
#define OPERATOR(name, start, length) EVENT("cpu_op", name, "9", start, length, "")
#define LAYER(name, start, length) EVENT("python_function", "nn.Module: " name, "9", start, length, "")
#define CALL(name, id, start, more) EVENT("cuda_runtime", name, "9", start, "2", "\"correlation\":" id more)
#define LAUNCH(id, start, kernel) CALL("hipLaunchKernel", id, start, ",\"kernel\":\"" kernel "\"")
#define WORK(category, name, stream, id, start) \
	EVENT(category, name, stream, start, "5", "\"device\":0,\"stream\":" stream ",\"correlation\":" id)
#define KERNEL(name, stream, id, start) WORK("kernel", name, stream, id, start)
#define TRACE(events) "{\"traceEvents\":[" events "]}"

/* Two layers, each with an operator that launches a kernel, and a copy outside of them. */
#define CAPTURE                                                                                                        \
	LAYER("Net_0", "900", "1200")                                                                                      \
	"," CALL("hipStreamBeginCapture", "60", "1000", "") "," LAYER("Linear_0", "1100", "100") "," OPERATOR("aten::mm", "1110", "80") \
	"," LAUNCH("61", "1120", "gemm") "," LAYER("Linear_1", "1300", "100") "," OPERATOR("aten::add", "1310", "80") "," LAUNCH( \
		"62", "1320", "add") "," CALL("hipMemcpyAsync", "63", "1500", "") "," CALL("hipStreamEndCapture", "64", "2000", "")
/* An operator that launches the graph, and its work. */
#define REPLAY                                                                                                \
	OPERATOR("replay", "10000", "500") "," CALL("hipGraphLaunch", "7", "10010", "") "," KERNEL("gemm", "0", "7", "10100") "," \
		KERNEL("add", "0", "7", "10200") "," WORK("gpu_memcpy", "Memcpy DtoD", "0", "7", "10300")

static struct made made;
static char folder[64];

static void put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	REQUIRE(file);
	fputs(text, file);
	fclose(file);
}

/* Opens the trace with a capture beside it, or with none. */
static const struct dw_device_work *open_beside(const char *trace, const char *capture)
{
	static char path[160], other[200];
	const char *name = path;

	memset(&made, 0, sizeof made);
	made.file = -1;
	snprintf(folder, sizeof folder, "/tmp/dwell-graphs-XXXXXX");
	if (!mkdtemp(folder))
		return NULL;
	snprintf(path, sizeof path, "%s/trace.json", folder);
	put_file(path, trace);
	snprintf(other, sizeof other, "%s/capture_traces", folder);
	if (capture && mkdir(other, 0700) == 0) {
		snprintf(other, sizeof other, "%s/capture_traces/c.json", folder);
		put_file(other, capture);
	}
	if (dw_source_open(&made.source, &name, 1, &made.error) || dw_model_create(&made.model, made.source, NULL, &made.error)) {
		CHECK_FAIL("%s", made.error.message);
		return NULL;
	}
	return dw_model_device_work(made.model, &made.error);
}

static void close_all(void)
{
	char path[160];

	made_close(&made);
	for (const char *const *name = (const char *const[]){ "trace.json", "capture_traces/c.json", "capture_traces", "", NULL }; *name; name++) {
		snprintf(path, sizeof path, "%s/%s", folder, *name);
		remove(path);
	}
}

static const char *note(void)
{
	return made.source->repair_count ? made.source->repairs[0] : "";
}

/* "Net_0 Linear_0 aten::mm replay": operators and layers around what submitted an event, the innermost one last. */
static const char *around(const struct dw_device_work *work, size_t event)
{
	static char text[256], part[256];
	size_t count;
	const struct dw_symbol *symbols = dw_model_symbols(made.model, &count);
	uint32_t at = work->events[event].call == DW_NO_INDEX ? DW_NO_INDEX : work->calls[work->events[event].call].owner;

	for (*text = '\0'; at != DW_NO_INDEX; at = work->owners[at].parent) {
		snprintf(part, sizeof part, "%s%s%s", symbols[work->owners[at].symbol].name, *text ? " " : "", text);
		memcpy(text, part, sizeof text);
	}
	return text;
}

static void check_joined(const struct dw_device_work *work)
{
	REQUIRE(work && work->event_count == 3 && work->without_call == 0);
	CHECK_STR(around(work, 0), "replay Linear_0 aten::mm");
	CHECK_STR(around(work, 1), "replay Linear_1 aten::add");
	CHECK_STR(around(work, 2), "replay");
}

TEST(the_work_of_a_graph_belongs_to_the_ranges_of_a_capture_beside_the_file)
{
	const struct dw_device_work *work = open_beside(TRACE(REPLAY), TRACE(CAPTURE));
	const struct dw_source_thread *threads = made.source->threads;
	bool found = false;

	check_joined(work);
	CHECK_HAS(note(), "1 launches of graphs: their work belongs to the ranges of their captures, in capture_traces/c.json");
	/* The thread of the capture takes some nanoseconds at the begin. */
	for (size_t i = 0; i < made.source->thread_count; i++)
		found |= strstr(threads[i].name, "captured graphs, in order without times (c.json, thread 9)") != NULL;
	CHECK(found);
	CHECK_EQ(made_stat(&made, "aten::mm")->count, 1);
	CHECK_RANGE(made_stat(&made, "aten::mm")->total_ns, 1, 20);
	CHECK_RANGE(made_stat(&made, "Net_0")->total_ns, 1, 40);
	close_all();
}

TEST(the_work_of_a_graph_belongs_to_the_ranges_of_a_capture_in_the_file)
{
	check_joined(open_beside(TRACE(CAPTURE "," REPLAY), NULL));
	CHECK_HAS(note(), "1 launches of graphs: their work belongs to the ranges of their captures, in this file");
	CHECK_EQ(made_stat(&made, "aten::mm")->total_ns, 80000);
	close_all();
}

TEST(a_stored_trace_has_the_ranges_too)
{
	static const char text[] = TRACE(CAPTURE "," REPLAY);
	struct dw_import_file file = { "trace.json", text, strlen(text) };
	struct dw_import_result result;
	struct dw_arena arena = { .blocks = NULL };
	const char *path;

	memset(&made, 0, sizeof made);
	made.file = memfd_create("made", MFD_CLOEXEC);
	snprintf(made.path, sizeof made.path, "/proc/self/fd/%d", made.file);
	path = made.path;
	REQUIRE(dw_import_files(&file, 1, made.file, &arena, &result, &made.error) == 0 && result.in_file);
	REQUIRE(dw_source_open(&made.source, &path, 1, &made.error) == 0);
	REQUIRE(dw_model_create(&made.model, made.source, NULL, &made.error) == 0);
	check_joined(dw_model_device_work(made.model, &made.error));
	munmap(result.image, result.image_bytes);
	dw_arena_reset(&arena);
	made_close(&made);
}

TEST(a_capture_of_another_graph_is_refused)
{
	const struct dw_device_work *work = open_beside(
		TRACE(OPERATOR("replay", "10000", "500") "," CALL("hipGraphLaunch", "7", "10010", "") "," KERNEL("gemm", "0", "7", "10100") "," KERNEL("other", "0", "7", "10200") "," WORK("gpu_memcpy", "Memcpy DtoD", "0", "7", "10300")),
		TRACE(CAPTURE));

	REQUIRE(work && work->event_count == 3);
	CHECK_STR(around(work, 0), "replay");
	CHECK_HAS(note(), "1 launches of graphs fit no capture, so their work belongs to the launches (the first has 3 kernels, copies and "
	                  "sets; 1 captures were compared)");
	CHECK(!made_stat(&made, "aten::mm"));
	close_all();
}

TEST(a_folder_without_captures_is_said)
{
	const struct dw_device_work *work = open_beside(TRACE(REPLAY), TRACE(OPERATOR("aten::mm", "10", "5")));

	REQUIRE(work && work->event_count == 3);
	CHECK_STR(around(work, 0), "replay");
	CHECK_HAS(note(), "1 launches of graphs: no capture is in capture_traces, so their work belongs to the launches");
	close_all();
	open_beside(TRACE(REPLAY), "no JSON");
	CHECK_HAS(note(), "1 or more files of capture_traces are no traces of Kineto: c.json");
	close_all();
	open_beside(TRACE(REPLAY), "{\"rocprofiler-sdk-tool\":[{}]}");
	CHECK_HAS(note(), "are no traces of Kineto: c.json");
	close_all();
	open_beside(TRACE(REPLAY), NULL);
	CHECK_STR(note(), "");
	close_all();
}

#define UNNAMED CALL("hipStreamBeginCapture", "60", "1000", "") "," OPERATOR("aten::mm", "1110", "80") "," CALL("hipLaunchKernel", "61", "1120", "") \
	"," OPERATOR("aten::add", "1310", "80") "," CALL("hipLaunchKernel", "62", "1320", "") "," CALL("hipStreamEndCapture", "64", "2000", "")
#define LAUNCHED "," CALL("hipGraphLaunch", "7", "10010", "") "," KERNEL("gemm", "0", "7", "10100") ","

TEST(captures_without_names_of_kernels_count_by_their_order_in_one_stream)
{
	const struct dw_device_work *work = open_beside(TRACE(UNNAMED LAUNCHED KERNEL("add", "0", "7", "10200")), NULL);

	REQUIRE(work && work->event_count == 2);
	CHECK_STR(around(work, 1), "aten::add");
	CHECK_HAS(note(), "by the number and order of calls alone, because these have no names of kernels");
	close_all();
	work = open_beside(TRACE(UNNAMED LAUNCHED KERNEL("add", "1", "7", "10200")), NULL);
	REQUIRE(work && work->event_count == 2);
	CHECK_STR(around(work, 1), "");
	CHECK_HAS(note(), "1 launches of graphs fit no capture");
	close_all();
	work = open_beside(TRACE(UNNAMED LAUNCHED KERNEL("add", "0", "7", "10200") "," KERNEL("add", "0", "7", "10300")), NULL);
	CHECK_HAS(note(), "1 launches of graphs fit no capture");
	close_all();
}

/* The device works on two streams at once; the second one's first kernel begins before the first one's second, which the program
 * launched before it. */
TEST(each_stream_has_its_kernels_in_the_order_of_the_program)
{
	const struct dw_device_work *work = open_beside(
		TRACE(CALL("hipStreamBeginCapture", "60", "1000", "") "," OPERATOR("a", "1100", "50") "," LAUNCH("61", "1110", "gemm") "," LAUNCH(
			"62", "1120", "relu") "," OPERATOR("b", "1200", "50") "," LAUNCH("63", "1210", "gemm") "," LAUNCH("64", "1220", "tanh") "," CALL("hipStreamEndCapture", "65", "2000", "")
	          LAUNCHED KERNEL("gemm", "1", "7", "10050") "," KERNEL("tanh", "1", "7", "10150") "," KERNEL("relu", "0", "7", "10200")), NULL);

	REQUIRE(work && work->event_count == 4);
	for (size_t i = 0; i < 4; i++) /* by stream */
		CHECK_STR(around(work, i), i < 2 ? "a" : "b");
	close_all();
}

/* Two captures with the same kernels, launched in their order, and once more. Of the second launch the profiler lost the event of
 * the last call. */
TEST(equal_captures_are_taken_in_their_order)
{
#define ONE(operator, id, begin, end) \
	CALL("hipStreamBeginCapture", "9" id, begin "0", "") "," OPERATOR(operator, begin "5", "0.8") "," EVENT("cuda_runtime", "hipLaunchKernel", "9", begin "5", "0.2", "\"kernel\":\"k\"") "," EVENT("cuda_runtime", "hipLaunchKernel", "9", begin "5.3", "0.2", "\"kernel\":\"k\"") "," EVENT("cuda_runtime", "hipLaunchKernel", "9", begin "5.6", "0.2", "\"kernel\":\"k\"") "," CALL("hipStreamEndCapture", "8" id, end, "")
#define TWO(id, at) CALL("hipGraphLaunch", id, at "000", "") "," KERNEL("k", "0", id, at "100") "," KERNEL("k", "0", id, at "200")
	const struct dw_device_work *work = open_beside(
		TRACE(ONE("first", "1", "100", "2000") "," ONE("second", "2", "300", "4000") "," TWO("1", "10") "," KERNEL("k", "0", "1", "10300") "," TWO("2", "20") "," TWO("3", "30")), NULL);

	REQUIRE(work && work->event_count == 7);
	for (size_t i = 0; i < 7; i++)
		CHECK_STR(around(work, i), i < 3 || i > 4 ? "first" : "second");
	close_all();
}

/* A call in a capture whose event is in the file worked at once. */
TEST(what_ran_during_a_capture_is_no_node)
{
	check_joined(open_beside(TRACE(CAPTURE "," LAUNCH("50", "1105", "eager") "," REPLAY), TRACE("")));
	close_all();
	check_joined(open_beside(TRACE(REPLAY), TRACE(CAPTURE "," LAUNCH("50", "1400", "gemm") "," KERNEL("gemm", "0", "50", "1410"))));
	close_all();
}

CHECK_MAIN
