/** Endpoints as `deployments.json` has them, which may be published: without user, password and query. */

/** The base URL of a Host: with its path, since Hosts may share an origin; without a slash at its end. */
export function hostEndpoint(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

const leftOut = '/…'

/** The origin of a JSON-RPC; it ends in `/…` where the rest, which may be a secret, is left out. */
export function rpcEndpoint({ origin, pathname, search, username, password }: URL): string {
  const isWhole = pathname === '/' && `${search}${username}${password}` === ''
  return isWhole ? origin : `${origin}${leftOut}`
}

/** Whether it cannot be asked as it is. */
export function isIncomplete(endpoint: string): boolean {
  return endpoint.endsWith(leftOut)
}
