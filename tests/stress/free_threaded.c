/*
 * Imitates a free-threaded Python, as far as libdwell-attach examines it; libdwell-attach must not
 * load its probe there. Such Pythons are rarely installed, and only the symbols that the process
 * exports matter.
 */
#include <stddef.h>

typedef int audit_hook(const char *event, void *arguments, void *data);

#define EXPORTED __attribute__((visibility("default")))

static audit_hook *hook;
static void *hook_data;

EXPORTED int PySys_AddAuditHook(audit_hook *function, void *data);
EXPORTED const char *Py_GetVersion(void);

int PySys_AddAuditHook(audit_hook *function, void *data)
{
	hook = function;
	hook_data = data;
	return 0;
}

const char *Py_GetVersion(void)
{
	return "3.14.0 free-threading build (main, Oct  7 2025, 12:00:00) [GCC 12.2.0]";
}

int main(void)
{
	if (!hook)
		return 77; /* the library was not preloaded */
	return hook("cpython.run_command", NULL, hook_data);
}
