/*
 * Failures of a run: the message that a function of the program keeps, and what is added to it.
 */
#include "compat/ignite/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int dwell_ignite_engine_fail(struct dwell_ignite_engine *engine, int code, const char *format, ...)
{
	va_list arguments;

	engine->fail.code = code ? code : DWELL_E_STATE;
	va_start(arguments, format);
	vsnprintf(engine->fail.message, sizeof engine->fail.message, format, arguments);
	va_end(arguments);
	return engine->fail.code;
}

int dw_engine_failed(struct dwell_ignite_engine *engine, int result, const char *format, ...)
{
	struct dwell_error said = engine->fail;
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	/* A message belongs to the result with which it was kept. */
	if (said.code != result && result > 0)
		snprintf(said.message, sizeof said.message, "it returned %d", result);
	else if (said.code != result)
		snprintf(said.message, sizeof said.message, "%s (%d)", dwell_error_text(result), result);
	engine->fail.code = result < 0 ? result : DWELL_E_STATE;
	/* A message that is too long is cut at its end. */
	int length = snprintf(engine->fail.message, sizeof engine->fail.message,
	                      "%s of engine '%.64s' failed at epoch %llu, iteration %llu: ", what,
	                      engine->name, (unsigned long long)engine->state.epoch,
	                      (unsigned long long)engine->state.iteration);
	size_t room = sizeof engine->fail.message - (size_t)length - 1;
	size_t part = strnlen(said.message, sizeof said.message - 1);

	if (part > room)
		part = room;
	memcpy(engine->fail.message + length, said.message, part);
	engine->fail.message[(size_t)length + part] = '\0';
	return engine->fail.code;
}
