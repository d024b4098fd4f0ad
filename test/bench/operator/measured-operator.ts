/**
 * The operator as it runs in its image: compiled, with the image's environment and a service account
 * of the chart's rights, in a process whose memory and requests are looked at.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { type Cluster, expectStatus } from '../../e2e/cluster/support/cluster.ts'
import { account, images } from '../../e2e/cluster/support/cluster-operator.ts'
import { freePorts } from '../../support/free-port.ts'
import { imageEnvironment } from '../../support/image-environment.ts'
import { repository } from '../../support/repository.ts'

export interface MeasuredOperator {
  /** What it serves at /metrics; empty before it does. */
  metrics(): Promise<string>
  /** Bytes of it that are in memory now, and at most. */
  memory(): { readonly bytes: number; readonly peakBytes: number }
  /** Seconds of processor time. */
  cpuSeconds(): number
  /** In order, as when its pod is deleted. */
  close(): Promise<void>
}

/** Starts one; the folder of `buildOperator` can be used again. */
export type StartOperator = () => Promise<MeasuredOperator>

const run = promisify(execFile)

/**
 * Compiles it into `folder`, for the account in this namespace; several can be started one after another.
 * It watches the whole cluster.
 */
export async function buildOperator(
  { folder, namespace }: { readonly folder: string; readonly namespace: string },
  { cluster }: { readonly cluster: Cluster },
): Promise<StartOperator> {
  const tsc = join(repository, 'node_modules/typescript/bin/tsc')
  const dist = join(folder, 'dist')
  await run(process.execPath, [
    tsc,
    '-p',
    join(repository, 'tsconfig.build.json'),
    '--outDir',
    dist,
  ])
  cpSync(join(repository, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  const env = {
    ...imageEnvironment('operator'),
    ...(await accountEnvironment(folder, namespace, cluster)),
  }
  return async () => await start(join(dist, 'operator/main.js'), join(folder, 'operator.log'), env)
}

async function start(
  file: string,
  logFile: string,
  env: Readonly<Record<string, string>>,
): Promise<MeasuredOperator> {
  const [port = 0] = await freePorts(1)
  const output = openSync(logFile, 'a')
  const child = spawn(process.execPath, [file], {
    detached: true,
    env: { PATH: '/usr/bin:/bin', ...env, METRICS_ADDR: `127.0.0.1:${port}` },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  await once(child, 'spawn')
  const ended = once(child, 'exit')
  return {
    metrics: async () => {
      if (child.exitCode !== null) throw new Error(`the operator ended:\n${tail(logFile)}`)
      return await textAt(`http://127.0.0.1:${port}/metrics`)
    },
    memory: () => memoryOf(child),
    cpuSeconds: () => cpuSecondsOf(child),
    close: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** What a pod has: where the API server is, and a folder with token, authority and namespace. */
async function accountEnvironment(
  folder: string,
  namespace: string,
  cluster: Cluster,
): Promise<Record<string, string>> {
  const serviceAccount = join(folder, 'account')
  const { stdout } = await cluster.kubectl(['config', 'view', '--raw', '--minify', '--flatten'])
  const [{ cluster: found }] = parse(stdout).clusters
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { body: answer } = await expectStatus(cluster.request('POST', path, { body }), 201)
  const { token } = answer.status as { readonly token: string }
  mkdirSync(serviceAccount, { mode: 0o700 })
  writeFileSync(join(serviceAccount, 'token'), token, { mode: 0o600 })
  writeFileSync(join(serviceAccount, 'ca.crt'), found['certificate-authority-data'], 'base64')
  writeFileSync(join(serviceAccount, 'namespace'), namespace)
  const { hostname, port } = new URL(found.server)
  return {
    KUBERNETES_SERVICE_HOST: hostname.replaceAll(/[[\]]/g, ''),
    KUBERNETES_SERVICE_PORT: port === '' ? '443' : port,
    SERVICE_ACCOUNT_DIR: serviceAccount,
    GENERATOR_IMAGE: images.generator,
    HOST_IMAGE: images.host,
    HEALTH_ADDR: '127.0.0.1:0',
  }
}

async function textAt(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text()
  } catch {
    return ''
  }
}

function memoryOf({ pid }: ChildProcess): { bytes: number; peakBytes: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024
  return { bytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') }
}

/** The clock of `/proc` ticks a hundred times a second. */
function cpuSecondsOf({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function tail(file: string): string {
  return readFileSync(file, 'utf8').split('\n').slice(-20).join('\n')
}
