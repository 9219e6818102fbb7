/* What `dwell run` does when `dwell capture` asks. */
#pragma once

/* Does what was asked for, in a process of its own. `pid`: the program that dwell run started, as text. Returns an exit
 * status. `place`: the path of a trace in the folder where `dwell capture` asks, which differs from that of the trace with
 * dwell run --gather. */
int dw_capture_answer(const char *trace, const char *pid, const char *place);
