/* Timers of the program: their signals arrive, and only theirs. */
#define _GNU_SOURCE
#include "harm.h"
#include <sys/timerfd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static int interval_signal(int which)
{
	return which == ITIMER_REAL ? SIGALRM : which == ITIMER_VIRTUAL ? SIGVTALRM : SIGPROF;
}

static void interval_main(long which)
{
	int number = interval_signal((int)which);
	struct itimerval timer = { { 0, 10000 }, { 0, 10000 } }, old = { 0 }, none = { 0 };
	harm_handle(number, SA_RESTART);
	harm_result("getitimer", getitimer((int)which, &old));
	harm_say("at the start: %ld %ld\n", (long)old.it_value.tv_sec, (long)old.it_value.tv_usec);
	double begin = harm_now();
	harm_result("setitimer", setitimer((int)which, &timer, &old));
	harm_compute(.1);
	getitimer((int)which, &old);
	harm_say("interval %ld us\n", (long)old.it_interval.tv_usec);
	setitimer((int)which, &none, NULL);
	int seen = harm_seen[number];
	bool many = seen > (harm_now() - begin) * 100 + 1;
	harm_say("signals: some %d, too many %d, code %d\n", seen >= 3, many, harm_code[number]);
	harm_compute(.05);
	harm_say("none after the end: %d\n", harm_seen[number] - seen <= 1);
}

enum { TO_PROCESS, TO_THREAD, BY_THREAD, BY_NOTHING };
static volatile int thread_calls;

static void timer_thread(union sigval value)
{
	sigset_t set;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	if (!thread_calls)
		harm_say("value %d, SIGURG blocked %d\n", value.sival_int, sigismember(&set, SIGURG));
	thread_calls = thread_calls + 1;
}

static clockid_t timer_clock(long value)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID,
		                                CLOCK_THREAD_CPUTIME_ID };
	return clocks[value % 10];
}

static void timer_main(long value)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
		                      .sigev_signo = SIGRTMIN + 3,
		                      .sigev_value = { .sival_int = 17 } };
	struct itimerspec every = { { 0, 10000000 }, { 0, 10000000 } }, left;
	long how = value / 10;
	timer_t timer;
	harm_handle(SIGRTMIN + 3, SA_RESTART);
	if (how == TO_THREAD) {
		event.sigev_notify = SIGEV_THREAD_ID;
		event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
	}
	if (how == BY_THREAD)
		event = (struct sigevent){ .sigev_notify = SIGEV_THREAD,
			                       .sigev_notify_function = timer_thread,
			                       .sigev_value = { .sival_int = 17 } };
	if (how == BY_NOTHING)
		event.sigev_notify = SIGEV_NONE;
	harm_result("timer_create", timer_create(timer_clock(value), &event, &timer));
	harm_result("timer_settime", timer_settime(timer, 0, &every, NULL));
	harm_compute(.15);
	if (how == BY_THREAD)
		usleep(50000);
	harm_result("timer_gettime", timer_gettime(timer, &left));
	harm_say("interval %ld ns\n", left.it_interval.tv_nsec);
	harm_result("timer_delete", timer_delete(timer));
	int number = SIGRTMIN + 3, seen = harm_seen[number] + thread_calls;
	harm_say("some %d, code %d, value %d\n", seen >= (how == BY_NOTHING ? 0 : 3), harm_code[number],
	         harm_value[number]);
	harm_compute(.03);
	harm_say("none after the end: %d\n", harm_seen[number] + thread_calls - seen <= 1);
}

static void alarm_main(long value)
{
	harm_handle(SIGALRM, 0);
	harm_result("alarm", alarm(100));
	harm_compute(TICKS);
	harm_say("rest is about all: %d\n", alarm(value ? 1 : 0) >= 98);
	if (value) {
		harm_result("sleep", sleep(3) > 0);
		harm_say("alarms %d\n", harm_seen[SIGALRM]);
	}
	harm_result("ualarm", ualarm(50000, 0));
	harm_result("pause", pause());
	harm_say("alarms %d\n", harm_seen[SIGALRM]);
}

static void file_main(long value)
{
	struct itimerspec every = { { 0, 20000000 }, { 0, 20000000 } };
	int fd = timerfd_create(timer_clock(value), 0);
	uint64_t count = 0, all = 0;
	harm_result("timerfd_settime", timerfd_settime(fd, 0, &every, NULL));
	for (int i = 0; i < 5; i++) {
		harm_compute(.01);
		harm_result("read", read(fd, &count, sizeof count));
		all += count;
	}
	harm_say("some %d\n", all >= 5);
}

/* All timers that a process may have besides: it can make as many as without a profiler. */
static void many_main(long value)
{
	static timer_t timers[200];
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	harm_handle(SIGUSR1, SA_RESTART);
	struct itimerspec every = { { 0, 5000000 }, { 0, 5000000 } };
	int made = 0;
	for (; made < value && !timer_create(CLOCK_MONOTONIC, &event, &timers[made]); made++)
		timer_settime(timers[made], 0, &every, NULL);
	harm_compute(TICKS);
	int overruns = 0;
	for (int i = 0; i < made; i++) {
		overruns += timer_getoverrun(timers[i]) < 0;
		timer_delete(timers[i]);
	}
	harm_say("made %d, without an answer %d, signals %d\n", made, overruns, harm_seen[SIGUSR1] > 0);
}

static void clocks_main(long value UNUSED)
{
	struct timespec start, end;
	clock_t ticks = clock();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	harm_compute(.2);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	double used = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
	harm_say("the process used what the thread did: %d %d\n", used >= .2, used < .25);
	harm_say("clock() agrees: %d\n", (double)(clock() - ticks) / CLOCKS_PER_SEC - used < .02);
}

#define CLOCKS(text, how) \
	{ "timer_create", "CLOCK_REALTIME, " text, timer_main, (how)*10 }, \
		{ "timer_create", "CLOCK_MONOTONIC, " text, timer_main, (how)*10 + 1 }, \
		{ "timer_create", "CLOCK_BOOTTIME, " text, timer_main, (how)*10 + 2 }, \
		{ "timer_create", "CPU time of the process, " text, timer_main, (how)*10 + 3 }, \
	{ \
		"timer_create", "CPU time of the thread, " text, timer_main, (how)*10 + 4 \
	}

const struct harm_program harm_timers[] = {
	{ "timers", "ITIMER_REAL", interval_main, ITIMER_REAL },
	{ "timers", "ITIMER_VIRTUAL", interval_main, ITIMER_VIRTUAL },
	{ "timers", "ITIMER_PROF", interval_main, ITIMER_PROF },
	{ "timers", "alarm and pause", alarm_main, 0 },
	{ "timers", "alarm and sleep", alarm_main, 1 },
	{ "timers", "timerfd, CLOCK_REALTIME", file_main, 0 },
	{ "timers", "timerfd, CLOCK_MONOTONIC", file_main, 1 },
	{ "timers", "20 at once", many_main, 20 },
	{ "timers", "200 at once", many_main, 200 },
	{ "timers", "clocks of CPU time", clocks_main, 0 },
	CLOCKS("a signal", TO_PROCESS),
	CLOCKS("to a thread", TO_THREAD),
	CLOCKS("SIGEV_THREAD", BY_THREAD),
	{ "timer_create", "SIGEV_NONE", timer_main, BY_NOTHING * 10 + 1 },
	{ NULL, NULL, NULL, 0 },
};
