/** `kubectl viewmesh`, installed as docs/kubernetes/plugin.md says, and found by kubectl itself. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { commandsOf } from '../../../docs/support/page.ts'
import { repository } from '../../../support/repository.ts'

interface PluginResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface KubectlPlugin {
  /** An empty folder, in which the commands run. */
  readonly folder: string
  /** Runs a line of a shell, with the kubeconfig of the tests or another. */
  run(line: string, kubeconfig?: string): Promise<PluginResult>
  close(): void
}

const page = 'docs/kubernetes/plugin.md'

/** Installs it into a home of its own. */
export function openKubectlPlugin(): KubectlPlugin {
  const home = mkdtempSync(join(tmpdir(), 'viewmesh-plugin-'))
  const folder = mkdtempSync(join(home, 'work-'))
  const path = [join(home, '.local/bin'), process.env['PATH'] ?? ''].join(delimiter)
  const env = { ...process.env, HOME: home, PATH: path }
  for (const command of commandsOf(page, 'ln -sf')) {
    execFileSync('sh', ['-ec', command], { cwd: repository, env })
  }
  return {
    folder,
    run: (line, kubeconfig) =>
      new Promise((resolve) => {
        const KUBECONFIG = kubeconfig ?? process.env['KUBECONFIG']
        execFile(
          'sh',
          ['-ec', line],
          { cwd: folder, env: { ...env, KUBECONFIG } },
          (error, stdout, stderr) => {
            resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
          },
        )
      }),
    close: () => rmSync(home, { recursive: true }),
  }
}
