/**
 * The script of the playground's page. The functions of `browserFunctions` never run in a program: their
 * source is what the browser gets, so they use nothing but each other and what a browser has.
 */
import { defaultTabs, type PlaygroundTab } from './playground-tabs.ts'
import { graphqlPath } from './route.ts'

/** The parts of the page and of the libraries before the script that it uses. */
interface Page {
  readonly document: {
    getElementById(id: string): { readonly dataset: { readonly viewTabs?: string } } | null
  }
  readonly React: {
    createElement(type: unknown, props: object | null, ...children: unknown[]): object
  }
  readonly ReactDOM: { createRoot(place: object | null): { render(element: object): void } }
  readonly GraphiQL: { readonly Logo: unknown }
}

interface PageRequest {
  readonly query: string
  readonly operationName?: string | null
}

interface PageSettings {
  readonly url: string
  readonly defaultTabs: readonly PlaygroundTab[]
}

type Result = Record<string, unknown>

/** The whole script: the functions, then the call that starts the page. */
export function playgroundScript(): string {
  const settings = JSON.stringify({ url: graphqlPath, defaultTabs } satisfies PageSettings)
  const start = `${startPlayground.name}({ document, React, ReactDOM, GraphiQL }, ${settings})`
  return `'use strict'\n${[...browserFunctions.map(String), start].join('\n')}\n`
}

const browserFunctions = [startPlayground, fetchResult, eventResults, readEvents]

/** Shows GraphiQL with the tabs of the settings and of the Views, and sends what it asks. */
export function startPlayground(page: Page, settings: PageSettings): void {
  const { React, ReactDOM, GraphiQL } = page
  const fetcher = (request: PageRequest, options?: { headers?: Record<string, string> }) => {
    // Right after a change of tabs GraphiQL still sends the name of the operation before.
    const isStale = !request.query.includes(request.operationName ?? '')
    const sent = isStale ? { ...request, operationName: null } : request
    return fetchResult(settings.url, sent, options?.headers ?? {})
  }
  const logo = React.createElement(GraphiQL.Logo, null, 'Viewmesh')
  const place = page.document.getElementById('playground')
  const viewTabs = JSON.parse(place?.dataset.viewTabs ?? '[]')
  const defaultTabs = [...settings.defaultTabs, ...viewTabs]
  const props = { fetcher, defaultTabs, defaultQuery: '' }
  ReactDOM.createRoot(place).render(React.createElement(GraphiQL, props, logo))
}

/** Yields one result, or for a subscription all results as they come. */
async function fetchResult(
  url: string,
  request: PageRequest,
  headers: Record<string, string>,
): Promise<Result | AsyncIterable<Result>> {
  const controller = new AbortController()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request),
    signal: controller.signal,
  })
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) return eventResults(response, controller)
  return (await response.json()) as Result
}

/** Leaving the loop over the results closes the connection, also while it waits for an event. */
function eventResults(response: Response, controller: AbortController): AsyncIterable<Result> {
  const events = readEvents(response, controller.signal)
  const iterator = {
    next: () => events.next(),
    return() {
      controller.abort()
      return events.return(undefined)
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}

async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<Result, void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (
      let chunk = await reader?.read();
      chunk?.value !== undefined;
      chunk = await reader?.read()
    ) {
      const events = (text + chunk.value).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const data = event.startsWith('event: next\n') && event.split('\ndata: ')[1]
        if (data) yield JSON.parse(data)
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
