/*
 * What a call takes longer where the kernel watches a function for --step-on, by each way that it has.
 *
 *     cc -O1 -no-pie bench/traps.c -o traps && ./traps
 *
 * Processor time, in us; the least of five times 2,000 calls. A uprobe needs root. doc/measured/step-on.md has the answer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 2000, TIMES = 5, PAGE = 4096, UPROBE = 8 };
enum way { COUNTS, RING, OWN_SIGNAL, SIGTRAP_OF_PERF, WAYS };

/* The kernel need not execute the first instruction of one, and must of the other. */
__asm__(".globl pushes\npushes: push %rbp\npop %rbp\nret\n.globl computes\ncomputes: lea 1(%rdi), %eax\nret\n");
extern void pushes(void), computes(void);
extern char __executable_start;

static void handle(int number)
{
	(void)number;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double measure(void (*function)(void), int is_uprobe, enum way way)
{
	struct perf_event_attr event = { .type = PERF_TYPE_BREAKPOINT, .size = sizeof event, .exclude_kernel = 1, .exclude_hv = 1 };
	struct f_owner_ex owner = { F_OWNER_TID, gettid() };
	double least = 1e18;
	void *ring = MAP_FAILED;
	int fd;

	event.bp_type = HW_BREAKPOINT_X;
	event.bp_addr = (unsigned long)function;
	event.bp_len = sizeof(long);
	if (is_uprobe)
		event = (struct perf_event_attr){ .type = UPROBE, .size = sizeof event, .uprobe_path = (unsigned long)"/proc/self/exe",
			                              .probe_offset = (unsigned long)((char *)function - &__executable_start) };
	event.sample_period = way != COUNTS;
	event.sample_type = way == RING ? PERF_SAMPLE_TID | PERF_SAMPLE_TIME : 0;
	event.watermark = way == RING;
	event.wakeup_events = way == RING ? 1 << 30 : way == OWN_SIGNAL;
	event.sigtrap = event.remove_on_exec = way == SIGTRAP_OF_PERF;
	fd = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (way != COUNTS)
		ring = mmap(NULL, 65 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (way == OWN_SIGNAL && (fcntl(fd, F_SETSIG, SIGRTMIN) || fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETFL, O_ASYNC)))
		return -1;
	for (int time = 0; time < TIMES; time++) {
		double began = now();

		for (int i = 0; i < CALLS; i++)
			function();
		began = (now() - began) / CALLS;
		least = began < least ? began : least;
	}
	if (ring != MAP_FAILED)
		munmap(ring, 65 * PAGE);
	close(fd);
	return least;
}

int main(void)
{
	signal(SIGRTMIN, handle);
	signal(SIGTRAP, handle);
	for (int is_uprobe = 0; is_uprobe < 2; is_uprobe++)
		for (int push = 1; push >= 0; push--) {
			printf("| %s | `%s` |", is_uprobe ? "uprobe" : "hardware breakpoint", push ? "push" : "lea");
			for (int way = 0; way < WAYS; way++)
				printf(" %.1f |", measure(push ? pushes : computes, is_uprobe, (enum way)way) / 1e3);
			printf("\n");
		}
	return 0;
}
