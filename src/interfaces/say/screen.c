/* The terminal as a screen; see screen.h. */
#include "say/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define SCREEN_ESCAPE_MS 40 /* the rest of a key's sequence comes within this time */

/* Alternate screen, no cursor; and back. */
static const char screen_enter[] = "\033[?1049h\033[?25l\033[2J";
static const char screen_leave[] = "\033[0m\033[?25h\033[?1049l";

static struct termios screen_before, screen_raw;
static volatile sig_atomic_t screen_is_open, screen_redraw, screen_quit;
static int screen_kept; /* a byte that was read and belongs to the next key; 0: none */

/* ---- what a signal handler may do too --------------------------------------------------------------- */

static void screen_write(const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(STDOUT_FILENO, text, length);

		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (written > 0) {
			text += written;
			length -= (size_t)written;
		}
	}
}

static void screen_restore(void)
{
	if (!screen_is_open)
		return;
	screen_is_open = 0;
	screen_write(screen_leave, sizeof screen_leave - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &screen_before);
}

static void screen_take(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &screen_raw);
	screen_is_open = 1;
	screen_write(screen_enter, sizeof screen_enter - 1);
	screen_redraw = 1;
}

static void screen_set_handler(int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigemptyset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

static void screen_end(int signal)
{
	screen_quit = signal;
}

static void screen_resized(int signal)
{
	screen_redraw = 1;
}

/* A fault ends the process as it would have without a screen. */
static void screen_fault(int signal)
{
	static const char cut[] = "dwell: the trace was cut short while it was read\n";

	screen_restore();
	if (signal == SIGBUS) {
		(void)!write(STDERR_FILENO, cut, sizeof cut - 1);
		_exit(1);
	}
	screen_set_handler(signal, SIG_DFL);
	raise(signal);
}

static void screen_pause(int signal)
{
	int before = errno;
	sigset_t this;

	screen_restore();
	screen_set_handler(signal, SIG_DFL);
	sigemptyset(&this);
	sigaddset(&this, signal);
	pthread_sigmask(SIG_UNBLOCK, &this, NULL);
	kill(getpid(), signal); /* the process stops here until it is continued */
	screen_set_handler(signal, screen_pause);
	screen_take();
	errno = before;
}

/* ---- open and close ---------------------------------------------------------------------------------- */

bool dw_screen_open(const char **why)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	static const int faults[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	const char *term = getenv("TERM");

	*why = "the output is not a terminal";
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &screen_before) != 0)
		return false;
	*why = "this terminal cannot move its cursor (TERM)";
	if (!term || !*term || strcmp(term, "dumb") == 0)
		return false;
	screen_raw = screen_before;
	screen_raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	screen_raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	screen_raw.c_cc[VMIN] = 1;
	screen_raw.c_cc[VTIME] = 0;
	screen_quit = 0;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		screen_set_handler(ends[i], screen_end);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		screen_set_handler(faults[i], screen_fault);
	screen_set_handler(SIGTSTP, screen_pause);
	screen_set_handler(SIGTTOU, SIG_IGN);
	screen_set_handler(SIGWINCH, screen_resized);
	screen_take();
	atexit(screen_restore);
	return true;
}

void dw_screen_close(void)
{
	int signal = screen_quit;

	screen_restore();
	/* Ctrl+C is how many people leave such a program; other signals end it as usual. */
	if (signal && signal != SIGINT) {
		screen_set_handler(signal, SIG_DFL);
		raise(signal);
	}
}

static unsigned screen_number(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);
	long number = text ? strtol(text, NULL, 10) : 0;

	return number > 0 && number < 10000 ? (unsigned)number : otherwise;
}

void dw_screen_size(unsigned *columns, unsigned *rows)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;

	*columns = known && size.ws_col ? size.ws_col : screen_number("COLUMNS", 80);
	*rows = known && size.ws_row ? size.ws_row : screen_number("LINES", 24);
}

/* ---- output -------------------------------------------------------------------------------------------- */

void dw_screen_show(char *text)
{
	unsigned columns, rows, row = 0;
	char *last = strrchr(text, '\n'), *out = NULL;
	size_t size;
	FILE *file = open_memstream(&out, &size);

	if (!file)
		return;
	dw_screen_size(&columns, &rows);
	last = last ? last + 1 : text;
	fputs("\033[H", file);
	for (char *line = text; line && row < rows; row++) {
		char *end = strchr(line, '\n');

		if (row + 1 == rows && end) {
			line = last;
			end = NULL;
		}
		if (end)
			*end = '\0';
		fprintf(file, "\033[%u;1H%s\033[0m\033[K", line == last ? rows : row + 1, line);
		line = end ? end + 1 : NULL;
		/* Empty lines between the text and its last line, which is at the bottom. */
		for (; line == last && row + 2 < rows; row++)
			fprintf(file, "\033[%u;1H\033[K", row + 2);
	}
	fclose(file);
	if (out)
		screen_write(out, size);
	free(out);
}

/* ---- keys ----------------------------------------------------------------------------------------------- */

static bool screen_has_input(int ms)
{
	struct pollfd in = { STDIN_FILENO, POLLIN, 0 };

	return screen_kept || poll(&in, 1, ms) == 1;
}

static int screen_byte(void)
{
	unsigned char byte;
	int kept = screen_kept;
	ssize_t got;

	screen_kept = 0;
	if (kept)
		return kept;
	got = read(STDIN_FILENO, &byte, 1);
	if (got == 1)
		return byte;
	return got < 0 && errno == EINTR ? DW_KEY_NONE : DW_KEY_QUIT; /* the end: the terminal is gone */
}

/* The number of "ESC [ number ~". */
static int screen_numbered_key(unsigned number)
{
	static const struct { unsigned number; int key; } keys[] = {
		{ 1, DW_KEY_HOME }, { 4, DW_KEY_END }, { 5, DW_KEY_PAGE_UP }, { 6, DW_KEY_PAGE_DOWN },
		{ 7, DW_KEY_HOME }, { 8, DW_KEY_END }, { 11, DW_KEY_F0 + 1 }, { 12, DW_KEY_F0 + 2 },
		{ 13, DW_KEY_F0 + 3 }, { 14, DW_KEY_F0 + 4 }, { 15, DW_KEY_F0 + 5 }, { 17, DW_KEY_F0 + 6 },
		{ 18, DW_KEY_F0 + 7 }, { 19, DW_KEY_F0 + 8 }, { 20, DW_KEY_F0 + 9 }, { 21, DW_KEY_F0 + 10 },
	};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].number == number)
			return keys[i].key;
	return DW_KEY_OTHER;
}

static int screen_lettered_key(int letter)
{
	switch (letter) {
	case 'A': return DW_KEY_UP;
	case 'B': return DW_KEY_DOWN;
	case 'C': return DW_KEY_RIGHT;
	case 'D': return DW_KEY_LEFT;
	case 'H': return DW_KEY_HOME;
	case 'F': return DW_KEY_END;
	case 'P': case 'Q': case 'R': case 'S': return DW_KEY_F0 + 1 + (letter - 'P');
	default: return DW_KEY_OTHER;
	}
}

/* What follows ESC: "[A", "OP", "[15~", "[1;5A"; or nothing. */
static int screen_escape(void)
{
	unsigned number = 0;
	int byte;

	if (!screen_has_input(SCREEN_ESCAPE_MS))
		return DW_KEY_ESCAPE;
	byte = screen_byte();
	if (byte != '[' && byte != 'O') { /* the key Esc, and then another one */
		screen_kept = byte < 256 ? byte : 0;
		return byte < 256 ? DW_KEY_ESCAPE : byte;
	}
	for (int length = 0; length < 16 && screen_has_input(SCREEN_ESCAPE_MS); length++) {
		byte = screen_byte();
		if (byte == '~')
			return screen_numbered_key(number);
		if (byte >= '@' && byte < 127)
			return byte == '[' ? DW_KEY_OTHER : screen_lettered_key(byte);
		if (byte >= '0' && byte <= '9')
			number = number * 10 + (unsigned)(byte - '0');
	}
	return DW_KEY_OTHER;
}

int dw_screen_key(int ms)
{
	int key;

	if (!screen_quit && !screen_redraw && !screen_has_input(ms))
		ms = -1;
	if (screen_quit)
		return DW_KEY_QUIT;
	if (screen_redraw) {
		screen_redraw = 0;
		return DW_KEY_REDRAW;
	}
	if (ms < 0)
		return DW_KEY_NONE;
	key = screen_byte();
	if (key == DW_KEY_ESCAPE)
		return screen_escape();
	return key == '\n' ? DW_KEY_ENTER : key == '\b' ? DW_KEY_ERASE : key;
}
