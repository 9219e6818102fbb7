/*
 * Hand-made traces, and their facts. For the tests of facts: each includes this once.
 */
#pragma once

#include "made.h"

#include "facts/work.h"

static struct made made;
static const uint64_t ms = 1000000;

static inline void range(uint64_t from_ms, uint64_t to_ms, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

static inline void step(uint64_t number, uint64_t from_ms, uint64_t to_ms, uint64_t cpu_ms)
{
	dw_encode_step(&made.process, made.thread, number, from_ms * ms, to_ms * ms, cpu_ms * ms,
	               DW_STEP_RECORDED);
}

static inline void begin_trace(uint32_t flags)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = flags;
}

static inline const struct dw_facts *facts_of(void)
{
	const struct dw_facts *facts;

	if (made_open(&made, NULL))
		return NULL;
	facts = dw_facts(made.model, &made.error);
	for (unsigned id = 0; facts && id < DW_FACT_COUNT; id++) {
		const struct dw_fact *fact = &facts->at[id];

		CHECK(fact->measured == !fact->missing);
		CHECK(!fact->measured || (fact->low <= fact->value && fact->value <= fact->high));
		if (fact->measured && dw_fact_kind((enum dw_fact_id)id)->unit == DW_FACT_RATIO)
			CHECK(fact->value >= 0 && fact->value <= 1);
	}
	return facts;
}

#define VALUE(facts, id) ((facts)->at[DW_FACT_##id].value)
#define CLOSE(a, b) CHECK((a) > (b) - 1e-6 && (a) < (b) + 1e-6)

/* Steps of 10 ms: 2 data, 5 operators of forward, 3 nothing, of which `busy_ms` with CPU time. */
static inline void make_steps(size_t count, const uint64_t *lengths_ms, uint64_t gap_ms)
{
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "next batch");
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	uint64_t at = 100;

	for (size_t i = 0; i < count; i++) {
		uint64_t length = lengths_ms ? lengths_ms[i] : 10;

		range(at, at + 2, data);
		dw_encode_begin(&made.stream, (at + 2) * ms, forward);
		range(at + 2, at + 7, op);
		dw_encode_end(&made.stream, (at + 8) * ms);
		step(i, at, at + length, length - 4);
		at += length + gap_ms;
	}
}
