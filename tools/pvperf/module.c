// SPDX-License-Identifier: GPL-2.0
/*
 * Modules, as sysfs and depmod know them.
 */
#include <stdlib.h>
#include <string.h>
#include "module.h"
#include "root.h"

#define SIGNED	"~Module signature appended~\n"

bool module_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return root_exists(path);
}

static bool module_is(const char *file, const char *name)
{
	const char *base = strrchr(file, '/');
	size_t n = strlen(name);

	base = base ? base + 1 : file;
	return !strncmp(base, name, n) && !strncmp(base + n, ".ko", 3);
}

bool module_file(const char *name, char *path, size_t size)
{
	char *line = NULL, dep[256];
	size_t n = 0;
	bool found = false;
	FILE *f;

	snprintf(dep, sizeof(dep), "/lib/modules/%s/modules.dep", root_release());
	f = root_open(dep);
	if (!f)
		return false;
	while (!found && getline(&line, &n, f) > 0) {
		line[strcspn(line, ":\n")] = '\0';
		found = module_is(line, name);
	}
	if (found)
		snprintf(path, size, "/lib/modules/%s/%s", root_release(), line);
	free(line);
	fclose(f);
	return found;
}

int module_signed(const char *path)
{
	char tail[sizeof(SIGNED) - 1];
	FILE *f;
	int ret = -1;

	if (strcmp(path + strlen(path) - 3, ".ko"))
		return -1;
	f = root_open(path);
	if (!f)
		return -1;
	if (!fseek(f, -(long)sizeof(tail), SEEK_END) &&
	    fread(tail, sizeof(tail), 1, f) == 1)
		ret = !memcmp(tail, SIGNED, sizeof(tail));
	fclose(f);
	return ret;
}

int module_parameter(const char *name, const char *parameter, char *value,
		     size_t size)
{
	char path[192];

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", name,
		 parameter);
	return root_line(path, value, size);
}
