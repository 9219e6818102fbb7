/* Profiles of other vendors' GPUs: what is missing, wrong or cut in them. tests/data/vendors has whole ones. */
#include "made.h"
#include "model/device/device.h"

static struct made made;

static int open_text(const char *text)
{
	return made_open_text(&made, text);
}

static int count_range(void *context, const struct dw_event *event)
{
	*(long *)context += event->type == DW_EVENT_RANGE;
	return 0;
}

/* Opens the text; the number of its ranges, or -1. */
static long open_ranges(const char *text)
{
	long ranges = 0;

	if (open_text(text)) {
		CHECK_FAIL("%s", made.error.message);
		return -1;
	}
	return dw_model_events(made.model, count_range, &ranges, &made.error) ? -1 : ranges;
}

static const char *notes(void)
{
	static char all[4096];

	*all = '\0';
	for (size_t i = 0; made.source && i < made.source->repair_count; i++)
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s\n", made.source->repairs[i]);
	return all;
}

static bool has_symbol(const char *name, uint32_t category)
{
	const struct dw_source_file *file = &made.source->files[0];

	for (uint32_t id = 0; id < file->symbol_count; id++)
		if (file->symbols[id].name && strcmp(file->symbols[id].name, name) == 0 &&
		    file->symbols[id].category == category)
			return true;
	return false;
}

/* ---- rocprofv3 ----------------------------------------------------------------------------- */

#define NAMES \
	"\"strings\":{\"buffer_records\":[{\"kind\":\"NONE\",\"operations\":[]},{\"kind\":\"HIP\",\"operations\":[\"hipA\",\"hipB\"]}]}"
#define CALL(operation, id, start, end) \
	"{\"kind\":1,\"operation\":" operation ",\"correlation_id\":{\"internal\":" id \
	",\"external\":0},\"start_timestamp\":" start ",\"end_timestamp\":" end ",\"thread_id\":8}"
#define KERNEL(id, start, end) \
	"{\"kind\":2,\"correlation_id\":{\"internal\":" id "},\"start_timestamp\":" start ",\"end_timestamp\":" end \
	",\"dispatch_info\":{\"agent_id\":{\"handle\":5},\"queue_id\":{\"handle\":1},\"kernel_id\":3}}"
#define ROC(members) "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":7}," members "}]}"

TEST(records_of_rocprofv3_are_events)
{
	CHECK_EQ(open_ranges(ROC(
				 NAMES ",\"kernel_symbols\":[{\"kernel_id\":3,\"formatted_kernel_name\":\"k\\u0041\"}],"
					   "\"buffer_records\":{\"kernel_dispatch\":[" KERNEL("1", "1500", "1900") "],\"hip_api\":[" CALL(
						   "0", "1", "1000", "1100") "," CALL("1", "2", "1200", "1300") "]}")),
	         2);
	CHECK_STR(notes(), "");
	CHECK_EQ(made.source->processes[0].pid, 7);
	CHECK_EQ(made.source->threads[0].tid, 8);
	CHECK(has_symbol("hipA", DWELL_CATEGORY_RUNTIME) && has_symbol("hipB", DWELL_CATEGORY_RUNTIME));
	CHECK(has_symbol("kA", DWELL_CATEGORY_DEVICE));
	CHECK_STR(made.source->files[0].head->writer, "rocprofv3");
	made_close(&made);
}

TEST(names_that_the_file_lacks_are_numbers)
{
	CHECK_EQ(open_ranges(ROC("\"buffer_records\":{\"kernel_dispatch\":[" KERNEL("1", "5", "9") "],\"hip_api\":[" CALL(
				 "4", "1", "1", "2") "]}")),
	         1);
	CHECK(has_symbol("call 4", DWELL_CATEGORY_RUNTIME));
	CHECK(has_symbol("kernel 3", DWELL_CATEGORY_DEVICE));
	CHECK_HAS(notes(), "2 events have a name that is not in the file (the first at line 1, column");
	made_close(&made);
}

TEST(records_without_a_place_are_losses)
{
	CHECK_EQ(
		open_ranges(ROC(NAMES ",\"callback_records\":{\"counter_collection\":[{},{\"a\":[1,2]}]},"
	                          "\"buffer_records\":{\"hip_api\":[" CALL(
								  "0", "1", "1", "2") "],\"scratch_memory\":[],\"memory_allocation\":[{\"size\":1}]}")),
		1);
	CHECK_EQ(made.source->lost[DW_LOSS_IMPORT], 3);
	CHECK_HAS(notes(),
	          "3 records of kinds that dwell does not read (counter_collection, memory_allocation) are left out");
	made_close(&made);
}

TEST(times_of_records_that_are_none)
{
	CHECK_EQ(
		open_ranges(ROC(
			NAMES ",\"buffer_records\":{\"hip_api\":[" CALL("0", "1", "-4", "2") "," CALL("0", "2", "9", "5") "," CALL(
				"0", "3", "10",
				"18446744073709551615") "," CALL("0", "4", "1.5",
	                                             "2") ",{\"start_timestamp\":20,\"end_timestamp\":21}]}")),
		3);
	CHECK_EQ(made.source->lost[DW_LOSS_IMPORT], 2);
	CHECK_HAS(notes(), "2 events have no time, or one that is no number, and are left out");
	CHECK_HAS(notes(), "1 events have a negative duration");
	made_close(&made);
}

TEST(a_fault_in_the_middle_is_named_with_its_place)
{
	CHECK_EQ(
		open_ranges(ROC(NAMES ",\n\"buffer_records\":{\"hip_api\":[" CALL("0", "1", "1", "2") ",\n{\"kind\" 1}]}")), 1);
	CHECK_HAS(notes(), "the file is no valid JSON at line 3, column 9; what lies before is here");
	made_close(&made);
	CHECK_EQ(open_ranges(ROC(NAMES ",\n\"buffer_records\" 5")), 0);
	CHECK_HAS(notes(), "the file is no valid JSON at line 2, column 18");
	made_close(&made);
	CHECK_EQ(open_ranges("{\"rocprofiler-sdk-tool\":[{" NAMES
	                     ",\n\"buffer_records\":{\"hip_api\":[" CALL("0", "1", "1", "2") ",{\"ki"),
	         1);
	CHECK_HAS(notes(), "the file ends too early at line 2, column");
	made_close(&made);
}

/* ---- unitrace ------------------------------------------------------------------------------- */

#define HOST "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"ts\":0,\"args\":{\"name\":\"RANK 3 HOST<n>\"}}"
#define U(cat, name, pid, tid, ts, more) \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts \
	",\"dur\":5" more "}"

TEST(events_of_unitrace_are_those_of_a_device)
{
	CHECK_EQ(open_ranges(
				 "{\"traceEvents\":[" HOST
				 "," U("cpu_op", "zeCommandListAppendLaunchKernel", "7", "8", "10", ",\"id\":0") "," U(
					 "cpu_op", "aten::mm", "7", "8", "20",
					 "") "," U("cpu_op", "my part", "7", "8", "30",
	                           "") "," U("gpu_op", "k[SIMD32 {4; 2; 1} {64; 1; 1}]", "4294967295", "4294967295", "40",
	                                     ",\"args\":{\"id\":\"1\"}") "," U("gpu_op",
	                                                                       "zeCommandListAppendMemoryCopy(D2M)[77]",
	                                                                       "4294967295", "4294967294", "50",
	                                                                       "") "," U("gpu_op", "odd } name",
	                                                                                 "4294967295", "4294967294", "60",
	                                                                                 ",\"args\":{\"id\":\"x\"}") "]}"),
	         3);
	CHECK_STR(notes(), "");
	CHECK_EQ(made.source->processes[0].rank, 3);
	CHECK(has_symbol("zeCommandListAppendLaunchKernel", DWELL_CATEGORY_RUNTIME));
	CHECK(has_symbol("aten::mm", DWELL_CATEGORY_OPERATOR));
	CHECK(has_symbol("my part", DWELL_CATEGORY_ZONE));
	CHECK(has_symbol("k", DWELL_CATEGORY_DEVICE));
	CHECK(has_symbol("odd } name", DWELL_CATEGORY_DEVICE));
	CHECK(made.source->device_count > 0 && made.source->events_count > 0);
	made_close(&made);
}

/* ---- rocprof -------------------------------------------------------------------------------- */

TEST(an_arrow_of_rocprof_without_its_call_is_nothing)
{
	CHECK_EQ(
		open_ranges(
			"{\"traceEvents\":[{}\n"
			",{\"args\":{\"name\":\"CPU HIP API\"},\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"sort_index\":1}"
			",{\"ts\":5,\"ph\":\"t\",\"cat\":\"DataFlow\",\"id\":0,\"pid\":6,\"tid\":1,\"name\":\"dep\"}"
			",{\"ph\":\"X\",\"name\":\"hipFree\",\"pid\":2,\"tid\":9,\"ts\":\"5\",\"dur\":\"1\",\"args\":{\"BeginNs\":\"1005999\","
			"\"EndNs\":\"1006500\",\"pid\":\"70\",\"tid\":\"80\"}}"
			",{\"ph\":\"X\",\"name\":\"no times\",\"pid\":2,\"tid\":9,\"ts\":\"5\",\"dur\":\"1\",\"args\":{\"BeginNs\":\"x\"}}]}"),
		1);
	CHECK_EQ(made.source->processes[0].pid, 70);
	CHECK_EQ(made.source->threads[0].tid, 80);
	CHECK_EQ(made.source->lost[DW_LOSS_IMPORT], 1);
	made_close(&made);
}

CHECK_MAIN
