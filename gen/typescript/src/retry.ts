/** Pauses between the attempts of a call, in milliseconds, when the server does not say. */
const firstPause = 500;
const longestPause = 10_000;

/** Options of how often and how long a call is tried. */
export interface RetryOptions {
  /** Milliseconds that a call may take, with its repetitions; 60,000 when not given. */
  timeoutMs?: number;
  /** How often a call is tried, at least 1; 4 when not given. */
  attempts?: number;
}

/** The pause after an attempt, in milliseconds, some of it by chance, so that not everybody comes back at once. */
export function backoff(attempt: number): number {
  return Math.min(longestPause, firstPause * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

/** Waits, or ends at once with the signal. */
export function sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) {
      stop();
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** One mistake in a request. */
export interface FieldViolation {
  /** The field, as `pr_number` or `rule.pattern`. */
  field: string;
  /** What is allowed, and what it was. */
  description: string;
}
