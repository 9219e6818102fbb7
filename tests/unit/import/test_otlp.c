/* Spans of OpenTelemetry: requests by what vLLM says of them, other spans, damaged ones. */
#include "../made.h"
#include "model/core/events.h"
#include "model/serving/serving.h"

static struct made made;

#define SPAN(name, start, end, attributes)                                                                    \
	"{\"traceId\":\"ab\",\"name\":\"" name "\",\"startTimeUnixNano\":\"" start "\",\"endTimeUnixNano\":\"" end "\"," \
	"\"attributes\":[" attributes "]}"
#define DOUBLE(key, value) "{\"key\":\"" key "\",\"value\":{\"doubleValue\":" value "}}"
#define INTEGER(key, value) "{\"value\":{\"intValue\":\"" value "\"},\"key\":\"" key "\"}"
#define LINE(spans)                                                                                               \
	"{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"vllm\"}}]}," \
	"\"scopeSpans\":[{\"scope\":{\"name\":\"vllm\"},\"spans\":[" spans "]}]}]}\n"

static const char vllm[] =
	LINE(SPAN("llm_request", "1700000000000000000", "1700000000150000000",
	          DOUBLE("gen_ai.latency.time_in_queue", "0.02") "," DOUBLE("gen_ai.latency.time_to_first_token", "0.055") ","
	          DOUBLE("gen_ai.latency.time_in_model_prefill", "0.03") "," DOUBLE("gen_ai.latency.time_in_model_decode", "0.1") ","
	          DOUBLE("gen_ai.latency.e2e", "0.15") "," INTEGER("gen_ai.usage.completion_tokens", "3") ","
	          "{\"key\":\"gen_ai.request.id\",\"value\":{\"stringValue\":\"cmpl-0\"}}") ","
	     SPAN("tokenize", "1700000000001000000", "1700000000002000000", "")) "\n"
	LINE(SPAN("llm_request", "1700000000010000000", "1700000000060000000", DOUBLE("gen_ai.latency.e2e", "0.05")) ","
	     SPAN("no end", "1700000000010000000", "5", ""));

TEST(what_vllm_says_of_requests)
{
	REQUIRE(made_open_text(&made, vllm) == 0);
	const struct dw_serving *serving = dw_model_serving(made.model, &made.error);

	REQUIRE(serving && serving->count == 2 && serving->stage_count == 2);
	const struct dw_served *first = &serving->requests[0], *second = &serving->requests[1];

	CHECK_EQ(first->end_ns - first->start_ns, 150000000);
	CHECK_EQ(dw_served_queue_ns(serving, first), 20000000);
	CHECK_EQ(serving->stages[first->first_stage].end_ns - serving->stages[first->first_stage].start_ns, 30000000);
	CHECK_EQ(serving->stages[first->first_stage + 1].end_ns, first->end_ns);
	CHECK_EQ(first->first_ns - first->start_ns, 55000000);
	CHECK_EQ(first->last_ns, first->end_ns);
	CHECK_EQ(first->tokens, 3);
	CHECK_EQ(second->start_ns - first->start_ns, 10000000);
	CHECK_EQ(second->tokens, 0);
	CHECK_EQ(second->stage_count, 0);
	made_close(&made);
}

/* As SGLang's python/sglang/srt/observability writes them: stages end before their request, and come from other processes. */
#define OF_TRACE(trace, name, start, end, attributes)                                                           \
	"{\"traceId\":\"" trace "\",\"name\":\"" name "\",\"startTimeUnixNano\":\"17000000000" start "000000\","    \
	"\"endTimeUnixNano\":\"17000000000" end "000000\",\"attributes\":[" attributes "]}"
#define RID "{\"key\":\"rid\",\"value\":{\"stringValue\":\"0123456789abcdef\"}}"

TEST(what_sglang_says_of_requests)
{
	static const char sglang[] =
		LINE(OF_TRACE("aa01", "request_process", "02", "03", "") "," OF_TRACE("aa01", "prefill_waiting", "03", "20", "") ","
		     OF_TRACE("aa01", "prefill_forward", "20", "50", "") "," OF_TRACE("aa02", "prefill_forward", "50", "60", ""))
		LINE(OF_TRACE("aa01", "decode_waiting", "50", "55", "") "," OF_TRACE("aa01", "decode_loop", "55", "60", "") ","
		     OF_TRACE("aa01", "decode_forward", "55", "90", "") ","
		     OF_TRACE("aa01", "Scheduler [TP 0] (host:0a1b2c3d | pid:7)", "01", "91", "{\"key\":\"pid\",\"value\":{\"intValue\":\"7\"}}"))
		LINE(OF_TRACE("aa01", " Req 01234567", "00", "95", RID "," DOUBLE("gen_ai.latency.time_to_first_token", "0.051") ","
		              DOUBLE("gen_ai.latency.time_in_model_prefill", "0.05") "," DOUBLE("gen_ai.latency.e2e", "0.095") ","
		              INTEGER("gen_ai.usage.completion_tokens", "8")) ","
		     OF_TRACE("aa02", " Req 89abcdef", "40", "70", RID));

	REQUIRE(made_open_text(&made, sglang) == 0);
	const struct dw_serving *serving = dw_model_serving(made.model, &made.error);

	REQUIRE(serving && serving->count == 2 && serving->stage_count == 4);
	const struct dw_served *first = &serving->requests[0], *second = &serving->requests[1];
	const struct dw_served_stage *stages = &serving->stages[first->first_stage];

	CHECK_EQ(first->stage_count, 3);
	CHECK_EQ(dw_served_queue_ns(serving, first), 20000000);
	CHECK_EQ(stages[0].end_ns - stages[0].start_ns, 30000000);
	CHECK_EQ(stages[1].end_ns - stages[1].start_ns, 5000000);
	CHECK_EQ(stages[2].end_ns, first->end_ns);
	CHECK(strcmp(serving->stage_names[stages[0].name], "prefill") == 0 && strcmp(serving->stage_names[stages[2].name], "decode") == 0);
	CHECK_EQ(first->first_ns - first->start_ns, 51000000);
	CHECK_EQ(first->tokens, 8);
	CHECK_EQ(first->symbol, second->symbol);
	CHECK_EQ(dw_served_queue_ns(serving, second), 10000000);
	CHECK_EQ(second->stage_count, 1);
	made_close(&made);
}

TEST(cut_and_damaged_files_have_what_comes_before)
{
	char text[sizeof vllm];

	for (size_t length = 20; length < sizeof vllm; length += 7) {
		memcpy(text, vllm, length);
		text[length] = '\0';
		if (made_open_text(&made, text) == 0) {
			const struct dw_serving *serving = dw_model_serving(made.model, &made.error);

			CHECK(serving && serving->count <= 2);
		}
		if (made.source)
			made_close(&made);
	}
}

/* The names that vLLM and SGLang give to steps in Kineto's files are batches; one within another is no second one. */
TEST(steps_in_a_file_of_kineto)
{
	static const char kineto[] =
		"{\"schemaVersion\":1,\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"execute_306_context_2(sq300sk300)_generation_6(sq6sk900)\","
		"\"pid\":7,\"tid\":7,\"ts\":100,\"dur\":50},"
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step[MIXED bs=8 toks=306]\",\"pid\":7,\"tid\":7,\"ts\":110,\"dur\":30},"
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step[DECODE bs=8]\",\"pid\":7,\"tid\":7,\"ts\":160,\"dur\":10},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":7,\"tid\":7,\"ts\":161,\"dur\":2}]}";
	char text[200];

	REQUIRE(made_open_text(&made, kineto) == 0);
	const struct dw_serving *serving = dw_model_serving(made.model, &made.error);

	REQUIRE(serving && !serving->count && serving->batch_count == 2);
	dw_batch_write(serving, &serving->kinds[serving->batches[0].kind], text, sizeof text);
	CHECK(strcmp(text, "2 prefill, 6 decode") == 0);
	CHECK_EQ(serving->batches[0].tokens, 306);
	CHECK_EQ(serving->batches[0].end_ns - serving->batches[0].start_ns, 50000);
	CHECK_EQ(serving->batches[1].tokens, 8);
	made_close(&made);
}

CHECK_MAIN
