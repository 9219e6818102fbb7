/* Breakpoints of the kernel at the begin of functions; see entry_trap.c. Elsewhere than on x86-64 there are none. */
#pragma once

#include "sampler.h"

#ifdef __x86_64__

/* Each call of the function calls `called` in the thread that calls. Returns why it does not, or NULL. */
const char *dws_trap(const uint8_t *code, void (*called)(void));
/* The calling thread, which begins, has the breakpoints, too. */
void dws_trap_thread(void);
/* The same of the only thread of a child. */
void dws_trap_forked(void);
/* At the signal: whether it is a breakpoint's. */
bool dws_trap_take(const siginfo_t *info, ucontext_t *context);
/* No breakpoint sends a signal any more: a sandbox begins. Returns whether there were some. */
bool dws_trap_leave(void);
/* What a call takes longer; 0: there are no breakpoints. */
uint64_t dws_trap_ns(void);

#else

static inline const char *dws_trap(const uint8_t *code, void (*called)(void))
{
	(void)code;
	(void)called;
	return "dwell has no breakpoints on this processor";
}

static inline void dws_trap_thread(void)
{
}

static inline void dws_trap_forked(void)
{
}

static inline bool dws_trap_take(const siginfo_t *info, ucontext_t *context)
{
	(void)info;
	(void)context;
	return false;
}

static inline bool dws_trap_leave(void)
{
	return false;
}

static inline uint64_t dws_trap_ns(void)
{
	return 0;
}
#endif
