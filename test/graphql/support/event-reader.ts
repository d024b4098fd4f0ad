/** Reads a stream of server-sent events as an application does. */

interface ReadEvent {
  /** `next`, `complete`, or `comment`. */
  readonly event: string
  /** The JSON of the data field; null where it is empty. */
  readonly data: unknown
}

interface EventReader {
  readonly response: Response
  /** The next event that is not a comment; undefined at the end. */
  next(): Promise<ReadEvent | undefined>
  /** The next event or comment. */
  nextLine(): Promise<ReadEvent | undefined>
  /** Goes away. */
  close(): void
}

/** Sends a GraphQL request; with `method: 'GET'` in the URL, as a browser's EventSource does. */
export async function openEventReader(
  url: string,
  request: { readonly query: string; readonly variables?: object },
  init: { readonly method?: 'GET' | 'POST'; readonly headers?: Record<string, string> } = {},
): Promise<EventReader> {
  const { method = 'POST', headers = {} } = init
  const controller = new AbortController()
  const target = method === 'GET' ? `${url}?${new URLSearchParams({ query: request.query })}` : url
  const response = await fetch(target, {
    method,
    headers: method === 'GET' ? headers : { 'content-type': 'application/json', ...headers },
    body: method === 'GET' ? null : JSON.stringify(request),
    signal: controller.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const nextLine = async (): Promise<ReadEvent | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        const event = parseEvent(text.slice(0, end))
        text = text.slice(end + 2)
        return event
      }
      const chunk = await reader?.read()
      if (chunk?.value === undefined) return undefined
      text += chunk.value
    }
  }
  return {
    response,
    nextLine,
    async next() {
      for (;;) {
        const event = await nextLine()
        if (event?.event !== 'comment') return event
      }
    },
    close: () => controller.abort(),
  }
}

function parseEvent(text: string): ReadEvent {
  if (text.startsWith(':')) return { event: 'comment', data: null }
  const [first = '', second = ''] = text.split('\n')
  const data = second.replace(/^data: ?/, '')
  return {
    event: first.replace('event: ', ''),
    data: data === '' ? null : JSON.parse(data),
  }
}
