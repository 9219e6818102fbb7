/* Fills a caller's dwell_error; see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int dw_error_set(struct dwell_error *error, int code, const char *format, ...)
{
	if (error) {
		va_list args;

		va_start(args, format);
		vsnprintf(error->message, sizeof error->message, format, args);
		va_end(args);
		error->code = code;
	}
	return code;
}

const char *dwell_error_text(int code)
{
	switch (code) {
#define X(name, value, text) case name: return text;
	DWELL_ERRORS(X)
#undef X
	case DWELL_OK: return "no error";
	}
	return "unknown error";
}

const char *dwell_version(void)
{
	return DWELL_VERSION;
}
