/*
 * Runs a program as under an older kernel or in a sandbox: one feature is refused, or all are.
 *
 *     refuse THING|all PROGRAM [ARGUMENT ...]
 *     refuse --list
 *
 * THING names a system call or a flag that Linux 4.18, the oldest kernel that dwell supports, does
 * not have. As on that kernel, calls fail with ENOSYS, flags and advice with EINVAL. Exits with 77
 * if no filter can be installed.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers that are the same on all machines since 5.1; old headers lack some. */
enum {
	NR_pidfd_send_signal = 424,
	NR_io_uring_setup = 425,
	NR_pidfd_open = 434,
	NR_clone3 = 435,
	NR_close_range = 436,
	NR_openat2 = 437,
	NR_pidfd_getfd = 438,
	NR_faccessat2 = 439,
	NR_process_madvise = 440,
	NR_epoll_pwait2 = 441,
	NR_futex_waitv = 449,
	NR_fchmodat2 = 452,
	NR_futex_wake = 454,
	NR_futex_wait = 455,
	NR_mseal = 462,
};
#define ANY UINT32_MAX

struct thing {
	const char *name;
	long number;       /* of the system call; -1: not on this machine */
	unsigned argument; /* whose lower half is compared; ANY: the call is refused */
	uint32_t value;    /* equal to this, or with any of these bits where `bits` */
	int bits;
	const char *since;
	bool alone;        /* not part of `all`: Linux 4.18 has it */
};

#if defined(SYS_rseq)
#define NR_rseq SYS_rseq
#else
#define NR_rseq -1
#endif

static const struct thing things[] = {
	{ "madvise-cold", SYS_madvise, 2, 20, 0, "5.4", false },
	{ "madvise-pageout", SYS_madvise, 2, 21, 0, "5.4", false },
	{ "madvise-populate-read", SYS_madvise, 2, 22, 0, "5.14", false },
	{ "madvise-populate-write", SYS_madvise, 2, 23, 0, "5.14", false },
	{ "madvise-dontneed-locked", SYS_madvise, 2, 24, 0, "5.18", false },
	{ "madvise-collapse", SYS_madvise, 2, 25, 0, "6.1", false },
	{ "madvise-guard-install", SYS_madvise, 2, 102, 0, "6.13", false },
	/* Older than 4.18, but an option of the kernel or refused by sandboxes. */
	{ "madvise-hugepage", SYS_madvise, 2, 14, 0, "an option", false },
	{ "madvise-wipeonfork", SYS_madvise, 2, 18, 0, "4.14, refused by qemu", true },
	{ "mmap-droppable", SYS_mmap, 3, 0x08, 1, "6.11", false },
	{ "memfd-exec-flags", SYS_memfd_create, 1, 0x18, 1, "6.3", false },
	{ "prctl-name-mapping", SYS_prctl, 0, 0x53564d41, 0, "5.17", false },
	{ "rseq", NR_rseq, ANY, 0, 0, "4.18, an option", false },
	{ "statx", SYS_statx, ANY, 0, 0, "4.11, refused by old sandboxes", false },
	{ "pidfd_send_signal", NR_pidfd_send_signal, ANY, 0, 0, "5.1", false },
	{ "io_uring_setup", NR_io_uring_setup, ANY, 0, 0, "5.1", false },
	{ "pidfd_open", NR_pidfd_open, ANY, 0, 0, "5.3", false },
	{ "clone3", NR_clone3, ANY, 0, 0, "5.3", false },
	{ "close_range", NR_close_range, ANY, 0, 0, "5.9", false },
	{ "openat2", NR_openat2, ANY, 0, 0, "5.6", false },
	{ "pidfd_getfd", NR_pidfd_getfd, ANY, 0, 0, "5.6", false },
	{ "faccessat2", NR_faccessat2, ANY, 0, 0, "5.8", false },
	{ "process_madvise", NR_process_madvise, ANY, 0, 0, "5.10", false },
	{ "epoll_pwait2", NR_epoll_pwait2, ANY, 0, 0, "5.11", false },
	{ "futex_waitv", NR_futex_waitv, ANY, 0, 0, "5.16", false },
	{ "fchmodat2", NR_fchmodat2, ANY, 0, 0, "6.6", false },
	{ "futex_wake", NR_futex_wake, ANY, 0, 0, "6.7", false },
	{ "futex_wait", NR_futex_wait, ANY, 0, 0, "6.7", false },
	{ "mseal", NR_mseal, ANY, 0, 0, "6.10", false },
};
#define COUNT (sizeof things / sizeof *things)

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(field))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

static int install(const struct thing *thing)
{
	uint32_t number = (uint32_t)thing->number;
	struct sock_filter call[] = {
		LOAD(offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		REFUSE(ENOSYS),
		ALLOW,
	};
	struct sock_filter flag[] = {
		LOAD(offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		LOAD(offsetof(struct seccomp_data, args) + 8 * (size_t)(thing->argument % 6)),
		BPF_JUMP(BPF_JMP | (thing->bits ? BPF_JSET : BPF_JEQ) | BPF_K, thing->value, 0, 1),
		REFUSE(EINVAL),
		ALLOW,
	};
	struct sock_fprog program = { sizeof call / sizeof *call, call };

	if (thing->argument != ANY)
		program = (struct sock_fprog){ sizeof flag / sizeof *flag, flag };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char **arguments)
{
	bool found = false;

	if (count == 2 && strcmp(arguments[1], "--list") == 0) {
		for (size_t i = 0; i < COUNT; i++)
			printf("%-24s Linux %s\n", things[i].name, things[i].since);
		return 0;
	}
	for (size_t i = 0; count > 2 && i < COUNT; i++) {
		if (strcmp(things[i].name, arguments[1]) != 0 &&
		    (things[i].alone || strcmp(arguments[1], "all") != 0))
			continue;
		found = true;
		if (things[i].number >= 0 && install(&things[i])) {
			printf("skip %s: no filter can be installed here\n", arguments[1]);
			return 77;
		}
	}
	if (!found) {
		fprintf(stderr, "usage: refuse THING|all PROGRAM [ARGUMENT ...] | refuse --list\n");
		return 2;
	}
	execvp(arguments[2], arguments + 2);
	perror(arguments[2]);
	return 127;
}
