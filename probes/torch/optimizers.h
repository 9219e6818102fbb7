/*
 * Which optimizer a phase and a step belong to: an optimizer has the lowest number, from 1, that no living one of the
 * process has.
 *
 * The phase of the first one has no detail, so that a program with one optimizer records what it did before. More than
 * 16 at once are recorded as the first. Needs the interpreter's lock.
 *
 * And in which loops of the program each of several steps: of these alone the reader knows whether one that steps
 * several times does so within an iteration of another one.
 */
#pragma once

#include <dwell/probe.h>

void dwp_optimizer_made(const void *optimizer);
/* It has been freed: another may get its address. */
void dwp_optimizer_gone(const void *optimizer);
/* Its number, from 0. */
uint32_t dwp_optimizer_number(const void *optimizer);
/* The phase of its updates; its address is never dereferenced. */
struct dwell_site *dwp_optimizer_site(const void *optimizer);
/* Before it steps: whether dwp_optimizer_in_loops() wants to know where. That is so at its 1st, 2nd, 4th, 8th ... step.
 */
bool dwp_optimizer_is_due(const void *optimizer);
/* It steps in these loops, the outermost first; numbers that differ between loops. */
void dwp_optimizer_in_loops(const void *optimizer, const uint64_t *loops, uint32_t count);
/* In the child process after fork, which stores in its own name where optimizers step. */
void dwp_optimizers_forked(void);
