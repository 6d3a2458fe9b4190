/**
 * The name by which a server was asked. A web page that points its own name at a server (DNS rebinding) asks by that name, so a server that
 * answers only to its own names is closed to all pages.
 */

/** "localhost", "10.0.0.7", "[::1]": without a port, in one spelling. null: there is none, or it is not a host. */
export function hostIn(header: string | undefined): string | null {
  const url = `http://${header ?? ''}`;
  if (!URL.canParse(url)) return null;
  const { hostname, pathname, username, search, hash } = new URL(url);
  return pathname + username + search + hash === '/' ? hostname : null;
}

/** Names of this machine that no page can point elsewhere. */
export const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
