/* A file of a verb, without the table of all verbs: a test defines `options`, which its verb takes. */
#pragma once

#include "check.h"
#include "cli/cli.h"

const struct dw_verb dw_verbs[] = { { "verb", "verb", "[TRACE]", options, sizeof options / sizeof *options, NULL, "Verbs", "" } };
const size_t dw_verb_count = 1;

const struct dw_verb *dw_verb_find(const char *name)
{
	(void)name;
	return dw_verbs;
}
