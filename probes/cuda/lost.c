/*
 * What was lost of the work of devices, and why.
 *
 * A trace has one count for all of it (cause "device"); the causes are a text beside it. It is written again when the counts have
 * doubled, and at the end, so that a program that is killed has it too.
 */
#include "cuda.h"

#include <stdio.h>
#include <string.h>

#include "format/keys.h"

static struct {
	uint64_t counts[DWC_LOST_COUNT];
	uint64_t said; /* of all causes, in the text that was written last */
} lost;

void dwc_lost_add(enum dwc_lost cause, uint64_t records)
{
	if (!records)
		return;
	lost.counts[cause] += records;
	dwell_device_lost(records);
}

void dwc_lost_say(bool at_end)
{
	static const char *const texts[DWC_LOST_COUNT] = {
		[DWC_LOST_BUFFERS] = "CUPTI's buffers were full",
		[DWC_LOST_TIMES] = "CUPTI gave no times",
		[DWC_LOST_THREADS] = "calls whose thread CUPTI does not tell while it serves another tool too",
		[DWC_LOST_NODES] = "nodes of CUDA graphs came too fast",
		[DWC_LOST_CALLS] = "calls came too fast",
	};
	uint64_t all = 0;
	char text[320] = "";

	for (int i = 0; i < DWC_LOST_COUNT; i++)
		all += lost.counts[i];
	if (all == lost.said || (!at_end && all < 2 * lost.said))
		return;
	lost.said = all;
	for (int i = 0; i < DWC_LOST_COUNT; i++) {
		size_t length = strlen(text);

		if (lost.counts[i])
			snprintf(text + length, sizeof text - length, "%s%s (%llu)", length ? "; " : "", texts[i],
			         (unsigned long long)lost.counts[i]);
	}
	dwell_meta(DW_KEY_CUDA_LOST, text);
}

void dwc_lost_reset(void)
{
	memset(&lost, 0, sizeof lost);
}
