import { Code, ConnectError } from "@connectrpc/connect";
import type { FieldViolation } from "../retry.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** What is known of a failed call; `ApiError.of` reads it from what a call threw. */
export class ApiError {
  private constructor(
    /** The kind of error, such as `Code.NotFound`. */
    readonly code: Code,
    /**
     * A word for programs, such as `RATE_LIMITED`; docs/api.md lists all. Empty when the error is not of the server,
     * such as one of the network.
     */
    readonly reason: string,
    /** A sentence for people. */
    readonly message: string,
    /** The mistakes in the request, with `Code.InvalidArgument`. */
    readonly violations: FieldViolation[],
    /** Milliseconds after which the same call may succeed, when the server says so. */
    readonly retryAfterMs: number | undefined,
    /** More for programs, such as the missing scope. */
    readonly metadata: Record<string, string>,
  ) {}

  /** Reads what the server said from what a call threw. */
  static of(thrown: unknown): ApiError {
    const error = ConnectError.from(thrown);
    const [info] = error.findDetails(ErrorInfoSchema);
    const [bad] = error.findDetails(BadRequestSchema);
    const [retry] = error.findDetails(RetryInfoSchema);
    const delay = retry?.retryDelay;
    return new ApiError(
      error.code,
      info?.reason ?? "",
      error.rawMessage,
      (bad?.fieldViolations ?? []).map(({ field, description }) => ({ field, description })),
      delay && Number(delay.seconds) * 1000 + delay.nanos / 1e6,
      { ...info?.metadata },
    );
  }

  toString(): string {
    return `${this.reason || Code[this.code]}: ${this.message}`;
  }
}
