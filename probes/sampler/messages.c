/* Messages whose end TCP holds back: what the kernel is asked; messages.h says when. */
#include "messages.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/system/system.h"
#include "sampler.h"

__thread struct dws_message dws_message;

static int message_option(int name)
{
	int value = 0;
	socklen_t bytes = sizeof value;

	return dw_system(SYS_getsockopt, dws_message.file - 1, IPPROTO_TCP, name, (long)&value, (long)&bytes, 0) == 0 ? value : -1;
}

double dws_message_held_ns(double took_ns)
{
	struct tcp_info info = { .tcpi_last_data_sent = 0 };
	socklen_t bytes = sizeof info;
	double held_ns;

	if (dw_system(SYS_getsockopt, dws_message.file - 1, IPPROTO_TCP, TCP_INFO, (long)&info, (long)&bytes, 0) != 0)
		return 0;
	held_ns = took_ns - (double)info.tcpi_last_data_sent * 1e6;
	return held_ns > 0 ? held_ns : 0;
}

struct place {
	struct dws_here here;
	const void *caller;
};

static void message_place(void *given)
{
	struct place *place = given;

	if (dws_sampler_records())
		dws_message.stack = dws_stack_from(&place->here, dws_own_stack(), place->caller);
}

/* Bytes that the kernel has and has not sent once, although they fill no segment. */
static bool message_is_held(void)
{
	int bytes = 0;

	return dw_system(SYS_ioctl, dws_message.file - 1, SIOCOUTQNSD, (long)&bytes, 0, 0, 0) == 0 && bytes > 0 &&
	       bytes < message_option(TCP_MAXSEG);
}

__attribute__((noinline)) void dws_message_ask(const void *caller)
{
	struct place place = { .caller = caller };

	dws_message.held = false;
	dws_message.stack = 0;
	if (message_option(TCP_NODELAY) != 0) { /* or it is no socket of TCP */
		dws_message.calls = DWS_MESSAGES_ASKED;
		return;
	}
	dws_message.held = message_is_held();
	if (dws_message.held && dws_message.slow) {
		DWS_HERE(&place.here);
		dws_apart(message_place, &place);
	}
}
