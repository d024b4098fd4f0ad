/** Which of our files programs of others import. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/source-files.ts'

const { exports: entries } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, unknown>>
}

/** Paths of the sources that the package offers; its types may come from the files behind them. */
export const published: readonly string[] = Object.values(entries)
  .flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.values(entry) : []))
  .map((path) =>
    String(path)
      .replace(/^\.\/dist\//, '')
      .replace(/\.js$/, '.ts'),
  )
