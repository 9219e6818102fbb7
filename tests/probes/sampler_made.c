/*
 * Makes code at run time, announces its names in a file, and executes it. usage: sampler_made FORM [forever]
 * FORM: map, dump, cut (a dump whose last record is longer than the file), wrong (a map with damaged lines), link (a symbolic link), twice (two names for one place).
 * Prints its process id. `made first` takes a third of the time of `made second`, which is executed forever with "forever".
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
static const uint8_t code[] = { 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };
#else
static const uint32_t code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif

static double cpu_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void execute(void (*made)(long), double s)
{
	for (double end = cpu_s() + s; cpu_s() < end;)
		made(2000000);
}

static void write_dump(FILE *file, const char *at, const char *name)
{
	uint32_t head[4] = { 0, (uint32_t)(16 + 40 + strlen(name) + 1 + sizeof code), 0, 0 }, ids[2] = { (uint32_t)getpid(), 1 };
	uint64_t words[4] = { (uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)at, 64, 1 };

	fwrite(head, sizeof head, 1, file);
	fwrite(ids, sizeof ids, 1, file);
	fwrite(words, sizeof words, 1, file);
	fwrite(name, strlen(name) + 1, 1, file);
	fwrite(code, sizeof code, 1, file);
}

int main(int count, char **words)
{
	const char *form = count > 1 ? words[1] : "map";
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64], other[80];
	int is_dump = strcmp(form, "dump") == 0 || strcmp(form, "cut") == 0;
	FILE *file;

	memcpy(at, code, sizeof code);
	memcpy(at + 64, code, sizeof code);
	__builtin___clear_cache(at, at + 128);
	snprintf(path, sizeof path, is_dump ? "jit-%d.dump" : "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof other, "%s.other", path);
	unlink(path);
	file = fopen(strcmp(form, "link") == 0 ? other : path, "w+");
	if (!file || (strcmp(form, "link") == 0 && symlink(other, path)))
		return 1;
	if (is_dump) {
		uint32_t cut[4] = { 0, UINT32_MAX }, head[10] = { 0x4A695444, 1, 40, 62, 0, (uint32_t)getpid() };

		fwrite(head, sizeof head, 1, file);
		write_dump(file, at, "made first");
		write_dump(file, at + 64, "made second");
		if (strcmp(form, "cut") == 0)
			fwrite(cut, sizeof cut, 1, file);
		fflush(file);
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
	} else {
		if (strcmp(form, "wrong") == 0)
			fprintf(file, "nothing\n%lx zz none\n%lx ffffffffffffffff all\n0 0 empty\n\x01\xff\n", (long)at, (long)at);
		fprintf(file, "%lx 40 made first\n0x%lx 0x40 made second\n", (long)at, (long)at + 64);
		if (strcmp(form, "twice") == 0)
			fprintf(file, "%lx 40 made later\n", (long)at);
		if (strcmp(form, "wrong") == 0)
			fprintf(file, "%lx 40 cut", (long)at);
	}
	fclose(file);
	if (count > 2) {
		puts("ready");
		fflush(stdout);
		for (;;)
			execute((void (*)(long))(uintptr_t)(at + 64), 1);
	}
	execute((void (*)(long))(uintptr_t)at, 0.3);
	execute((void (*)(long))(uintptr_t)(at + 64), 0.9);
	printf("%d\n", getpid());
	return 0;
}
