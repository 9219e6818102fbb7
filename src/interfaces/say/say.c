/* What the command says on standard error, and what it knows of the terminal. */
#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "say/say.h"
#include "trace/trace.h"

#define LONG_BYTES (64 << 20) /* reading a larger file takes long enough to show a message */

static bool say_any;

bool dw_has_said(void)
{
	return say_any;
}

/* Whether a shell takes the word as it is. */
static bool say_is_plain(const char *word)
{
	static const char marks[] = "_-./+,:@%=";

	for (const char *c = word; *c; c++)
		if (!(*c & 0x80) && !isalnum((unsigned char)*c) && !strchr(marks, *c))
			return false;
	return *word != '\0';
}

/* Whether dw_say() shows the word as it is. */
static bool say_is_shown(const char *word)
{
	char text[4096];

	snprintf(text, sizeof text, "%s", word);
	dw_text_disarm(text, false);
	return strcmp(text, word) == 0;
}

const char *dw_quote(const char *word, char quoted[DW_QUOTED_BYTES])
{
	bool shown = say_is_shown(word);
	char *to = quoted;

	if (shown && say_is_plain(word)) {
		snprintf(quoted, DW_QUOTED_BYTES, "%s", word);
		return quoted;
	}
	to += snprintf(to, 3, "%s'", shown ? "" : "$"); /* $'...' is what bash, zsh and ksh read with escapes */
	for (const char *c = word; *c && to < quoted + DW_QUOTED_BYTES - 8; c++)
		if (*c == '\'' || (*c == '\\' && !shown))
			to += snprintf(to, 5, shown ? "'\\''" : "\\%c", *c);
		else if (!shown && (*c & 0x80 || iscntrl((unsigned char)*c)))
			to += snprintf(to, 5, "\\x%02x", (unsigned char)*c);
		else
			*to++ = *c;
	snprintf(to, 2, "'");
	return quoted;
}

void dw_say(const char *format, ...)
{
	char text[3 * 4096];
	va_list args;

	say_any = true;
	fflush(stdout);
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	/* Names from a trace or the command line must not break the line. */
	dw_text_disarm(text, false);
	fprintf(stderr, "dwell: %s\n", text);
}

void dw_say_progress(const char *path)
{
	static bool shown;
	struct stat status;

	if (!isatty(STDERR_FILENO))
		return;
	if (path && stat(path, &status) == 0 && status.st_size >= LONG_BYTES) {
		fprintf(stderr, "\rdwell: reading %.200s (%s) ...", path, dw_text_bytes((double)status.st_size, " ").at);
		shown = true;
	} else if (!path && shown) {
		fputs("\r\033[K", stderr);
		shown = false;
	}
}

void dw_say_state(struct dwell_trace *trace)
{
	const struct dw_source *source = dw_trace_source(trace);
	const char *repair;

	if (source->live)
		dw_say("%s is still being written; this is its current state", source->files[0].path);
	for (size_t i = 0; (repair = dwell_trace_repair(trace, i)); i++)
		dw_say("%s", repair);
}

int dw_say_error(const struct dwell_error *error, int code)
{
	dw_say("%s", error->message[0] ? error->message : dwell_error_text(code));
	return code == DWELL_E_NAME || code == DWELL_E_ARGUMENT ? DW_EXIT_USAGE : DW_EXIT_BAD_INPUT;
}

static volatile int say_stopped;

static void say_stop(int signal)
{
	say_stopped = 1;
}

volatile int *dw_stop_at_signals(void)
{
	const struct sigaction action = { .sa_handler = say_stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return &say_stopped;
}

void dw_terminal(int fd, struct dwell_print_options *options)
{
	struct winsize size = { 0 };
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	options->width = 0;
	options->color = options->utf8 = false;
	if (!isatty(fd))
		return;
	options->width = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
	options->color = !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
	options->utf8 = dw_utf8_locale();
}
