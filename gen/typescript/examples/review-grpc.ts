/**
 * Creates a rule, scans a pull request, watches the scan and prints what it found, over gRPC.
 *
 *     PRWARDEN_SERVER=https://prwarden.example.com:9090 PRWARDEN_API_KEY=prw_… node review-grpc.js acme/shop 42
 *
 * PRWARDEN_CA_FILE names a file of certificates to trust instead of the public ones. The end is 0 when the pull request
 * passes, 1 when it does not, 3 when something went wrong.
 */
import { readFileSync } from "node:fs";
import {
  ApiError,
  type Client,
  Finding_State,
  type Review,
  Review_Status,
  Rule_Type,
  Severity_Level,
  Verdict_Outcome,
  createClient,
  watchReview,
} from "prwarden/grpc";

const rule = {
  id: "no-unsafe-loader",
  type: Rule_Type.regex,
  pattern: String.raw`yaml\.UnsafeLoader`,
  message: "Load settings with yaml.SafeLoader.",
  severity: Severity_Level.medium,
};

async function main(repo: string, prNumber: number): Promise<number> {
  const caFile = process.env["PRWARDEN_CA_FILE"];
  const client = createClient({
    url: process.env["PRWARDEN_SERVER"] ?? "",
    apiKey: process.env["PRWARDEN_API_KEY"] ?? "",
    tls: caFile ? { ca: readFileSync(caFile) } : undefined,
  });
  await createRule(client);
  const review = await scan(client, repo, prNumber);
  await client.rules.deleteRule({ id: rule.id });
  console.log(`rule ${rule.id} deleted`);
  return review.verdict?.outcome === Verdict_Outcome.pass ? 0 : 1;
}

async function createRule(client: Client): Promise<void> {
  try {
    await client.rules.createRule({ rule });
    console.log(`rule ${rule.id} created`);
  } catch (thrown) {
    if (ApiError.of(thrown).reason !== "RULE_EXISTS") {
      throw thrown;
    }
    console.log(`rule ${rule.id} exists already`);
  }
}

async function scan(client: Client, repo: string, prNumber: number): Promise<Review> {
  const { reviewId } = await client.reviews.createReview(
    { repo, prNumber, failOn: Severity_Level.high },
    { timeoutMs: 20_000 },
  );
  console.log(`review ${reviewId} started`);
  for await (const update of watchReview(client, reviewId)) {
    console.log(`watch: ${Review_Status[update.status ?? 0]}, ${update.filesDone} files done`);
  }
  const { review } = await client.reviews.getReview({ reviewId });
  if (!review) {
    throw new Error("the answer has no review");
  }
  for (const f of review.findings) {
    const [severity, state] = [Severity_Level[f.severity ?? 0], Finding_State[f.state ?? 0]];
    console.log(`${f.file}:${f.line}:${f.column}: ${severity} ${f.ruleId} (${state})`);
    console.log(`    ${f.message}`);
  }
  console.log(
    `${review.findings.length} findings, ${review.suppressed.length} suppressed, ${review.fixed.length} fixed: ` +
      `${Verdict_Outcome[review.verdict?.outcome ?? 0]} at ${Severity_Level[review.verdict?.threshold ?? 0]}`,
  );
  return review;
}

function explain(thrown: unknown): number {
  const error = ApiError.of(thrown);
  console.error(`failed: ${error}`);
  for (const { field, description } of error.violations) {
    console.error(`  ${field}: ${description}`);
  }
  if (error.retryAfterMs !== undefined) {
    console.error(`  try again in ${Math.round(error.retryAfterMs / 1000)} s`);
  }
  return 3;
}

process.exitCode = await main(process.argv[2] ?? "", Number(process.argv[3])).catch(explain);
