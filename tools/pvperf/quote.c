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
		else if (iscntrl((unsigned char)*c))
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
