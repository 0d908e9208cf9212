/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zipkin's own code (zipkin2, in the server's jar) as a judge of what spans say.
 *
 *     Codec encode FILE...   of each span in files of JSON: its Thrift in base64, its JSON, and the JSON of what
 *                            Zipkin reads from that Thrift; with tabs in between
 *     Codec thrift           lines of base64, of a span's Thrift or of a list's: the JSON of each span
 *     Codec json             lines of a span's JSON, the same as Zipkin writes it
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import zipkin2.Span;
import zipkin2.codec.SpanBytesDecoder;
import zipkin2.codec.SpanBytesEncoder;

public class Codec {
	private static final int LIST = 12; // a list of structs begins with their type

	private static String json(Span span) {
		return new String(SpanBytesEncoder.JSON_V2.encode(span), StandardCharsets.UTF_8);
	}

	private static List<Span> spans(byte[] text) {
		return text[0] == '[' ? SpanBytesDecoder.JSON_V2.decodeList(text) : List.of(SpanBytesDecoder.JSON_V2.decodeOne(text));
	}

	private static List<Span> fromThrift(byte[] bytes) {
		return bytes[0] == LIST ? SpanBytesDecoder.THRIFT.decodeList(bytes) : List.of(SpanBytesDecoder.THRIFT.decodeOne(bytes));
	}

	private static void encode(PrintStream out, String path) throws Exception {
		for (Span span : spans(new String(Files.readAllBytes(Path.of(path)), StandardCharsets.UTF_8).trim().getBytes(StandardCharsets.UTF_8))) {
			byte[] thrift = SpanBytesEncoder.THRIFT.encode(span);
			out.println(Base64.getEncoder().encodeToString(thrift) + "\t" + json(span) + "\t" + json(fromThrift(thrift).get(0)));
		}
	}

	public static void main(String[] words) throws Exception {
		PrintStream out = new PrintStream(System.out, false, "UTF-8");
		if (words[0].equals("encode")) {
			for (int i = 1; i < words.length; i++)
				encode(out, words[i]);
		} else {
			BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			for (String line; (line = in.readLine()) != null;) {
				List<Span> read = words[0].equals("thrift") ? fromThrift(Base64.getDecoder().decode(line))
						: spans(line.getBytes(StandardCharsets.UTF_8));
				for (Span span : read)
					out.println(json(span));
			}
		}
		out.flush();
	}
}
