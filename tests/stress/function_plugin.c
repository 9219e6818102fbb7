/* A library with one function, compiled with -finstrument-functions under several names. */
#include <string.h>

#define QUOTE(text) #text
#define TEXT(text) QUOTE(text)

int plugin_function(int value);
const char *plugin_name(void) __attribute__((no_instrument_function));

int plugin_function(int value)
{
	return value + 1;
}

const char *plugin_name(void)
{
	return TEXT(NAME);
}
