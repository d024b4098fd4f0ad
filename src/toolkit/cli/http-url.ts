/** URLs that commands are given. */
import { usageError } from './exit-code.ts'

/** The http or https URL of `what` that `flag` names. @throws ServiceError `TOOLKIT_USAGE_INVALID` */
export function parseHttpUrl(flag: string, text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  throw usageError(
    `${JSON.stringify(text.slice(0, 200))} is not a URL of a ${what}`,
    `Give http:// or https:// with ${flag}.`,
  )
}

const graphqlPath = /\/api\/v0\/graphql\/?$/

/**
 * The URL of a Host, also where that of its GraphQL is given, as programs print it. Its routes take no user and password.
 * @throws ServiceError `TOOLKIT_USAGE_INVALID`
 */
export function parseHostUrl(flag: string, text: string): string {
  const url = parseHttpUrl(flag, text, 'Host')
  const { username, password, pathname } = url
  url.pathname = pathname.replace(graphqlPath, '')
  if (username === '' && password === '') return url.href
  throw usageError(
    `the URL of ${flag} has a user or a password`,
    'Leave them out: a Host asks for its admin token alone.',
  )
}
