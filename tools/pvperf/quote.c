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

/* What a terminal obeys: also U+0080 to U+009f, alone or in UTF-8, where 0xc2 is before it. */
static bool is_control(const char *text, const char *c)
{
	unsigned char now = *c, before = c > text ? c[-1] : 0;

	return iscntrl(now) || (now >= 0x80 && now < 0xa0 && (before < 0x80 || before == 0xc2));
}

void quote(FILE *f, const char *text)
{
	const char *c;

	if (is_plain(text)) {
		fputs(text, f);
		return;
	}
	fputs("$'", f);
	for (c = text; *c; c++) {
		if (*c == '\'' || *c == '\\')
			fprintf(f, "\\%c", *c);
		else if (is_control(text, c))
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
