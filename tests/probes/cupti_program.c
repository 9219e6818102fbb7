/*
 * A program that uses CUDA without CUDA: plays the driver, which loads what CUDA_INJECTION64_PATH names, and lets
 * the stand-in for libcupti play what each argument names; "load LIBRARY" loads a library, which "tool WHAT" lets play
 * (cupti_tool.c). "relu: WHAT" is played in another operator. Its steps and operators are recorded by dwell.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dwell/probe.h>

static void program_start_driver(void)
{
	const char *path = getenv("PLAYS_NO_DRIVER") ? NULL : getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize && initialize() != 1)
		fprintf(stderr, "the library refused\n");
}

static void program_wait_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void *loaded = RTLD_DEFAULT;

static void program_use_tool(const char *what)
{
	void (*play)(const char *);

	*(void **)&play = dlsym(loaded, "tool_play");
	if (play)
		play(what);
}

static void program_fork(void)
{
	pid_t child = fork();

	if (child == 0) {
		DWELL_ZONE("child");
		exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Steps of 100 launches each, for so many milliseconds at least, and at least so many steps: a busy machine takes longer. */
static void program_train(void (*play)(const char *), long ms, long least)
{
	struct timespec begin, now;
	long count = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		DWELL_STEP();
		{
			DWELL_OP("aten::mm");
			for (int i = 0; i < 100; i++)
				play("kernel 10");
			program_wait_ms(1);
		}
		count++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms || count < least);
	printf("steps %ld\n", count);
}

int main(int argc, char **argv)
{
	void (*play)(const char *) = NULL;

	program_start_driver();
	*(void **)&play = dlsym(RTLD_DEFAULT, "standin_play");
	if (!play) { /* the probe loads it for itself */
		void *library = dlopen(argv[1], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			*(void **)&play = dlsym(library, "standin_play");
	}
	for (int i = 2; i < argc; i++) {
		if (strncmp(argv[i], "train ", 6) == 0) {
			program_train(play, atol(argv[i] + 6), strchr(argv[i] + 6, ' ') ? atol(strchr(argv[i] + 6, ' ')) : 0);
			continue;
		}
		if (strncmp(argv[i], "relu: ", 6) == 0) {
			DWELL_STEP();
			DWELL_OP("aten::relu");
			play(argv[i] + 6);
			continue;
		}
		DWELL_STEP();
		{
			DWELL_OP("aten::mm");
			if (strncmp(argv[i], "wait ", 5) == 0)
				program_wait_ms(atol(argv[i] + 5));
			else if (strncmp(argv[i], "load ", 5) == 0)
				loaded = dlopen(argv[i] + 5, RTLD_LAZY);
			else if (strncmp(argv[i], "tool ", 5) == 0)
				program_use_tool(argv[i] + 5);
			else if (strcmp(argv[i], "fork") == 0)
				program_fork();
			else if (strcmp(argv[i], "kill") == 0)
				abort();
			else if (play)
				play(argv[i]);
		}
	}
	return 0;
}
