/* A program that needs no more than a C library: any one. With an argument it works until it is ended. */
#include <stdio.h>

static volatile double sink;

__attribute__((noinline)) static void hello_work(void)
{
	for (int i = 0; i < 20000; i++)
		sink += i;
}

int main(int count, char **words)
{
	puts(count > 1 ? "ready" : "hello");
	fflush(stdout);
	do
		hello_work();
	while (count > 1 && words);
	return 3;
}
