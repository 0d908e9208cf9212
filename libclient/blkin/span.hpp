/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The span API for C++17: a span that finishes with its scope.
 *
 *     blkin::Span span(BLKIN_SERVER, "read", &here, &received);
 *
 *     span.annotate("cache miss");
 *     span.tag("object", name).tag("bytes", size);
 *
 * A span that ends because of an exception gets the tag `error`, unless it was given one here. The cost is
 * that of the calls in <blkin/span.h>, which also describes them.
 */
#ifndef BLKIN_SPAN_HPP_
#define BLKIN_SPAN_HPP_

#include <cstring>
#include <exception>
#include <string>
#include <type_traits>

#include <blkin/span.h>
#include <blkin/tags.h>

namespace blkin
{

class Span
{
      public:
	/** Starts a span; @name and @local are borrowed until it finishes, @parent is not. */
	Span(blkin_kind kind, const char *name, const blkin_endpoint *local,
		const blkin_context *parent = nullptr)
	    : Span(BLKIN_INFO, kind, name, local, parent)
	{
	}

	Span(blkin_level level, blkin_kind kind, const char *name, const blkin_endpoint *local,
		const blkin_context *parent = nullptr)
	{
		blkin_span_start_level(&span_, level, kind, name, local, parent);
		note_exceptions();
	}

	/** Starts a child of @parent at the same place. */
	Span(const char *name, const blkin_endpoint *local, const Span &parent)
	    : Span(BLKIN_LOCAL, name, local, parent.context())
	{
	}

	/** Starts the server's half of the client's span that @received came from. */
	static Span join(const char *name, const blkin_endpoint *local, const blkin_context *received)
	{
		return Span(name, local, received);
	}

	Span(const Span &) = delete;
	Span &operator=(const Span &) = delete;

	~Span()
	{
		if (span_.recording && !failed_ && std::uncaught_exceptions() > exceptions_)
			error("exception");
		blkin_span_finish(&span_);
	}

	/** The context to send along with a request; lives as long as the span. */
	const blkin_context *context() const
	{
		return blkin_span_context(&span_);
	}

	/** Whether the span is being recorded: for work that is worth doing only then. */
	explicit operator bool() const
	{
		return span_.recording != 0;
	}

	Span &annotate(const char *value)
	{
		blkin_span_annotate(&span_, value);
		return *this;
	}

	Span &annotate(const std::string &value)
	{
		return annotate(value.c_str());
	}

	Span &tag(const char *key, const char *value)
	{
		note_key(key);
		blkin_span_tag(&span_, key, value);
		return *this;
	}

	Span &tag(const char *key, const std::string &value)
	{
		return tag(key, value.c_str());
	}

	template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
	Span &tag(const char *key, Number value)
	{
		note_key(key);
		if constexpr (std::is_same_v<Number, bool>)
			blkin_span_tag_bool(&span_, key, value);
		else if constexpr (std::is_floating_point_v<Number>)
			blkin_span_tag_double(&span_, key, static_cast<double>(value));
		else if constexpr (std::is_signed_v<Number>)
			blkin_span_tag_int(&span_, key, value);
		else
			blkin_span_tag_uint(&span_, key, value);
		return *this;
	}

	Span &error(const char *message = "")
	{
		failed_ = true;
		blkin_span_error(&span_, message);
		return *this;
	}

	Span &error(const std::string &message)
	{
		return error(message.c_str());
	}

	Span &remote(const blkin_endpoint *remote)
	{
		blkin_span_remote(&span_, remote);
		return *this;
	}

	/** Finishes the span before its scope ends. */
	void finish()
	{
		blkin_span_finish(&span_);
	}

	/** The span itself, for the calls of <blkin/span.h>. */
	blkin_span *get()
	{
		return &span_;
	}

      private:
	Span(const char *name, const blkin_endpoint *local, const blkin_context *received)
	{
		blkin_span_join(&span_, name, local, received);
		note_exceptions();
	}

	void note_exceptions()
	{
		if (span_.recording)
			exceptions_ = std::uncaught_exceptions();
	}

	void note_key(const char *key)
	{
		if (span_.recording && key && !std::strcmp(key, "error"))
			failed_ = true;
	}

	blkin_span span_;
	int exceptions_ = 0;
	bool failed_ = false;
};

} // namespace blkin

#endif
