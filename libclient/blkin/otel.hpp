/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span processor for OpenTelemetry's SDK for C++, 1.19 or later: the program's spans go through LTTng's
 * ring buffers to the node's agent, as those of <blkin/span.h> do. There is no queue, no thread and no
 * exporter in the program, and what has ended is safe if it crashes.
 *
 *     auto provider = opentelemetry::sdk::trace::TracerProviderFactory::Create(
 *             blkin::make_otel_processor(), resource);
 *     opentelemetry::trace::Provider::SetTracerProvider(std::move(provider));
 *
 * A span's attributes, events and links are written as lines of text when they are set (blkin/marks.h), and
 * as one event when it ends. The SDK's sampler decides which spans there are. While no session records spans,
 * a span takes an allocation, and its calls do nothing.
 *
 * The header needs what the SDK consists of: opentelemetry_trace and opentelemetry_resources.
 */
#ifndef BLKIN_OTEL_HPP_
#define BLKIN_OTEL_HPP_

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <opentelemetry/sdk/common/attribute_utils.h>
#include <opentelemetry/sdk/instrumentationscope/instrumentation_scope.h>
#include <opentelemetry/sdk/resource/resource.h>
#include <opentelemetry/sdk/trace/processor.h>
#include <opentelemetry/sdk/trace/recordable.h>
#include <opentelemetry/trace/span_context.h>
#include <opentelemetry/trace/span_metadata.h>

#include <blkin/marks.h>
#include <blkin/tags.h>

namespace blkin
{
namespace otel
{

namespace api = opentelemetry;
namespace sdk = opentelemetry::sdk;
using Text = opentelemetry::nostd::string_view;

/* The most bytes of a span's lines: the agent holds no more of one. What is beyond is counted. */
constexpr std::size_t lines_max = 384 * 1024;
/* The most of them in one event: of LTTng's sub-buffers, the smallest has 64 KiB. */
constexpr std::size_t event_max = 32 * 1024;

/* Lines of a span's text, in memory that is given, and then in some of its own. */
class Lines
{
      public:
	/* @front bytes are kept free before the lines. */
	Lines(char *room, std::size_t size, std::size_t front)
	    : front_(front), room_(room), begin_(room + front), at_(begin_), end_(room + size)
	{
	}

	Lines(const Lines &) = delete;
	Lines &operator=(const Lines &) = delete;

	~Lines()
	{
		if (own_)
			std::free(room_);
	}

	char *begin()
	{
		return begin_;
	}

	std::size_t size() const
	{
		return static_cast<std::size_t>(at_ - begin_);
	}

	std::size_t left_out() const
	{
		return left_out_;
	}

	/* Room for so many bytes, or nullptr: then there are too many of them, unless they are few, and all
	 * is needed. */
	char *reserve(std::size_t size, bool needed = false)
	{
		return size <= static_cast<std::size_t>(end_ - at_) ? at_ : grow(size, needed);
	}

	/* What was written to the room ends here. */
	void end(char *at)
	{
		at_ = at;
	}

	void clear()
	{
		at_ = begin_;
	}

	void put(Text text)
	{
		char *to = reserve(text.size());

		if (to && !text.empty()) {
			std::memcpy(to, text.data(), text.size());
			end(to + text.size());
		}
	}

	/* A line with a mark, and a text. */
	void note(Text mark, Text text)
	{
		char *to = reserve(mark.size() + 2 * text.size() + 1);

		if (to)
			end_line(put_escaped(put_plain(to, mark), text));
	}

	/*
	 * A line with an attribute: after the mark, of what it belongs to; without one, it is a tag of the
	 * span. @Value is one of OpenTelemetry's variants.
	 */
	template <typename Value> void attribute(Text mark, Text key, const Value &value)
	{
		visit(value, [&](const auto &one) { line(mark, key, one); });
	}

	static char *put_plain(char *to, Text text)
	{
		if (!text.empty())
			std::memcpy(to, text.data(), text.size());
		return to + text.size();
	}

	/* With escapes, which take twice the room; for @other stands a backslash and @letter. */
	static char *put_escaped(char *to, Text text, char other = 0, char letter = 0)
	{
		if (is_plain(to, text, other))
			return to + text.size();
		for (char c : text) {
			char escape = other && c == other ? letter : blkin_escape_(c);

			if (escape)
				*to++ = '\\';
			*to++ = escape ? escape : c;
		}
		return to;
	}

      private:
	/* Copies it; returns whether there is nothing to be escaped in it. */
	static bool is_plain(char *to, Text text, char other)
	{
		if (text.empty())
			return true;
		if (blkin_copy_(to, text.data(), text.size(), '\n' + 1) &&
			(std::memchr(to, '\n', text.size()) || std::memchr(to, '\0', text.size())))
			return false;
		return !std::memchr(to, '\\', text.size()) &&
		       (!other || !std::memchr(to, other, text.size()));
	}

	char *grow(std::size_t size, bool needed)
	{
		std::size_t used = this->size(), capacity = static_cast<std::size_t>(end_ - begin_);
		char *room;

		while (capacity < used + size)
			capacity *= 2;
		if (capacity > lines_max && !needed)
			capacity = lines_max;
		room = used + size <= lines_max || needed
			       ? static_cast<char *>(std::malloc(front_ + capacity))
			       : nullptr;
		if (!room) {
			left_out_++;
			return nullptr;
		}
		std::memcpy(room + front_, begin_, used);
		if (own_)
			std::free(room_);
		own_ = true;
		room_ = room;
		begin_ = room + front_;
		at_ = begin_ + used;
		end_ = begin_ + capacity;
		return at_;
	}

	void end_line(char *to)
	{
		*to = '\n';
		end(to + 1);
	}

	/* What a value is */

	static char letter(bool)
	{
		return 'b';
	}
	static char letter(double)
	{
		return 'd';
	}
	static char letter(Text)
	{
		return 't';
	}
	template <typename Number> static char letter(Number)
	{
		static_assert(std::is_integral_v<Number>, "an attribute of an unknown type");
		return 'i';
	}

	/* The most bytes of a value, with a comma. Of a long text, what it really takes. */
	static std::size_t room_of(Text text)
	{
		std::size_t size = text.size();

		if (size < 1024)
			return 2 * size + 1;
		for (char c : text)
			size += blkin_escape_(c) || c == ',';
		return size + 1;
	}
	template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
	static std::size_t room_of(Number)
	{
		return 32;
	}

	static char *put_value(char *to, Text text, bool in_list)
	{
		return in_list ? put_escaped(to, text, ',', 'c') : put_escaped(to, text);
	}
	static char *put_value(char *to, bool value, bool)
	{
		return put_plain(to, value ? "true" : "false");
	}
	static char *put_value(char *to, double value, bool)
	{
#ifdef __cpp_lib_to_chars
		return std::to_chars(to, to + 32, value).ptr;
#else
		return blkin_put_double_(to, value);
#endif
	}
	template <typename Number, typename = std::enable_if_t<std::is_integral_v<Number>>>
	static char *put_value(char *to, Number value, bool)
	{
		if constexpr (std::is_unsigned_v<Number>)
			return blkin_put_number_(to, value);
		else
			return blkin_put_int_(to, value);
	}

	/* Whether a line that begins with the key can be read: see blkin_put_key_. */
	static bool is_plain_key(Text key)
	{
		if (key.empty() || std::memchr("#+-@!&", key[0], 6))
			return false;
		for (char c : key)
			if (c == '=' || c == '\n' || c == '\0')
				return false;
		return true;
	}

	/* A scalar value. One of the span's is as <blkin/span.h> has it, if it can be. */
	template <typename Value> void line(Text mark, Text key, const Value &value)
	{
		char *to = reserve(8 + 2 * key.size() + room_of(value)), *begin = to;

		if (!to)
			return;
		if (mark.empty() && is_plain_key(key)) {
			if (letter(value) != 't') {
				*to++ = '#';
				*to++ = letter(value);
			}
			to = put_plain(to, key);
			*to++ = '=';
			if (put_plain_value(to, value))
				return;
			to = begin;
		}
		to = put_plain(to, mark.empty() ? Text("#\\") : mark);
		*to++ = letter(value);
		to = put_escaped(to, key, '=', 'e');
		*to++ = '=';
		end_line(put_value(to, value, false));
	}

	/* Ends the line; false if the text has a line break. */
	bool put_plain_value(char *to, Text text)
	{
		if (!blkin_copy_line_(to, text.data(), text.size()))
			return false;
		end_line(to + text.size());
		return true;
	}
	template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
	bool put_plain_value(char *to, Number value)
	{
		end_line(put_value(to, value, false));
		return true;
	}

	/* A list */
	template <typename Item> struct List {
		const Item *items;
		std::size_t count;
	};

	static Text as_value(const std::string &text)
	{
		return Text(text.data(), text.size());
	}
	template <typename Item> static Item as_value(const Item &item)
	{
		return item;
	}

	template <typename Each>
	void put_list(Text mark, Text key, char type, std::size_t room, const Each &each)
	{
		char *to = reserve(8 + 2 * key.size() + room);

		if (!to)
			return;
		to = put_plain(to, mark.empty() ? Text("#\\") : mark);
		*to++ = '[';
		*to++ = type;
		to = put_escaped(to, key, '=', 'e');
		*to++ = '=';
		each([&](const auto &item) {
			to = put_value(to, item, true);
			*to++ = ',';
		});
		end_line(to);
	}

	template <typename Item> void line(Text mark, Text key, const List<Item> &list)
	{
		std::size_t room = 0;

		for (std::size_t i = 0; i < list.count; i++)
			room += room_of(as_value(list.items[i]));
		put_list(mark, key, letter(decltype(as_value(*list.items))()), room, [&](auto put) {
			for (std::size_t i = 0; i < list.count; i++)
				put(as_value(list.items[i]));
		});
	}

	void line(Text mark, Text key, const std::vector<bool> &list)
	{
		put_list(mark, key, 'b', 8 * list.size(), [&](auto put) {
			for (bool item : list)
				put(item);
		});
	}

	/* OpenTelemetry's variants. Not std::visit: what that throws may be in a library that the program has
	 * not. */
	template <typename Type, typename Value, typename Take>
	static bool is(const Value &value, const Take &take)
	{
		if (const Type *one = api::nostd::get_if<Type>(&value)) {
			take_as(*one, take);
			return true;
		}
		return false;
	}

	template <typename Type, typename Take> static void take_as(const Type &value, const Take &take)
	{
		if constexpr (std::is_arithmetic_v<Type> || std::is_same_v<Type, std::vector<bool>>)
			take(value);
		else if constexpr (std::is_same_v<Type, const char *>)
			take(Text(value ? value : ""));
		else if constexpr (std::is_convertible_v<Type, Text>)
			take(Text(value));
		else
			take(List<std::remove_const_t<std::remove_pointer_t<decltype(value.data())>>>{
				value.data(), value.size()});
	}

	template <typename Take> static void visit(const api::common::AttributeValue &value, const Take &take)
	{
		using api::nostd::span;

		/* those that are usual first */
		(void)(is<Text>(value, take) || is<const char *>(value, take) || is<int64_t>(value, take) ||
			is<int32_t>(value, take) || is<bool>(value, take) || is<double>(value, take) ||
			is<uint32_t>(value, take) || is<uint64_t>(value, take) ||
			is<span<const bool>>(value, take) || is<span<const int32_t>>(value, take) ||
			is<span<const int64_t>>(value, take) || is<span<const uint32_t>>(value, take) ||
			is<span<const double>>(value, take) || is<span<const Text>>(value, take) ||
			is<span<const uint64_t>>(value, take) || is<span<const uint8_t>>(value, take));
	}

	template <typename Take>
	static void visit(const sdk::common::OwnedAttributeValue &value, const Take &take)
	{
		(void)(is<std::string>(value, take) || is<int64_t>(value, take) || is<int32_t>(value, take) ||
			is<bool>(value, take) || is<double>(value, take) || is<uint32_t>(value, take) ||
			is<uint64_t>(value, take) || is<std::vector<bool>>(value, take) ||
			is<std::vector<int32_t>>(value, take) || is<std::vector<int64_t>>(value, take) ||
			is<std::vector<uint32_t>>(value, take) || is<std::vector<double>>(value, take) ||
			is<std::vector<std::string>>(value, take) || is<std::vector<uint64_t>>(value, take) ||
			is<std::vector<uint8_t>>(value, take));
	}

	std::size_t front_, left_out_ = 0;
	bool own_ = false;
	char *room_, *begin_, *at_, *end_;
};

/* What many spans have in common, as text. */
struct Known {
	const void *of; /* the resource or the scope */
	std::size_t hash;
	std::string endpoint, lines;
	Known *next;

	Known(const sdk::resource::Resource &resource, std::size_t) : of(&resource), hash(0), next(nullptr)
	{
		char room[1024];
		Lines to(room, sizeof(room), 0);
		const auto &attributes = resource.GetAttributes();
		const auto service = attributes.find("service.name");

		for (const auto &one : attributes)
			to.attribute("#:", one.first, one.second);
		if (!resource.GetSchemaURL().empty())
			to.note("#!resource-schema=", resource.GetSchemaURL());
		lines.assign(to.begin(), to.size());
		set_endpoint(service != attributes.end() ? api::nostd::get_if<std::string>(&service->second)
							 : nullptr);
	}

	Known(const sdk::instrumentationscope::InstrumentationScope &scope, std::size_t code)
	    : of(&scope), hash(code), next(nullptr)
	{
		char room[1024];
		Lines to(room, sizeof(room), 0);

		if (!scope.GetName().empty())
			to.note("#!scope=", scope.GetName());
		if (!scope.GetVersion().empty())
			to.note("#!version=", scope.GetVersion());
		if (!scope.GetSchemaURL().empty())
			to.note("#!scope-schema=", scope.GetSchemaURL());
		for (const auto &one : scope.GetAttributes())
			to.attribute("#%", one.first, one.second);
		lines.assign(to.begin(), to.size());
	}

      private:
	void set_endpoint(const std::string *service)
	{
		char text[BLKIN_ENDPOINT_TEXT_];
		const blkin_endpoint local = {nullptr, 0, service ? service->c_str() : ""};

		endpoint.assign(text, static_cast<std::size_t>(blkin_put_endpoint_(text, &local) - text));
	}
};

/* Those of one processor. There is no lock, which a child of fork() would find taken: two threads may both
 * add the same. */
class KnownTexts
{
      public:
	KnownTexts() = default;
	KnownTexts(const KnownTexts &) = delete;
	KnownTexts &operator=(const KnownTexts &) = delete;

	~KnownTexts()
	{
		for (Known *one = first_.load(), *next; one; one = next) {
			next = one->next;
			delete one;
		}
	}

	template <typename Of> const Known *get(const Of &of, std::size_t hash)
	{
		const Known *known = find(first_.load(std::memory_order_acquire), &of, hash);

		return known ? known : add(of, hash);
	}

      private:
	static const Known *find(const Known *one, const void *of, std::size_t hash)
	{
		while (one && (one->of != of || one->hash != hash))
			one = one->next;
		return one;
	}

	template <typename Of> const Known *add(const Of &of, std::size_t hash)
	{
		Known *one = new Known(of, hash);

		one->next = first_.load(std::memory_order_relaxed);
		while (!first_.compare_exchange_weak(one->next, one, std::memory_order_release))
			continue;
		return one;
	}

	std::atomic<Known *> first_{nullptr};
};

/*
 * Memory for spans, of which a thread keeps some that have ended: they are larger than what malloc keeps like
 * that. What a thread keeps goes with it.
 */
template <std::size_t size> class Pool
{
      public:
	static void *take()
	{
		Kept &kept = kept_;

		return kept.count ? kept.blocks[--kept.count] : ::operator new(size);
	}

	static void give(void *block)
	{
		static thread_local Guard guard;
		Kept &kept = kept_;

		guard.see();
		if (kept.count == sizeof(kept.blocks) / sizeof(*kept.blocks) || kept.over)
			::operator delete(block);
		else
			kept.blocks[kept.count++] = block;
	}

      private:
	/* It has no destructor, so it is there as long as the thread. */
	struct Kept {
		void *blocks[8];
		unsigned count;
		bool over;
	};

	struct Guard {
		void see() const
		{
		}
		~Guard()
		{
			kept_.over = true;
			while (kept_.count)
				::operator delete(kept_.blocks[--kept_.count]);
		}
	};

	static inline thread_local Kept kept_{};
};

/* One of the processor's, so that it knows which. */
class Spans : public sdk::trace::Recordable
{
      public:
	virtual void write() noexcept
	{
	}
};

/* A span: what the SDK says of it, as text. Only one thread at a time uses it, as the SDK sees to. */
class Recordable final : public Spans
{
      public:
	static void *operator new(std::size_t);
	static void operator delete(void *block);

	explicit Recordable(KnownTexts &known) : known_(known), lines_(room_, sizeof(room_), front)
	{
	}

	void SetIdentity(const api::trace::SpanContext &context, api::trace::SpanId parent) noexcept override
	{
		const auto state = context.trace_state();

		high_ = blkin_get_be64_(context.trace_id().Id().data());
		numbers_[0] = blkin_get_be64_(context.trace_id().Id().data() + 8);
		numbers_[1] = blkin_get_be64_(context.span_id().Id().data());
		numbers_[2] = blkin_get_be64_(parent.Id().data());
		flags_ = context.trace_flags().flags();
		if (state && !state->Empty())
			lines_.note("#!state=", state->ToHeader());
	}

	void SetAttribute(Text key, const api::common::AttributeValue &value) noexcept override
	{
		lines_.attribute("", key, value);
	}

	void AddEvent(Text name, api::common::SystemTimestamp time,
		const api::common::KeyValueIterable &attributes) noexcept override
	{
		char *to = lines_.reserve(32 + 2 * name.size());

		if (!to)
			return;
		put_event(to, static_cast<uint64_t>(time.time_since_epoch().count()), name);
		add_attributes("#+", attributes);
	}

	void AddLink(const api::trace::SpanContext &context,
		const api::common::KeyValueIterable &attributes) noexcept override
	{
		const auto state = context.trace_state();
		const std::string header = state ? state->ToHeader() : "";
		/* the flags take 16 digits until half of them are taken back */
		char *to = lines_.reserve(72 + 2 * header.size());
		const uint64_t flags = static_cast<uint64_t>(context.trace_flags().flags()) << 32;

		if (!to)
			return;
		to = Lines::put_plain(to, "#>");
		to = blkin_put_hex_(to, blkin_get_be64_(context.trace_id().Id().data()));
		to = blkin_put_hex_(to, blkin_get_be64_(context.trace_id().Id().data() + 8));
		*to++ = '-';
		to = blkin_put_hex_(to, blkin_get_be64_(context.span_id().Id().data()));
		*to++ = '-';
		to = blkin_put_hex_(to, flags) - 8; /* of which the first half is meant */
		*to++ = '=';
		to = Lines::put_escaped(to, header);
		*to++ = '\n';
		lines_.end(to);
		add_attributes("#*", attributes);
	}

	/* Only of an error the description counts, as the specification has it. Without one, or room for one,
	 * the code is noted, and written at the end: outputs keep traces by it. */
	void SetStatus(api::trace::StatusCode code, Text description) noexcept override
	{
		const char *mark = code == api::trace::StatusCode::kError ? "#!status=error"
				   : code == api::trace::StatusCode::kOk  ? "#!status=ok"
									  : "#!status=unset";
		char *to;

		status_ = mark;
		if (code != api::trace::StatusCode::kError || description.empty())
			return;
		to = lines_.reserve(32 + 2 * description.size());
		if (!to)
			return;
		status_ = nullptr;
		to = Lines::put_plain(to, mark);
		*to++ = ' ';
		to = Lines::put_escaped(to, description);
		*to++ = '\n';
		lines_.end(to);
	}

	void SetName(Text name) noexcept override
	{
		name_size_ = name.size();
		if (name_size_ < sizeof(name_))
			name_[copy_name(name_, name)] = '\0';
		else
			copy_name(long_name_.assign(name_size_, '\0').data(), name);
	}

	void SetTraceFlags(api::trace::TraceFlags flags) noexcept override
	{
		flags_ = flags.flags();
	}

	void SetSpanKind(api::trace::SpanKind kind) noexcept override
	{
		kind_ = kind;
	}

	void SetResource(const sdk::resource::Resource &resource) noexcept override
	{
		resource_ = known_.get(resource, 0);
	}

	void SetStartTime(api::common::SystemTimestamp start) noexcept override
	{
		start_ = static_cast<uint64_t>(start.time_since_epoch().count());
	}

	void SetDuration(std::chrono::nanoseconds duration) noexcept override
	{
		duration_ = duration.count();
	}

	void SetInstrumentationScope(
		const sdk::instrumentationscope::InstrumentationScope &scope) noexcept override
	{
		scope_ = known_.get(scope, scope.HashCode());
	}

	/* Writes the span, which has ended. What is not sampled was only to be seen by others. */
	void write() noexcept override
	{
		const uint64_t now = blkin_now(),
			       lasts = duration_ > 0 ? static_cast<uint64_t>(duration_) : 0;

		if (!(flags_ & api::trace::TraceFlags::kIsSampled) || !blkin_tracing())
			return;
		numbers_[3] = lasts < now ? now - lasts : 1;
		if (lines_.size() > event_max)
			write_pieces();
		if (!put_tail())
			return;
		if (name_size_ < sizeof(name_) && blkin_whole_)
			write_whole();
		else
			write_record();
	}

      private:
	/* The first line and the head stand right before the lines when the span is written. */
	static constexpr std::size_t name_room = 96;
	static constexpr std::size_t head_room = 44 + BLKIN_ENDPOINT_TEXT_;
	static constexpr std::size_t front =
		(BLKIN_FRONT_ + BLKIN_IDS_TEXT_ + 3 + name_room + 1 + head_room + 15) / 16 * 16;

	/* A text of LTTng's ends at a NUL. */
	static std::size_t copy_name(char *to, Text name)
	{
		if (name.empty())
			return 0;
		std::memcpy(to, name.data(), name.size());
		while (char *nul = static_cast<char *>(std::memchr(to, '\0', name.size())))
			*nul = ' ';
		return name.size();
	}

	void put_event(char *to, uint64_t time, Text name)
	{
		char *begin = to, sign = time >= start_ ? '+' : '-';

		*to++ = sign;
		to = blkin_put_number_(to, sign == '+' ? time - start_ : start_ - time);
		*to++ = ' ';
		if (blkin_copy_line_(to, name.data(), name.size())) {
			to += name.size();
		} else {
			to = Lines::put_plain(begin, "#@");
			*to++ = sign;
			to = blkin_put_number_(to, sign == '+' ? time - start_ : start_ - time);
			*to++ = '=';
			to = Lines::put_escaped(to, name);
		}
		*to++ = '\n';
		lines_.end(to);
	}

	void add_attributes(const char *mark, const api::common::KeyValueIterable &attributes)
	{
		if (attributes.size())
			attributes.ForEachKeyValue([&](Text key, api::common::AttributeValue value) noexcept {
				lines_.attribute(mark, key, value);
				return true;
			});
	}

	Text kind() const
	{
		static constexpr const char *kinds[] = {"local", "server", "client", "producer", "consumer"};
		const unsigned kind = static_cast<unsigned>(kind_);

		return kinds[kind < 5 ? kind : 0];
	}

	Text endpoint() const
	{
		return resource_ ? Text(resource_->endpoint) : Text("0 - \n");
	}

	/* Writes the head line before the lines; returns where it begins. */
	char *put_head()
	{
		const Text kind = this->kind(), endpoint = this->endpoint();
		char *head = lines_.begin() - kind.size() - (high_ ? 22 : 0) - 1 - endpoint.size(),
		     *to = Lines::put_plain(head, kind);

		if (high_)
			to = blkin_put_hex_(Lines::put_plain(to, ",high="), high_);
		*to++ = ' ';
		Lines::put_plain(to, endpoint);
		return head;
	}

	/* What belongs to the span itself comes last; returns whether there was memory for it. */
	bool put_tail()
	{
		const blkin_process *process = blkin_provider_->process;
		const Text scope = scope_ ? Text(scope_->lines) : Text(),
			   resource = resource_ ? Text(resource_->lines) : Text();
		const std::size_t left_out = lines_.left_out();
		char *to = lines_.reserve(192 + scope.size() + resource.size() + BLKIN_PROCESS_LINE_, true);

		if (!to)
			return false;
		if (left_out) {
			to = blkin_put_number_(Lines::put_plain(to, "blkin.truncated="), left_out);
			to = Lines::put_plain(to, " attributes, events and links\n");
		}
		if (status_) {
			to = Lines::put_plain(to, status_);
			*to++ = '\n';
		}
		to = blkin_put_number_(Lines::put_plain(to, "#!time="), start_);
		to = blkin_put_number_(Lines::put_plain(to, "\n#!sdk="), flags_);
		to = Lines::put_plain(to, duration_ >= 0 ? "\n!finish +" : "\n!finish -");
		to = blkin_put_number_(to, static_cast<uint64_t>(duration_ >= 0 ? duration_ : -duration_));
		*to++ = '\n';
		if (pieces_) {
			to = blkin_put_number_(Lines::put_plain(to, "!pieces "), pieces_);
			*to++ = '\n';
		}
		to = Lines::put_plain(Lines::put_plain(to, scope), resource);
		std::memcpy(to, process->line, BLKIN_PROCESS_LINE_);
		to += process->size;
		*to++ = '\0';
		lines_.end(to);
		return true;
	}

	blkin_span_record record_of(const char *data) const
	{
		return {numbers_[0], numbers_[1], numbers_[2], numbers_[3],
			name_size_ < sizeof(name_) ? name_ : long_name_.c_str(), data};
	}

	void write_record()
	{
		const blkin_span_record record = record_of(put_head());

		blkin_provider_->span[BLKIN_INFO](&record);
	}

	/* In one piece: the first line, the head, the lines. */
	void write_whole()
	{
		char *head = put_head(), *name = head - name_size_ - 1, *text = name - BLKIN_IDS_TEXT_ - 3;

		blkin_put_ids_(text, numbers_[0], numbers_[1], numbers_[2], numbers_[3]);
		text[BLKIN_IDS_TEXT_] = static_cast<char>('0' + name_size_ / 10);
		text[BLKIN_IDS_TEXT_ + 1] = static_cast<char>('0' + name_size_ % 10);
		text[BLKIN_IDS_TEXT_ + 2] = ' ';
		std::memcpy(name, name_, name_size_);
		name[name_size_] = '\n';
		blkin_whole_[BLKIN_INFO](
			text - BLKIN_FRONT_, static_cast<std::size_t>(lines_.begin() - text) + lines_.size());
	}

	/* Those lines that are too many for one event. */
	void write_pieces()
	{
		const std::unique_ptr<char[]> value(new (std::nothrow) char[event_max + 1]);
		const char *begin = put_head();
		const std::string head(begin, static_cast<std::size_t>(lines_.begin() - begin) - 1);
		const blkin_span_record record = record_of(head.c_str());
		const std::size_t size = lines_.size();
		char key[BLKIN_PIECE_KEY_];
		bool goes_on = false;

		for (std::size_t at = 0, part; at < size; at += part) {
			part = size - at < event_max ? size - at : event_max;
			pieces_++;
			if (!value)
				continue; /* the agent notes that it is missing */
			std::memcpy(value.get(), lines_.begin() + at, part);
			value[part] = '\0';
			blkin_put_piece_key_(key, pieces_, goes_on, numbers_[3]);
			blkin_provider_->tag(&record, key, value.get());
			goes_on = value[part - 1] != '\n';
		}
		lines_.clear();
	}

	KnownTexts &known_;
	const Known *resource_ = nullptr, *scope_ = nullptr;
	uint64_t numbers_[4] = {0, 0, 0, 0}; /* of struct blkin_span_record */
	uint64_t high_ = 0, start_ = 0;
	int64_t duration_ = 0;
	api::trace::SpanKind kind_ = api::trace::SpanKind::kInternal;
	unsigned char flags_ = 0;
	uint32_t pieces_ = 0;
	const char *status_ = nullptr; /* the line's, if it is not written yet */
	std::size_t name_size_ = 0;
	std::string long_name_;
	Lines lines_;
	char name_[name_room] = "";
	alignas(uint64_t) char room_[front + 1024];
};

inline void *Recordable::operator new(std::size_t)
{
	return Pool<sizeof(Recordable)>::take();
}

inline void Recordable::operator delete(void *block)
{
	Pool<sizeof(Recordable)>::give(block);
}

/* A span that nobody records. */
class Unrecorded final : public Spans
{
      public:
	void SetIdentity(const api::trace::SpanContext &, api::trace::SpanId) noexcept override
	{
	}
	void SetAttribute(Text, const api::common::AttributeValue &) noexcept override
	{
	}
	void AddEvent(
		Text, api::common::SystemTimestamp, const api::common::KeyValueIterable &) noexcept override
	{
	}
	void AddLink(const api::trace::SpanContext &, const api::common::KeyValueIterable &) noexcept override
	{
	}
	void SetStatus(api::trace::StatusCode, Text) noexcept override
	{
	}
	void SetName(Text) noexcept override
	{
	}
	void SetSpanKind(api::trace::SpanKind) noexcept override
	{
	}
	void SetResource(const sdk::resource::Resource &) noexcept override
	{
	}
	void SetStartTime(api::common::SystemTimestamp) noexcept override
	{
	}
	void SetDuration(std::chrono::nanoseconds) noexcept override
	{
	}
	void SetInstrumentationScope(
		const sdk::instrumentationscope::InstrumentationScope &) noexcept override
	{
	}
};

/* There is nothing to be flushed: a span that has ended is written. */
class Processor final : public sdk::trace::SpanProcessor
{
      public:
	std::unique_ptr<sdk::trace::Recordable> MakeRecordable() noexcept override
	{
		if (!blkin_tracing() || down_.load(std::memory_order_relaxed))
			return std::unique_ptr<sdk::trace::Recordable>(new Unrecorded);
		return std::unique_ptr<sdk::trace::Recordable>(new Recordable(known_));
	}

	void OnStart(sdk::trace::Recordable &, const api::trace::SpanContext &) noexcept override
	{
	}

	void OnEnd(std::unique_ptr<sdk::trace::Recordable> &&span) noexcept override
	{
		const std::unique_ptr<sdk::trace::Recordable> ended(std::move(span));

		if (ended)
			static_cast<Spans &>(*ended).write();
	}

	bool ForceFlush(std::chrono::microseconds = (std::chrono::microseconds::max)()) noexcept override
	{
		return true;
	}

	bool Shutdown(std::chrono::microseconds = (std::chrono::microseconds::max)()) noexcept override
	{
		down_.store(true, std::memory_order_relaxed);
		return true;
	}

      private:
	KnownTexts known_;
	std::atomic<bool> down_{false};
};

} // namespace otel

/**
 * make_otel_processor - a span processor that hands the program's spans to the node's agent
 *
 * For TracerProviderFactory::Create, alone or among others. It carries all that OTLP does, but for: the NUL
 * in a span's name, which becomes a blank; what of one span is beyond 384 KiB, which is counted in its
 * attribute blkin.truncated; the description of a status that is no error; and spans that are recorded and
 * not sampled. The limits of a span that the SDK has from 1.28 on do not hold here: all is carried.
 */
inline std::unique_ptr<opentelemetry::sdk::trace::SpanProcessor> make_otel_processor()
{
	return std::unique_ptr<opentelemetry::sdk::trace::SpanProcessor>(new otel::Processor);
}

} // namespace blkin

#endif
