/*
 * The terminal as a screen: keys one by one, the whole screen at once.
 *
 * While a screen is open, the terminal is in another mode and shows its alternate screen. Both are
 * taken back whatever ends the process, except SIGKILL: dw_screen_close(), a signal, Ctrl+Z. One
 * screen at a time; not thread-safe.
 */
#pragma once

#include <stdbool.h>

enum dw_key {
	DW_KEY_NONE = 0,       /* nothing was pressed in this time */
	/* 1 to 255: a byte */
	DW_KEY_ENTER = '\r', DW_KEY_ESCAPE = 27, DW_KEY_ERASE = 127,
	DW_KEY_UP = 256, DW_KEY_DOWN, DW_KEY_LEFT, DW_KEY_RIGHT, DW_KEY_PAGE_UP, DW_KEY_PAGE_DOWN,
	DW_KEY_HOME, DW_KEY_END, DW_KEY_OTHER,
	DW_KEY_REDRAW,         /* the size changed, or the process was continued */
	DW_KEY_QUIT,           /* a signal asks the process to end, or the terminal is gone */
	DW_KEY_F0 = 512,       /* F1 is DW_KEY_F0 + 1 */
};

/* False if standard input and output are not a terminal that can move its cursor; *why says what is
 * missing. */
bool dw_screen_open(const char **why);
void dw_screen_close(void);
/* Never 0: 80 and 24 if the terminal does not know. */
void dw_screen_size(unsigned *columns, unsigned *rows);
/* Shows lines of text. If there are more than the screen has, the last one replaces those that do not
 * fit. No line may be wider than the screen. */
void dw_screen_show(char *text);
/* An enum dw_key. Waits at most `ms`. */
int dw_screen_key(int ms);
