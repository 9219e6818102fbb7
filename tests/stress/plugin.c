/* A plugin with probes of its own, loaded and unloaded while recording. */
#include "dwell/probe.h"

void plugin_work(int count);

void plugin_work(int count)
{
	for (int i = 0; i < count; i++) {
		DWELL_ZONE("plugin.work");
		DWELL_MARK("plugin.mark");
	}
}
