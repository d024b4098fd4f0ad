/** The user name and the password of a URL, as a request sends them: neither fetch nor a WebSocket takes them there. */

/** The headers that carry them (RFC 7617); none where the URL has neither. */
export function basicAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}
