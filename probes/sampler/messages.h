/*
 * Messages whose end TCP holds back.
 *
 * A program that sends a message by several small calls waits for its answer longer than it needs to: TCP keeps what the later
 * calls give until the other side has acknowledged the first one (Nagle's algorithm), and that side delays this by 40 ms and
 * more. As much of the wait is recorded at the call that sent the end, as a wait in "delayed_send", and the rest where the answer is
 * read: the kernel says how long ago it sent something last.
 *
 * Only calls of one thread in a row count. A program that sends each message by one call pays a dozen instructions a call; the kernel
 * is asked after the second call to the same socket, and not after DWS_MESSAGES_ASKED of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dwell/probe.h"

#define DWS_MESSAGES_ASKED 4u /* later calls before an answer is read are a stream of data */

struct dws_message {
	int file;       /* that the last call sent to, and 1 more; 0: none */
	uint32_t calls; /* that sent, since something was read from it */
	bool held;      /* TCP keeps what the last one gave; */
	uint32_t stack; /* and its stack; 0: not known, because waits were short so far */
	bool slow;      /* an answer took long, when a message was held */
};
extern __thread struct dws_message dws_message __attribute__((__tls_model__("initial-exec"), __visibility__("hidden")));

/* After the second and later calls. `caller`: of the function that sends. */
void dws_message_ask(const void *caller);

/* After a call that sent to the descriptor. */
static inline __attribute__((always_inline)) void dws_message_sent(int file, const void *caller)
{
	if (dws_message.file != file + 1)
		dws_message = (struct dws_message){ .file = file + 1, .slow = dws_message.slow };
	if (DWELL_UNLIKELY(++dws_message.calls > 1 && dws_message.calls <= DWS_MESSAGES_ASKED))
		dws_message_ask(caller);
}

/* How much of a wait for an answer TCP held back the end of the message that was sent before, in ns. The wait took `took_ns` and has
 * just ended. */
double dws_message_held_ns(double took_ns);

/* Whether the answer that was waited for is that to a message which TCP held back. */
static inline bool dws_message_is_answer(int file)
{
	return dws_message.held && dws_message.file == file + 1;
}

/* After a call that read from the descriptor, or tried to. */
static inline __attribute__((always_inline)) void dws_message_answered(int file, bool slow)
{
	if (DWELL_LIKELY(dws_message.file != file + 1))
		return;
	dws_message.slow = dws_message.held ? slow : dws_message.slow;
	dws_message.held = false;
	dws_message.stack = dws_message.calls = 0;
}
