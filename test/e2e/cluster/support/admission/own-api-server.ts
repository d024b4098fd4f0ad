/**
 * An API server of this process alone, with the features that a test asks for: etcd, the API server and its controllers
 * as processes of this machine, and no machine that runs pods. The cluster that other tests use has none of it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { freePorts } from '../../../../support/free-port.ts'

interface OwnAPIServer {
  /** File with which its administrator signs in. */
  readonly kubeconfig: string
  close(): Promise<void>
}

const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const
const startMs = 60_000
const quiet = { stdio: 'ignore' } as const

/** The first of its programs that is not on the PATH; null where all are. */
export function missingProgram(): string | null {
  return programs.find((name) => !isThere(name)) ?? null
}

function isThere(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], quiet)
    return true
  } catch {
    return false
  }
}

/** Starts one with further flags of the API server, and waits until it is ready. */
export async function openOwnAPIServer(flags: readonly string[]): Promise<OwnAPIServer> {
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-api-server-'))
  const children: ChildProcess[] = []
  const start = (name: (typeof programs)[number], args: readonly string[]): void => {
    const log = openSync(join(folder, `${name}.log`), 'a')
    children.push(spawn(name, args, { stdio: ['ignore', log, log] }))
    closeSync(log)
  }
  const close = async (): Promise<void> => {
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    rmSync(folder, { recursive: true, force: true })
  }
  const [etcdPort = 0, peerPort = 0, port = 0] = await freePorts(3)
  const etcd = `http://127.0.0.1:${etcdPort}`
  const token = randomBytes(16).toString('hex')
  const kubeconfig = join(folder, 'kubeconfig')
  try {
    writeFileSync(join(folder, 'tokens'), `${token},admin,admin,system:masters\n`, { mode: 0o600 })
    execFileSync('openssl', ['genrsa', '-out', join(folder, 'accounts.key'), '2048'], quiet)
    start('etcd', etcdFlags(folder, etcd, `http://127.0.0.1:${peerPort}`))
    start('kube-apiserver', [...serverFlags(folder, etcd, port), ...flags])
    const server = `https://127.0.0.1:${port}`
    await eventuallyStarted(folder, () => {
      const certificate = readFileSync(join(folder, 'certs/apiserver.crt')).toString('base64')
      writeFileSync(kubeconfig, stringify(kubeconfigOf(server, certificate, token)))
      execFileSync('kubectl', ['--kubeconfig', kubeconfig, 'get', '--raw', '/readyz'], quiet)
    })
    start('kube-controller-manager', controllerFlags(folder, kubeconfig))
    return { kubeconfig, close }
  } catch (error) {
    await close()
    throw error
  }
}

function etcdFlags(folder: string, url: string, peer: string): string[] {
  return [
    ...['--data-dir', join(folder, 'etcd'), '--log-level', 'warn', '--unsafe-no-fsync'],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `default=${peer}`],
  ]
}

function serverFlags(folder: string, etcd: string, port: number): string[] {
  const key = join(folder, 'accounts.key')
  return [
    ...['--etcd-servers', etcd, '--bind-address', '127.0.0.1', '--secure-port', String(port)],
    ...['--cert-dir', join(folder, 'certs'), '--token-auth-file', join(folder, 'tokens')],
    ...['--authorization-mode', 'RBAC', '--service-cluster-ip-range', '10.97.0.0/24'],
    ...['--service-account-key-file', key, '--service-account-signing-key-file', key],
    ...['--service-account-issuer', 'https://kubernetes.default.svc.cluster.local'],
    ...['--endpoint-reconciler-type', 'none'],
  ]
}

function controllerFlags(folder: string, kubeconfig: string): string[] {
  const key = join(folder, 'accounts.key')
  return [
    ...['--kubeconfig', kubeconfig, '--leader-elect=false', '--secure-port', '0'],
    ...['--service-account-private-key-file', key],
    ...['--root-ca-file', join(folder, 'certs/apiserver.crt')],
  ]
}

function kubeconfigOf(server: string, certificate: string, token: string): object {
  const name = 'own'
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': certificate } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  }
}

/** Throws with the end of the API server's log where it is not ready in time. */
async function eventuallyStarted(folder: string, check: () => void): Promise<void> {
  const endMs = performance.now() + startMs
  while (true) {
    try {
      check()
      return
    } catch (error) {
      if (performance.now() > endMs) {
        const log = readFileSync(join(folder, 'kube-apiserver.log'), 'utf8').slice(-2_000)
        throw new Error(`the API server did not start: ${log}`, { cause: error })
      }
    }
    await sleep(200)
  }
}
