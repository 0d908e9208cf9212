/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS to servers with good and bad certificates, made by openssl(1) for the test and thrown away. */
#include "uplink_rig.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "names.h"

static char folder[] = "/tmp/blkin-tls-XXXXXX";

/*
 * Two authorities; from ours certificates for servers and a client, from the other one of each. The expired
 * one was good for a day of the year 2020.
 */
static const char make_certificates[] =
	"set -e; cd %s\n"
	"authority() {\n"
	"	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key "
	"-out $1.pem \\\n"
	"		-subj /CN=$1 -days 2 2>/dev/null\n"
	"	mkdir $1.d; : >$1.d/index; echo 01 >$1.d/serial\n"
	"	printf "
	"'[ca]\\ndefault_ca=x\\n[x]\\ndatabase=%%s/index\\nserial=%%s/serial\\nnew_certs_dir=%%s\\n' $1.d "
	"$1.d "
	"$1.d >$1.cnf\n"
	"	printf 'default_md=sha256\\npolicy=p\\nunique_subject=no\\n[p]\\ncommonName=supplied\\n' "
	">>$1.cnf\n"
	"}\n"
	"certificate() {\n" /* authority name from to extension */
	"	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $2.key "
	"-out $2.csr \\\n"
	"		-subj /CN=$2 2>/dev/null\n"
	"	printf '%%s\\n' \"$5\" >$2.ext\n"
	"	openssl ca -batch -notext -config $1.cnf -cert $1.pem -keyfile $1.key -in $2.csr -out $2.pem "
	"\\\n"
	"		-startdate $3 -enddate $4 -extfile $2.ext 2>/dev/null\n"
	"}\n"
	"authority ours; authority other\n"
	"now=20200101000000Z later=20991231000000Z\n"
	"certificate ours local $now $later "
	"subjectAltName=DNS:localhost,DNS:collector.blkin.test,IP:127.0.0.1,IP:::1\n"
	"certificate ours named $now $later subjectAltName=DNS:localhost\n"
	"certificate ours elsewhere $now $later subjectAltName=DNS:elsewhere.example,IP:127.0.0.2\n"
	"certificate ours expired $now 20200102000000Z subjectAltName=DNS:localhost,IP:127.0.0.1\n"
	"certificate ours early 20980101000000Z $later subjectAltName=DNS:localhost,IP:127.0.0.1\n"
	"certificate other stranger $now $later subjectAltName=DNS:localhost,IP:127.0.0.1\n"
	"certificate ours client $now $later extendedKeyUsage=clientAuth\n"
	"certificate other intruder $now $later extendedKeyUsage=clientAuth\n";

static void set_up(void)
{
	char script[sizeof(make_certificates) + sizeof(folder)], *path = mkdtemp(folder);

	ck_assert_ptr_nonnull(path);
	snprintf(script, sizeof(script), make_certificates, folder);
	ck_assert_msg(system(script) == 0, "openssl(1) makes no certificates");
}

static void tear_down(void)
{
	char command[sizeof(folder) + 16];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* The path of a file; good until the next but three. */
static const char *file(const char *name, const char *ending)
{
	static char paths[4][sizeof(folder) + 32];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s%s", folder, name, ending);
	return path;
}

static void copy(const char *from, const char *to)
{
	gchar *text;
	gsize size;

	ck_assert(g_file_get_contents(file(from, ".pem"), &text, &size, NULL));
	ck_assert(g_file_set_contents(file(to, ".pem"), text, (gssize)size, NULL));
	g_free(text);
}

static void serve_tls(struct rig *rig, const char *certificate)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());

	ck_assert_int_eq(SSL_CTX_use_certificate_chain_file(tls, file(certificate, ".pem")), 1);
	ck_assert_int_eq(SSL_CTX_use_PrivateKey_file(tls, file(certificate, ".key"), SSL_FILETYPE_PEM), 1);
	rig->peer->tls = tls;
}

static void open_tls(struct rig *rig, const char *certificate)
{
	rig_open(rig);
	rig->is.tls = true;
	rig->is.tls_ca = g_strdup(file("ours", ".pem"));
	/* errors are counted, and on a busy machine a handshake takes longer than other tests' calls may */
	rig->is.timeout = 20 * NS_PER_SECOND;
	serve_tls(rig, certificate);
}

static void close_tls(struct rig *rig)
{
	SSL_CTX *tls = rig->peer->tls;

	g_free(rig->is.tls_ca);
	rig_close(rig);
	SSL_CTX_free(tls);
}

static void use_client(struct rig *rig, const char *name)
{
	rig->is.tls_certificate = (char *)file(name, ".pem");
	rig->is.tls_key = (char *)file(name, ".key");
}

static void want_client(struct rig *rig, int version)
{
	SSL_CTX_set_verify(rig->peer->tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	ck_assert_int_eq(SSL_CTX_load_verify_file(rig->peer->tls, file("ours", ".pem")), 1);
	SSL_CTX_set_max_proto_version(rig->peer->tls, version);
}

static void name_server(struct rig *rig, const char *host)
{
	snprintf(rig->server, sizeof(rig->server), "%s:%u", host, rig->peer->port);
}

static const char *const good_hosts[] = {"127.0.0.1", "localhost"};

/* By name and by address; large calls; the connection lost and made again. */
START_TEST(spans_arrive_by_tls)
{
	struct rig rig;

	open_tls(&rig, "local");
	name_server(&rig, good_hosts[_i]);
	push(&rig, 50);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_in_order(&rig);
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert_uint_eq(rig.peer->connections, 1);
	ck_assert(state_of(&rig).up);
	peer_stop(rig.peer);
	push(&rig, 50);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_CONNECT) > 0);
	peer_start(rig.peer);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_all_arrived(&rig);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_TLS, 0);
	close_tls(&rig);
}
END_TEST

START_TEST(large_call_arrives_by_tls)
{
	size_t size = 12 << 20;
	char *span = g_malloc(size);
	struct rig rig;

	open_tls(&rig, "local");
	memset(span, 'x', size);
	push_span(&rig, span, size);
	push_batch(&rig);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 1);
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert_uint_eq(strlen(g_ptr_array_index(rig.peer->taken, 0)), size);
	g_free(span);
	close_tls(&rig);
}
END_TEST

START_TEST(large_calls_side_by_side)
{
	char span[100000];
	struct rig rig;

	open_tls(&rig, "local");
	for (int i = 0; i < 12; i++) {
		memset(span, 'a' + i, sizeof(span));
		push_span(&rig, span, sizeof(span) - (size_t)i);
		push_batch(&rig);
	}
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 12);
	ck_assert_int_eq(errors(&rig), 0);
	for (guint i = 0; i < 12; i++) {
		const char *taken = g_ptr_array_index(rig.peer->taken, i), letter[] = {(char)('a' + i), '\0'};

		ck_assert_uint_eq(strspn(taken, letter), sizeof(span) - i);
	}
	close_tls(&rig);
}
END_TEST

static const struct {
	const char *certificate, *host, *words;
} bad_servers[] = {
	{"expired", "localhost", "the server's certificate, or one that signed it, has expired"},
	{"early", "localhost", "the server's certificate is not valid yet: is this machine's clock right?"},
	{"elsewhere", "localhost", "the server's certificate is not valid for localhost"},
	{"elsewhere", "127.0.0.1", "the server's certificate is not valid for 127.0.0.1"},
	{"named", "127.0.0.1", "the server's certificate is not valid for 127.0.0.1"},
	{"stranger", "localhost",
		"the server's certificate is not signed by an authority that `tls-ca` names"},
};

/* Nothing is sent to a server with the wrong identity; the reason is logged once. */
START_TEST(bad_server_gets_nothing)
{
	struct rig rig;

	open_tls(&rig, bad_servers[_i].certificate);
	name_server(&rig, bad_servers[_i].host);
	push(&rig, 2);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TLS) == 3);
	ck_assert_int_eq(errors(&rig), 3);
	ck_assert_str_eq(state_of(&rig).error, bad_servers[_i].words);
	ck_assert_uint_eq(in_log(&rig, bad_servers[_i].words), 1);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1);
	ck_assert_uint_eq(rig.peer->calls, 0);
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
	SSL_CTX_free(rig.peer->tls);
	serve_tls(&rig, "local");
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_in_order(&rig);
	close_tls(&rig);
}
END_TEST

/* Without tls-ca the system's authorities count, to whom ours does not belong. */
START_TEST(unknown_authority)
{
	struct rig rig;
	char *ca;

	open_tls(&rig, "local");
	ca = rig.is.tls_ca;
	rig.is.tls_ca = "";
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TLS) == 1);
	ck_assert_uint_eq(in_log(&rig, "is not signed by an authority that this system trusts: name its "
				       "authority in `tls-ca`"),
		1);
	ck_assert_uint_eq(rig.peer->calls, 0);
	rig.is.tls_ca = ca;
	close_tls(&rig);
}
END_TEST

static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

START_TEST(client_certificate_is_shown)
{
	struct rig rig;

	open_tls(&rig, "local");
	want_client(&rig, versions[_i]);
	use_client(&rig, "client");
	push(&rig, 3);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_int_eq(errors(&rig), 0);
	assert_in_order(&rig);
	close_tls(&rig);
}
END_TEST

/* Of a server that wants other keys with each call: nothing is lost, and the connection stays. OpenSSL's
 * servers break it off where a call comes in the midst of a handshake, so one comes at a time. */
START_TEST(keys_are_renewed)
{
	struct rig rig;

	open_tls(&rig, "local");
	SSL_CTX_set_max_proto_version(rig.peer->tls, versions[_i]);
	rig.peer->tls_renews = true;
	rig.is.window = 1;
	for (int i = 0; i < 20; i++) {
		push(&rig, 5);
		if (!i)
			start(&rig);
		RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	}
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert_uint_eq(rig.peer->connections, 1);
	assert_in_order(&rig);
	close_tls(&rig);
}
END_TEST

/* Missing, or from an authority that the server does not trust; with spans to send, and without. */
START_TEST(client_certificate_is_missed)
{
	bool missing = _i & 2, spans = _i & 4;
	struct rig rig;

	open_tls(&rig, "local");
	want_client(&rig, versions[_i & 1]);
	if (!missing)
		use_client(&rig, "intruder");
	if (spans)
		push(&rig, 3);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TLS) == 3);
	ck_assert_int_eq(errors(&rig), 3);
	ck_assert_uint_eq(in_log(&rig, "`tls-certificate`"), 1);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1);
	ck_assert(!state_of(&rig).up);
	ck_assert_uint_eq(rig.peer->taken->len, 0);
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
	close_tls(&rig);
}
END_TEST

static bool is_first(const char *span)
{
	return strcmp(span, "span 0") == 0;
}

/* A server takes our certificate, and dies of the first call: the others arrive. From then on nothing is said
 * of the certificate; with TLS 1.2, which it would turn down in the handshake, nothing ever is. */
START_TEST(client_certificate_is_good)
{
	struct rig rig;

	open_tls(&rig, "local");
	want_client(&rig, versions[_i]);
	use_client(&rig, "client");
	rig.is.retry_min = 2 * NS_PER_MS;
	rig.is.retry_max = 10 * NS_PER_MS;
	rig.peer->bad = is_first;
	rig.peer->bad_act = PEER_CLOSE;
	push(&rig, 6);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed - SPANS);
	ck_assert_uint_eq(
		in_log(&rig, "it had asked for a client certificate"), versions[_i] == TLS1_3_VERSION);
	ACT(rig.peer, PEER_CLOSE);
	push(&rig, 1);
	RUN_UNTIL(&rig, *state_of(&rig).error);
	ck_assert_str_eq(state_of(&rig).error, "the server closed the connection");
	rig.peer->bad = NULL;
	ACT(rig.peer, PEER_OK);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_all_arrived(&rig);
	close_tls(&rig);
}
END_TEST

/* An idle connection may end later than a server would say no; versions as above. */
START_TEST(idle_connection_may_end)
{
	struct rig rig;

	open_tls(&rig, "local");
	want_client(&rig, versions[_i]);
	use_client(&rig, "client");
	rig.is.timeout = SHORT_TIMEOUT;
	start(&rig);
	for (unsigned int i = 1; i < 3; i++) {
		RUN_UNTIL(&rig, rig.peer->connections == i && state_of(&rig).up);
		run_ms(&rig, (int)(rig.is.timeout / NS_PER_MS) + 1);
		peer_hang_up(rig.peer);
	}
	RUN_UNTIL(&rig, rig.peer->connections == 3 && state_of(&rig).up);
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1);
	close_tls(&rig);
}
END_TEST

/* What one address of a name wants says nothing of the next. */
START_TEST(another_address_wants_no_client)
{
	struct names names;
	struct peer *other;
	struct rig rig;

	names_isolate();
	open_tls(&rig, "local");
	want_client(&rig, TLS1_2_VERSION);
	names_open(&names, rig.base, "127.0.0.1");
	inet_pton(AF_INET, "127.0.0.2", &names.addresses[1]);
	other = peer_create_on(rig.base, "127.0.0.2", rig.peer->port);
	other->close_after = 1;
	name_server(&rig, "collector.blkin.test");
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TLS) == 2);
	ck_assert_uint_ge(rig.peer->connections, 2);
	ck_assert_uint_eq(in_log(&rig, "the server closed the connection in the TLS handshake; spans"), 1);
	peer_destroy(other);
	names_close(&names);
	close_tls(&rig);
}
END_TEST

/* A name that is not known is what keeps us from the server, and not a file whose old contents are in use. */
START_TEST(bad_file_and_unknown_name)
{
	struct names names;
	struct rig rig;

	names_isolate();
	open_tls(&rig, "local");
	names_open(&names, rig.base, "127.0.0.1");
	name_server(&rig, "collector.blkin.test");
	copy("ours", "changed");
	g_free(rig.is.tls_ca);
	rig.is.tls_ca = g_strdup(file("changed", ".pem"));
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert(g_file_set_contents(rig.is.tls_ca, "nothing", -1, NULL));
	names.error = 3;
	peer_hang_up(rig.peer);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_CONNECT) == 2);
	ck_assert_str_eq(state_of(&rig).error, "no address for collector.blkin.test: the name is not known");
	ck_assert_uint_eq(in_log(&rig, "what was read before it changed stays in use"), 1);
	names.error = 0;
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	names_close(&names);
	close_tls(&rig);
}
END_TEST

/* TLS to a plain server, and plain to a TLS server. */
START_TEST(one_side_speaks_tls)
{
	SSL_CTX *tls;
	struct rig rig;

	open_tls(&rig, "local");
	tls = rig.peer->tls;
	if (_i == 0) {
		rig.peer->tls = NULL;
		rig.peer->close_after = 1;
	} else {
		rig.is.tls = false;
	}
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, errors(&rig) == 2);
	ASSERT_ROW(&rig, SPANS_QUEUED, SPANS);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1 + (unsigned int)_i);
	ck_assert_uint_eq(in_log(&rig, "the server closed the connection in the TLS handshake"), _i == 0);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_TLS, _i == 0 ? 2 : 0);
	ck_assert_uint_eq(rig.peer->taken->len, 0);
	rig.peer->tls = tls;
	close_tls(&rig);
}
END_TEST

START_TEST(old_tls_is_refused)
{
	struct rig rig;

	open_tls(&rig, "local");
	SSL_CTX_set_security_level(rig.peer->tls, 0);
	SSL_CTX_set_min_proto_version(rig.peer->tls, TLS1_VERSION);
	SSL_CTX_set_max_proto_version(rig.peer->tls, TLS1_1_VERSION);
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TLS) == 2);
	ck_assert_uint_eq(in_log(&rig, "the server supports only TLS older than 1.2"), 1);
	ck_assert_uint_eq(rig.peer->calls, 0);
	close_tls(&rig);
}
END_TEST

/* A server that takes connections, and says nothing to a handshake. */
START_TEST(handshake_times_out)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct rig rig;

	open_tls(&rig, "local");
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	getsockname(listener, (struct sockaddr *)&address, &size);
	snprintf(rig.server, sizeof(rig.server), "127.0.0.1:%u", ntohs(address.sin_port));
	push(&rig, 1);
	rig.is.timeout = SHORT_TIMEOUT;
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TLS) == 2);
	ck_assert_uint_eq(in_log(&rig, "no answer from the server to the TLS handshake within 0.25 s"), 1);
	close(listener);
	close_tls(&rig);
}
END_TEST

/* With a balance, connections are replaced; by one that the server turns down after the handshake, none is.
 */
START_TEST(replaced_by_tls)
{
	const bool turned_down = _i;
	struct rig rig;

	open_tls(&rig, "local");
	rig.options.node = "n1";
	rig.options.age_ns = rig.is.return_interval = 20 * NS_PER_MS;
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	if (turned_down)
		want_client(&rig, TLS1_3_VERSION);
	for (int i = 0; i < 1000 && rig.peer->connections < 4; i++) {
		push(&rig, 1);
		run_ms(&rig, 10);
	}
	ck_assert_uint_ge(rig.peer->connections, 4);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_in_order(&rig);
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert(state_of(&rig).up);
	close_tls(&rig);
}
END_TEST

static const struct {
	const char *ca, *certificate, *key, *words;
} bad_files[] = {
	{"nothing", "", "", "/nothing` cannot be read as certificates in PEM"},
	{"client.key", "", "", "/client.key` cannot be read as certificates in PEM"},
	{"ours.pem", "nothing", "client.key", "/nothing` cannot be read as certificates in PEM"},
	{"ours.pem", "client.pem", "nothing", "/nothing` cannot be read as the key"},
	{"ours.pem", "client.pem", "intruder.key", "/intruder.key` cannot be read as the key"},
};

START_TEST(files_that_do_not_do)
{
	struct rig rig;

	open_tls(&rig, "local");
	g_free(rig.is.tls_ca);
	rig.is.tls_ca = g_strdup(file(bad_files[_i].ca, ""));
	if (*bad_files[_i].certificate) {
		rig.is.tls_certificate = (char *)file(bad_files[_i].certificate, "");
		rig.is.tls_key = (char *)file(bad_files[_i].key, "");
	}
	ck_assert_ptr_null(uplink_create(rig.base, rig.queue, &rig.options));
	ck_assert_uint_eq(in_log(&rig, bad_files[_i].words), 1);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1);
	close_tls(&rig);
}
END_TEST

TCase *uplink_tls(void)
{
	TCase *tests = tcase_create("tls");

	tcase_add_unchecked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, spans_arrive_by_tls, 0, (int)LENGTH(good_hosts));
	tcase_add_test(tests, large_call_arrives_by_tls);
	tcase_add_test(tests, large_calls_side_by_side);
	tcase_add_loop_test(tests, bad_server_gets_nothing, 0, (int)LENGTH(bad_servers));
	tcase_add_test(tests, unknown_authority);
	tcase_add_loop_test(tests, client_certificate_is_shown, 0, 2);
	tcase_add_loop_test(tests, keys_are_renewed, 0, 2);
	tcase_add_loop_test(tests, client_certificate_is_missed, 0, 8);
	tcase_add_loop_test(tests, client_certificate_is_good, 0, 2);
	tcase_add_loop_test(tests, idle_connection_may_end, 0, 2);
	if (names_possible())
		tcase_add_test(tests, another_address_wants_no_client);
	if (names_possible())
		tcase_add_test(tests, bad_file_and_unknown_name);
	tcase_add_loop_test(tests, one_side_speaks_tls, 0, 2);
	tcase_add_test(tests, old_tls_is_refused);
	tcase_add_test(tests, handshake_times_out);
	tcase_add_loop_test(tests, replaced_by_tls, 0, 2);
	tcase_add_loop_test(tests, files_that_do_not_do, 0, (int)LENGTH(bad_files));
	tcase_set_timeout(tests, 30);
	return tests;
}
