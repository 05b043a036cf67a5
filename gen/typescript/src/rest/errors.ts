import type { FieldViolation } from "../retry.js";
import { retryAfter } from "./calls.js";

interface Detail {
  "@type"?: string;
  reason?: string;
  metadata?: Record<string, string>;
  field_violations?: FieldViolation[];
}

/** What is known of a failed request; `ApiError.of` reads it from the `error` and the `response` of a call. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  private constructor(
    message: string,
    /** HTTP status, such as 404. */
    readonly status: number,
    /**
     * A word for programs, such as `RATE_LIMITED`; docs/api.md lists all. Empty when the error is not of the server,
     * such as one of a proxy.
     */
    readonly reason: string,
    /** The mistakes in the request, with status 400. */
    readonly violations: FieldViolation[],
    /** Milliseconds after which the same request may succeed, when the server says so. */
    readonly retryAfterMs: number | undefined,
    /** More for programs, such as the missing scope. */
    readonly metadata: Record<string, string>,
  ) {
    super(message);
  }

  /** Reads what the server said from a call's `error` and `response`. */
  static of({ error, response }: { error?: unknown; response: Response }): ApiError {
    const { message, details } = (error ?? {}) as { message?: unknown; details?: unknown };
    const all: Detail[] = Array.isArray(details) ? details : [];
    const info = all.find((detail) => detail["@type"]?.endsWith("/google.rpc.ErrorInfo"));
    const bad = all.find((detail) => detail["@type"]?.endsWith("/google.rpc.BadRequest"));
    return new ApiError(
      typeof message === "string" ? message : `HTTP ${response.status} ${response.statusText}`,
      response.status,
      info?.reason ?? "",
      bad?.field_violations ?? [],
      retryAfter(response),
      info?.metadata ?? {},
    );
  }

  override toString(): string {
    return `${this.reason || this.status}: ${this.message}`;
  }
}
