/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/tls.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <glib.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/log.h"

struct tls {
	struct tls_options options; /* ours */
	SSL_CTX *context;           /* NULL: the files have not been read yet */
	struct tlsfiles files;      /* as they were then */
	GHashTable *answered;       /* the servers that sent something to who has them */
	char outdated[512];         /* why those that are there by now do not do; "" if they do */
};

/* The reason of OpenSSL's oldest error, which is nearest to the cause; empties its queue. */
static const char *reason(void)
{
	unsigned long error = ERR_get_error();
	const char *text = ERR_reason_error_string(error);

	if (ERR_SYSTEM_ERROR(error))
		text = strerror(ERR_GET_REASON(error));
	ERR_clear_error();
	return text ? text : "OpenSSL does not recognise it";
}

static bool set_authorities(SSL_CTX *tls, const char *file, char *why, size_t size)
{
	bool system = !*file;

	if (system ? SSL_CTX_set_default_verify_paths(tls) : SSL_CTX_load_verify_file(tls, file))
		return true;
	if (system)
		snprintf(why, size, "the system's certificate authorities cannot be read: %s", reason());
	else
		snprintf(
			why, size, "`tls-ca = %s` cannot be read as certificates in PEM: %s", file, reason());
	return false;
}

static int no_passphrase(char *buffer, int size, int writing, void *data)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)data;
	return -1;
}

static bool set_own(SSL_CTX *tls, const struct tls_options *options, char *why, size_t size)
{
	if (!*options->certificate)
		return true;
	SSL_CTX_set_default_passwd_cb(tls, no_passphrase);
	if (SSL_CTX_use_certificate_chain_file(tls, options->certificate) != 1)
		snprintf(why, size, "`tls-certificate = %s` cannot be read as certificates in PEM: %s",
			options->certificate, reason());
	else if (SSL_CTX_use_PrivateKey_file(tls, options->key, SSL_FILETYPE_PEM) != 1)
		snprintf(why, size,
			"`tls-key = %s` cannot be read as the key of `tls-certificate`, in PEM and without a "
			"passphrase: %s",
			options->key, reason());
	else
		return true;
	return false;
}

static int on_asked(SSL *session, void *data)
{
	bool *asked = SSL_get_app_data(session);

	(void)data;
	*asked = true;
	return 1;
}

static SSL_CTX *read_files(const struct tls_options *options, char *why, size_t size)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_client_method());

	if (!tls) {
		snprintf(why, size, "OpenSSL cannot set up TLS: %s", reason());
		return NULL;
	}
	ERR_clear_error();
	SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
	SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_cert_cb(tls, on_asked, NULL);
	/* How much of a call was written shows how much of it can have arrived. */
	SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE);
	/*
	 * Servers that are killed, and some others, close without TLS's close_notify: an end as any other. An
	 * answer that somebody cuts on its way is none without its whole head; whether the spans were taken
	 * stands there, and in the body only how many of them were thrown away nevertheless.
	 */
	SSL_CTX_set_options(tls, SSL_OP_IGNORE_UNEXPECTED_EOF);
	if (set_authorities(tls, options->ca, why, size) && set_own(tls, options, why, size))
		return tls;
	SSL_CTX_free(tls);
	return NULL;
}

struct tls *tls_create(const struct tls_options *options, bool later, char *why, size_t size)
{
	struct tls *tls = g_new0(struct tls, 1);

	tls->options.ca = g_strdup(options->ca);
	tls->options.certificate = g_strdup(options->certificate);
	tls->options.key = g_strdup(options->key);
	tls->answered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (tls_ready(tls, why, size) || later)
		return tls;
	tls_free(tls);
	return NULL;
}

bool tls_ready(struct tls *tls, char *why, size_t size)
{
	struct tlsfiles now;
	SSL_CTX *context = NULL;
	char error[sizeof(tls->outdated)] = "";
	bool same;

	tlsfiles_look(&tls->options, &now);
	same = tls->context && tlsfiles_same(&now, &tls->files);
	if (!same)
		context = read_files(&tls->options, error, sizeof(error));
	if (context) {
		SSL_CTX_free(tls->context);
		tls->context = context;
		tls->files = now;
		g_hash_table_remove_all(tls->answered);
	} else if (!tls->context) {
		g_strlcpy(why, error, size);
	} else if (*error && !*tls->outdated) {
		log_warning("%s; what was read before it changed stays in use", error);
	}
	g_strlcpy(tls->outdated, tls->context ? error : "", sizeof(tls->outdated));
	return tls->context;
}

const char *tls_outdated(struct tls *tls)
{
	char ignored[sizeof(tls->outdated)];

	tls_ready(tls, ignored, sizeof(ignored));
	return tls->outdated;
}

void tls_free(struct tls *tls)
{
	if (!tls)
		return;
	SSL_CTX_free(tls->context);
	g_hash_table_unref(tls->answered);
	g_free((char *)tls->options.ca);
	g_free((char *)tls->options.certificate);
	g_free((char *)tls->options.key);
	g_free(tls);
}

static bool is_digits(const char *host)
{
	uint8_t bytes[16];

	return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

SSL *tls_open(struct tls *tls, const struct address *server, bool *asked)
{
	struct address named = *server;
	const char *host = named.host;
	SSL *session = SSL_new(tls->context);
	bool good;

	if (!session)
		return NULL;
	address_undot(&named);
	SSL_set_app_data(session, asked);
	if (is_digits(host)) {
		good = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host);
	} else {
		SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
		good = SSL_set1_host(session, host) && SSL_set_tlsext_host_name(session, host);
	}
	if (good)
		return session;
	SSL_free(session);
	return NULL;
}

void tls_note_answer(struct tls *tls, SSL *session, const struct address *server)
{
	char text[ADDRESS_TEXT];

	address_print(server, text);
	if (SSL_get_SSL_CTX(session) == tls->context)
		g_hash_table_add(tls->answered, g_strdup(text));
}

bool tls_had_answer(const struct tls *tls, const struct address *server)
{
	char text[ADDRESS_TEXT];

	address_print(server, text);
	return g_hash_table_contains(tls->answered, text);
}

/* What is wrong with the server's certificate. */
static const char *certificate_fault(const struct tls *tls, long result)
{
	switch (result) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return "the server's certificate, or one that signed it, has expired";
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return "the server's certificate is not valid yet: is this machine's clock right?";
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		return *tls->options.ca ? "the server's certificate is not signed by an authority that "
					  "`tls-ca` names"
					: "the server's certificate is not signed by an authority that this "
					  "system trusts: name its authority in `tls-ca`";
	default:
		return NULL;
	}
}

struct explained {
	enum fault fault;
	const char *words; /* NULL: OpenSSL has some */
};

/* What the server, or what is no TLS server, told us. */
static struct explained peer_fault(unsigned long error)
{
	switch (ERR_GET_REASON(error)) {
	case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
	case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
		return (struct explained){FAULT_TLS_OWN,
			"the server wants a client certificate that it accepts (`tls-certificate`, "
			"`tls-key`), or another kind of TLS"};
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
	case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
	case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
		return (struct explained){
			FAULT_TLS_OWN, "the server does not accept our certificate (`tls-certificate`)"};
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_HTTP_REQUEST:
	case SSL_R_PACKET_LENGTH_TOO_LONG:
		return (struct explained){FAULT_TLS_NONE, "the server does not speak TLS on this port"};
	case SSL_R_UNSUPPORTED_PROTOCOL:
	case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
		return (struct explained){FAULT_TLS, "the server supports only TLS older than 1.2"};
	default:
		return (struct explained){FAULT_TLS, NULL};
	}
}

static enum fault explain_error(unsigned long error, char *why, size_t size)
{
	struct explained explained = peer_fault(error);
	const char *words = ERR_reason_error_string(error);

	if (explained.words)
		snprintf(why, size, "%s", explained.words);
	else
		snprintf(why, size, "TLS: %s", words ? words : "unknown error");
	return explained.fault;
}

enum fault tls_explain(
	const struct tls *tls, SSL *session, const char *host, unsigned long error, char *why, size_t size)
{
	long result = SSL_get_verify_result(session);
	const char *known = certificate_fault(tls, result);

	if (result == X509_V_OK && (ERR_SYSTEM_ERROR(error) || ERR_GET_LIB(error) != ERR_LIB_SSL))
		return FAULT_NONE;
	if (result == X509_V_OK)
		return explain_error(error, why, size);
	if (result == X509_V_ERR_HOSTNAME_MISMATCH || result == X509_V_ERR_IP_ADDRESS_MISMATCH) {
		snprintf(why, size, "the server's certificate is not valid for %s", host);
		return FAULT_TLS_NAME;
	}
	if (known)
		snprintf(why, size, "%s", known);
	else
		snprintf(why, size, "the server's certificate is not accepted: %s",
			X509_verify_cert_error_string(result));
	return FAULT_TLS_CERTIFICATE;
}
