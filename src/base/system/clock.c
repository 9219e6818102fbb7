/* Clocks: which one a run uses, and how to convert its ticks to time; see clock.h. */
#include "base/system/clock.h"

#include <fcntl.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/system/descriptor.h"
#include "base/system/system.h"

uint64_t dw_clock_ns(clockid_t clock)
{
	struct timespec time = { 0 };

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#if defined(__x86_64__)
/* The processor states that the rate is constant. If the kernel has not switched to a slow clock,
 * the counters of all cores agree. */
static int clock_tsc_is_good(void)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	unsigned a, b, c, d;
	char text[32] = "";
	int file;

	if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & 1u << 8))
		return 0;
	file = dw_descriptor_open(path, O_RDONLY, 0);
	if (file >= 0) {
		long length = dw_call(SYS_read, file, text, sizeof text - 1);

		dw_descriptor_close(file);
		if (length > 0)
			text[length] = '\0';
	}
	return strncmp(text, "hpet", 4) != 0 && strncmp(text, "acpi_pm", 7) != 0 &&
	       strncmp(text, "refined-jiffies", 15) != 0;
}
#endif

uint32_t dw_clock_pick(const char *wanted)
{
	if (wanted && strcmp(wanted, "monotonic") == 0)
		return DW_CLOCK_KIND_MONOTONIC;
#if defined(__x86_64__)
	return (wanted && strcmp(wanted, "tsc") == 0) || clock_tsc_is_good() ? DW_CLOCK_KIND_TSC : DW_CLOCK_KIND_MONOTONIC;
#elif defined(__aarch64__)
	return DW_CLOCK_KIND_CNTVCT;
#else
	return DW_CLOCK_KIND_MONOTONIC;
#endif
}

bool dw_clock_usable(uint32_t kind)
{
#if defined(__x86_64__)
	/* Not clock_tsc_is_good(): DWELL_CLOCK=tsc may have requested the TSC on other machines. */
	if (kind == DW_CLOCK_KIND_TSC)
		return true;
#elif defined(__aarch64__)
	if (kind == DW_CLOCK_KIND_CNTVCT)
		return true;
#endif
	return kind == DW_CLOCK_KIND_MONOTONIC;
}

uint64_t dw_clock_monotonic_ns(void)
{
	return dw_clock_ns(CLOCK_MONOTONIC);
}

uint64_t dw_clock_monotonic_ms(void)
{
	return dw_clock_monotonic_ns() / 1000000;
}

void dw_clock_sample(uint32_t kind, struct dw_clock_sample *sample)
{
	sample->error_ns = UINT64_MAX;
	for (int i = 0; i < 8; i++) {
		uint64_t before = dw_clock_ns(CLOCK_MONOTONIC);
		uint64_t ticks = dw_clock_read(kind);
		uint64_t realtime = dw_clock_ns(CLOCK_REALTIME);
		uint64_t after = dw_clock_ns(CLOCK_MONOTONIC);

		if (after - before >= sample->error_ns)
			continue;
		sample->error_ns = after - before;
		sample->ticks = ticks;
		sample->realtime_ns = realtime;
		/* With the monotonic clock the ticks are the time; otherwise use the middle. */
		sample->monotonic_ns = kind == DW_CLOCK_KIND_MONOTONIC ? ticks : before + (after - before) / 2;
	}
}

uint64_t dw_clock_rate(uint32_t kind, const struct dw_clock_sample *first, uint64_t least_ns)
{
	struct dw_clock_sample last;
	uint64_t span_ns;

	if (kind == DW_CLOCK_KIND_MONOTONIC)
		return 1000000000u;
#if defined(__aarch64__)
	uint64_t rate;

	__asm__("mrs %0, cntfrq_el0" : "=r"(rate));
	if (rate)
		return rate;
#endif
	/* Longer where reading the clock takes a system call: in a millisecond until the error is below 10^-4. */
	do {
		dw_clock_sample(kind, &last);
		span_ns = last.monotonic_ns - first->monotonic_ns;
	} while (span_ns < least_ns ||
	         ((first->error_ns + last.error_ns) * (least_ns / 100) > span_ns && span_ns < 20 * least_ns));
	return (uint64_t)((double)(last.ticks - first->ticks) * 1e9 / (double)span_ns);
}
