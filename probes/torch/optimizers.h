/*
 * Which optimizer a phase belongs to: an optimizer has the lowest number, from 1, that no living one of the process has.
 *
 * The phase of the first one has no detail, so that a program with one optimizer records what it did before. More than
 * 16 at once are recorded as the first. Needs the interpreter's lock.
 */
#pragma once

#include <dwell/probe.h>

void dwp_optimizer_made(const void *optimizer);
/* It has been freed: another may get its address. */
void dwp_optimizer_gone(const void *optimizer);
/* The phase of its updates; its address is never dereferenced. */
struct dwell_site *dwp_optimizer_site(const void *optimizer);
