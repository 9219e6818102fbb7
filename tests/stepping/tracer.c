/* See tracer.h. */
#include "tracer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t passed;

static void tracer_note_alarm(int number)
{
	(void)number;
	passed = 1;
}

static double tracer_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

pid_t tracer_wait(pid_t thread, int *status, double seconds)
{
	static const struct sigaction alarm_action = { .sa_handler = tracer_note_alarm };
	/* again and again: a signal may come before waitpid() begins */
	struct itimerval time = { { 0, 20000 },
		                      { (time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6) + 1 } };
	static const struct itimerval none;
	double until = tracer_now() + seconds;
	pid_t got = waitpid(thread, status, __WALL | WNOHANG);

	if (got > 0)
		return got;
	sigaction(SIGALRM, &alarm_action, NULL);
	setitimer(ITIMER_REAL, &time, NULL);
	do
		got = waitpid(thread, status, __WALL);
	while (got < 0 && errno == EINTR && tracer_now() < until);
	setitimer(ITIMER_REAL, &none, NULL);
	return got < 0 && errno == EINTR ? 0 : got;
}

bool tracer_resume(int request, pid_t thread, int signal)
{
	return ptrace((enum __ptrace_request)request, thread, NULL, (void *)(intptr_t)signal) == 0;
}

bool tracer_registers(pid_t thread, struct user_regs_struct *registers)
{
	return ptrace(PTRACE_GETREGS, thread, NULL, registers) == 0;
}

void tracer_kill(pid_t process)
{
	int status;
	pid_t got;

	kill(process, SIGKILL);
	do
		got = waitpid(-1, &status, __WALL);
	while (got > 0 && !(got == process && (WIFEXITED(status) || WIFSIGNALED(status))));
}

static int tracer_memory(pid_t process)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/mem", (int)process);
	return open(path, O_RDWR | O_CLOEXEC);
}

bool tracer_read(pid_t process, uintptr_t from, void *to, size_t bytes)
{
	int file = tracer_memory(process);
	bool done = file >= 0 && pread(file, to, bytes, (off_t)from) == (ssize_t)bytes;

	if (file >= 0)
		close(file);
	return done;
}

bool tracer_write(pid_t process, uintptr_t to, const void *from, size_t bytes)
{
	int file = tracer_memory(process);
	bool done = file >= 0 && pwrite(file, from, bytes, (off_t)to) == (ssize_t)bytes;

	if (file >= 0)
		close(file);
	return done;
}

bool tracer_is_permitted(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (!WIFSTOPPED(status))
		return false;
	tracer_kill(child);
	return true;
}

static bool tracer_begins_with(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

size_t tracer_functions(const char *path, const char *const *prefixes, struct tracer_function *functions, size_t most)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	size_t count = 0;

	if (file < 0 || fstat(file, &status) != 0)
		return 0;
	const char *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	const Elf64_Ehdr *head = (const void *)map;
	const Elf64_Shdr *all = (const void *)(map + head->e_shoff);

	close(file);
	for (unsigned i = 0; i < head->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)(map + all[i].sh_offset);
		const char *names = map + all[all[i].sh_link].sh_offset;

		for (uint64_t k = 0; all[i].sh_type == SHT_SYMTAB && k < all[i].sh_size / sizeof *symbols && count < most; k++)
			if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_shndx && symbols[k].st_size &&
			    tracer_begins_with(names + symbols[k].st_name, prefixes))
				functions[count++] =
					(struct tracer_function){ names + symbols[k].st_name, symbols[k].st_value, symbols[k].st_size };
	}
	return count;
}

const char *tracer_place(pid_t process, uintptr_t address, char text[4200])
{
	char path[64], line[4200], name[4096];
	FILE *maps;

	snprintf(text, 4200, "%#" PRIxPTR, address);
	snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof line, maps)) {
		uintptr_t low, high, offset;

		*name = '\0';
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNxPTR " %*s %*s %4095s", &low, &high, &offset, name) >=
		        3 &&
		    address >= low && address < high)
			snprintf(text, 4200, "%s+%#" PRIxPTR, name, address - low + offset);
	}
	if (maps)
		fclose(maps);
	return text;
}

uint64_t tracer_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	uint64_t z = *state;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}
