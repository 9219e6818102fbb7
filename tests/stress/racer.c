/*
 * Readers of a trace that another process changes all the time: none may crash.
 *
 * usage: racer DWELL [ROUNDS] A child process maps the file and overwrites words of it with invalid
 * values: ids and sizes that are too large, entries and records of other kinds. At the same time
 * the library opens the file and requests everything, and `dwell info` and `dwell report` run.
 * Their output is not checked; they must end by themselves.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tools/encode_records.h"
#include "model/model.h"
#include "model/sequence/sequence.h"

#define FRAMES 2000u
#ifdef __SANITIZE_ADDRESS__
#define RACER_ROUNDS 16 /* what is wrong is seen more often */
#else
#define RACER_ROUNDS 40
#endif

static uint64_t state = 88172645463325252u;

static uint32_t random_word(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20);
}

/* Some of everything that a trace may hold. */
static size_t make(int file)
{
	const struct dwell_tensor tensor = { .dtype = 6, .dimensions = 2, .sizes = (int64_t[]){ 3, 4 } };
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;
	uint32_t frames[FRAMES], stacks[FRAMES], thread, op, memory;
	size_t bytes;

	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0)->pid = 0x7ffffffe;
	thread = dw_encode_thread(&process, 100, 0, 0, "main");
	dw_encode_stream_init(&stream, &process, 0, thread);
	op = dw_encode_op(&process, 2, "op", "detail", dw_encode_shapes(&process, &tensor, 1), "f.c", 3);
	memory = dw_encode_op(&process, 16, "memory", "cpu", 0, NULL, 0);
	for (uint32_t i = 0; i < FRAMES; i++) {
		frames[i] = dw_encode_frame(&process, "function", "file.c", i);
		stacks[i] = dw_encode_stack(&process, frames + i - i % 40, i % 40 + 1);
	}
	dw_encode_meta(&process, "key", "value", false);
	dw_encode_profile(&process, thread, "profile", 0, 100, 4000);
	for (uint64_t i = 0; i < 4000; i++) {
		uint64_t at = i * 100, values[2] = { i % 64 * 4096, 4096 }, link[2] = { i, thread };
		uint32_t none = 0;

		if (i % 20 == 0) {
			dw_encode_step(&process, thread, i / 20, at, at + 1900, 5, DW_STEP_RECORDED);
			dw_encode_scope_begin(&stream, at);
		}
		dw_encode_begin(&stream, at, op);
		dw_encode_record(&stream, at + 1, DW_STACK, stacks[i % FRAMES], NULL, 0);
		dw_encode_record(&stream, at + 2, DW_LINK, 0, link, 3);
		dw_encode_begin(&stream, at + 3, op);
		dw_encode_record(&stream, at + 4, i % 2 ? DW_FREE : DW_ALLOC, memory, values, i % 2 ? 2 : 4);
		dw_encode_record(&stream, at + 5, DW_END_OF, i % 3 ? op : 0, &none, 1);
		dw_encode_end(&stream, at + 50);
		if (i % 20 == 19)
			dw_encode_scope_end(&stream, at + 60);
	}
	dw_encode_close(&stream);
	bytes = dw_encode_bytes(&encode);
	if (encode.failed || write(file, encode.image, bytes) != (ssize_t)bytes)
		exit(1);
	dw_encode_reset(&encode);
	return bytes;
}

static const uint32_t hurtful[16] = { 0, 1, 2, 7, 0x0ffffff0, 0xffffffff, 0x7fffffff, 0x8000,
	                                  32768 + 8, 0x44570003, 0x44570006, 0x44570007, 0x44570009,
	                                  0x48435744, 65536, 64 };

/* Some words anywhere. The magic stays: a file that is refused tests nothing. */
static void flip_some(volatile uint32_t *words, const uint32_t *good, size_t count)
{
	size_t at[16];

	for (unsigned i = 0; i < 16; i++) {
		at[i] = 16 + random_word() % (count - 16);
		if (at[i] < DW_BLOCK_BYTES / 4 && i % 4)
			at[i] += DW_BLOCK_BYTES / 4;
		words[at[i]] = random_word() % 3 ? hurtful[random_word() % 16] : random_word();
	}
	for (unsigned turn = 0; turn < 40; turn++)
		words[at[turn % 16]] = turn & 1 ? good[at[turn % 16]] : hurtful[random_word() % 16];
	for (unsigned i = 0; i < 16; i++)
		words[at[i]] = good[at[i]];
}

/* One word of all entries of a type, or of all chunk headers, back and forth. */
static void flip_all(volatile uint32_t *words, const uint32_t *good, size_t count)
{
	static uint32_t places[1 << 16];
	uint32_t found = 0, type = random_word() % 16, word = 1 + random_word() % 6;
	uint32_t value = hurtful[random_word() % 16];

	for (uint32_t at = DW_BLOCK_BYTES / 4; at + 16 < count && found < 1 << 16; at += 2)
		if (good[at] == (type ? DW_ENTRY_TAG(type) : DW_CHUNK_MAGIC))
			places[found++] = at + word;
	for (unsigned turn = 0; found && turn < 60000 / found + 2; turn++)
		for (uint32_t i = 0; i < found; i++)
			words[places[i]] = turn & 1 ? good[places[i]] : value;
	for (uint32_t i = 0; i < found; i++)
		words[places[i]] = good[places[i]];
}

static void flip(char *map, const uint32_t *good, size_t bytes)
{
	volatile uint32_t *words = (volatile uint32_t *)(void *)map;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned turn = 0;; turn++)
		(turn % 4 == 0 ? flip_some : flip_all)(words, good, bytes / 4);
}

static int count_event(void *context, const struct dw_event *event)
{
	*(uint64_t *)context += event->end_ns;
	return 0;
}

static void read_once(const char *path)
{
	struct dw_scope everything = { .has_steps = false };
	struct dw_sequence_ask ask = { 0 };
	struct dw_source *source;
	struct dw_model *model;
	uint64_t sum = 0;
	size_t count;

	if (dw_source_open(&source, &path, 1, NULL) != 0)
		return;
	if (dw_model_create(&model, source, &everything, NULL) == 0) {
		dw_model_flat(model, UINT32_MAX, NULL);
		dw_model_tree(model, NULL);
		dw_model_steps(model, NULL);
		dw_model_threads(model, NULL);
		dw_model_paths(model, DW_PATHS_STACKS, NULL);
		dw_model_sequence(model, &ask, NULL);
		dw_model_repairs(model, &count);
		dw_model_events(model, count_event, &sum, NULL);
	}
	dw_model_destroy(model);
	dw_source_close(source);
}

/* The signal that ended `dwell VERB PATH`, or 0. */
static int run(const char *dwell, const char *verb, const char *path)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		int nothing = open("/dev/null", O_WRONLY);

		dup2(nothing, 1);
		dup2(nothing, 2);
		alarm(60);
		execl(dwell, dwell, verb, path, (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) == 127 ? 127 : 0;
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/dwell-racer-XXXXXX";
	int file = mkstemp(path), rounds = argc > 2 ? atoi(argv[2]) : RACER_ROUNDS, failed = 0, passed = 0;
	size_t bytes;
	uint32_t *good;
	char *map;
	pid_t child;

	if (argc < 2 || file < 0)
		return 2;
	bytes = make(file);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	good = malloc(bytes);
	if (map == MAP_FAILED || !good)
		return 2;
	memcpy(good, map, bytes);
	child = fork();
	if (child == 0)
		flip(map, good, bytes);
	for (int i = 0; i < rounds; i++) {
		static const char *const verbs[] = { "info", "report" };
		const char *verb = verbs[i & 1];
		int signal = run(argv[1], verb, path);

		for (int again = 0; again < 8; again++)
			read_once(path);
		if (signal)
			printf("FAIL dwell %s ended by signal %d\n", verb, signal);
		failed += signal != 0;
		passed += !signal;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(path);
	munmap(map, bytes);
	free(good);
	printf("%d reads by the library\n%d passed, %d failed\n", rounds * 8, passed, failed);
	return failed != 0;
}
