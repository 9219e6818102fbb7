/*
 * Very many of one thing in one bounded file; tools/measure/endurance runs it under `dwell run` and compares what the file says.
 *
 *     endure records|threads|processes|steps COUNT
 *
 * A record is a range's begin or end. A thread and a process make one range each. Prints `made COUNT` and `grew KB`: the
 * anonymous memory at the end less that after a tenth.
 */
#include <dwell/dwell.h>
#include <dwell/probe.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void one_range(void)
{
	DWELL_ZONE("range");
}

static void *in_thread(void *unused)
{
	one_range();
	return unused;
}

static void one_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, NULL) != 0 || pthread_join(thread, NULL) != 0) {
		perror("endure: thread");
		exit(1);
	}
}

static void one_process(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		one_range();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		perror("endure: process");
		exit(1);
	}
}

static void one_step(void)
{
	DWELL_STEP();
	one_range();
}

static long anonymous_kb(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kb = 0;

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

int main(int count, char **arguments)
{
	static const struct { const char *name; void (*one)(void); unsigned of_one; } kinds[] = {
		{ "records", one_range, 2 }, { "threads", one_thread, 1 }, { "processes", one_process, 1 }, { "steps", one_step, 1 },
	};
	uint64_t wanted = count == 3 ? strtoull(arguments[2], NULL, 10) : 0;

	for (size_t k = 0; wanted && k < sizeof kinds / sizeof *kinds; k++) {
		if (strcmp(kinds[k].name, arguments[1]) != 0)
			continue;
		uint64_t rounds = wanted / kinds[k].of_one;
		long before = 0;
		for (uint64_t i = 0; i < rounds; i++) {
			if (i == rounds / 10)
				before = anonymous_kb();
			kinds[k].one();
		}
		printf("made %llu\ngrew %ld\n", (unsigned long long)(rounds * kinds[k].of_one), anonymous_kb() - before);
		return 0;
	}
	fprintf(stderr, "usage: endure records|threads|processes|steps COUNT\n");
	return 2;
}
