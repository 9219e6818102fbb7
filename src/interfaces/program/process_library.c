/* Opens libdwell-process.so when a command first needs it, because elfutils is large. */
#include "program/process_library.h"

#include "program/installed.h"
#include "say/say.h"

void *dw_process_library(const char *what)
{
	char path[4096];
	void *library = NULL;
#ifdef DW_PROCESS_LINKED
	bool linked = true;
#else
	bool linked = false;
#endif

	if (linked || dw_installed_find(DW_INSTALLED_PROCESS, path)) {
		library = dlopen(linked ? NULL : path, RTLD_NOW | RTLD_LOCAL);
		if (!library && what)
			dw_say("stacks cannot be read: %s", dlerror());
	} else if (what) {
		dw_say("this dwell was built without elfutils, which %s needs: install Debian's libdw-dev and build again", what);
	}
	return library;
}
