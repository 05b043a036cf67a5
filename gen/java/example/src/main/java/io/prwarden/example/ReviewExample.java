package io.prwarden.example;

import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.prwarden.ApiError;
import io.prwarden.PrwardenClient;
import io.prwarden.v1.CreateReviewRequest;
import io.prwarden.v1.CreateRuleRequest;
import io.prwarden.v1.DeleteRuleRequest;
import io.prwarden.v1.Finding;
import io.prwarden.v1.GetReviewRequest;
import io.prwarden.v1.Review;
import io.prwarden.v1.Rule;
import io.prwarden.v1.Severity;
import io.prwarden.v1.Verdict;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Creates a rule, scans a pull request, watches the scan and prints what it found.
 *
 * <pre>
 * PRWARDEN_SERVER=https://prwarden.example.com:9090 PRWARDEN_API_KEY=prw_… java … ReviewExample acme/shop 42
 * </pre>
 *
 * <p>PRWARDEN_CA_FILE names a file of certificates to trust instead of the public ones. The end is 0 when the pull
 * request passes, 1 when it does not, 3 when something went wrong.
 */
public final class ReviewExample {
  private static final Rule RULE =
      Rule.newBuilder()
          .setId("no-unsafe-loader")
          .setType(Rule.Type.regex)
          .setPattern("yaml\\.UnsafeLoader")
          .setMessage("Load settings with yaml.SafeLoader.")
          .setSeverity(Severity.Level.medium)
          .build();

  private ReviewExample() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    System.exit(run(args[0], Integer.parseInt(args[1])));
  }

  private static int run(String repo, int number) throws IOException, InterruptedException {
    PrwardenClient.Builder builder =
        PrwardenClient.builder(System.getenv("PRWARDEN_SERVER"), System.getenv("PRWARDEN_API_KEY"));
    String caFile = System.getenv("PRWARDEN_CA_FILE");
    if (caFile != null) {
      builder.tls(TlsChannelCredentials.newBuilder().trustManager(new File(caFile)).build());
    }
    try (PrwardenClient client = builder.build()) {
      createRule(client);
      Review review = scan(client, repo, number);
      client.rules().deleteRule(DeleteRuleRequest.newBuilder().setId(RULE.getId()).build());
      System.out.printf("rule %s deleted%n", RULE.getId());
      return review.getVerdict().getOutcome() == Verdict.Outcome.pass ? 0 : 1;
    } catch (StatusRuntimeException e) {
      return explain(ApiError.of(e));
    }
  }

  private static void createRule(PrwardenClient client) {
    try {
      client.rules().createRule(CreateRuleRequest.newBuilder().setRule(RULE).build());
      System.out.printf("rule %s created%n", RULE.getId());
    } catch (StatusRuntimeException e) {
      if (!ApiError.of(e).reason().equals("RULE_EXISTS")) {
        throw e;
      }
      System.out.printf("rule %s exists already%n", RULE.getId());
    }
  }

  private static Review scan(PrwardenClient client, String repo, int number) throws InterruptedException {
    String id =
        client
            .reviews()
            .withDeadlineAfter(20, TimeUnit.SECONDS)
            .createReview(
                CreateReviewRequest.newBuilder()
                    .setRepo(repo)
                    .setPrNumber(number)
                    .setFailOn(Severity.Level.high)
                    .build())
            .getReviewId();
    System.out.printf("review %s started%n", id);
    client.watch(
        id,
        Duration.ofMinutes(10),
        update -> System.out.printf("watch: %s, %d files done%n", update.getStatus(), update.getFilesDone()));
    Review review = client.reviews().getReview(GetReviewRequest.newBuilder().setReviewId(id).build()).getReview();
    for (Finding f : review.getFindingsList()) {
      System.out.printf(
          "%s:%d:%d: %s %s (%s)%n    %s%n",
          f.getFile(),
          f.getLine(),
          f.getColumn(),
          f.getSeverity(),
          f.getRuleId(),
          f.getState().getValueDescriptor().getName(), // the constant of `new` is `new_`
          f.getMessage());
    }
    System.out.printf(
        "%d findings, %d suppressed, %d fixed: %s at %s%n",
        review.getFindingsCount(),
        review.getSuppressedCount(),
        review.getFixedCount(),
        review.getVerdict().getOutcome(),
        review.getVerdict().getThreshold());
    return review;
  }

  private static int explain(ApiError error) {
    System.err.printf("failed: %s%n", error);
    error.violations().forEach(v -> System.err.printf("  %s: %s%n", v.getField(), v.getDescription()));
    error.retryAfter().ifPresent(delay -> System.err.printf("  try again in %d s%n", delay.toSeconds()));
    return 3;
  }
}
