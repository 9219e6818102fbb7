/* Faults that a program handles or dies of, sandboxes, and processes with fewer rights. */
#define _GNU_SOURCE
#include "harm.h"
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>

/* ---- faults ---- */

enum {
	F_READ,
	F_WRITE,
	F_CODE,
	F_BUS,
	F_DIVIDE,
	F_ILLEGAL,
	F_TRAP,
	F_OVERFLOW,
	F_OVERFLOW_THREAD,
	HANDLED = 100,
	EXITS = 200
};
static sigjmp_buf back;
static int exits;

static void fault_handler(int number, siginfo_t *info, void *context UNUSED)
{
	harm_say("signal %d, code %d, address is 0: %d\n", number, info->si_code, !info->si_addr);
	harm_compute(.01);
	if (exits)
		_exit(40 + number);
	siglongjmp(back, 1);
}

static NOINLINE int fault_recurse(int depth)
{
	volatile char frame[2048];
	frame[0] = (char)depth;
	return fault_recurse(depth + 1) + frame[0];
}

static void fault_bus(void)
{
	int fd = open("bus.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (ftruncate(fd, 8192))
		return;
	volatile char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memory[5000] = 1;
	if (ftruncate(fd, 0))
		return;
	memory[5000] = 2;
}

static void fault_make(int fault)
{
	static const int zero;
	volatile int divisor = zero, result = 0;
	char *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	switch (fault) {
	case F_READ:
		result = *(volatile int *)NULL;
		break;
	case F_WRITE:
		*(volatile char *)memory = 1;
		break;
	case F_CODE:
		((void (*)(void))memory)();
		break;
	case F_BUS:
		fault_bus();
		break;
	case F_DIVIDE:
		result = 5 / divisor;
		break;
	case F_ILLEGAL:
		__asm__ volatile("ud2");
		break;
	case F_TRAP:
		__asm__ volatile("int3");
		break;
	default:
		result = fault_recurse(0);
	}
	(void)result;
}

static void *fault_rounds(void *value)
{
	int fault = (int)(long)value % 100;
	stack_t own = { .ss_sp = malloc(65536), .ss_size = 65536 };
	sigaltstack(&own, NULL);
	for (int i = 0; i < 3; i++) {
		harm_compute(.03);
		if ((long)value < HANDLED || !sigsetjmp(back, 1))
			fault_make(fault);
	}
	return NULL;
}

static void fault_main(long value)
{
	static const int all[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	struct sigaction action = { .sa_sigaction = fault_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	exits = value >= EXITS;
	if (value >= HANDLED)
		for (size_t i = 0; i < COUNT_OF(all); i++)
			sigaction(all[i], &action, NULL);
	if (value % 100 == F_OVERFLOW_THREAD)
		harm_thread(fault_rounds, (void *)value, NULL);
	else
		fault_rounds((void *)value);
}

/* ---- sandboxes ---- */

enum { KILLS, FAILS, TRAPS };
enum { WITH_GETTID = 10, IN_THREAD = 20, IN_CHILD = 40, ALLOCATES = 80 };

static int sandbox_filter(unsigned action, bool ids)
{
	static const int allowed[] = { SYS_read,       SYS_write,        SYS_exit,           SYS_exit_group,
		                           SYS_futex,      SYS_brk,          SYS_mmap,           SYS_munmap,
		                           SYS_newfstatat, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_clock_gettime,
		                           SYS_madvise,    SYS_rseq,         SYS_mprotect,       SYS_gettid,
		                           SYS_getpid };
	struct sock_filter code[64];
	unsigned short at = 0, count = (unsigned short)(COUNT_OF(allowed) - (ids ? 0 : 2));
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned short i = 0; i < count; i++) {
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
		code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	struct sock_fprog program = { at, code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void sandbox_work(long value)
{
	static const unsigned actions[] = { SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_TRAP };
	if (value % 10 == TRAPS)
		harm_handle(SIGSYS, 0);
	harm_compute(.03);
	harm_say("filter %d\n", sandbox_filter(actions[value % 10], value / WITH_GETTID & 1));
	harm_compute(TICKS);
	if (value / ALLOCATES & 1)
		for (int i = 0; i < 20; i++)
			free(malloc(1000000));
	harm_say("in the sandbox\n");
	if (value % 10 == FAILS)
		harm_result("getppid", syscall(SYS_getppid));
	if (value % 10 == TRAPS)
		syscall(SYS_getppid);
	harm_say("SIGSYS %d code %d\n", harm_seen[SIGSYS], harm_code[SIGSYS]);
	exit(3);
}

static void *sandbox_begin(void *value)
{
	sandbox_work((long)value);
	return NULL;
}

static void sandbox_main(long value)
{
	if (value / IN_THREAD & 1)
		harm_thread(sandbox_begin, (void *)value, NULL);
	else if (value / IN_CHILD & 1)
		harm_child("child", sandbox_work, value);
	else
		sandbox_work(value);
}

static long raw_call(long number, long first, long second, long third)
{
	long result;
	register long fourth __asm__("r10") = 0;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(first), "S"(second), "d"(third), "r"(fourth)
	                 : "rcx", "r11", "memory");
	return result;
}

static void strict_main(long value)
{
	static volatile double sink;
	if (value)
		raw_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0);
	else
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	for (int i = 0; i < 60000000; i++)
		sink = sink + i;
	raw_call(SYS_write, 1, (long)"strict\n", 7);
	raw_call(SYS_exit, 0, 0, 0);
}

/* ---- fewer rights ---- */

enum {
	R_CHROOT,
	R_NOBODY,
	R_DUMPABLE,
	R_NO_PROC,
	R_UNSHARE_PID,
	R_UNSHARE_USER,
	R_CAPABILITIES,
	R_EXEC_NOBODY,
	R_CHROOT_EXEC,
	R_FOLDER
};

static bool rights_drop(void)
{
	return !setgroups(0, NULL) && !setgid(65534) && !setuid(65534);
}

static bool rights_change(long how)
{
	switch (how) {
	case R_CHROOT:
		mkdir("root", 0755);
		return !chroot("root") && !chdir("/") && rights_drop();
	case R_CHROOT_EXEC:
		return !chroot("/") && !chdir("/");
	case R_NOBODY:
	case R_EXEC_NOBODY:
		return rights_drop();
	case R_DUMPABLE:
		return !prctl(PR_SET_DUMPABLE, 0);
	case R_NO_PROC:
		return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		       !umount2("/proc", MNT_DETACH);
	case R_UNSHARE_PID:
		return !unshare(CLONE_NEWPID);
	case R_UNSHARE_USER:
		return !unshare(CLONE_NEWUSER);
	case R_FOLDER:
		mkdir("gone", 0755);
		return !chdir("gone") && !rmdir("../gone");
	default:
		return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_KEEPCAPS, 1) && rights_drop();
	}
}

static void *rights_begin(void *value)
{
	harm_compute(.02);
	return value;
}

static void rights_child(long value)
{
	harm_compute(.03);
	_exit((int)value);
}

static void rights_main(long how)
{
	harm_compute(.03);
	if (!rights_change(how)) {
		harm_say("skip: no right for this\n");
		_exit(77);
	}
	harm_compute(TICKS);
	usleep(1000);
	harm_thread(rights_begin, NULL, NULL);
	harm_child("child", rights_child, 5);
	harm_say("user %d, /proc %d, dumpable %d\n", getuid(), access("/proc/self/fd", F_OK), prctl(PR_GET_DUMPABLE));
	if (how == R_EXEC_NOBODY || how == R_CHROOT_EXEC || how == R_NO_PROC || how == R_FOLDER) {
		harm_say_status("system", system("echo in a shell; exit 4"));
		execl("/bin/sh", "sh", "-c", "echo executed; exit 6", (char *)NULL);
	}
}

/* A program in memory. */
static void memory_file(long value)
{
	char text[65536];
	int from = open("/bin/true", O_RDONLY), fd = memfd_create("program", value ? MFD_CLOEXEC : 0);
	for (ssize_t size; (size = read(from, text, sizeof text)) > 0;)
		if (write(fd, text, (size_t)size) != size)
			return;
	extern char **environ;
	char *arguments[] = { "program", NULL };
	harm_compute(TICKS);
	fexecve(fd, arguments, environ);
	harm_say("fexecve: %s\n", strerrorname_np(errno));
}

#define FAULT(name, fault) \
	{ "faults", name, fault_main, fault }, { "faults", name ", handled", fault_main, HANDLED + (fault) }, \
	{ \
		"faults", name ", handler exits", fault_main, EXITS + (fault) \
	}
#define LIST(name, flags) \
	{ \
		"sandbox", name, sandbox_main, flags \
	}
#define RIGHTS(name, how) \
	{ \
		"fewer rights", name, rights_main, how \
	}

const struct harm_program harm_faults[] = {
	FAULT("read of 0", F_READ),
	FAULT("write to what is read-only", F_WRITE),
	FAULT("execution of data", F_CODE),
	FAULT("file that was truncated", F_BUS),
	FAULT("division by 0", F_DIVIDE),
	FAULT("illegal instruction", F_ILLEGAL),
	FAULT("int3", F_TRAP),
	FAULT("stack overflow", F_OVERFLOW),
	FAULT("stack overflow in a thread", F_OVERFLOW_THREAD),
	LIST("allow-list, kills", KILLS),
	LIST("allow-list with gettid, kills", KILLS + WITH_GETTID),
	LIST("allow-list, fails", FAILS),
	LIST("allow-list, SIGSYS", TRAPS),
	LIST("allow-list in a thread", KILLS + IN_THREAD),
	LIST("allow-list in a child", KILLS + IN_CHILD),
	LIST("allow-list, allocates", KILLS + ALLOCATES),
	LIST("allow-list with gettid, allocates", KILLS + WITH_GETTID + ALLOCATES),
	{ "sandbox", "strict", strict_main, 0 },
	{ "sandbox", "strict, by its own system call", strict_main, 1 },
	RIGHTS("chroot, nobody", R_CHROOT),
	RIGHTS("chroot to the same, exec", R_CHROOT_EXEC),
	RIGHTS("nobody", R_NOBODY),
	RIGHTS("nobody, exec", R_EXEC_NOBODY),
	RIGHTS("not dumpable", R_DUMPABLE),
	RIGHTS("no /proc", R_NO_PROC),
	RIGHTS("namespace of processes", R_UNSHARE_PID),
	RIGHTS("namespace of users", R_UNSHARE_USER),
	RIGHTS("no new privileges", R_CAPABILITIES),
	RIGHTS("folder that was removed", R_FOLDER),
	{ "fewer rights", "program in memory", memory_file, 0 },
	{ "fewer rights", "program in memory, close on exec", memory_file, 1 },
	{ NULL, NULL, NULL, 0 },
};
