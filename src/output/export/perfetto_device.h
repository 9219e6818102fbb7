/* The events of devices in a Perfetto trace; see perfetto_device.c. */
#pragma once

#include "export/device_rows.h"
#include "export/perfetto_packets.h"

/* Called after all ranges of the host were written: `launches` knows whose arrows have begun. Sets
 * timeline->failed if out of memory. */
void dw_perfetto_put_devices(struct dw_perfetto *packets, struct dw_launches *launches);
