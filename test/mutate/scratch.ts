/** A copy of the checkout in which changes are tried; packages are linked, not copied. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { applyMutant, type Mutant } from './place.ts'

export interface Scratch {
  /** Where tests run. */
  readonly folder: string
  /** Where tests put their temporary files; emptied with the copy. */
  readonly temporary: string
  /** Does something while a change is in the copy. */
  during<T>(mutant: Mutant, work: () => Promise<T>): Promise<T>
  /** Removes the copy. */
  close(): void
}

/** Copies what git knows of or would add. Others may read it, as tests that start programs as another user need. */
export function openScratch(root: string): Scratch {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'mutate-')))
  const folder = join(top, 'copy')
  const temporary = join(top, 'tmp')
  chmodSync(top, 0o755)
  mkdirSync(temporary, { mode: 0o777 })
  chmodSync(temporary, 0o1777)
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  for (const path of listed.split('\0')) {
    if (path === '' || path === 'node_modules' || !existsSync(join(root, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path), { recursive: true, verbatimSymlinks: true })
  }
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'))
  return {
    folder,
    temporary,
    async during(mutant, work) {
      const path = join(folder, mutant.path)
      const source = readFileSync(path, 'utf8')
      writeFileSync(path, applyMutant(source, mutant))
      try {
        return await work()
      } finally {
        writeFileSync(path, source)
      }
    },
    close: () => rmSync(top, { recursive: true, force: true }),
  }
}
