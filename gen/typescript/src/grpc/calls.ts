import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { backoff, sleep } from "../retry.js";
import { ApiError } from "./errors.js";
import { KeyService } from "./gen/prwarden/v1/key_pb.js";
import { ReviewService } from "./gen/prwarden/v1/review_pb.js";
import { RuleService } from "./gen/prwarden/v1/rule_pb.js";

/** Calls that may have happened although the server could not say so, and that answer something else the second time. */
const once = new Set<unknown>([
  ReviewService.method.cancelReview,
  RuleService.method.createRule,
  RuleService.method.deleteRule,
  KeyService.method.createKey,
  KeyService.method.deleteKey,
]);

/** Gives every call of a transport the API key, a deadline, and repetitions. */
export function withCalls(inner: Transport, apiKey: string, timeoutMs: number, attempts: number): Transport {
  const authorize = (given: HeadersInit | undefined): Headers => {
    const header = new Headers(given);
    header.set("authorization", `Bearer ${apiKey}`);
    return header;
  };
  return {
    async unary(method, signal, callTimeoutMs, given, message, context) {
      const header = authorize(given);
      if ((method as unknown) === ReviewService.method.createReview && !header.has("idempotency-key")) {
        header.set("idempotency-key", crypto.randomUUID());
      }
      const end = Date.now() + (callTimeoutMs ?? timeoutMs);
      for (let attempt = 1; ; attempt++) {
        try {
          const left = Math.max(1, end - Date.now());
          return await inner.unary(method, signal, left, new Headers(header), message, context);
        } catch (thrown) {
          const pause = pauseAfter(ApiError.of(thrown), method, attempt);
          if (attempt >= attempts || pause === undefined || Date.now() + pause >= end) {
            throw thrown;
          }
          await sleep(pause, signal).catch((reason: unknown) => {
            throw ConnectError.from(reason, Code.Canceled);
          });
        }
      }
    },
    stream(method, signal, callTimeoutMs, given, messages, context) {
      return inner.stream(method, signal, callTimeoutMs, authorize(given), messages, context);
    },
  };
}

/** Milliseconds until the next attempt, or undefined when there is to be none. */
export function pauseAfter(error: ApiError, method: unknown, attempt: number): number | undefined {
  if (error.code === Code.ResourceExhausted) {
    return error.retryAfterMs; // a message that is too large has none
  }
  if (error.code === Code.Unavailable && !once.has(method)) {
    return error.retryAfterMs ?? backoff(attempt);
  }
  return undefined;
}
