// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <string.h>
#include "quote.h"

static bool is_plain(const char *text)
{
	const char *c;

	for (c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-./:,+@%=", *c))
			return false;
	return *text;
}

/* A character of UTF-8 at @c that is not ASCII and no control (U+0080 to U+009f): its bytes, or 0. */
static int wide_at(const char *c)
{
	const unsigned char *u = (const unsigned char *)c;
	int n = u[0] >= 0xf0 && u[0] < 0xf5 ? 4 : u[0] >= 0xe0 && u[0] < 0xf0 ? 3 :
		u[0] >= 0xc2 && u[0] < 0xe0 ? 2 : 0, i;

	for (i = 1; i < n; i++)
		if (u[i] < 0x80 || u[i] > 0xbf)
			return 0;
	/* Longer than need be, a surrogate, or above U+10FFFF. */
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return n == 2 && u[0] == 0xc2 && u[1] < 0xa0 ? 0 : n;
}

void quote_plain(char *text)
{
	for (; *text; text++)
		if (wide_at(text))
			text += wide_at(text) - 1;
		else if ((iscntrl((unsigned char)*text) && *text != '\t') || (unsigned char)*text >= 0x80)
			*text = '?';
}

void quote(FILE *f, const char *text)
{
	const char *c;
	int n;

	if (is_plain(text)) {
		fputs(text, f);
		return;
	}
	fputs("$'", f);
	for (c = text; *c; c++) {
		n = wide_at(c);
		if (n) {
			fprintf(f, "%.*s", n, c);
			c += n - 1;
		} else if (*c == '\'' || *c == '\\')
			fprintf(f, "\\%c", *c);
		else if (iscntrl((unsigned char)*c) || (unsigned char)*c >= 0x80)
			fprintf(f, "\\%03o", (unsigned char)*c);
		else
			fputc(*c, f);
	}
	fputc('\'', f);
}

void quote_begin(const char *path)
{
	fputs("pvperf: ", stderr);
	quote(stderr, path);
	fputs(": ", stderr);
}
