/**
 * The Kubernetes cluster that KUBECONFIG names, for tests that need a real one: plain requests, so
 * that a test sees exactly what the API server answers, and kubectl for what only kubectl does.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request as startRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { KubeConfig } from '@kubernetes/client-node'
import { parse } from 'yaml'
import { repository } from '../../../support/repository.ts'
import { removeLeftovers, testLabels } from './leftovers.ts'

interface ClusterRequest {
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Content type of the body; default application/json. */
  readonly type?: string
}

export interface ClusterAnswer {
  readonly status: number
  /** Parsed JSON; what Kubernetes answers, so each test says what it expects. */
  readonly body: ClusterObject
  /** Texts of the Warning headers. */
  readonly warnings: readonly string[]
}

/** An object of Kubernetes, or a Status where a request failed. */
export interface ClusterObject {
  readonly kind?: string
  readonly metadata?: { readonly name?: string; readonly [key: string]: unknown }
  readonly spec?: unknown
  readonly status?: unknown
  readonly message?: string
  readonly reason?: string
  readonly details?: { readonly causes?: readonly ClusterCause[] }
}

/** One reason why a manifest was refused. */
interface ClusterCause {
  readonly reason?: string
  readonly message: string
  readonly field?: string
}

interface KubectlResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Cluster {
  request(method: string, path: string, options?: ClusterRequest): Promise<ClusterAnswer>
  kubectl(args: readonly string[], input?: string): Promise<KubectlResult>
  /** Server-side apply, strict, as the test itself. Throws what the API server refuses. */
  apply(path: string, object: object): Promise<ClusterObject>
  /** A namespace of a new name, as soon as pods can be made there; `deleteNamespace` takes it away again. */
  createNamespace(labels?: Readonly<Record<string, string>>): Promise<string>
  deleteNamespace(name: string): Promise<void>
  /** Those that were made here and are not deleted. */
  namespaces(): readonly string[]
  /** Applies `crds/` and waits until the kinds are served as they are there. */
  installDefinitions(): Promise<void>
  close(): void
}

/** Labels of a namespace that takes pods of the restricted level alone. */
export const restrictedLevel = { 'pod-security.kubernetes.io/enforce': 'restricted' } as const

/**
 * Connects to the cluster, by default that of KUBECONFIG, and removes what killed tests left there. Throws where it
 * names none.
 */
export async function openCluster(
  file: string = process.env['KUBECONFIG'] ?? '',
): Promise<Cluster> {
  if (file === '')
    throw new Error('KUBECONFIG names no cluster; docs/development/cluster.md says how to get one')
  const config = new KubeConfig()
  config.loadFromFile(file)
  const server = config.getCurrentCluster()?.server
  if (server === undefined) throw new Error(`${file} has no current cluster`)
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  const { ca, cert, key, headers } = options
  const agent = new Agent({
    keepAlive: true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  })
  const namespaces = new Set<string>()
  const cluster: Omit<Cluster, 'installDefinitions'> = {
    apply: async (path, body) => {
      const query = { fieldManager: 'viewmesh-test', force: 'true', fieldValidation: 'Strict' }
      const type = 'application/apply-patch+yaml'
      const answer = await cluster.request('PATCH', path, { query, body, type })
      if (answer.status > 201) throw new Error(`${answer.status}: ${answer.body.message}`)
      return answer.body
    },
    request: (method, path, given = {}) => {
      const url = new URL(path, server)
      for (const [name, value] of Object.entries(given.query ?? {})) {
        url.searchParams.set(name, value)
      }
      return send(url, { method, agent, headers: { ...headers } }, given)
    },
    kubectl: (args, input) => runKubectl(file, args, input),
    createNamespace: async (labels = {}) => {
      const name = `viewmesh-test-${randomBytes(4).toString('hex')}`
      const metadata = { name, labels: { ...testLabels(), ...labels } }
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata }
      await expectStatus(cluster.request('POST', '/api/v1/namespaces', { body }), 201)
      namespaces.add(name)
      await until(`namespace ${name} has an account for pods`, async () => {
        const path = `/api/v1/namespaces/${name}/serviceaccounts/default`
        return (await cluster.request('GET', path)).status === 200
      })
      return name
    },
    deleteNamespace: async (name) => {
      await expectStatus(cluster.request('DELETE', `/api/v1/namespaces/${name}`), 200)
      namespaces.delete(name)
    },
    namespaces: () => [...namespaces],
    close: () => agent.destroy(),
  }
  await removeLeftovers(cluster.request)
  return { ...cluster, installDefinitions: () => installDefinitions(cluster) }
}

/** The answer, where it has this status; throws what the API server said otherwise. */
export async function expectStatus(
  answer: Promise<ClusterAnswer>,
  status: number,
): Promise<ClusterAnswer> {
  const found = await answer
  if (found.status !== status) throw new Error(`${found.status}: ${found.body.message}`)
  return found
}

async function send(
  url: URL,
  options: RequestOptions,
  { body, type = 'application/json' }: ClusterRequest,
): Promise<ClusterAnswer> {
  return await new Promise((resolve, reject) => {
    const request = startRequest(url, options, (response) => {
      text(response).then((answer) => {
        const warning = response.headers['warning'] ?? ''
        const warnings = [...warning.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, found]) =>
          (found ?? '').replaceAll('\\"', '"'),
        )
        resolve({ status: response.statusCode ?? 0, body: parsed(response, answer), warnings })
      }, reject)
    })
    request.on('error', reject)
    if (body !== undefined) {
      request.setHeader('content-type', type)
      request.write(JSON.stringify(body))
    }
    request.end()
  })
}

/** A path that nothing serves, as that of a kind whose definition was just made, is reported in plain text. */
function parsed({ headers }: IncomingMessage, answer: string): ClusterObject {
  const isJson = headers['content-type']?.startsWith('application/json') === true
  return isJson ? JSON.parse(answer) : { message: answer }
}

function runKubectl(
  kubeconfig: string,
  args: readonly string[],
  input = '',
): Promise<KubectlResult> {
  return new Promise((resolve) => {
    const child = execFile(
      'kubectl',
      ['--kubeconfig', kubeconfig, ...args],
      { maxBuffer: 16_777_216 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? 1)
        resolve({ code, stdout, stderr })
      },
    )
    child.stdin?.end(input)
  })
}

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

async function installDefinitions(cluster: Pick<Cluster, 'request' | 'apply'>): Promise<void> {
  for (const file of ['generator', 'host', 'view']) {
    const body = parse(readFileSync(`${repository}/crds/${file}.yaml`, 'utf8'))
    await cluster.apply(`${definitionsPath}/${body.metadata.name}`, body)
    await until(`${body.metadata.name} is served`, async () => await isServed(cluster, body))
  }
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly {
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { spec: unknown } } }
    }[]
  }
}

/**
 * A kind is served some moments after its definition is accepted, and the one before is served until
 * then. Its schema is published after that.
 */
async function isServed(
  cluster: Pick<Cluster, 'request'>,
  { spec: { names, versions } }: Definition,
): Promise<boolean> {
  const { status } = await cluster.request('GET', `/apis/viewmesh.io/v1alpha1/${names.plural}`)
  if (status !== 200) return false
  const { body } = await cluster.request('GET', '/openapi/v3/apis/viewmesh.io/v1alpha1')
  const { components } = body as { components?: { schemas?: Record<string, JsonSchema> } }
  const { properties } = components?.schemas?.[`io.viewmesh.v1alpha1.${names.kind}`] ?? {}
  const wanted = versions[0]?.schema.openAPIV3Schema.properties.spec
  return isDeepStrictEqual(properties?.spec, wanted)
}

interface JsonSchema {
  readonly properties?: { readonly spec?: unknown }
}

/** Throws where it does not hold within two minutes. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 120_000
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not within two minutes: ${what}`)
    await sleep(100)
  }
}
