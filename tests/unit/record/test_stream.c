/* Streams: records that signal handlers interrupt or leave by siglongjmp(). */
#include "check.h"

#include <setjmp.h>

#include "session.h"

/* The calling thread's slot; its streams have chunks. */
static struct dw_slot *stream_begin(void)
{
	if (!session_begin(0))
		return NULL;
	{
		DWELL_ZONE("first");
	}
	return (struct dw_slot *)(void *)dwell_this_stream;
}

static uint64_t lost(const struct dw_slot *slot, enum dw_loss cause)
{
	return __atomic_load_n(&slot->entry->lost[cause], __ATOMIC_RELAXED);
}

/* Acts like a signal handler that interrupts the caller: its frame is well below the caller's. */
static __attribute__((noinline)) struct dwell_stream *enter_below(void)
{
	volatile char signal_frame[2048];
	struct dwell_stream *stream;

	signal_frame[0] = 0;
	stream = dw_stream_enter();
	signal_frame[1] = signal_frame[0];
	return stream;
}

static void finish(struct dwell_stream *stream)
{
	dw_stream_put(stream, dw_now(), DW_MARK << DW_KIND_SHIFT | 1, NULL, 0);
	dw_stream_leave(stream);
}

TEST(busy_holds_the_frame_and_is_never_free_nor_inline)
{
	uintptr_t frames[] = { 16, 0x7fffffffe000, 0x100000000000, 0x400000000 };

	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
		CHECK_EQ(dw_stream_busy(frames[i]) & 3, DW_BUSY_OUT_OF_LINE);
		CHECK(dw_stream_busy(frames[i]) != dw_stream_busy(frames[i] + 16));
	}
}

TEST(a_handler_writes_to_the_second_stream_and_nothing_is_lost)
{
	struct dw_slot *slot = stream_begin();
	struct dwell_stream *outer, *inner;

	REQUIRE(slot != NULL);
	outer = dw_stream_enter();
	CHECK(outer == &slot->main);
	for (int i = 0; i < 3; i++) {
		inner = enter_below();
		REQUIRE(inner == &slot->nested);
		finish(inner);
		CHECK(outer->busy != 0);
	}
	finish(outer);
	CHECK_EQ(outer->busy, 0);
	CHECK_EQ(lost(slot, DW_LOSS_BUSY), 0);
	session_end();
}

TEST(a_third_level_is_counted_as_busy)
{
	struct dw_slot *slot = stream_begin();
	struct dwell_stream *outer, *inner;

	REQUIRE(slot != NULL);
	outer = dw_stream_enter();
	inner = enter_below();
	REQUIRE(outer && inner);
	/* Inline code has the second stream: its frame is not known. */
	inner->busy = DW_BUSY_INLINE;
	CHECK(enter_below() == NULL);
	CHECK_EQ(lost(slot, DW_LOSS_BUSY), 1);
	inner->busy = 0;
	finish(outer);
	session_end();
}

static jmp_buf target;

static __attribute__((noinline)) void enter_and_jump(void)
{
	volatile char deeper[4096];

	deeper[0] = 0;
	if (dw_stream_enter())
		longjmp(target, 1);
	deeper[1] = deeper[0];
}

TEST(a_record_that_a_jump_left_is_lost_once_and_the_stream_goes_on)
{
	struct dw_slot *slot = stream_begin();
	struct dwell_stream *stream;

	REQUIRE(slot != NULL);
	if (setjmp(target) == 0)
		enter_and_jump();
	CHECK(slot->main.busy != 0);
	stream = dw_stream_enter();
	CHECK(stream == &slot->main);
	finish(stream);
	CHECK_EQ(lost(slot, DW_LOSS_BUSY), 1);
	finish(dw_stream_enter());
	CHECK_EQ(lost(slot, DW_LOSS_BUSY), 1);
	session_end();
}

/* Inline code stores no stack frame: only a standstill shows that it will not continue. */
TEST(a_stream_that_stands_still_is_recovered)
{
	struct dw_slot *slot = stream_begin();
	uint64_t second;
	uint64_t now;

	REQUIRE(slot != NULL);
	second = dw_session_map()->ticks_per_second;
	now = dw_now();
	slot->main.busy = DW_BUSY_INLINE;
	for (int look = 0; look < 500; look++)
		CHECK(!dw_stream_recover(slot, &slot->main, 4096, now += second / 500));
	for (int look = 0; look < 20 && slot->main.busy; look++)
		dw_stream_recover(slot, &slot->main, 4096, now += second / 500);
	CHECK_EQ(slot->main.busy, 0);
	CHECK_EQ(lost(slot, DW_LOSS_BUSY), 1);
	session_end();
}

/* Handlers that interrupt each other look from different frames, with signals blocked. */
TEST(looks_from_handlers_do_not_hasten_recovery)
{
	struct dw_slot *slot = stream_begin();
	uint64_t second, now;

	REQUIRE(slot != NULL);
	second = dw_session_map()->ticks_per_second;
	now = dw_now();
	slot->main.busy = DW_BUSY_INLINE;
	slot->blocked_signals = ~(uint64_t)0; /* another set than now */
	for (int look = 0; look < 100; look++)
		CHECK(!dw_stream_recover(slot, &slot->main, look % 2 ? 65536 : 4096, now += second / 500));
	slot->blocked_signals = dw_process_blocked_signals();
	for (int look = 0; look < 100 && slot->main.busy; look++)
		dw_stream_recover(slot, &slot->main, 65536, now += second / 500);
	CHECK_EQ(slot->main.busy, 0);
	session_end();
}

CHECK_MAIN
