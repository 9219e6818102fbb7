/* The events of devices in a Chrome trace; see chrome_device.c. */
#pragma once

#include "export/device_rows.h"

/* Writes the devices' tracks, their events in scope, and arrows from the calls that submitted them.
 * *any_event: whether the document has an event already. Writes nothing if the trace has no device.
 * Sets timeline->failed if out of memory. */
void dw_chrome_put_devices(struct dw_timeline *timeline, bool *any_event);
