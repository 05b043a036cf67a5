package io.prwarden;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the server says about a call that failed; {@link #of(Throwable)} reads it from the exception. */
public final class ApiError {
  private final Status.Code code;
  private final String message;
  private final String reason;
  private final List<BadRequest.FieldViolation> violations;
  private final Duration retryAfter;
  private final Map<String, String> metadata;

  private ApiError(
      Status status, ErrorInfo info, List<BadRequest.FieldViolation> violations, Duration retryAfter) {
    this.code = status.getCode();
    this.message = status.getDescription() == null ? "" : status.getDescription();
    this.reason = info.getReason();
    this.metadata = info.getMetadataMap();
    this.violations = violations;
    this.retryAfter = retryAfter;
  }

  /** Reads what the server said from the exception that a call threw. */
  public static ApiError of(Throwable thrown) {
    Metadata trailers = Status.trailersFromThrowable(thrown);
    return of(Status.fromThrowable(thrown), trailers == null ? new Metadata() : trailers);
  }

  static ApiError of(Status status, Metadata trailers) {
    ErrorInfo info = ErrorInfo.getDefaultInstance();
    List<BadRequest.FieldViolation> violations = List.of();
    Duration retryAfter = null;
    try {
      for (Any detail : StatusProto.fromStatusAndTrailers(status, trailers).getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          info = detail.unpack(ErrorInfo.class);
        } else if (detail.is(BadRequest.class)) {
          violations = detail.unpack(BadRequest.class).getFieldViolationsList();
        } else if (detail.is(RetryInfo.class)) {
          com.google.protobuf.Duration delay = detail.unpack(RetryInfo.class).getRetryDelay();
          retryAfter = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
        }
      }
    } catch (InvalidProtocolBufferException e) {
      // What can't be read is not there; the code and the message are.
    }
    return new ApiError(status, info, violations, retryAfter);
  }

  /** The kind of error, such as {@code NOT_FOUND}. */
  public Status.Code code() {
    return code;
  }

  /**
   * A word for programs, such as {@code RATE_LIMITED}; docs/api.md lists all. Empty when the error is not the server's,
   * such as one of the network.
   */
  public String reason() {
    return reason;
  }

  /** A sentence for people. */
  public String message() {
    return message;
  }

  /** The mistakes in the request, with {@code INVALID_ARGUMENT}. */
  public List<BadRequest.FieldViolation> violations() {
    return violations;
  }

  /** After how long the same call may succeed, when the server says so. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** More for programs, such as the missing scope. */
  public Map<String, String> metadata() {
    return metadata;
  }

  @Override
  public String toString() {
    return (reason.isEmpty() ? code.name() : reason) + ": " + message;
  }
}
