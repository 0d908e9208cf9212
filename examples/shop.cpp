// SPDX-License-Identifier: BSD-2-Clause
//
// Spans in C++: blkin::Span finishes with its scope, however that is left.
//
//     shop ORDERS
//
// The trace of an order is the span "order", with "reserve" and "charge" within it, and "ask the bank" within
// the latter. Every third order is charged to a card that the bank declines, which is an exception here: it
// ends three scopes early, and their spans all the same.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <blkin/span.hpp>

namespace
{

const blkin_endpoint shop_at = {"10.0.0.4", 8000, "shop"};
const blkin_endpoint bank_at = {"10.0.0.5", 443, "bank"};

// The parent is passed down as any other argument is: nothing is hidden in thread-local storage, so the same
// code works in threads, coroutines and callbacks.
void reserve(const blkin::Span &parent, int items)
{
	blkin::Span span("reserve", &shop_at, parent);

	span.tag("items", items).annotate("stock locked");
}

void ask_bank(const blkin::Span &parent, int order)
{
	blkin::Span span(BLKIN_CLIENT, "ask the bank", &shop_at, parent.context());

	span.remote(&bank_at);
	// span is true while it is recorded: for text that would be made for it only
	if (span)
		span.tag("card", "card-" + std::to_string(order));
	// A span that an exception ends is marked by the tag `error`; where more is known, say it.
	if (order % 3 == 2) {
		span.error("card declined");
		throw std::runtime_error("card declined");
	}
}

void charge(const blkin::Span &parent, int order, double price)
{
	blkin::Span span("charge", &shop_at, parent);

	span.tag("price", price);
	ask_bank(span, order);
	span.annotate("charged");
}

// Returns whether the order was carried out.
bool handle(int order)
{
	blkin::Span span(BLKIN_SERVER, "order", &shop_at);

	span.tag("number", order);
	try {
		reserve(span, order % 4 + 1);
		charge(span, order, 9.75);
	} catch (const std::exception &failure) {
		// The exception ends here, so this span is not left by it: whether it failed is ours to say.
		span.error(failure.what());
		return false;
	}
	span.tag("express", order % 2 == 0);
	return true;
}

} // namespace

int main(int argc, char **argv)
{
	int done = 0;

	if (argc != 2) {
		std::fprintf(stderr, "usage: shop ORDERS\n");
		return 64;
	}
	for (int order = 0; order < std::atoi(argv[1]); order++)
		done += handle(order);
	std::printf("%d orders carried out\n", done);
	return 0;
}
