import { ApiError } from "./errors.js";
import type { Client, Schemas } from "./index.js";

type Update = Schemas["WatchReviewResponse"];

/**
 * Watches a review: yields its state at once, then every change and progress, until it is final. It throws an
 * {@link ApiError} when the server refuses, or when it breaks the stream.
 */
export async function* watchReview(client: Client, reviewId: string, signal?: AbortSignal): AsyncGenerator<Update> {
  const { data, error, response } = await client.GET("/v1/reviews/{review_id}:watch", {
    params: { path: { review_id: reviewId } },
    parseAs: "stream",
    signal,
  });
  if (!data) {
    throw ApiError.of({ error, response });
  }
  for await (const line of lines(data as unknown as ReadableStream<Uint8Array>)) {
    const message = JSON.parse(line) as { result?: Update; error?: unknown };
    if (!message.result) {
      throw ApiError.of({ error: message.error, response });
    }
    yield message.result;
  }
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const complete = rest.split("\n");
      rest = done ? "" : (complete.pop() ?? "");
      yield* complete.filter((line) => line.trim() !== "");
      if (done) {
        return;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
