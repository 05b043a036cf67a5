/** Reads the address of a server, or throws what an address has to be. */
export function serverURL(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    throw new TypeError(`url: must be https://HOST[:PORT] or http://HOST[:PORT]; it is ${text || "empty"}`);
  }
  return url;
}
