/** A token as a request sends it. */

/** What fetch takes in the value of a header: RFC 9110, without line ends, and one byte for each character. */
const sendable = /^[\t\x20-\x7e\x80-\xff]+$/

/** The header that carries it (RFC 6750); null where none can: fetch would refuse it with the token in its message. */
export function bearerAuthorization(token: string): { readonly authorization: string } | null {
  return sendable.test(token) ? { authorization: `Bearer ${token}` } : null
}
