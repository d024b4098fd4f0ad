/**
 * Where the API server is and how this process shows who it is: in a pod by its service account, elsewhere by
 * a kubeconfig. In a pod client-node stays unloaded, which would be half of all memory used; the images go without.
 */
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'

export interface Connection {
  /** `https://10.96.0.1:443`, perhaps with a path. */
  readonly server: string
  readonly tls: ConnectionTls
  /** The namespace of the pod or of the kubeconfig's context; `default` where none is named. */
  readonly namespace: string
  /** The Authorization header; null where a client certificate speaks for us. */
  authorization(): Promise<string | null>
  /** The header was refused: it is read again next time. */
  forgetAuthorization(): void
}

/** Undefined where the system's default holds. */
interface ConnectionTls {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

export interface ConnectionOptions {
  /** Path of a kubeconfig; null in a pod. */
  readonly kubeconfig: string | null
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of a pod. */
  readonly serviceHost: string | null
  readonly servicePort: string | null
  /** Folder with token, ca.crt and namespace of a pod's service account. */
  readonly serviceAccount: string
}

/** Tokens live for an hour and are renewed when four fifths of it are over. */
const tokenAgeMs = 60_000

/** Throws OPERATOR_CONNECTION_MISSING where neither a pod's service account nor a kubeconfig is there. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  if (options.kubeconfig !== null) return await fromKubeconfig(options.kubeconfig)
  if (options.serviceHost !== null && existsSync(join(options.serviceAccount, 'token'))) {
    return fromServiceAccount(options, options.serviceHost)
  }
  throw new ServiceError('OPERATOR_CONNECTION_MISSING', 'no cluster to connect to', {
    facts: { serviceAccount: options.serviceAccount },
    remedy: 'Run the operator in a pod with a service account, or set KUBECONFIG.',
  })
}

function fromServiceAccount(options: ConnectionOptions, host: string): Connection {
  const folder = options.serviceAccount
  const address = host.includes(':') ? `[${host}]` : host
  const namespaceFile = join(folder, 'namespace')
  const token = rereading(async () => {
    const text = await readFile(join(folder, 'token'), 'utf8')
    return `Bearer ${text.trim()}`
  })
  return {
    server: `https://${address}:${options.servicePort ?? '443'}`,
    tls: { ca: readFileSync(join(folder, 'ca.crt')) },
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : 'default',
    authorization: token.read,
    forgetAuthorization: token.forget,
  }
}

async function fromKubeconfig(file: string): Promise<Connection> {
  const { KubeConfig } = await loadClient(file)
  const config = new KubeConfig()
  try {
    config.loadFromFile(file)
  } catch (error) {
    throw noCluster(file, error)
  }
  return await connectionOf(config, file)
}

/** What a kubeconfig's current context says. Throws OPERATOR_CONNECTION_MISSING; `file` is for its message. */
export async function connectionOf(config: KubeConfig, file: string): Promise<Connection> {
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw noCluster(file)
  const options = async (): Promise<RequestOptions> => {
    const found: RequestOptions = {}
    await config.applyToHTTPSOptions(found)
    return found
  }
  const header = rereading(async () => {
    const { headers } = await options()
    const found: unknown = headers === undefined ? null : Reflect.get(headers, 'Authorization')
    return typeof found === 'string' ? found : null
  })
  return {
    server: cluster.server,
    tls: tlsOf(await options()),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    authorization: header.read,
    forgetAuthorization: header.forget,
  }
}

/** The images go without this package, which alone would be four fifths of theirs. */
async function loadClient(file: string): Promise<typeof import('@kubernetes/client-node')> {
  try {
    return await import('@kubernetes/client-node')
  } catch (cause) {
    throw new ServiceError(
      'OPERATOR_CONNECTION_MISSING',
      'this installation cannot read kubeconfigs: @kubernetes/client-node is not there',
      {
        facts: { file },
        remedy:
          'Leave KUBECONFIG out in a pod, where the service account is used; outside, run the operator from its sources.',
        cause,
      },
    )
  }
}

function noCluster(file: string, cause?: unknown): ServiceError {
  return new ServiceError('OPERATOR_CONNECTION_MISSING', `${file} names no cluster`, {
    facts: { file },
    remedy: 'Set KUBECONFIG to a file with a current context, or leave it out in a pod.',
    cause,
  })
}

function tlsOf(options: RequestOptions): ConnectionTls {
  const { ca, cert, key, servername, rejectUnauthorized } = options
  return {
    ...(isPem(ca) ? { ca } : {}),
    ...(isPem(cert) ? { cert } : {}),
    ...(isPem(key) ? { key } : {}),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  }
}

function isPem(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value)
}

interface Rereading {
  readonly read: () => Promise<string | null>
  readonly forget: () => void
}

/** Keeps what was read for a minute; requests that come meanwhile share one reading. */
function rereading(read: () => Promise<string | null>): Rereading {
  let kept: { readonly value: Promise<string | null>; readonly untilMs: number } | null = null
  return {
    read() {
      if (kept === null || performance.now() > kept.untilMs) {
        const value = read()
        value.catch(() => {
          kept = null
        })
        kept = { value, untilMs: performance.now() + tokenAgeMs }
      }
      return kept.value
    },
    forget() {
      kept = null
    },
  }
}
