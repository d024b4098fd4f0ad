/**
 * A stand-in for the API server of Kubernetes: a real HTTP server that keeps objects, lists them in pages and
 * notifies watches of changes, and fails in the ways a real one cannot be made to on demand. It knows no schemas, no
 * roles and no owners of fields: nothing that is applied goes because it is applied no more. That the real one
 * is understood is shown in test/e2e/cluster.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import type {
  KubernetesObject,
  Metadata,
} from '../../../operator/runtime/client/kubernetes-object.ts'
import { isSelectedBy } from '../../../operator/runtime/client/label-selector.ts'
import type { JsonObject } from '../../support/resources/merge-patch.ts'
import { patched } from './patched.ts'

/** One request as it came. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

/** Answers a request in place of the server; false leaves it to the server. */
export type Fault = (request: SeenRequest, response: ServerResponse) => boolean

export interface KubernetesServer {
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** Faults are asked in order until one answers; each stays until it is taken out. */
  readonly faults: Set<Fault>
  /** What admission makes of each object that is written, before it is stored. */
  readonly admission: Set<(object: KubernetesObject) => KubernetesObject>
  /** Resolves when the next request comes for which this holds, or has come already. */
  seen(isMeant: (request: SeenRequest) => boolean): Promise<SeenRequest>
  /** Creates or replaces an object as somebody else. */
  put(path: string, object: KubernetesObject): KubernetesObject
  remove(path: string): void
  get(path: string): KubernetesObject | undefined
  /** What came before is forgotten: watches from there get 410, as a status or as an event. */
  forgetHistory(as: 'status' | 'event'): void
  /** Raw bytes to all open watches. */
  tellWatches(text: string): void
  bookmark(): void
  /**
   * Keeps the world as it is now. The function restores it, as etcd is from a backup: what came later has never
   * been, versions are given a second time, and all watches break.
   */
  backUp(): () => void
  /** Watches, all or those of one collection, stay open and never hear of anything again. */
  freezeWatches(collection?: string): void
  /** Cuts the connections of all open watches. */
  dropWatches(): void
  openWatches(): number
  close(): Promise<void>
}

type Answer = readonly [code: number, body: unknown]

interface Recorded {
  readonly version: number
  readonly path: string
  readonly type: string
  readonly object: KubernetesObject
  readonly before: KubernetesObject | undefined
}

interface OpenWatch {
  readonly path: string
  readonly labelSelector: string | undefined
  /** It hears of what is later than this. */
  readonly from: number
  readonly response: ServerResponse
  isFrozen: boolean
}

export async function openKubernetesServer(): Promise<KubernetesServer> {
  const objects = new Map<string, KubernetesObject>()
  const watches = new Set<OpenWatch>()
  const faults = new Set<Fault>()
  const admission: KubernetesServer['admission'] = new Set()
  const requests: SeenRequest[] = []
  const waiting = new Set<{
    isMeant: (r: SeenRequest) => boolean
    found: (r: SeenRequest) => void
  }>()
  let history: Recorded[] = []
  let version = 100
  let oldest = 0
  let expiry: 'status' | 'event' = 'status'

  const record = (type: string, path: string, object: KubernetesObject): KubernetesObject => {
    version += 1
    const metadata: Metadata = { ...object.metadata, resourceVersion: String(version) }
    const stored = { ...object, metadata }
    const recorded = { version, path, type, object: stored, before: objects.get(path) }
    if (type === 'DELETED') objects.delete(path)
    else objects.set(path, stored)
    history.push(recorded)
    for (const watch of watches) if (!watch.isFrozen) report(watch, recorded)
    return stored
  }
  const put = (path: string, object: KubernetesObject): KubernetesObject => {
    const before = objects.get(path)
    const uid = object.metadata?.uid ?? before?.metadata?.uid ?? randomUUID()
    const metadata = { ...placeOf(path), ...object.metadata, uid }
    return record(before === undefined ? 'ADDED' : 'MODIFIED', path, { ...object, metadata })
  }
  const remove = (path: string): KubernetesObject | undefined => {
    const before = objects.get(path)
    return before === undefined ? undefined : record('DELETED', path, before)
  }
  const list = ({ path, query }: SeenRequest): Answer => {
    const isMeant = isSelected(query['labelSelector'])
    const within = [...objects].filter(([own]) => isWithin(own, path))
    const isNamed = hasName(query['fieldSelector'])
    const items = within.map(([, object]) => object).filter((one) => isMeant(one) && isNamed(one))
    const from = Number(query['continue'] ?? 0)
    const limit = Number(query['limit'] ?? items.length)
    const page = items.slice(from, from + limit)
    const rest = from + page.length < items.length ? { continue: String(from + page.length) } : {}
    return [200, { metadata: { resourceVersion: String(version), ...rest }, items: page }]
  }
  const watch = ({ path, query }: SeenRequest, response: ServerResponse): void => {
    const from = Number(query['resourceVersion'])
    const isExpired = from < oldest
    if (isExpired && expiry === 'status') {
      send(response, 410, status(410, 'Expired'))
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    if (isExpired) {
      writeEvent(response, 'ERROR', status(410, 'Expired'))
      response.end()
      return
    }
    const open: OpenWatch = {
      path,
      labelSelector: query['labelSelector'],
      from,
      response,
      isFrozen: false,
    }
    for (const recorded of history) report(open, recorded)
    watches.add(open)
    const ending = setTimeout(() => {
      if (version > from) bookmarkTo(response)
      response.end()
    }, Number(query['timeoutSeconds']) * 1_000)
    response.on('close', () => {
      clearTimeout(ending)
      watches.delete(open)
    })
  }
  const bookmarkTo = (response: ServerResponse): void =>
    writeEvent(response, 'BOOKMARK', { metadata: { resourceVersion: String(version) } })
  const read = (request: SeenRequest): Answer => {
    if (isCollection(request.path)) return list(request)
    const found = objects.get(request.path)
    return found === undefined ? [404, status(404, 'NotFound')] : [200, found]
  }
  const write = (request: SeenRequest): Answer => {
    const { method, path, query } = request
    const given = (request.body ?? {}) as KubernetesObject & JsonObject
    const target = method === 'POST' ? `${path}/${given.metadata?.name}` : withoutSubresource(path)
    const before = objects.get(target)
    const problem = refusalOf(request, before)
    if (problem !== null) return [problem.code, problem]
    if (query['dryRun'] !== undefined) return [200, given]
    if (method === 'DELETE') {
      remove(target)
      return [200, { ...status(200, ''), details: { uid: before?.metadata?.uid } }]
    }
    const after = method === 'PATCH' ? patched(request, before) : given
    if (after === null) return [422, status(422, 'Invalid')]
    const admitted = [...admission].reduce((object, change) => change(object), after)
    return [before === undefined ? 201 : 200, put(target, admitted)]
  }
  const tellWaiting = (request: SeenRequest): void => {
    for (const wait of waiting) {
      if (!wait.isMeant(request)) continue
      waiting.delete(wait)
      wait.found(request)
    }
  }
  const handle = async (raw: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await toRequest(raw)
    requests.push(request)
    tellWaiting(request)
    if ([...faults].some((fault) => fault(request, response))) return
    if (request.query['watch'] === 'true') watch(request, response)
    else send(response, ...(request.method === 'GET' ? read(request) : write(request)))
  }
  const server = createServer((request, response) => void handle(request, response))
  const { promise: listening, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await listening
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    faults,
    admission,
    seen(isMeant) {
      const known = requests.find(isMeant)
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((found) => waiting.add({ isMeant, found }))
    },
    put,
    remove: (path) => void remove(path),
    get: (path) => objects.get(path),
    forgetHistory(as) {
      version += 1
      oldest = version
      expiry = as
      history = []
    },
    tellWatches(text) {
      for (const { response } of watches) response.write(text)
    },
    bookmark() {
      version += 1
      for (const { response } of watches) bookmarkTo(response)
    },
    backUp() {
      const saved = { objects: new Map(objects), version }
      return () => {
        objects.clear()
        for (const [path, object] of saved.objects) objects.set(path, object)
        version = saved.version
        history = []
        for (const { response } of watches) response.destroy()
      }
    },
    freezeWatches(collection) {
      for (const open of watches)
        open.isFrozen ||= collection === undefined || open.path === collection
    },
    dropWatches() {
      for (const { response } of watches) response.destroy()
    },
    openWatches: () => watches.size,
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** A `Status` as the API server answers it. */
interface StatusAnswer {
  readonly kind: 'Status'
  readonly apiVersion: string
  readonly code: number
  readonly reason: string
  readonly message: string
}

export function status(
  code: number,
  reason: string,
  message: string = `${reason} it is`,
): StatusAnswer {
  return { kind: 'Status', apiVersion: 'v1', code, reason, message }
}

export function send(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** What a deletion is for. */
interface Preconditions {
  readonly uid?: string
  readonly resourceVersion?: string
}

function refusalOf(
  { method, path, body }: SeenRequest,
  before: KubernetesObject | undefined,
): StatusAnswer | null {
  const given = (body ?? {}) as KubernetesObject & { readonly preconditions?: Preconditions }
  if (method === 'POST') return before === undefined ? null : status(409, 'AlreadyExists')
  if (before === undefined) {
    const mayBeNew = method === 'PATCH' && !path.endsWith('/status')
    return mayBeNew ? null : status(404, 'NotFound')
  }
  const { uid = given.metadata?.uid, resourceVersion } = given.preconditions ?? {}
  if (uid !== undefined && uid !== before.metadata?.uid) return status(409, 'Conflict')
  const wanted = given.metadata?.resourceVersion ?? resourceVersion
  const isStale = wanted !== undefined && wanted !== before.metadata?.resourceVersion
  return isStale ? status(409, 'Conflict') : null
}

async function toRequest(raw: IncomingMessage): Promise<SeenRequest> {
  const url = new URL(raw.url ?? '/', 'http://server')
  return {
    method: raw.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: raw.headers,
    body: raw.method === 'GET' ? null : await json(raw).catch(() => null),
  }
}

/** Sends a watch what a change is to it: an object that lost its labels is gone. */
function report(
  { path, labelSelector, from, response }: OpenWatch,
  { version, path: own, type, object, before }: Recorded,
): void {
  if (version <= from || !isWithin(own, path)) return
  const isMeant = isSelected(labelSelector)
  const was = before !== undefined && isMeant(before)
  if (type !== 'DELETED' && isMeant(object))
    writeEvent(response, was ? 'MODIFIED' : 'ADDED', object)
  else if (was) writeEvent(response, 'DELETED', object)
}

function isSelected(labelSelector = ''): (object: KubernetesObject) => boolean {
  return ({ metadata }) => isSelectedBy(labelSelector, metadata?.labels)
}

/** The one field selector that is heeded, `metadata.name=NAME`. */
function hasName(fieldSelector = ''): (object: KubernetesObject) => boolean {
  const [, wanted] = /^metadata\.name=(.+)$/.exec(fieldSelector) ?? []
  return ({ metadata }) => wanted === undefined || metadata?.name === wanted
}

function withoutSubresource(path: string): string {
  return path.replace(/\/(?:status|scale)$/, '')
}

function writeEvent(response: ServerResponse, type: string, object: unknown): void {
  response.write(`${JSON.stringify({ type, object })}\n`)
}

/** Whether an object's path lies below a collection's, in its namespace or in all. */
function isWithin(path: string, collection: string): boolean {
  const parts = path.split('/')
  const inNamespace = parts.slice(0, -1).join('/')
  return collection === inNamespace || collection === inNamespace.replace(/\/namespaces\/[^/]+/, '')
}

function isCollection(path: string): boolean {
  const rest = path
    .replace(/^\/apis\/[^/]+\/[^/]+|^\/api\/v1/, '')
    .replace(/^\/namespaces\/[^/]+/, '')
  return rest.split('/').length === 2
}

function placeOf(path: string): Metadata {
  const match = /\/namespaces\/([^/]+)\/[^/]+\/([^/]+)$/.exec(path)
  return match === null ? {} : { namespace: match[1] ?? '', name: match[2] ?? '' }
}
