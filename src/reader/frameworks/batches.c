/*
 * Batches: steps of engines that serve language models, by the names that they give to their ranges in PyTorch's profiler.
 *
 * vLLM: "execute_context_2(300)_generation_6(6)", two requests with 300 tokens of prompts, and six with a token each; since 2026
 * "execute_306_context_2(sq300sk300sqsq...)_generation_6(sq6sk900...)". SGLang: "step[EXTEND bs=2 toks=300]", "step[DECODE bs=6]",
 * "step[MIXED bs=8]".
 */
#include "frameworks/frameworks.h"

#include <stdio.h>
#include <string.h>

static bool batches_is_vllm(const char *name, struct dw_framework_batch *batch)
{
	unsigned context = 0, generation = 0, context_tokens = 0, generation_tokens = 0;

	if (strncmp(name, "execute_", 8) != 0 ||
	    (sscanf(name, "execute_context_%u(%u)_generation_%u(%u)", &context, &context_tokens, &generation, &generation_tokens) != 4 &&
	     sscanf(name, "execute_%*u_context_%u(sq%u%*[^)])_generation_%u(sq%u", &context, &context_tokens, &generation,
	            &generation_tokens) != 4))
		return false;
	*batch = (struct dw_framework_batch){ context, generation, 0, (uint64_t)context_tokens + generation_tokens };
	return true;
}

static bool batches_is_sglang(const char *name, struct dw_framework_batch *batch)
{
	char mode[16] = "";
	unsigned requests = 0, tokens = 0;
	int found = strncmp(name, "step[", 5) == 0 ? sscanf(name, "step[%15[A-Z_] bs=%u toks=%u", mode, &requests, &tokens) : 0;

	if (found < 2)
		return false;
	*batch = (struct dw_framework_batch){ .tokens = found == 3 ? tokens : requests };
	if (strcmp(mode, "EXTEND") == 0)
		batch->prefill = requests;
	else if (strcmp(mode, "DECODE") == 0)
		batch->decode = requests;
	else
		batch->mixed = requests;
	return true;
}

bool dw_framework_is_batch(const char *name, struct dw_framework_batch *batch)
{
	return name && (batches_is_vllm(name, batch) || batches_is_sglang(name, batch));
}
