/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/tlsfiles.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <openssl/x509.h>

#include "base/clock.h"

static int64_t in_ns(const struct timespec *time)
{
	return time->tv_sec * NS_PER_SECOND + time->tv_nsec;
}

/* Where OpenSSL looks for the system's authorities. */
static const char *system_place(const char *variable, const char *usual)
{
	const char *set = getenv(variable);

	return set ? set : usual;
}

void tlsfiles_look(const struct tls_options *options, struct tlsfiles *found)
{
	const bool system = !*options->ca;
	const char *const paths[] = {
		system ? system_place(X509_get_default_cert_file_env(), X509_get_default_cert_file())
		       : options->ca,
		system ? system_place(X509_get_default_cert_dir_env(), X509_get_default_cert_dir()) : "",
		options->certificate,
		options->key,
	};
	struct stat status;

	memset(found, 0, sizeof(*found));
	for (int i = 0; i < 4; i++) {
		if (stat(paths[i], &status) < 0)
			continue;
		found->files[i].device = status.st_dev;
		found->files[i].inode = status.st_ino;
		found->files[i].size = status.st_size;
		found->files[i].modified_ns = in_ns(&status.st_mtim);
		found->files[i].changed_ns = in_ns(&status.st_ctim);
	}
}

bool tlsfiles_same(const struct tlsfiles *one, const struct tlsfiles *other)
{
	return memcmp(one, other, sizeof(*one)) == 0;
}
