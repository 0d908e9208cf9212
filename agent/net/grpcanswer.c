/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of gRPC. See grpcserverparts.h. */
#include <stdio.h>
#include <string.h>

#include "base/sanitize.h"
#include "net/base64.h"
#include "net/grpcserverparts.h"
#include "net/protobuf.h"

/* More words nobody needs. */
#define WORDS_MAX 512
#define RETRY_INFO "type.googleapis.com/google.rpc.RetryInfo"

/* nghttp2 copies both. */
static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
		strlen(value), NGHTTP2_NV_FLAG_NONE};
}

/* An answer with its message: headers, the message, and the status behind it. */

static ssize_t read_answer(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room,
	uint32_t *flags, nghttp2_data_source *source, void *user)
{
	struct grpccall *call = source->ptr;
	size_t size = MIN(room, call->out.size - call->sent);
	const nghttp2_nv trailer = header("grpc-status", "0");

	(void)user;
	memcpy(to, call->out.data + call->sent, size);
	call->sent += size;
	if (call->sent == call->out.size) {
		*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		nghttp2_submit_trailer(session, stream, &trailer, 1);
	}
	return (ssize_t)size;
}

static void put_message(struct grpccall *call, const struct grpcserver_answer *answer)
{
	const nghttp2_data_provider provider = {{.ptr = call}, read_answer};
	const nghttp2_nv headers[] = {
		header(":status", "200"),
		header("content-type", "application/grpc"),
		header("grpc-accept-encoding", "identity,gzip"),
	};
	const uint8_t prefix[GRPC_PREFIX_SIZE] = {0, (uint8_t)(answer->size >> 24),
		(uint8_t)(answer->size >> 16), (uint8_t)(answer->size >> 8), (uint8_t)answer->size};

	buffer_put(&call->out, prefix, sizeof(prefix));
	buffer_put(&call->out, answer->message, answer->size);
	nghttp2_submit_response(
		call->server->session, call->stream, headers, G_N_ELEMENTS(headers), &provider);
}

/* An answer without: all is told by its headers. */

/* What is not plain ASCII, and '%', becomes %XX. */
static void put_percent(struct buffer *out, const char *words)
{
	for (; *words; words++)
		if (*words >= ' ' && *words <= '~' && *words != '%')
			buffer_put(out, words, 1);
		else
			buffer_printf(out, "%%%02X", (unsigned char)*words);
	buffer_put(out, "", 1);
}

static size_t put_duration(uint8_t *to, uint32_t ms)
{
	uint8_t *at = to;

	at = protobuf_put_varint(protobuf_put_field(at, 1, PROTOBUF_VARINT), ms / 1000);
	at = protobuf_put_varint(protobuf_put_field(at, 2, PROTOBUF_VARINT), ms % 1000 * 1000000);
	return (size_t)(at - to);
}

/* google.rpc.Status, with an Any that is a RetryInfo, whose first field is a Duration. */
static size_t put_status(uint8_t *to, enum grpcserver_status status, const char *words, uint32_t retry_after)
{
	uint8_t *at = to, duration[32], info[40], any[128];
	size_t duration_size = put_duration(duration, retry_after);
	size_t info_size = (size_t)(protobuf_put_bytes(info, 1, duration, duration_size) - info), any_size;

	any_size = (size_t)(protobuf_put_bytes(protobuf_put_bytes(any, 1, RETRY_INFO, strlen(RETRY_INFO)), 2,
				    info, info_size) -
			    any);
	at = protobuf_put_varint(protobuf_put_field(at, 1, PROTOBUF_VARINT), status);
	at = protobuf_put_bytes(at, 2, words, strlen(words));
	at = protobuf_put_bytes(at, 3, any, any_size);
	return (size_t)(at - to);
}

/* In base64 without padding, as gRPC wants it. */
static void put_details(char *to, enum grpcserver_status status, const char *words, uint32_t retry_after)
{
	uint8_t bytes[WORDS_MAX + 256];
	size_t size = put_status(bytes, status, words, retry_after);

	base64_encode(to, bytes, size);
	to[(size * 4 + 2) / 3] = '\0';
}

static void put_failure(struct grpccall *call, const struct grpcserver_answer *answer)
{
	char status[12], words[WORDS_MAX] = "", details[BASE64_SIZE(WORDS_MAX + 256) + 1];
	struct buffer percent = {0};
	nghttp2_nv headers[6];
	size_t count = 0;

	snprintf(status, sizeof(status), "%d", answer->status);
	headers[count++] = header(":status", "200");
	headers[count++] = header("content-type", "application/grpc");
	headers[count++] = header("grpc-accept-encoding", "identity,gzip");
	headers[count++] = header("grpc-status", status);
	if (answer->words) {
		words_copy(words, sizeof(words), (const uint8_t *)answer->words, strlen(answer->words));
		put_percent(&percent, words);
		headers[count++] = header("grpc-message", (const char *)percent.data);
	}
	if (answer->retry_after) {
		put_details(details, answer->status, words, answer->retry_after);
		headers[count++] = header("grpc-status-details-bin", details);
	}
	nghttp2_submit_response(call->server->session, call->stream, headers, count, NULL);
	buffer_free(&percent);
}

static void finish(struct grpccall *call)
{
	call->state = GRPCCALL_ANSWERED;
	buffer_free(&call->in);
	grpccall_leave_room(call);
}

void grpcanswer_put(struct grpccall *call, const struct grpcserver_answer *answer)
{
	finish(call);
	if (answer->status == GRPCSERVER_OK)
		put_message(call, answer);
	else
		put_failure(call, answer);
}

void grpcanswer_put_http(struct grpccall *call, const char *status)
{
	const nghttp2_nv headers[] = {header(":status", status)};

	finish(call);
	nghttp2_submit_response(call->server->session, call->stream, headers, G_N_ELEMENTS(headers), NULL);
}
