/** A program started by its image's entrypoint in a container from which every shell was removed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { containerUser } from '../../../src/service/contract.ts'
import { freePorts } from '../../support/free-port.ts'
import { buildah, inspectImage, storageDriver, withContainer } from './image.ts'

interface ShelllessProgram {
  /** What its health report has at `path`; rejects while nothing answers. */
  report(path: string): Promise<unknown>
  /** Runs something else in the container, with the same environment. */
  run(...command: readonly string[]): Promise<string>
  /** Waits for its end, after this signal where one is given; what it wrote. */
  ended(signal?: NodeJS.Signals): Promise<string>
}

/** Starts the program of an image; the container is gone afterwards. */
export async function withShelllessProgram(
  image: string,
  settings: Readonly<Record<string, string>>,
  use: (program: ShelllessProgram) => Promise<void>,
): Promise<void> {
  await withContainer(image, async (container, root) => {
    removeShells(root)
    const [port] = await freePorts(1)
    const health = `127.0.0.1:${port}`
    const env = Object.entries({ ...settings, HEALTH_ADDR: health })
    const options = [
      ...['--isolation', 'chroot', '--network', 'host'],
      ...['--user', `${containerUser.uid}:${containerUser.gid}`],
      ...env.flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      container,
      '--',
    ]
    const { config } = await inspectImage(image)
    const args = ['--storage-driver', storageDriver, 'run', ...options, ...config.Entrypoint]
    const started = spawn('buildah', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [output, exit] = [text(started.stdout), once(started, 'exit')]
    const ended = async (signal?: NodeJS.Signals): Promise<string> => {
      if (signal !== undefined) started.kill(signal)
      await exit
      return await output
    }
    try {
      await use({
        report: async (path) => Reflect.get(Object(await answerOf(health)), path),
        run: (...command) => buildah('run', ...options, ...command),
        ended,
      })
    } finally {
      await ended('SIGTERM')
    }
  })
}

async function answerOf(health: string): Promise<unknown> {
  return await (await fetch(`http://${health}/health`)).json()
}

function removeShells(root: string): void {
  for (const folder of ['bin', 'usr/bin']) {
    for (const shell of ['sh', 'bash', 'dash', 'rbash']) {
      rmSync(join(root, folder, shell), { force: true })
    }
  }
}
