/* The process: its lock, which signal handlers may interrupt and leave by a jump. */
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "dwell/probe_abi.h"
#include "session.h"

/* Well below the caller's frame, as a handler's. */
static __attribute__((noinline)) bool lock_below(void)
{
	volatile char signal_frame[2048];
	bool done;

	signal_frame[0] = 0;
	done = dw_process_lock();
	signal_frame[1] = signal_frame[0];
	return done;
}

TEST(a_handler_does_not_get_the_lock_of_its_own_thread)
{
	enum dw_loss cause;

	REQUIRE(session_begin(0) && dw_process_ready(&cause));
	REQUIRE(dw_process_lock());
	CHECK(!lock_below());
	dw_process_unlock();
	CHECK(lock_below());
	dw_process_unlock();
	session_end();
}

TEST(a_sample_within_the_recorder_is_no_loss)
{
	enum dw_loss cause;

	REQUIRE(session_begin(0) && dw_process_ready(&cause));
	REQUIRE(dw_process_lock());
	CHECK(!dwell_sample(0, 0, 1));
	dwell_waited(0, 0, 1, 0);
	dw_process_unlock();
	CHECK(dwell_sample(0, 0, 1));
	REQUIRE(dw_slot_here(NULL)->entry);
	CHECK_EQ(DW_LOAD(dw_slot_here(NULL)->entry->lost[DW_LOSS_BUSY]), 0);
	for (unsigned i = 0; i < DW_LOSS_SLOTS; i++)
		CHECK_EQ(DW_LOAD(dw_session_head()->lost[i]), 0);
	session_end();
}

static jmp_buf target;

static __attribute__((noinline)) void lock_and_jump(void)
{
	volatile char deeper[4096];

	deeper[0] = 0;
	if (dw_process_lock())
		longjmp(target, 1);
	deeper[1] = deeper[0];
}

TEST(the_lock_of_code_that_a_jump_left_is_taken_over)
{
	REQUIRE(session_begin(0));
	if (setjmp(target) == 0)
		lock_and_jump();
	CHECK_EQ(dw_process->lock, dw_gettid());
	CHECK(dw_process_lock());
	/* It is held again: what comes below meets a live holder. */
	CHECK(!lock_below());
	dw_process_unlock();
	CHECK_EQ(dw_process->lock, 0);
	session_end();
}

static bool file_has(const char *text)
{
	FILE *file = fopen(session_path, "rb");
	static char bytes[1 << 20];
	size_t length = file ? fread(bytes, 1, sizeof bytes, file) : 0;

	if (file)
		fclose(file);
	return memmem(bytes, length, text, strlen(text)) != NULL;
}

/* A thread that registers the process while a session ends is refused, for a while. */
TEST(a_refusal_ends_with_its_session)
{
	enum dw_loss cause;

	REQUIRE(session_begin(0));
	CHECK(dwell_intern(DWELL_CATEGORY_ZONE, "a name of the first session", NULL) != 0);
	dwell_stop(NULL);
	CHECK(file_has("a name of the first session"));
	dw_process->retry_ticks = UINT64_MAX;
	dw_process->journal_retry_ticks = UINT64_MAX;
	unlink(session_path);
	rmdir(session_folder);
	REQUIRE(session_begin(0));
	CHECK(dw_process_ready(&cause));
	dwell_stop(NULL);
	CHECK(file_has("a name of the first session"));
	unlink(session_path);
	rmdir(session_folder);
}

/* If the process could not be registered at the start, whoever registers it writes the names. */
TEST(names_that_are_due_are_written_at_registration)
{
	enum dw_loss cause;

	REQUIRE(session_begin(0));
	dw_process->id = 0;
	dw_process->replay_due = true;
	CHECK(dw_process_ready(&cause));
	CHECK(!dw_process->replay_due);
	session_end();
}

static void *take_lock(void *taken)
{
	*(bool *)taken = dw_process_lock();
	return NULL;
}

TEST(the_lock_of_a_thread_that_ended_in_it_is_taken_over)
{
	enum dw_loss cause;
	pthread_t thread;
	bool taken = false;

	REQUIRE(session_begin(0) && dw_process_ready(&cause));
	REQUIRE(pthread_create(&thread, NULL, take_lock, &taken) == 0);
	pthread_join(thread, NULL);
	CHECK(taken);
	CHECK(dw_process_lock());
	dw_process_unlock();
	session_end();
}

/* ---- how long a thread waits ------------------------------------------------------- */

static int lock_state; /* atomic; 1: the other thread has the lock, 2: it is to end */

static void *keep_lock(void *unused)
{
	if (dw_process_lock()) {
		__atomic_store_n(&lock_state, 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&lock_state, __ATOMIC_ACQUIRE) == 1)
			usleep(1000);
		dw_process_unlock();
	}
	return NULL;
}

/* How long `entries` attempts take while another thread keeps the lock. */
static double refused_ms(int entries)
{
	uint64_t began = dw_clock_monotonic_ns();

	for (int i = 0; i < entries; i++)
		CHECK(!dw_process_lock());
	return (double)(dw_clock_monotonic_ns() - began) / 1e6;
}

TEST(waits_of_one_entry_are_bounded_together)
{
	enum dw_loss cause;
	pthread_t thread;
	double ms;

	REQUIRE(session_begin(0) && dw_process_ready(&cause));
	REQUIRE(pthread_create(&thread, NULL, keep_lock, NULL) == 0);
	while (__atomic_load_n(&lock_state, __ATOMIC_ACQUIRE) != 1)
		usleep(100);
	dwell_hurry(true); /* as in a signal handler, which may need the lock for each library */
	ms = refused_ms(100);
	dwell_hurry(false);
	CHECK_RANGE(ms, 4.9, check_is_slow() ? 500 : 60);
	ms = refused_ms(100);
	CHECK_RANGE(ms, 99, check_is_slow() ? 1000 : 300);
	CHECK_RANGE(refused_ms(100), 0, check_is_slow() ? 1000 : 150); /* the allowance is used up */
	__atomic_store_n(&lock_state, 2, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	CHECK(dw_process_lock());
	dw_process_unlock();
	session_end();
}

TEST(blocked_signals_are_those_of_the_thread)
{
	uint64_t before = dw_process_blocked_signals();
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	CHECK_EQ(dw_process_blocked_signals(), before | (uint64_t)1 << (SIGUSR1 - 1));
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	CHECK_EQ(dw_process_blocked_signals(), before);
}

TEST(a_frame_is_gone_when_code_above_it_runs)
{
	CHECK(dw_process_jumped(4096, 8192));
	CHECK(dw_process_jumped(4096, 4096));
	CHECK(!dw_process_jumped(8192, 4096));
	CHECK(!dw_process_jumped(0, 4096));
}

CHECK_MAIN
