/**
 * Creates a rule, scans a pull request, watches the scan and prints what it found, over REST.
 *
 *     PRWARDEN_SERVER=https://prwarden.example.com PRWARDEN_API_KEY=prw_… node review-rest.js acme/shop 42
 *
 * NODE_EXTRA_CA_CERTS names a file of certificates to trust beside the public ones. The end is 0 when the pull request
 * passes, 1 when it does not, 3 when something went wrong.
 */
import { ApiError, type Client, type Schemas, createClient, watchReview } from "prwarden/rest";

const rule: Schemas["RuleInput"] = {
  id: "no-unsafe-loader",
  type: "regex",
  pattern: String.raw`yaml\.UnsafeLoader`,
  message: "Load settings with yaml.SafeLoader.",
  severity: "medium",
};

async function main(repo: string, number: number): Promise<number> {
  const client = createClient({
    url: process.env["PRWARDEN_SERVER"] ?? "",
    apiKey: process.env["PRWARDEN_API_KEY"] ?? "",
  });
  await createRule(client);
  const review = await scan(client, repo, number);
  const deleted = await client.DELETE("/v1/rules/{id}", { params: { path: { id: rule.id } } });
  if (deleted.error) {
    throw ApiError.of(deleted);
  }
  console.log(`rule ${rule.id} deleted`);
  return review.verdict?.outcome === "pass" ? 0 : 1;
}

async function createRule(client: Client): Promise<void> {
  const created = await client.POST("/v1/rules", { body: rule });
  if (!created.error) {
    console.log(`rule ${rule.id} created`);
    return;
  }
  const error = ApiError.of(created);
  if (error.reason !== "RULE_EXISTS") {
    throw error;
  }
  console.log(`rule ${rule.id} exists already`);
}

async function scan(client: Client, repo: string, number: number): Promise<Schemas["Review"]> {
  const started = await client.POST("/v1/reviews", { body: { repo, pr_number: number, fail_on: "high" } });
  if (!started.data) {
    throw ApiError.of(started);
  }
  const { review_id } = started.data;
  console.log(`review ${review_id} started`);
  for await (const update of watchReview(client, review_id)) {
    console.log(`watch: ${update.status}, ${update.files_done} files done`);
  }
  const read = await client.GET("/v1/reviews/{review_id}", { params: { path: { review_id } } });
  if (!read.data) {
    throw ApiError.of(read);
  }
  const review = read.data;
  for (const f of review.findings) {
    console.log(`${f.file}:${f.line}:${f.column}: ${f.severity} ${f.rule_id} (${f.state})`);
    console.log(`    ${f.message}`);
  }
  console.log(
    `${review.findings.length} findings, ${review.suppressed.length} suppressed, ${review.fixed.length} fixed: ` +
      `${review.verdict?.outcome} at ${review.verdict?.threshold}`,
  );
  return review;
}

function explain(thrown: unknown): number {
  console.error(`failed: ${thrown}`);
  if (thrown instanceof ApiError) {
    for (const { field, description } of thrown.violations) {
      console.error(`  ${field}: ${description}`);
    }
    if (thrown.retryAfterMs !== undefined) {
      console.error(`  try again in ${Math.round(thrown.retryAfterMs / 1000)} s`);
    }
  }
  return 3;
}

process.exitCode = await main(process.argv[2] ?? "", Number(process.argv[3])).catch(explain);
