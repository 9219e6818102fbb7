/* What the programs that trace others have in common: waiting with a limit, registers, steps, and addresses of
 * functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* Whether this process may trace its children. */
bool tracer_is_permitted(void);

/* As waitpid(thread, status, __WALL); `thread` -1: any one. Returns 0 when `seconds` have passed. */
pid_t tracer_wait(pid_t thread, int *status, double seconds);

/* Continues a stopped thread: request PTRACE_CONT, PTRACE_SINGLESTEP or PTRACE_SYSCALL. False: the thread is gone. */
bool tracer_resume(int request, pid_t thread, int signal);
bool tracer_registers(pid_t thread, struct user_regs_struct *registers);

/* Kills a process with all its threads, and reaps them. */
void tracer_kill(pid_t process);

/* Memory of a traced process, whether it is stopped or not. */
bool tracer_read(pid_t process, uintptr_t from, void *to, size_t bytes);
bool tracer_write(pid_t process, uintptr_t to, const void *from, size_t bytes);

/* Functions in the symbol table of a file, as offsets from where it is loaded. Returns how many. */
struct tracer_function {
	const char *name; /* in memory that is never freed */
	uintptr_t offset, bytes;
};
size_t tracer_functions(const char *path, const char *const *prefixes, struct tracer_function *functions, size_t most);

/* The file of a process that is mapped at an address, as "FILE+0xOFFSET", for messages. */
const char *tracer_place(pid_t process, uintptr_t address, char text[4200]);

uint64_t tracer_random(uint64_t *state);
