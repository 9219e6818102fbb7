/*
 * Sees libraries that a program loads while it runs: plugins, Java's System.load(), bindings of other languages.
 *
 * This library is preloaded, so that its dlopen() is called first. The loader looks for a library in the folders
 * of its caller (DT_RUNPATH, DT_RPATH), which it finds by the return address. A call for which these folders matter is
 * passed on by a jump, as if it had gone to the loader at once; then nothing is known of its end. Every other call is
 * made from here. A library is initialised when the outermost call of its thread has returned; calls of other threads
 * wait for the loader's lock until then.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/system/system.h"
#include "late.h"

#if defined(__x86_64__)

#define LATE_TRIES 100 /* of a millisecond: how long one call waits for a thread that looks */

typedef void *late_open(const char *file, int mode);

static void (*late_loaded)(void);
static int late_looks; /* atomic: the process whose thread looks for what was loaded; 0: none */
static late_open *late_real; /* atomic */
static int late_wanted;      /* atomic: something may have been loaded since the last look began */
static int late_stuck;       /* atomic: a thread has waited in vain for the one that looks */
static int late_passed;      /* atomic: a call was passed on by a jump */
static __thread struct {
	unsigned depth;  /* calls from here that are open, and late_loaded() */
	uintptr_t jumped; /* the stack at the outermost call that was passed on by a jump; 0: none */
} my __attribute__((tls_model("initial-exec")));

static int late_count_added(struct dl_phdr_info *info, size_t size, void *count)
{
	*(unsigned long long *)count = info->dlpi_adds;
	return 1;
}

/* Whether this thread looks now. If it looked in the process that forked this one, nobody does here. */
static bool late_try(int self)
{
	int holder = 0;

	return __atomic_compare_exchange_n(&late_looks, &holder, self, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) ||
	       (holder != self &&
	        __atomic_compare_exchange_n(&late_looks, &holder, self, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/*
 * If another thread looks, its late_loaded() may be about the library of this call: waits for it, but at most LATE_TRIES ms,
 * because that thread may wait for the loader, and the loader for a constructor that waits for this thread. Once a wait was
 * in vain, none is made until the other thread is done. That one then looks again.
 */
static bool late_lock(int self)
{
	const struct timespec pause = { 0, 1000000 };

	for (unsigned tries = 0; tries < LATE_TRIES; tries++) {
		if (late_try(self))
			return true;
		if (__atomic_load_n(&late_stuck, __ATOMIC_RELAXED))
			return false;
		dw_system(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	}
	__atomic_store_n(&late_stuck, 1, __ATOMIC_RELAXED);
	return late_try(self);
}

static void late_look(void)
{
	static unsigned long long seen;
	int saved = errno, self = (int)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
	bool looks;

	/* Before the lock is tried, and read after it is free: either this thread looks, or the one that looks now does again. */
	__atomic_store_n(&late_wanted, 1, __ATOMIC_SEQ_CST);
	for (looks = late_lock(self); looks; looks = __atomic_load_n(&late_wanted, __ATOMIC_SEQ_CST) && late_try(self)) {
		unsigned long long added = 0;

		__atomic_store_n(&late_wanted, 0, __ATOMIC_SEQ_CST);
		dl_iterate_phdr(late_count_added, &added);
		if (added != seen) {
			seen = added;
			my.depth++;
			late_loaded();
			my.depth--;
			dlerror(); /* of calls in late_loaded(): the program's call has succeeded */
		}
		__atomic_store_n(&late_stuck, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&late_looks, 0, __ATOMIC_SEQ_CST);
	}
	errno = saved;
}

static void *late_call(const char *file, int mode)
{
	void *handle;

	my.depth++;
	handle = late_real(file, mode);
	my.depth--;
	if (handle && !my.depth && !my.jumped)
		late_look();
	return handle;
}

/* Whether the folders of the caller matter. Those of the program itself (DT_RPATH) matter for each caller. */
static bool late_depends(const char *file, const void *caller)
{
	struct link_map *library = NULL;
	Dl_info info;
	bool is_program;

	if (!file || !*file)
		return false;
	if (strchr(file, '$') || !dladdr1(caller, &info, (void **)&library, RTLD_DL_LINKMAP) || !library)
		return true;
	is_program = !library->l_name || !*library->l_name;
	for (const ElfW(Dyn) *at = library->l_ld; at && at->d_tag != DT_NULL; at++)
		if ((at->d_tag == DT_RUNPATH && !strchr(file, '/')) || (at->d_tag == DT_RPATH && !is_program))
			return true;
	return false;
}

/* Before main(), because the search takes the loader's lock and clears the message of dlerror(). A constructor of another
 * library may call dlopen() earlier. */
static late_open *late_find(void)
{
	late_open *real;

	*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	__atomic_store_n(&late_real, real, __ATOMIC_RELAXED);
	return real;
}

__attribute__((constructor)) static void late_begin(void)
{
	late_find();
}

/* Returns the function to which the call goes on. Called by dlopen() below. */
__attribute__((used, visibility("hidden"))) late_open *dwp_late_choose(const char *file, int mode, const void *caller,
                                                                      uintptr_t stack);

late_open *dwp_late_choose(const char *file, int mode, const void *caller, uintptr_t stack)
{
	late_open *real = __atomic_load_n(&late_real, __ATOMIC_RELAXED);

	if (!real)
		real = late_find();
	if (!__atomic_load_n(&late_loaded, __ATOMIC_RELAXED))
		return real;
	/* A call that was passed on may not have returned: this one may be of a constructor, if the stack has grown since. */
	if (stack >= my.jumped)
		my.jumped = 0;
	if (!late_depends(file, caller))
		return late_call;
	if (!my.jumped)
		my.jumped = stack;
	__atomic_store_n(&late_passed, 1, __ATOMIC_RELAXED);
	return real;
}

/* dlopen(): asks dwp_late_choose() with the return address and the place of that, and jumps to its answer. */
__asm__(".text\n.p2align 4\n.globl dlopen\n.type dlopen, @function\n"
        "dlopen:\n"
        "\t.cfi_startproc\n"
        "\tendbr64\n"
        "\tpushq %rdi\n\t.cfi_adjust_cfa_offset 8\n"
        "\tpushq %rsi\n\t.cfi_adjust_cfa_offset 8\n"
        "\tsubq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n"
        "\tmovq 24(%rsp), %rdx\n"
        "\tleaq 24(%rsp), %rcx\n"
        "\tcall dwp_late_choose\n"
        "\taddq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n"
        "\tpopq %rsi\n\t.cfi_adjust_cfa_offset -8\n"
        "\tpopq %rdi\n\t.cfi_adjust_cfa_offset -8\n"
        "\tjmp *%rax\n"
        "\t.cfi_endproc\n"
        ".size dlopen, . - dlopen\n");

void dwp_late_watch(void (*loaded)(void))
{
	__atomic_store_n(&late_loaded, loaded, __ATOMIC_RELAXED);
}

bool dwp_late_missed(void)
{
	return __atomic_exchange_n(&late_passed, 0, __ATOMIC_RELAXED);
}

#else

bool dwp_late_missed(void)
{
	return true;
}

void dwp_late_watch(void (*loaded)(void))
{
}

#endif
