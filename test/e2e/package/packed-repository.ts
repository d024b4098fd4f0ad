/** The package as it would be published, made by `npm pack` beside the repository, which it leaves alone. */
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../support/repository.ts'

/** Copies the sources into a new folder and packs them there; the path of the archive. */
export function packRepository(folder: string): string {
  const names = ['package.json', 'README.md', 'LICENSE', 'tsconfig.json', 'tsconfig.build.json']
  for (const name of [...names, 'src', 'operator'])
    cpSync(join(repository, name), join(folder, name), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('npm', ['pack', '--loglevel=error'], { cwd: folder, stdio: 'ignore' })
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, `viewmesh-${version}.tgz`)
}
